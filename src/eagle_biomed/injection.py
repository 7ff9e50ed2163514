"""Supplement hits into the merged ranking, so that the merged rerank sees them."""

from dataclasses import replace

from eagle_biomed.evidence import with_parts
from eagle_rag.model.query import Candidate, QueryContext

__all__ = ["INJECTED", "INJECTED_SCORE", "inject_supplement_candidates", "post_merge"]

INJECTED = "injected"
"""Part of a candidate that says it was injected; its value is 1."""
INJECTED_SCORE = 100.0
"""What is added to its score: no fused score comes near, so that no cut before the rerank drops it."""


def inject_supplement_candidates(
    merged: tuple[Candidate, ...], supplement: tuple[Candidate, ...], *, min_new: int = 2
) -> tuple[Candidate, ...]:
    """Return the ranking with up to ``min_new`` supplement hits on top that it does not hold.

    Args:
        merged: The ranking, best first.
        supplement: Best first.
        min_new: How many at most.
    """
    known = {each.passage_id for each in merged}
    unseen = [each for each in supplement if each.passage_id not in known][:min_new]
    injected = (
        replace(each, score=each.score + INJECTED_SCORE, parts=with_parts(each, **{INJECTED: 1.0}))
        for each in unseen
    )
    return (*injected, *merged)


def post_merge(
    context: QueryContext,
    merged: tuple[Candidate, ...],
    supplement: tuple[Candidate, ...],
    *,
    min_new: int = 2,
) -> tuple[Candidate, ...]:
    """Return the ranking after injection; as it is where nothing is to be injected.

    The reference's conditions: the intent requires the entity, and there is a supplement. One more: a rerank
    follows. Injection brings candidates before a reranker; with nobody to weigh them, passages that no arm
    found would be shown first.
    """
    reranked = context.rerank_policy != "none"
    if not (context.intent.require_entity_match and supplement and reranked):
        return merged
    return inject_supplement_candidates(merged, supplement, min_new=min_new)
