"""The four signals of the document router and how they become one score. Pure formulas.

They are those of the reference (``biomed-plugin``, "Tiered Document Router"); what it leaves open is
decided here: IMRaD sections are introduction, methods, results and discussion; entropy is in bits over
the sketch's words in lower case.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from typing import Literal

import numpy as np

from eagle_biomed.enrichment import SECTION_TAG, tag
from eagle_biomed.options import FusionWeights
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import FloatArray, Passage

__all__ = [
    "Band",
    "Signals",
    "band_of",
    "build_sketch",
    "fused_score",
    "imrad_diversity",
    "prototype_margin",
    "sketch_entropy",
    "umls_density",
]

Band = Literal["biomedical", "general", "ambiguous"]

_HEAD_PASSAGES = 8
_IMRAD = frozenset({"introduction", "methods", "results", "discussion"})
_IMRAD_FULL = 3.0
_ENTROPY_FULL = 5.0
_WORD = re.compile(r"\w+")
_SUMMARY = "abstract"


@dataclass(frozen=True, slots=True)
class Signals:
    """What the router saw of one document.

    Args:
        prototype: Best cosine to a biomedical prototype less best cosine to a general one, -1 to 1.
        umls: Known entities to the root of the sketch's length, 0 to 1.
        imrad: Kinds of IMRaD sections, a third each, 0 to 1.
        entropy: Entropy of the sketch's words, a fifth of its bits, 0 to 1.
    """

    prototype: float
    umls: float
    imrad: float
    entropy: float


def build_sketch(passages: Sequence[Passage], max_chars: int) -> str:
    """Return what stands for a document: its abstract or summary, then its first eight passages.

    Args:
        passages: All its passages, tagged by section.
        max_chars: The rest is cut off.
    """
    summaries = [each for each in passages if _is_summary(each)]
    chosen = dict.fromkeys(each.text for each in (*summaries, *passages[:_HEAD_PASSAGES]))
    return "\n\n".join(chosen)[:max_chars]


def _is_summary(passage: Passage) -> bool:
    return passage.section_kind is SectionKind.ABSTRACT or tag(passage, SECTION_TAG) == _SUMMARY


def prototype_margin(sketch: FloatArray, biomedical: FloatArray, general: FloatArray) -> float:
    """Return the best cosine to a biomedical prototype less the best to a general one, -1 to 1.

    Args:
        sketch: Shape ``(dim,)``.
        biomedical: Shape ``(n, dim)``, at least one row.
        general: As ``biomedical``.
    """
    margin = _best_cosine(sketch, biomedical) - _best_cosine(sketch, general)
    return min(1.0, max(-1.0, margin))


def _best_cosine(vector: FloatArray, rows: FloatArray) -> float:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(vector)
    # A zero vector points nowhere: it resembles nothing.
    return float(np.max((rows @ vector) / np.where(lengths > 0, lengths, 1.0)))


def umls_density(entities: Iterable[str], sketch: str) -> float:
    """Return distinct entities over the square root of the sketch's characters, at most 1."""
    return min(1.0, len(set(entities)) / sqrt(len(sketch))) if sketch else 0.0


def imrad_diversity(sections: Iterable[str]) -> float:
    """Return the number of IMRaD sections among the tags over 3, at most 1."""
    return min(1.0, len(_IMRAD.intersection(sections)) / _IMRAD_FULL)


def sketch_entropy(sketch: str) -> float:
    """Return the Shannon entropy of the sketch's words in bits over 5, at most 1."""
    counts = Counter(_WORD.findall(sketch.lower()))
    total = counts.total()
    bits = -sum(count / total * log2(count / total) for count in counts.values())
    return min(1.0, max(0.0, bits / _ENTROPY_FULL))


def fused_score(signals: Signals, weights: FusionWeights) -> float:
    """Return the weighted sum of the signals."""
    return (
        weights.prototype * signals.prototype
        + weights.umls * signals.umls
        + weights.imrad * signals.imrad
        + weights.entropy * signals.entropy
    )


def band_of(score: float, *, threshold: float, margin: float) -> Band:
    """Return what a score decides; on a border of the band and inside it, nothing."""
    if score > threshold + margin:
        return "biomedical"
    return "general" if score < threshold - margin else "ambiguous"
