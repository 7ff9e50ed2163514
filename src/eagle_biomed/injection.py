"""Supplement hits into the merged ranking, so that the merged rerank sees them.

A combination query asks for several drugs. There the hits are taken in turns, so that the best hits of one drug
do not take every place of another.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from eagle_biomed.combination import DrugMentions
from eagle_biomed.evidence import with_parts
from eagle_rag.model.query import Candidate, QueryContext

__all__ = [
    "INJECTED",
    "INJECTED_SCORE",
    "inject_for_each_drug",
    "inject_supplement_candidates",
    "post_merge",
]

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
    injected = (_injected(each, each.score) for each in _unseen(merged, supplement)[:min_new])
    return (*injected, *merged)


def inject_for_each_drug(
    merged: tuple[Candidate, ...],
    supplement: tuple[Candidate, ...],
    mentions: DrugMentions,
    *,
    min_new: int = 2,
    depth: int = 50,
) -> tuple[Candidate, ...]:
    """Return the ranking with supplement hits on top that it does not hold, taken in turns by drug.

    Each drug that has such a hit gets one before any gets a second; a hit that names two counts for both. At
    equal turns a drug that nothing names of what the rerank would see goes first, then the one named first.
    Hits that name no drug come last. A hit's score is lowered to that of the one before it, so that
    scores descend.

    Args:
        merged: The ranking, best first.
        supplement: Best first.
        mentions: Which drugs a candidate names.
        min_new: How many at most, unless there are more drugs: then one a drug. 0 injects none.
        depth: Candidates that the rerank sees.
    """
    unseen = _unseen(merged, supplement)
    if not (unseen and min_new):
        return merged
    limit = max(min_new, len(mentions.drugs))
    head = merged[: max(depth - limit, 0)]  # what is injected pushes the others down
    named = mentions.of((*head, *unseen))
    standing = [
        any(row[drug] for row in named[: len(head)]) for drug in range(len(mentions.drugs))
    ]
    taken = [unseen[at] for at in _in_turns(named[len(head) :], standing, limit=limit)]
    scores = accumulate((each.score for each in taken), min)
    injected = (_injected(each, score) for each, score in zip(taken, scores, strict=True))
    return (*injected, *merged)


def _in_turns(
    named: Sequence[tuple[bool, ...]], standing: Sequence[bool], *, limit: int
) -> list[int]:
    """Return the places of the hits that are taken, in the order of their turns.

    Args:
        named: One row a hit, best hit first: whether it names each drug.
        standing: Of each drug, whether the ranking names it already.
        limit: How many are taken at most.
    """
    turns = [0] * len(standing)
    left = list(range(len(named)))
    taken: list[int] = []
    while left and len(taken) < limit:
        due = sorted(range(len(turns)), key=lambda drug: (turns[drug], standing[drug]))
        best = next((at for drug in due for at in left if named[at][drug]), left[0])
        left.remove(best)
        taken.append(best)
        turns = [count + has for count, has in zip(turns, named[best], strict=True)]
    return taken


def _unseen(
    merged: tuple[Candidate, ...], supplement: tuple[Candidate, ...]
) -> tuple[Candidate, ...]:
    known = {each.passage_id for each in merged}
    return tuple(each for each in supplement if each.passage_id not in known)


def _injected(candidate: Candidate, score: float) -> Candidate:
    parts = with_parts(candidate, **{INJECTED: 1.0})
    return replace(candidate, score=score + INJECTED_SCORE, parts=parts)


def post_merge(
    context: QueryContext,
    merged: tuple[Candidate, ...],
    supplement: tuple[Candidate, ...],
    *,
    min_new: int = 2,
    mentions: DrugMentions | None = None,
) -> tuple[Candidate, ...]:
    """Return the ranking after injection; as it is where nothing is to be injected.

    The reference's conditions: the intent requires the entity, and there is a supplement. One more: a rerank
    follows. Injection brings candidates before a reranker; with nobody to weigh them, passages that no arm
    found would be shown first.

    Args:
        context: The query.
        merged: The ranking, best first.
        supplement: Best first.
        min_new: How many are injected at most.
        mentions: Which drugs a candidate names; given for a query whose drugs have a turn each.
    """
    reranked = context.rerank_policy != "none"
    if not (context.intent.require_entity_match and supplement and reranked):
        return merged
    if mentions is None:
        return inject_supplement_candidates(merged, supplement, min_new=min_new)
    return inject_for_each_drug(
        merged, supplement, mentions, min_new=min_new, depth=context.rerank_depth
    )
