"""Stages 5 and 9: reranking one plan's candidates (tier 1), and the merged ranking (tier 2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from eagle_rag.errors import EncoderLoadError, EncoderUnavailable, UnknownName
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.kernel.contracts import stamp_arm
from eagle_rag.model.query import (
    STAND_IN_PART,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
)
from eagle_rag.ops.pair_budget import score_within
from eagle_rag.ports.encoders import PairScorer

__all__ = ["Head", "Reranked", "rerank_general", "rerank_merged", "rerank_plan"]

_ARM = "rerank_merged/core"
_PART = "ce_raw"


@dataclass(frozen=True, slots=True)
class Head:
    """What tier 2 gets.

    Args:
        merged: Fused ranking, best first.
        depth: How many candidates are reranked at most.
        texts_of: Reads the text of candidates, in order; empty for one that has none.
    """

    merged: tuple[Candidate, ...]
    depth: int
    texts_of: Callable[[tuple[Candidate, ...]], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Reranked:
    """What tier 2 made of a ranking.

    Args:
        candidates: Best first; those that were not scored follow in their order.
        message: What was done, or why nothing was.
        degraded: A reranker was asked for and none answered.
    """

    candidates: tuple[Candidate, ...]
    message: str
    degraded: bool = False


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


def rerank_merged(bus: BoundBus, context: QueryContext, head: Head) -> Reranked:
    """Rerank the head of the merged ranking by the plugin; the rest follows in its order."""
    if not bus.implements("rerank_merged"):
        message = (
            "rerank.policy asks for a reranker and no plugin brings one; the fused order stands"
        )
        return Reranked(head.merged, message, degraded=True)
    given, tail = head.merged[: head.depth], head.merged[head.depth :]
    if not given:
        return Reranked(head.merged, "nothing to rerank")
    ranked = bus.rerank_merged(context, given, head.texts_of(given))
    if ranked is None:
        return Reranked(head.merged, "every plugin left the fused order")
    scored = {item.passage_id for item in ranked}
    rest = tuple(item for item in given if item.passage_id not in scored)
    message, stood_in = _count(len(ranked), head, "the plugin"), _stood_in(ranked)
    if stood_in:
        message = f"{message}; its encoder failed, {stood_in} of them by scores that stand in"
    return Reranked((*ranked, *rest, *tail), message, degraded=bool(stood_in))


def _stood_in(ranked: tuple[Candidate, ...]) -> int:
    return sum(STAND_IN_PART in dict(item.parts) for item in ranked)


def rerank_general(
    scorer: Callable[[], PairScorer] | None,
    context: QueryContext,
    head: Head,
    *,
    clock: Callable[[], float],
) -> Reranked:
    """Rerank the head of the merged ranking by the core's cross-encoder.

    Candidates without a text, and those that ``context.rerank_budget_s`` did not reach, keep their order
    below.

    Args:
        scorer: Gives the cross-encoder of ``rerank.encoder``; ``None`` when it names none.
        context: The query.
        head: What to rerank.
        clock: Seconds, such as ``time.monotonic``.
    """
    given = head.merged[: head.depth]
    if not given or not context.request.query.strip():
        return Reranked(head.merged, "nothing to rerank")
    if scorer is None:
        message = "rerank.policy is general and rerank.encoder names none; the fused order stands"
        return Reranked(head.merged, message, degraded=True)
    texts = head.texts_of(given)
    readable = [at for at, text in enumerate(texts) if text.strip()]
    try:
        encoder = scorer()
        scores = score_within(
            encoder,
            context.request.query,
            [texts[at] for at in readable],
            budget_s=context.rerank_budget_s,
            clock=clock,
        )
    except (EncoderLoadError, EncoderUnavailable, UnknownName) as error:
        message = f"the cross-encoder does not answer, the fused order stands: {error}"
        return Reranked(head.merged, message, degraded=True)
    scored = [
        _with_score(given[at], float(score)) for at, score in zip(readable, scores, strict=False)
    ]
    ranked = sorted(scored, key=lambda item: (-item.score, item.passage_id))
    done = {item.passage_id for item in ranked}
    rest = tuple(item for item in head.merged if item.passage_id not in done)
    candidates = (*stamp_arm(tuple(ranked), _ARM), *rest)
    return Reranked(candidates, _count(len(ranked), head, encoder.card.label))


def _with_score(item: Candidate, score: float) -> Candidate:
    parts = dict(item.parts) | {_PART: score}
    return replace(item, score=score, parts=tuple(sorted(parts.items())))


def _count(scored: int, head: Head, who: str) -> str:
    wanted = min(head.depth, len(head.merged))
    stopped = "" if scored == wanted else "; the others keep their order below"
    return f"{scored} of {wanted} candidates reranked by {who}{stopped}"
