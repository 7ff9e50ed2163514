"""Each kind of checkpoint to the files of its exported folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eagle_rag.adapters.encoders.export_graphs import Graph, write_graph
from eagle_rag.adapters.encoders.folder import (
    MODEL,
    PREPROCESS,
    TEXT_TOWER,
    TOKENIZER,
    VISUAL_TOWER,
    ExportKind,
)
from eagle_rag.adapters.encoders.hub import NativeCheckpoint
from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.adapters.encoders.pixels import PixelRecipe
from eagle_rag.adapters.encoders.session import TEXT_INPUTS
from eagle_rag.adapters.encoders.torch_clip import OpenClipSource
from eagle_rag.adapters.encoders.torch_runtime import TorchRuntime
from eagle_rag.adapters.encoders.torch_vision import VisionSource
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import Pooling, VisualRecipe

__all__ = ["ExportJob", "TowerShape", "write_towers"]

_WINDOW = 512  # tokens; the window of BERT and its kin
_EXAMPLE_TOKENS = 7  # another length than any a model treats alone
_BATCH, _TOKENS = {0: "n"}, {0: "n", 1: "tokens"}
_POOLED = ("sentence_embedding", "text_embeds", "pooler_output")


@dataclass(frozen=True, slots=True)
class ExportJob:
    """What is exported.

    Args:
        source: A folder, a weights file or a hub id.
        folder: An empty folder for the files.
        kind: What it is.
        pooling: Of ``text``.
        model_args: Of a timm checkpoint.
    """

    source: str
    folder: Path
    kind: ExportKind
    pooling: Pooling = "mean"
    model_args: tuple[tuple[str, str | float | bool], ...] = ()

    def visual_recipe(self) -> VisualRecipe:
        """Return how the checkpoint's pictures are encoded."""
        if self.kind == "open_clip":
            return VisualRecipe("open_clip")
        return VisualRecipe("vision", model_args=self.model_args)


@dataclass(frozen=True, slots=True)
class TowerShape:
    """What the files give: dimension, and the window of the text side (0 for none)."""

    dim: int
    max_tokens: int


def write_towers(job: ExportJob) -> TowerShape:
    """Write model, tokenizer and pixel recipe of a checkpoint.

    Raises:
        EncoderLoadError: It does not load, or has no ONNX form.
    """
    if job.kind == "open_clip":
        return _write_clip(job)
    return _write_vision(job) if job.kind == "vision" else _write_text(job)


def _write_text(job: ExportJob) -> TowerShape:
    folder = NativeCheckpoint(job.source, job.source).folder()
    runtime = TorchRuntime(job.source)
    tokenizer = runtime.tokenizer(folder)
    pair = job.kind == "pair"
    unused = "" if pair or job.pooling == "none" else "pooler."
    name = "AutoModelForSequenceClassification" if pair else "AutoModel"
    model = _plain(runtime.pretrained(name, folder, unused=unused).to("cpu"))
    output = "logits" if pair else "last_hidden_state"
    if not pair and job.pooling == "none":
        output = "sentence_embedding"
    names = [each for each in TEXT_INPUTS if each in tokenizer.model_input_names]
    torch = runtime.torch
    # Ids of real words: a model may treat its padding id as padding.
    ids = torch.from_numpy(_example(tokenizer))
    example = {each: torch.zeros_like(ids) if "type" in each else ids for each in names}
    example["attention_mask"] = torch.ones_like(ids)
    inputs = {each: example[each] for each in names}

    def call(*given: Any) -> Any:  # noqa: ANN401 - torch tensors
        result = model(**dict(zip(inputs, given, strict=True)))
        return _pooled(result, job) if output == "sentence_embedding" else result[output]

    graph = Graph(
        call,
        model,
        inputs,
        output,
        free=dict.fromkeys(inputs, _TOKENS),
        free_output=_TOKENS if output == "last_hidden_state" else _BATCH,
    )
    _save_tokenizer(tokenizer, job.folder / TOKENIZER, job.source)
    dim = write_graph(graph, job.folder / MODEL, job.source)
    return TowerShape(1 if pair else dim, _window(model.config, job.source))


def _example(tokenizer: Any) -> "np.typing.NDArray[np.int64]":  # noqa: ANN401 - a transformers tokenizer
    ids = tokenizer("a b c d e f g h i j k l")["input_ids"]
    row = (ids * _EXAMPLE_TOKENS)[:_EXAMPLE_TOKENS]
    return np.array([row, row], np.int64)


def _pooled(result: Any, job: ExportJob) -> Any:  # noqa: ANN401 - a model's output, a tensor
    found = (getattr(result, name, None) for name in _POOLED)
    vectors = next((value for value in found if value is not None), None)
    if vectors is None:
        message = f"{job.source} does not pool by itself"
        raise EncoderLoadError(message, remedy="choose pooling mean or cls")
    return vectors


def _window(config: Any, source: str) -> int:  # noqa: ANN401 - a transformers configuration
    positions = int(getattr(config, "max_position_embeddings", _WINDOW) or _WINDOW)
    if "roberta" in str(getattr(config, "model_type", "")):
        # RoBERTa counts positions from behind the padding id (transformers, modeling_roberta.py).
        positions -= int(getattr(config, "pad_token_id", 0) or 0) + 1
    if positions < 1:
        message = f"{source} has {positions} positions"
        raise EncoderLoadError(message, remedy="correct its configuration")
    return min(positions, _WINDOW)


