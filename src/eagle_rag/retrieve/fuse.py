"""Stage 7: one ranking from the arms of a plan, and one from all plans.

Inside one collection the arms may be fused by rank or by score; across collections only ranks merge,
because scores of different vector spaces do not compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import ArmScore, Candidate, FusionMethod
from eagle_rag.ops.fusion import fuse_min_max, fuse_rrf, fuse_weighted
from eagle_rag.ops.pictures import picture_key

__all__ = ["FusionConfig", "RankedArm", "fuse_arms", "merge_plans"]


@dataclass(frozen=True, slots=True)
class FusionConfig:
    """How rankings merge.

    Args:
        method: Inside one collection.
        rrf_k: Constant of reciprocal rank fusion.
        alpha: Share of the dense score in the score fusions; the lexical arms share the rest.
    """

    method: FusionMethod = "rrf"
    rrf_k: int = 60
    alpha: float = 0.5


@dataclass(frozen=True, slots=True)
class RankedArm:
    """One arm's live hits, best first."""

    arm: str
    hits: tuple[StoreHit, ...]


def fuse_arms(
    collection: str, arms: Sequence[RankedArm], config: FusionConfig
) -> tuple[Candidate, ...]:
    """Return one plan's candidates, score descending, then passage id.

    Every candidate keeps the rank and score of each arm that found it; ranks are those among live rows.
    A passage that an arm found by several rows (its pictures have rows of their own) counts by the best.
    """
    pictures = _pictures(arms)
    arms = [RankedArm(arm.arm, _best_rows(arm.hits)) for arm in arms]
    lists = [[(hit.passage_id, hit.score) for hit in arm.hits] for arm in arms]
    if config.method == "rrf":
        fused = fuse_rrf(lists, k=config.rrf_k)
    else:
        weights = _weights(arms, config.alpha)
        by_score = fuse_weighted if config.method == "weighted" else fuse_min_max
        fused = by_score(lists, weights)
    first: dict[str, StoreHit] = {}
    scores: dict[str, list[ArmScore]] = {}
    for arm in arms:
        for rank, hit in enumerate(arm.hits, start=1):
            first.setdefault(hit.passage_id, hit)
            scores.setdefault(hit.passage_id, []).append(ArmScore(arm.arm, rank, hit.score))
    return tuple(
        _candidate(
            first[key],
            collection=collection,
            score=score,
            arms=tuple(scores[key]),
            pictures=tuple(pictures.get(key, ())),
        )
        for key, score in fused
    )


def _best_rows(hits: Sequence[StoreHit]) -> tuple[StoreHit, ...]:
    first: dict[str, StoreHit] = {}
    for hit in hits:
        first.setdefault(hit.passage_id, hit)
    return tuple(first.values())


def _pictures(arms: Sequence[RankedArm]) -> dict[str, dict[str, None]]:
    """Return by passage the keys of the pictures through which it was found, best first."""
    found: dict[str, dict[str, None]] = {}
    for hit in (hit for arm in arms for hit in arm.hits):
        key = picture_key(hit.row_id, hit.passage_id, hit.version)
        if key:
            found.setdefault(hit.passage_id, {})[key] = None
    return found


def _weights(arms: Sequence[RankedArm], alpha: float) -> list[float]:
    dense = sum(arm.arm.endswith("/dense") for arm in arms)
    lexical = len(arms) - dense
    return [
        alpha / dense if arm.arm.endswith("/dense") else (1.0 - alpha) / lexical for arm in arms
    ]


def _candidate(
    hit: StoreHit,
    *,
    collection: str,
    score: float,
    arms: tuple[ArmScore, ...],
    pictures: tuple[str, ...],
) -> Candidate:
    return Candidate(
        passage_id=hit.passage_id,
        document_id=hit.document_id,
        version=hit.version,
        kb_name=hit.kb_name,
        collection=collection,
        score=score,
        arms=arms,
        extra=hit.extra,
        pictures=pictures,
    )


def merge_plans(rankings: Sequence[tuple[Candidate, ...]], *, rrf_k: int) -> tuple[Candidate, ...]:
    """Merge the rankings of several collections by reciprocal rank; one alone passes through.

    A passage found in several collections is one candidate with the arms and pictures of all.
    """
    found = [ranking for ranking in rankings if ranking]
    if len(found) < 2:  # noqa: PLR2004 - two rankings are the fewest that can be merged
        return found[0] if found else ()
    fused = fuse_rrf(
        [[(item.passage_id, item.score) for item in ranking] for ranking in found], k=rrf_k
    )
    merged: dict[str, Candidate] = {}
    for item in (item for ranking in found for item in ranking):
        known = merged.get(item.passage_id)
        if known is None:
            merged[item.passage_id] = item
        else:
            pictures = dict.fromkeys((*known.pictures, *item.pictures))
            merged[item.passage_id] = replace(
                known, arms=(*known.arms, *item.arms), pictures=tuple(pictures)
            )
    return tuple(replace(merged[key], score=score) for key, score in fused)
