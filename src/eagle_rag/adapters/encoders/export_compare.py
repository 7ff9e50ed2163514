"""Whether an exported folder gives what its checkpoint gives, through the encoders that serve both."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np

from eagle_rag.adapters.encoders.export_towers import ExportJob
from eagle_rag.adapters.encoders.folder import ExportCard
from eagle_rag.adapters.encoders.runtimes import open_pairs, open_text, open_visual
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe
from eagle_rag.model.passage import FloatArray

__all__ = ["Agreement", "compare_export"]

_MOST_DIFFERENCE = (
    1e-4  # of a number, in fp32: what rounding gives in deep models, and ten times more
)
_LEAST_COSINE = 0.95  # in int8: real models reach 0.99; below this, answers change
_MOST_SCORE_DIFFERENCE = 0.1  # of a score in int8, as a share of the largest
_TEXTS = (
    "Osimertinib improved progression-free survival in EGFR T790M-positive disease.",
    "CC(=O)Oc1ccccc1C(=O)O",
    "IC50 = 2.3 \N{GREEK SMALL LETTER MU}M at 37 \N{DEGREE SIGN}C",
    "a",
    "the window of the model is shorter than this text " * 60,
)
_QUERY = "resistance to osimertinib"
_SIZES = ((64, 48), (50, 90), (224, 224))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How near two encoders are.

    Args:
        difference: Largest difference of a number.
        cosine: Lowest cosine of two vectors; of a cross-encoder, of the scores.
    """

    difference: float
    cosine: float


def compare_export(job: ExportJob, card: ExportCard) -> Agreement:
    """Encode the same things with the checkpoint and with the export.

    Raises:
        EncoderLoadError: They do not agree: in fp32 to 1e-4, in int8 to a cosine of 0.95.
    """
    native, exported = _both(job, card)
    rows = [(left, right) for left, right in zip(native, exported, strict=True)]
    difference = max(float(np.abs(left - right).max()) for left, right in rows)
    cosine = min(_cosine(left, right) for left, right in rows)
    agreement = Agreement(difference, cosine)
    largest = max(1.0, *(float(np.abs(left).max()) for left, _ in rows))
    limit = _MOST_DIFFERENCE if card.precision == "fp32" else _MOST_SCORE_DIFFERENCE
    exact = card.precision == "fp32" or card.kind == "pair"
    agrees = difference <= limit * largest if exact else cosine >= _LEAST_COSINE
    if not (agrees and np.isfinite(difference)):
        message = (
            f"the export of {job.source} differs from it: by {difference:.3g}, cosine {cosine:.4f}"
        )
        raise EncoderLoadError(
            message, remedy="export it with precision fp32, or use it with runtime torch"
        )
    return agreement


def _both(job: ExportJob, card: ExportCard) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return what checkpoint and export give, vector by vector."""
    native, exported = (
        EncoderCard(
            job.source,
            {"text": "text", "pair": "rerank"}.get(job.kind, "visual"),  # type: ignore[arg-type]  # a literal of Modality
            card.dim,
            runtime,
            checkpoint=checkpoint,
            max_tokens=card.max_tokens,
            queries_text=job.kind == "open_clip",
        )
        for runtime, checkpoint in (("torch", job.source), ("onnx", str(job.folder)))
    )
    return _given(job, native), _given(job, exported)


def _given(job: ExportJob, card: EncoderCard) -> list[FloatArray]:
    if job.kind == "text":
        text = open_text(card, TextRecipe(pooling=job.pooling))
        return list(text.encode_documents(_TEXTS).vectors)
    if job.kind == "pair":
        return [open_pairs(card, PairRecipe()).score_pairs(_QUERY, _TEXTS)]
    visual = open_visual(card, job.visual_recipe())
    rows = list(visual.encode_images(_pictures()).vectors)
    if card.queries_text:
        rows += [visual.encode_query(text).vectors[0] for text in _TEXTS]
    return rows


def _pictures() -> Sequence[bytes]:
    """Return pictures without a pattern, of several shapes."""
    from PIL import Image

    numbers = np.random.default_rng(5)
    files = []
    for width, height in _SIZES:
        pixels = numbers.integers(0, 256, (height, width, 3), np.uint8)
        with BytesIO() as file:
            Image.fromarray(pixels).save(file, "PNG")
            files.append(file.getvalue())
    return files


def _cosine(left: FloatArray, right: FloatArray) -> float:
    size = np.sqrt(float(left @ left) * float(right @ right))
    return float(left @ right) / size if size else float(np.array_equal(left, right))
