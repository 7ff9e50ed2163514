"""Stages 5 and 9: reranking one plan's candidates (tier 1), and the merged ranking (tier 2)."""

from collections.abc import Callable

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.query import Candidate, CollectionQueryPlan, ExpandedQuery, QueryContext

__all__ = ["rerank_merged", "rerank_plan"]


def rerank_plan(
    bus: BoundBus,
    context: QueryContext,
    *,
    plan: CollectionQueryPlan,
    expanded: ExpandedQuery,
    candidates: tuple[Candidate, ...],
) -> tuple[Candidate, ...]:
    """Return one plan's candidates in a plugin's order; as given when every plugin abstains."""
    if not candidates:
        return candidates
    reranked = bus.rerank(context, plan, expanded, candidates)
    return candidates if reranked is None else reranked


def rerank_merged(
    bus: BoundBus,
    context: QueryContext,
    merged: tuple[Candidate, ...],
    *,
    depth: int,
    texts_of: Callable[[tuple[Candidate, ...]], tuple[str, ...]],
) -> tuple[Candidate, ...]:
    """Rerank the head of the merged ranking; the rest follows in its order.

    Args:
        bus: Hooks.
        context: The query.
        merged: Fused ranking, best first.
        depth: How many candidates are reranked at most.
        texts_of: Reads the text of candidates, in order.
    """
    head, tail = merged[:depth], merged[depth:]
    if not head or not bus.implements("rerank_merged"):
        return merged
    reranked = bus.rerank_merged(context, head, texts_of(head))
    return merged if reranked is None else reranked + tail
