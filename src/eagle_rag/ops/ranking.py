"""Order, duplicates, groups and pages of candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Final, TypeVar

from eagle_rag.errors import InvalidInput
from eagle_rag.model.query import ArmScore, Candidate

__all__ = ["dedupe", "group_by_document", "page", "total_order"]

_T = TypeVar("_T")
_NO_SPANS: Final[Mapping[str, tuple[int, int]]] = {}


def total_order(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates by score descending, then passage id, then collection; NaN comes last."""
    return tuple(sorted(candidates, key=_order))


def dedupe(
    candidates: Sequence[Candidate], *, spans: Mapping[str, tuple[int, int]] = _NO_SPANS
) -> tuple[Candidate, ...]:
    """Return each passage once, at its highest place, with the arms of all that were dropped.

    Args:
        candidates: Best first; the order is kept.
        spans: ``(start, end)`` by passage id: two passages of one document that are the same
            characters are one.
    """
    kept: dict[tuple[str, ...], Candidate] = {}
    by_span: dict[tuple[str, int, int], tuple[str, ...]] = {}
    for candidate in candidates:
        key: tuple[str, ...] = (candidate.passage_id,)
        span = spans.get(candidate.passage_id)
        if span is not None:
            key = by_span.setdefault((candidate.document_id, *span), key)
        first = kept.get(key)
        kept[key] = candidate if first is None else _with_arms(first, candidate.arms)
    return tuple(kept.values())


def group_by_document(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the best candidate of each document, in total order: a document scores as its best."""
    best: dict[str, Candidate] = {}
    for candidate in total_order(candidates):
        best.setdefault(candidate.document_id, candidate)
    return tuple(best.values())


def page(items: Sequence[_T], *, offset: int, limit: int) -> tuple[_T, ...]:
    """Return ``limit`` items after the first ``offset``; fewer, or none, at the end.

    Raises:
        InvalidInput: ``offset`` is below 0 or ``limit`` below 1.
    """
    if offset < 0:
        msg = f"offset must be at least 0, got {offset}"
        raise InvalidInput(msg)
    if limit < 1:
        msg = f"limit must be at least 1, got {limit}"
        raise InvalidInput(msg)
    return tuple(items[offset : offset + limit])


def _order(candidate: Candidate) -> tuple[bool, float, str, str]:
    score = candidate.score
    nan = isnan(score)
    return nan, 0.0 if nan else -score, candidate.passage_id, candidate.collection


def _with_arms(candidate: Candidate, arms: tuple[ArmScore, ...]) -> Candidate:
    """Add arms that are not there yet."""
    new = tuple(arm for arm in arms if arm not in candidate.arms)
    return replace(candidate, arms=candidate.arms + new) if new else candidate
