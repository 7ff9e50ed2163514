"""Tiny native checkpoints and their exports; without torch these tests are skipped, not lost."""

import importlib.util
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.adapters.encoders.checkpoint import file_digest
from eagle_rag.adapters.encoders.folder import ExportCard, ExportKind
from eagle_rag.adapters.encoders.pixels import PixelRecipe
from eagle_rag.testing import tiny_checkpoints as tiny

BUILDERS: dict[str, Callable[[Path], object]] = {
    "bert": tiny.tiny_bert,
    "masked": lambda folder: tiny.tiny_bert(folder, masked=True),
    "other": lambda folder: tiny.tiny_bert(folder, seed=9),
    "medcpt": tiny.tiny_medcpt,
    "chemberta": tiny.tiny_chemberta,
    "cross": tiny.tiny_cross_encoder,
    "cross2": lambda folder: tiny.tiny_cross_encoder(folder, labels=2),
    "cross3": lambda folder: tiny.tiny_cross_encoder(folder, labels=3),
    "biomed_clip": tiny.tiny_biomed_clip,
    "clip": tiny.tiny_open_clip,
    "vit": tiny.tiny_vit,
    "uni": tiny.tiny_uni,
}
WITHOUT_TORCH = "needs the torch extra: run `make test-torch`"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs torch where it is not installed."""
    if importlib.util.find_spec("torch") is not None:
        return
    for item in items:
        if item.get_closest_marker("torch") is not None:
            item.add_marker(pytest.mark.skip(reason=WITHOUT_TORCH))


@pytest.fixture(scope="session", autouse=True)
def _torch_ready() -> Iterator[None]:
    """Prepare the imports: no hub, and a torchvision that may be of another build than torch."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")  # read when huggingface_hub is imported
        tiny.define_torchvision_operators()
        import torch

        torch.set_num_threads(1)  # these models are too small to share
        yield


@pytest.fixture(scope="session")
def checkpoint(
    tmp_path_factory: pytest.TempPathFactory, _torch_ready: None
) -> Callable[[str], Path]:
    """Build a tiny checkpoint by name, once a run; ``medcpt/query`` names a folder inside."""
    root = tmp_path_factory.mktemp("checkpoints")

    def build(name: str) -> Path:
        kind = name.partition("/")[0]
        if not (root / kind).exists():
            BUILDERS[kind](root / kind)
        return root / name

    return build


@pytest.fixture(scope="session")
def exported(
    tmp_path_factory: pytest.TempPathFactory, checkpoint: Callable[[str], Path]
) -> Callable[..., Path]:
    """Export a tiny checkpoint by name and kind, once a run."""
    root = tmp_path_factory.mktemp("exports")

    def export(name: str, kind: ExportKind) -> Path:
        folder = root / name.replace("/", "-")
        if not folder.exists():
            folder.mkdir()
            EXPORTS[kind](checkpoint(name), folder)
            files = {path.name: file_digest(path) for path in folder.iterdir()}
            window = 77 if name == "clip" else tiny.TINY_WINDOW
            card = ExportCard(kind, name, tiny.TINY_DIM, window, files=files)
            (folder / "card.json").write_text(json.dumps(card.as_json()), "utf-8")
        return folder

    return export


def _export_text(source: Path, folder: Path) -> None:
    _transformer(source, folder, kind="AutoModel", output="last_hidden_state")


def _export_pair(source: Path, folder: Path) -> None:
    _transformer(source, folder, kind="AutoModelForSequenceClassification", output="logits")


def _transformer(source: Path, folder: Path, *, kind: str, output: str) -> None:
    import torch
    import transformers

    model = getattr(transformers, kind).from_pretrained(source, attn_implementation="eager")
    tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    ids = torch.ones(2, 7, dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    names = names if "token_type_ids" in tokenizer.model_input_names else names[:2]
    values = {name: torch.zeros_like(ids) if "type" in name else ids for name in names}
    _onnx(model, values, folder / "model.onnx", pick=lambda out: out[output], output=output)


def _export_clip(source: Path, folder: Path) -> None:
    import open_clip
    import torch

    from eagle_rag.adapters.encoders.torch_clip import _own_text_tower

    own = _own_text_tower(open_clip, source)
    model = open_clip.create_model_from_pretrained(
        f"local-dir:{source}", return_transform=False, **own
    )
    words = open_clip.get_tokenizer(f"local-dir:{source}")
    words.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"))
    recipe = PixelRecipe.from_json(model.visual.preprocess_cfg, name=str(source))
    pixels = {"pixel_values": torch.zeros(2, 3, *recipe.size)}
    ids = {"input_ids": torch.ones(1, words.context_length, dtype=torch.long)}
    _onnx(_Calls(model, "encode_image"), pixels, folder / "visual.onnx", output="image_embeds")
    _onnx(_Calls(model, "encode_text"), ids, folder / "text.onnx", output="text_embeds")
    _write_recipe(folder, recipe)


def _export_vision(source: Path, folder: Path) -> None:
    import torch
    import transformers

    model = transformers.AutoModel.from_pretrained(source, attn_implementation="eager")
    side = tiny.TINY_PICTURE
    pixels = {"pixel_values": torch.zeros(2, 3, side, side)}
    _onnx(
        model,
        pixels,
        folder / "visual.onnx",
        pick=lambda out: out["last_hidden_state"].mean(1),
        output="image_embeds",
    )
    half = (0.5, 0.5, 0.5)
    _write_recipe(folder, PixelRecipe((side, side), half, half, resize_mode="squash"))


EXPORTS = {
    "text": _export_text,
    "pair": _export_pair,
    "open_clip": _export_clip,
    "vision": _export_vision,
}


def _write_recipe(folder: Path, recipe: PixelRecipe) -> None:
    (folder / "preprocess.json").write_text(json.dumps(recipe.as_json()), "utf-8")


class _Calls:
    """A model seen as one of its methods."""

    def __init__(self, model: Any, method: str) -> None:
        self.model, self.method = model, method

    def __call__(self, pixel_values: Any = None, input_ids: Any = None) -> Any:
        return getattr(self.model, self.method)(pixel_values if input_ids is None else input_ids)


def _onnx(
    model: Any,
    values: dict[str, Any],
    path: Path,
    *,
    output: str,
    pick: Callable[[Any], Any] = lambda out: out,
) -> None:
    import torch

    class Module(torch.nn.Module):  # type: ignore[misc]  # torch has no types where these are checked
        def __init__(self) -> None:
            super().__init__()
            self.inner = model.model if isinstance(model, _Calls) else model

        def forward(self, *given: Any) -> Any:
            return pick(model(**dict(zip(values, given, strict=True))))

    free = {0: "n", 1: "tokens"}
    axes = {name: free if name != "pixel_values" else {0: "n"} for name in values}
    with warnings.catch_warnings():
        # The TorchScript exporter says that it is old, and each traced branch that it was traced.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Module().eval(),
            tuple(values.values()),
            str(path),
            input_names=list(values),
            output_names=[output],
            dynamic_axes={**axes, output: {0: "n"}},
            opset_version=17,
            dynamo=False,
        )
