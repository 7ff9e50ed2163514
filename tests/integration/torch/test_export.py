"""``eagle models export``: every kind of checkpoint, what it gives, and what it leaves behind."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eagle_rag.adapters.encoders import export_compare, export_graphs
from eagle_rag.adapters.encoders.export import ExportRecipe, ExportReport, export_checkpoint
from eagle_rag.adapters.encoders.folder import ExportKind, read_card
from eagle_rag.adapters.encoders.runtimes import open_pairs, open_text, open_visual
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.testing.tiny_checkpoints import TINY_DIM, TINY_UNI_ARGS, TINY_WINDOW

pytestmark = pytest.mark.torch
Find = Callable[[str], Path]
CLIP_WINDOW = 77


def export(
    source: Path, target: Path, kind: ExportKind = "text", **recipe: Any
) -> tuple[ExportReport, list[str]]:
    steps: list[str] = []
    report = export_checkpoint(
        str(source), target, ExportRecipe(kind, **recipe), on_step=steps.append
    )
    return report, steps


@pytest.mark.parametrize(
    ("name", "kind", "pooling", "dim", "window"),
    [
        ("masked", "text", "mean", TINY_DIM, TINY_WINDOW),
        ("chemberta", "text", "mean", TINY_DIM, TINY_WINDOW),
        ("medcpt/query", "text", "cls", TINY_DIM, TINY_WINDOW),
        ("bert", "text", "none", TINY_DIM, TINY_WINDOW),
        ("cross", "pair", "mean", 1, TINY_WINDOW),
        ("cross2", "pair", "mean", 1, TINY_WINDOW),
        ("biomed_clip", "open_clip", "mean", TINY_DIM, TINY_WINDOW),
        ("clip", "open_clip", "mean", TINY_DIM, CLIP_WINDOW),
        ("vit", "vision", "mean", TINY_DIM, 0),
    ],
)
def test_an_exported_checkpoint_gives_what_torch_gives(  # noqa: PLR0913, PLR0917 - a row of a table
    checkpoint: Find,
    tmp_path: Path,
    name: str,
    kind: ExportKind,
    pooling: str,
    dim: int,
    window: int,
) -> None:
    report, steps = export(checkpoint(name), tmp_path / "out", kind, pooling=pooling)
    assert report.difference <= 1e-4
    assert (report.dim, report.max_tokens, report.precision) == (dim, window, "fp32")
    assert len(steps) == 2
    card = read_card(tmp_path / "out")
    assert card is not None
    assert (card.kind, card.dim, card.max_tokens) == (kind, dim, window)
    assert card.source == checkpoint(name).name
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_timm_checkpoint_is_built_as_it_is_told(checkpoint: Find, tmp_path: Path) -> None:
    source, target = checkpoint("uni"), tmp_path / "uni"
    report, _ = export(source, target, "vision", model_args=TINY_UNI_ARGS)
    card = EncoderCard("uni", "visual", TINY_DIM, "onnx", checkpoint=str(target))
    batch = open_visual(card, VisualRecipe("vision")).encode_images([_dot()])
    assert report.difference <= 1e-4
    assert batch.vectors.shape == (1, TINY_DIM)


def _dot() -> bytes:
    from io import BytesIO

    from PIL import Image

    with BytesIO() as file:
        Image.new("RGB", (3, 3), (10, 200, 30)).save(file, "PNG")
        return file.getvalue()


@pytest.mark.parametrize(
    ("name", "kind"), [("bert", "text"), ("cross", "pair"), ("biomed_clip", "open_clip"), ("vit", "vision")]
)  # fmt: skip
def test_int8_is_smaller_and_near(
    checkpoint: Find, tmp_path: Path, name: str, kind: ExportKind
) -> None:
    whole, _ = export(checkpoint(name), tmp_path / "fp32", kind)
    small, steps = export(checkpoint(name), tmp_path / "int8", kind, precision="int8")
    assert small.size_bytes < whole.size_bytes
    assert small.difference > 0
    assert small.cosine >= 0.95
    assert any("int8" in step for step in steps)
    graphs = [path.read_bytes() for path in (tmp_path / "int8").glob("*.onnx")]
    assert all(b"DynamicQuantizeLinear" in graph for graph in graphs)


def test_an_export_writes_nothing_of_its_own_to_the_terminal(
    checkpoint: Find, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    export(checkpoint("bert"), tmp_path / "out", precision="int8")
    assert capfd.readouterr() == ("", "")


def test_the_folder_serves_as_the_checkpoint_of_an_encoder(
    checkpoint: Find, tmp_path: Path
) -> None:
    export(checkpoint("masked"), tmp_path / "onnx")
    native = EncoderCard("e", "text", TINY_DIM, "auto", str(checkpoint("masked")), TINY_WINDOW)
    exported = replace(native, checkpoint=str(tmp_path / "onnx"))
    texts = ["drug survival", "tumour", "", "cell " * 100]
    left, right = (
        open_text(card, TextRecipe()).encode_documents(texts) for card in (native, exported)
    )
    assert np.abs(left.vectors - right.vectors).max() < 1e-4
    assert left.truncated == right.truncated == (3,)


def test_an_exported_cross_encoder_orders_as_torch_does(checkpoint: Find, tmp_path: Path) -> None:
    export(checkpoint("cross"), tmp_path / "onnx", "pair")
    native = EncoderCard("e", "rerank", 1, "auto", str(checkpoint("cross")), TINY_WINDOW)
    exported = replace(native, checkpoint=str(tmp_path / "onnx"))
    texts = ["drug", "word cell", "a b c d", "tumour survival"]
    left, right = (
        open_pairs(card, PairRecipe()).score_pairs("cell", texts) for card in (native, exported)
    )
    assert np.abs(left - right).max() < 1e-4


def test_the_same_export_twice_has_the_same_digest(checkpoint: Find, tmp_path: Path) -> None:
    first, _ = export(checkpoint("bert"), tmp_path / "a", licence="MIT")
    second, _ = export(checkpoint("bert"), tmp_path / "b", licence="MIT")
    assert first.digest == second.digest
    assert json.loads((tmp_path / "a" / "card.json").read_text())["licence"] == "MIT"


def test_an_export_that_differs_is_not_left_behind(
    checkpoint: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_compare, "_MOST_DIFFERENCE", -1.0)
    with pytest.raises(EncoderLoadError, match="differs from it"):
        export(checkpoint("bert"), tmp_path / "models" / "out")
    assert list((tmp_path / "models").iterdir()) == []


def test_an_interrupted_export_is_not_left_behind(checkpoint: Find, tmp_path: Path) -> None:
    def stop(step: str) -> None:
        if step.startswith("comparing"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_checkpoint(str(checkpoint("bert")), tmp_path / "out", ExportRecipe(), on_step=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_there_is_left_alone(checkpoint: Find, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InvalidInput, match="is there already"):
        export(checkpoint("bert"), tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_checkpoint_of_another_kind_is_refused(checkpoint: Find, tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError):
        export(checkpoint("bert"), tmp_path / "out", "pair")
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match="neither a folder nor a hub id"):
        export(tmp_path / "absent", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_weights_too_large_for_a_protobuf_lie_in_one_file_beside_the_graph(
    checkpoint: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real ones have more than 2 GB; here the exporter is made to split a small one."""
    import onnx  # type: ignore[import-not-found,unused-ignore]  # of the torch extra

    traced = export_graphs._traced

    def split(torch: Any, module: Any, graph: Any, path: Path) -> None:
        traced(torch, module, graph, path)
        model = onnx.load(str(path))
        onnx.save_model(
            model, str(path), save_as_external_data=True, all_tensors_to_one_file=False,
            size_threshold=0,
        )  # fmt: skip

    monkeypatch.setattr(export_graphs, "_traced", split)
    report, _ = export(checkpoint("bert"), tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"card.json", "model.onnx", "model.onnx.data", "tokenizer.json"}
    assert report.difference <= 1e-4


def test_where_tracing_is_gone_the_other_exporter_gives_the_same(
    checkpoint: Find, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    whole = torch.onnx.export

    def only_new(*given: Any, dynamo: bool, **how: Any) -> None:
        if not dynamo:
            message = "the TorchScript exporter was removed"
            raise ValueError(message)
        whole(*given, dynamo=dynamo, **how)

    monkeypatch.setattr(torch.onnx, "export", only_new)
    report, _ = export(checkpoint("bert"), tmp_path / "out")
    assert report.difference <= 1e-4
