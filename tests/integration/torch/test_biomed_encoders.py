"""The seven biomedical labels on native checkpoints, through the path that real ones take, offline."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eagle_biomed import encoder_cards
from eagle_biomed.encoders import register_encoders
from eagle_biomed.options import BiomedOptions
from eagle_rag.adapters.encoders.export import ExportRecipe, export_checkpoint
from eagle_rag.adapters.encoders.runtimes import open_pairs, open_text, open_visual
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.collections import CollectionRegistry, Registrar
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.model.passage import FloatArray
from eagle_rag.ports.plugins import PluginContext, PluginServices
from eagle_rag.testing import tiny_checkpoints as tiny
from eagle_rag.testing.plugin_services import plain_xml

pytestmark = pytest.mark.torch
ASPIRIN, CAFFEINE = "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"
Build = Callable[[Path], object]
CHECKPOINTS: dict[str, tuple[str, Build, str]] = {
    "pubmedbert": ("PUBMEDBERT", lambda at: tiny.tiny_bert(at, masked=True), ""),
    "molformer": ("MOLFORMER", tiny.tiny_chemberta, ""),
    "medcpt-query": ("MEDCPT_QUERY", tiny.tiny_medcpt, "query"),
    "medcpt-article": ("MEDCPT_ARTICLE", tiny.tiny_medcpt, "article"),
    "medimageinsight": ("MEDIMAGE", tiny.tiny_biomed_clip, ""),
    "uni2": ("UNI2", tiny.tiny_vit, ""),
    "medcpt-rerank": ("MEDCPT_RERANK", tiny.tiny_cross_encoder, ""),
}


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory, _torch_ready: None) -> dict[str, str]:
    """Build a checkpoint for every label, with the window that real ones have."""
    root = tmp_path_factory.mktemp("biomed")
    named: dict[str, str] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny, "TINY_WINDOW", 512)
        for label, (variable, build, inner) in CHECKPOINTS.items():
            folder = root / label.removesuffix("-query").removesuffix("-article")
            if not folder.exists():
                build(folder)
            named[f"EAGLE_BIOMED_{variable}_MODEL"] = str(folder / inner)
    return named


def registered(environ: dict[str, str]) -> EncoderRegistry:
    encoders = EncoderRegistry()
    registrar = Registrar(encoders, CollectionRegistry(encoders), ToolRegistry())
    runtimes = SimpleNamespace(text=open_text, visual=open_visual, pairs=open_pairs)
    context = PluginContext(
        "biomed", {}, registrar, encoders, AuditLog(10), PluginServices(plain_xml, runtimes)
    )
    options = BiomedOptions(encoder_mode="require_native")
    register_encoders(context, options, environ=environ)
    return encoders


def picture(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (60, 50, 3), np.uint8)
    with BytesIO() as file:
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()


def outcome(encoders: EncoderRegistry, label: str) -> FloatArray:
    """Return the vectors of two documents and one query, or two scores."""
    card = encoders.card(label)
    if card.modality == "rerank":
        return encoders.rerank(label).score_pairs("tumour", ["cell survival", "drug"])
    if card.modality == "visual":
        visual = encoders.visual(label)
        rows = [visual.encode_images([picture(1), picture(2)]).vectors]
        rows += [visual.encode_query("chest radiograph").vectors] if card.queries_text else []
        return np.concatenate(rows)
    text = encoders.text(label)
    documents = text.encode_documents([f"SMILES: {ASPIRIN}", f"tumour {CAFFEINE}"])
    query = text.encode_query(f"SMILES: {ASPIRIN}")
    assert documents.spec == query.spec == text.spec
    return np.concatenate((documents.vectors, query.vectors))


@pytest.mark.parametrize("label", CHECKPOINTS)
def test_each_label_encodes_with_its_native_checkpoint(
    environ: dict[str, str], label: str
) -> None:
    encoders = registered(environ)
    values = outcome(encoders, label)
    assert np.isfinite(values).all()
    assert not np.allclose(values[0], values[1])
    if values.ndim > 1:
        assert values.shape[1] == encoders.card(label).dim
        assert np.linalg.norm(values, axis=1) == pytest.approx(np.ones(len(values)), abs=1e-5)
        # Tiny models have 32 dimensions; the rest of the card's are zeros, as for BiomedCLIP's 512.
        assert not values[:, tiny.TINY_DIM :].any()


def test_both_labels_of_medcpt_give_the_same_vectors(environ: dict[str, str]) -> None:
    encoders = registered(environ)
    left, right = (outcome(encoders, label) for label in ("medcpt-query", "medcpt-article"))
    assert np.allclose(left, right, atol=1e-6)
    # The query went through the other tower than the first document, whose text it is.
    assert not np.allclose(left[0], left[2], atol=1e-4)


def test_the_exported_folder_of_a_label_gives_what_its_checkpoint_gives(
    environ: dict[str, str], tmp_path: Path
) -> None:
    variable = "EAGLE_BIOMED_PUBMEDBERT_MODEL"
    folder = tmp_path / "onnx"
    export_checkpoint(environ[variable], folder, ExportRecipe(), on_step=lambda _: None)
    native = outcome(registered(environ), "pubmedbert")
    exported = outcome(registered(environ | {variable: str(folder)}), "pubmedbert")
    assert np.abs(native - exported).max() < 1e-4


@pytest.fixture
def uni2(tmp_path: Path, _torch_ready: None) -> dict[str, str]:
    """Name a timm checkpoint as UNI2-h lies on a hub; by its folder's name it is taken for one."""
    return {"EAGLE_BIOMED_UNI2_MODEL": str(tiny.tiny_uni(tmp_path / "UNI2-h"))}


