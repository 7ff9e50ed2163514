"""``eagle models``: which encoders there are, whether they work, and exporting a checkpoint."""

import struct
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eagle_rag.adapters.encoders.export import ExportRecipe, ExportReport, export_checkpoint
from eagle_rag.adapters.encoders.weights import weights_place
from eagle_rag.engine.compose import Kernel
from eagle_rag.errors import EagleError
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch

__all__ = [
    "ExportRecipe",
    "ExportReport",
    "ModelCheck",
    "ModelListing",
    "check_models",
    "export_model",
    "list_models",
    "probe_encoder",
    "score_probe",
    "stand_in_of",
]

_ROUNDS = 5
# A text that text encoders and encoders of molecules take alike.
_PROBE = "aspirin, SMILES: CC(=O)Oc1ccccc1C(=O)O"


@dataclass(frozen=True, slots=True)
class ModelListing:
    """An encoder as it is registered.

    Args:
        label: Its name in settings and indexes.
        modality: ``text``, ``visual`` or ``rerank``.
        dim: Its dimension; 1 for ``rerank``.
        runtime: What runs it.
        checkpoint: Where its weights come from.
        licence: Of its weights.
        weights: Where they are on this machine.
        fills: Collections it fills, by name.
    """

    label: str
    modality: str
    dim: int
    runtime: str
    checkpoint: str
    licence: str
    weights: str
    fills: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What a trial of an encoder gave.

    Args:
        label: Its name.
        ok: It encoded the trial, or nobody needs it here.
        checked: It was tried; an encoder that fills nothing and whose weights are absent is not.
        message: What is wrong, or why something else stands in; empty when all is well.
        fills: Collections it fills.
        dim: Dimension of what it gave; 0 when it gave nothing.
        norm: Length of the vector; of a cross-encoder, the score.
        digest: SHA-256 of its vector space; empty for a cross-encoder.
        load_ms: Milliseconds of the first trial, which loads it.
        item_ms: Milliseconds of one more, the median of five.
    """

    label: str
    ok: bool
    checked: bool
    message: str
    fills: tuple[str, ...]
    dim: int = 0
    norm: float = 0.0
    digest: str = ""
    load_ms: float = 0.0
    item_ms: float = 0.0


def list_models(kernel: Kernel) -> tuple[ModelListing, ...]:
    """Return every registered encoder by label; nothing is loaded or downloaded."""
    return tuple(
        ModelListing(
            card.label,
            card.modality,
            card.dim,
            card.runtime,
            card.checkpoint,
            card.licence,
            weights_place(card),
            _filled_by(kernel, card.label),
        )
        for card in kernel.encoders.cards()
    )


def check_models(kernel: Kernel, label: str | None = None) -> tuple[ModelCheck, ...]:
    """Load encoders and encode something small with each.

    Args:
        kernel: The encoders.
        label: Only this one; ``None`` for those that fill a collection and those whose weights are here.

    Raises:
        UnknownName: Nobody registered the label.
    """
    cards = kernel.encoders.cards() if label is None else (kernel.encoders.card(label),)
    return tuple(_checked(kernel, card, asked=label is not None) for card in cards)


def export_model(
    source: str, folder: Path, recipe: ExportRecipe, *, on_step: Callable[[str], None]
) -> ExportReport:
    """Export a checkpoint to a folder that onnxruntime reads.

    Args:
        source: A folder or a hub id.
        folder: Must not exist yet; it appears when everything in it was compared.
        recipe: What to make of it.
        on_step: Told what is done next.

    Raises:
        EncoderLoadError: A library is missing, the checkpoint does not load, or the export differs.
        InvalidInput: The folder is there already, or the recipe contradicts itself.
    """
    return export_checkpoint(source, folder, recipe, on_step=on_step)


def probe_encoder(encoders: EncoderRegistry, label: str) -> EncodedBatch:
    """Return the vector of something small by a text or visual encoder.

    Raises:
        EncoderLoadError: Its weights are missing or do not load.
    """
    if encoders.card(label).modality == "visual":
        return encoders.visual(label).encode_images([_grey_square()])
    return encoders.text(label).encode_query(_PROBE)


def score_probe(encoders: EncoderRegistry, label: str) -> float:
    """Return the score of something small by a cross-encoder.

    Raises:
        UnknownName: Nobody registered it as a cross-encoder.
        EncoderLoadError: Its weights are missing or do not load.
    """
    return float(encoders.rerank(label).score_pairs("aspirin", [_PROBE])[0])


def stand_in_of(encoders: EncoderRegistry, label: str) -> str:
    """Return what an encoder says stands in for its weights; empty when nothing does.

    An encoder says so by an attribute ``stand_in``, which the ports do not ask for.
    """
    encoder: object
    modality = encoders.card(label).modality
    if modality == "visual":
        encoder = encoders.visual(label)
    elif modality == "rerank":
        encoder = encoders.rerank(label)
    else:
        encoder = encoders.text(label)
    return str(getattr(encoder, "stand_in", ""))


def _filled_by(kernel: Kernel, label: str) -> tuple[str, ...]:
    profiles = kernel.collections.profiles()
    return tuple(each.name for each in profiles if each.default_encoder == label)


def _checked(kernel: Kernel, card: EncoderCard, *, asked: bool) -> ModelCheck:
    fills = _filled_by(kernel, card.label)
    if not (asked or fills) and weights_place(card) == "absent":
        message = "its weights are not here, and it fills no collection"
        return ModelCheck(card.label, ok=True, checked=False, message=message, fills=fills)
    try:
        return _tried(kernel.encoders, card, fills)
    except (EagleError, OSError) as error:
        return ModelCheck(card.label, ok=False, checked=True, message=str(error), fills=fills)


def _tried(encoders: EncoderRegistry, card: EncoderCard, fills: tuple[str, ...]) -> ModelCheck:
    digest = ""

    def once() -> Iterable[float]:
        nonlocal digest
        if card.modality == "rerank":
            return [score_probe(encoders, card.label)]
        batch = probe_encoder(encoders, card.label)
        digest = batch.spec.digest
        return [float(number) for number in batch.vectors[0]]

    spent, values = zip(*(_timed(once) for _ in range(_ROUNDS + 1)), strict=True)
    vector = np.array(list(values[0]), np.float64)
    return ModelCheck(
        card.label,
        ok=True,
        checked=True,
        message=stand_in_of(encoders, card.label),
        fills=fills,
        dim=vector.size,
        norm=float(vector[0]) if card.modality == "rerank" else float(np.sqrt(vector @ vector)),
        digest=digest,
        load_ms=1000 * spent[0],
        item_ms=1000 * float(np.median(spent[1:])),
    )


def _timed(run: Callable[[], Iterable[float]]) -> tuple[float, Iterable[float]]:
    started = time.perf_counter()
    values = run()
    return time.perf_counter() - started, values


def _grey_square(size: int = 32) -> bytes:
    """Return a picture (PNG, 8-bit grey) that every encoder can decode."""
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * size) * size)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