def _save_tokenizer(tokenizer: Any, path: Path, source: str) -> None:  # noqa: ANN401 - a transformers tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        message = f"the tokenizer of {source} has no tokenizer.json form"
        raise EncoderLoadError(message, remedy="use the checkpoint itself, with runtime torch")
    backend.save(str(path))


def _write_clip(job: ExportJob) -> TowerShape:
    card = EncoderCard(job.source, "visual", 0, "torch", checkpoint=job.source, queries_text=True)
    towers = OpenClipSource(card, job.visual_recipe()).load()
    # The tower's own model and tokenizer: loaded here a second way, they could differ from those.
    model = _plain(towers._model.to("cpu"))  # noqa: SLF001 - as the line above says
    words, size = towers._tokenizer, towers._context  # noqa: SLF001 - likewise
    torch, open_clip = needed("torch", job.source), needed("open_clip", job.source)
    recipe = _clip_recipe(open_clip.get_model_preprocess_cfg(model), job.source)
    height, width = recipe.size
    pixels = torch.zeros(2, 3, height, width)
    visual = Graph(
        model.encode_image,
        model,
        {"pixel_values": pixels},
        "image_embeds",
        free={"pixel_values": _BATCH},
        free_output=_BATCH,
    )
    text = Graph(
        model.encode_text,
        model,
        {"input_ids": words(["a b c", "d"]).to(torch.int64)},
        "text_embeds",
        free={"input_ids": _BATCH},
        free_output=_BATCH,
    )
    _save_clip_tokenizer(words, job)
    _write_recipe(job, recipe)
    dim = write_graph(visual, job.folder / VISUAL_TOWER, job.source)
    write_graph(text, job.folder / TEXT_TOWER, job.source)
    return TowerShape(dim, size)


def _clip_recipe(values: dict[str, Any], source: str) -> PixelRecipe:
    if values.get("mode", "RGB") != "RGB":
        message = f"{source} takes pictures of mode {values['mode']!r}"
        raise EncoderLoadError(message, remedy="use the checkpoint itself, with runtime torch")
    return PixelRecipe.from_json(values, name=source)


def _save_clip_tokenizer(words: Any, job: ExportJob) -> None:  # noqa: ANN401 - an open_clip tokenizer
    """Save an open_clip tokenizer with the id it pads with."""
    own = getattr(words, "tokenizer", None)
    if own is None:
        own = _byte_pairs(words, job)
        padding = 0
    else:
        padding = int(own.pad_token_id or 0)
    backend = getattr(own, "backend_tokenizer", None)
    if backend is None:
        message = f"the tokenizer of {job.source} has no tokenizer.json form"
        raise EncoderLoadError(message, remedy="use the checkpoint itself, with runtime torch")
    backend.enable_padding(pad_id=padding)
    backend.save(str(job.folder / TOKENIZER))


def _byte_pairs(words: Any, job: ExportJob) -> Any:  # noqa: ANN401 - open_clip's tokenizer, transformers'
    """Return open_clip's own tokenizer of byte pairs as transformers' CLIP tokenizer."""
    ids, ranks = getattr(words, "encoder", None), getattr(words, "bpe_ranks", None)
    if ids is None or ranks is None:
        message = f"{job.source} has a tokenizer of an unknown kind, {type(words).__name__}"
        raise EncoderLoadError(message, remedy="use the checkpoint itself, with runtime torch")
    transformers = needed("transformers", job.source)
    merges = [pair for pair, _ in sorted(ranks.items(), key=lambda item: item[1])]
    special = {"bos_token": "<start_of_text>", "eos_token": "<end_of_text>"}
    return transformers.CLIPTokenizer(
        vocab=dict(ids), merges=merges, unk_token=special["eos_token"],
        pad_token=special["eos_token"], **special,
    )  # fmt: skip


def _write_vision(job: ExportJob) -> TowerShape:
    card = EncoderCard(job.source, "visual", 0, "torch", checkpoint=job.source)
    tower = VisionSource(card, job.visual_recipe()).load()
    # As in _write_clip: what the tower itself runs.
    model, recipe = _plain(tower._model.to("cpu")), tower._recipe  # noqa: SLF001 - as the line above says
    torch = needed("torch", job.source)
    height, width = recipe.size
    graph = Graph(
        lambda pixels: tower._pooled(model(pixels)),  # noqa: SLF001 - likewise
        model,
        {"pixel_values": torch.zeros(2, 3, height, width)},
        "image_embeds",
        free={"pixel_values": _BATCH},
        free_output=_BATCH,
    )
    _write_recipe(job, recipe)
    return TowerShape(write_graph(graph, job.folder / VISUAL_TOWER, job.source), 0)


def _write_recipe(job: ExportJob, recipe: PixelRecipe) -> None:
    text = json.dumps(recipe.as_json(), indent=2) + "\n"
    (job.folder / PREPROCESS).write_text(text, "utf-8")


def _plain(model: Any) -> Any:  # noqa: ANN401 - a torch module
    """Return a model whose attention is written out: onnxruntime runs that form faster than the fused one."""
    for module in model.modules():
        if hasattr(module, "set_attn_implementation"):
            module.set_attn_implementation("eager")
        if hasattr(module, "fused_attn"):
            module.fused_attn = False
    return model