def test_uni2_loads_a_timm_checkpoint_of_its_format(
    uni2: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The numbers alone are small: names, format and way are those of the real checkpoint."""
    import timm
    import torch

    assert [name for name, _ in encoder_cards._UNI2_ARGS] == [n for n, _ in tiny.TINY_UNI_ARGS]
    monkeypatch.setattr(encoder_cards, "_UNI2_ARGS", tiny.TINY_UNI_ARGS)
    got = outcome(registered(uni2), "uni2")
    assert got.shape == (2, 1536)
    assert not got[:, tiny.TINY_DIM :].any()

    args: dict[str, Any] = dict(tiny.TINY_UNI_ARGS) | {"mlp_layer": timm.layers.SwiGLUPacked}
    name = f"local-dir:{uni2['EAGLE_BIOMED_UNI2_MODEL']}"
    model = timm.create_model(name, pretrained=True, **args).eval()
    config = timm.data.resolve_data_config(model.pretrained_cfg, model=model)
    transform = timm.data.create_transform(**config)
    pictures = [Image.open(BytesIO(picture(seed))) for seed in (1, 2)]
    with torch.no_grad():
        expected = model(torch.stack([transform(each) for each in pictures])).numpy()
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(got[:, : tiny.TINY_DIM], expected, atol=1e-4)


def test_uni2_gives_timm_the_thirteen_arguments_of_its_model_card(
    uni2: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import timm

    calls: list[tuple[str, dict[str, Any]]] = []
    create = timm.create_model

    def recording(name: str, **args: Any) -> Any:
        calls.append((name, args))
        return create(name, pretrained=True, **args_of_the_tiny_one())

    def args_of_the_tiny_one() -> dict[str, Any]:
        return dict(tiny.TINY_UNI_ARGS) | {"mlp_layer": timm.layers.SwiGLUPacked}

    monkeypatch.setattr(timm, "create_model", recording)
    outcome(registered(uni2), "uni2")
    assert calls == [
        (
            f"local-dir:{uni2['EAGLE_BIOMED_UNI2_MODEL']}",
            {
                "pretrained": True,
                "img_size": 224,
                "patch_size": 14,
                "depth": 24,
                "num_heads": 24,
                "init_values": 1e-5,
                "embed_dim": 1536,
                "mlp_ratio": 2.66667 * 2,
                "num_classes": 0,
                "no_embed_class": True,
                "mlp_layer": timm.layers.SwiGLUPacked,
                "act_layer": "silu",
                "reg_tokens": 8,
                "dynamic_img_size": True,
            },
        )
    ]
