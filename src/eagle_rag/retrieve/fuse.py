"""Stage 7: one ranking from the arms of a plan, and one from all plans.

Inside one collection the arms may be fused by rank or by score; across collections only ranks merge,
because scores of different vector spaces do not compare.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import ArmScore, Candidate, FusionMethod
from eagle_rag.ops.fusion import Fused, fuse_hybrid, fuse_min_max, fuse_rrf, fuse_weighted
from eagle_rag.ops.pictures import picture_key

__all__ = [
    "FusionConfig",
    "Place",
    "RankedArm",
    "drop_repeats",
    "fuse_arms",
    "merge_plans",
    "repeat_suspects",
]

Place = tuple[tuple[str, ...], str]
"""The section path of a passage, and its text."""

_Parts = tuple[tuple[str, float], ...]


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
    """One arm's live hits, best first, and its scores of what other arms found."""

    arm: str
    hits: tuple[StoreHit, ...]
    also: tuple[StoreHit, ...] = ()


def fuse_arms(
    collection: str, arms: Sequence[RankedArm], config: FusionConfig
) -> tuple[Candidate, ...]:
    """Return one plan's candidates, score descending, then passage id.

    Every candidate keeps the rank and score of each arm that found it; ranks are those among live rows.
    A passage that an arm found by several rows (its pictures have rows of their own) counts by the best.
    Method ``weighted`` of a plan with dense and lexical arms leaves ``dense``, ``sparse`` and ``combined``
    in the parts of each candidate.
    """
    pictures = _pictures(arms)
    found = {hit.passage_id for arm in arms for hit in arm.hits}
    arms = [
        RankedArm(
            arm.arm,
            _best_rows(arm.hits),
            tuple(hit for hit in _best_rows((*arm.hits, *arm.also)) if hit.passage_id in found),
        )
        for arm in arms
    ]
    fused, parts = _fused(arms, config)
    first: dict[str, StoreHit] = {}
    scores: dict[str, list[ArmScore]] = {}
    for arm in arms:
        for rank, hit in enumerate(arm.hits, start=1):
            first.setdefault(hit.passage_id, hit)
            scores.setdefault(hit.passage_id, []).append(ArmScore(arm.arm, rank, hit.score))
    return tuple(
        Candidate(
            passage_id=key,
            document_id=first[key].document_id,
            version=first[key].version,
            kb_name=first[key].kb_name,
            collection=collection,
            score=score,
            arms=tuple(scores[key]),
            extra=first[key].extra,
            pictures=tuple(pictures.get(key, ())),
            parts=parts.get(key, ()),
        )
        for key, score in fused
    )


def _fused(arms: Sequence[RankedArm], config: FusionConfig) -> tuple[Fused, dict[str, _Parts]]:
    """Return ``(passage, score)`` best first, and the parts of each score that has some."""
    lists = [[(hit.passage_id, hit.score) for hit in arm.hits] for arm in arms]
    if config.method == "rrf":
        return fuse_rrf(lists, k=config.rrf_k), {}
    dense = [arm for arm in arms if _is_dense(arm)]
    sparse = [arm for arm in arms if not _is_dense(arm)]
    if config.method == "min-max":
        return fuse_min_max(lists, _weights(arms, config.alpha)), {}
    if not (dense and sparse):
        return fuse_weighted(lists, _weights(arms, config.alpha)), {}
    scores = fuse_hybrid(_scores(dense[0]), [_scores(arm) for arm in sparse], alpha=config.alpha)
    parts: dict[str, _Parts] = {
        each.key: (("combined", each.combined), ("dense", each.dense), ("sparse", each.sparse))
        for each in scores
    }
    return tuple((each.key, each.combined) for each in scores), parts


def _is_dense(arm: RankedArm) -> bool:
    return arm.arm.endswith("/dense")


def _scores(arm: RankedArm) -> list[tuple[str, float]]:
    """Return the arm's scores of all that the plan found; see ``fuse_arms``."""
    return [(hit.passage_id, hit.score) for hit in arm.also]


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
    dense = sum(_is_dense(arm) for arm in arms)
    lexical = len(arms) - dense
    return [alpha / dense if _is_dense(arm) else (1.0 - alpha) / lexical for arm in arms]


def merge_plans(rankings: Sequence[tuple[Candidate, ...]], *, rrf_k: int) -> tuple[Candidate, ...]:
    """Merge the rankings of several collections by reciprocal rank; one alone passes through.

    A plan that found nothing contributes nothing. A passage found in several collections is one candidate
    with the arms and pictures of all; its parts are named ``<collection>/<part>``, for each has its own.
    """
    found = [ranking for ranking in rankings if ranking]
    if len(found) < 2:  # noqa: PLR2004 - two rankings are the fewest that can be merged
        return found[0] if found else ()
    fused = fuse_rrf(
        [[(item.passage_id, item.score) for item in ranking] for ranking in found], k=rrf_k
    )
    merged: dict[str, Candidate] = {}
    for item in (_named_parts(item) for ranking in found for item in ranking):
        known = merged.get(item.passage_id)
        if known is None:
            merged[item.passage_id] = item
        else:
            merged[item.passage_id] = replace(
                known,
                arms=(*known.arms, *item.arms),
                pictures=tuple(dict.fromkeys((*known.pictures, *item.pictures))),
                parts=tuple(sorted((dict(item.parts) | dict(known.parts)).items())),
            )
    return tuple(replace(merged[key], score=score) for key, score in fused)


def _named_parts(item: Candidate) -> Candidate:
    if not item.parts:
        return item
    return replace(
        item, parts=tuple((f"{item.collection}/{name}", value) for name, value in item.parts)
    )


def repeat_suspects(merged: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the passages that may repeat another one: those of documents with several, in order."""
    counts: dict[str, int] = {}
    for item in merged:
        counts[item.document_id] = counts.get(item.document_id, 0) + 1
    return tuple(item.passage_id for item in merged if counts[item.document_id] > 1)


def drop_repeats(
    merged: Sequence[Candidate], places: Mapping[str, Place]
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """Return the ranking without passages that say again what a higher one of the same section says.

    Args:
        merged: Best first.
        places: Where passages stand and what they say; one that is missing is kept.

    Returns:
        What is kept, and the ids of what was left out.
    """
    seen: set[tuple[str, Place]] = set()
    kept: list[Candidate] = []
    dropped: list[str] = []
    for item in merged:
        place = places.get(item.passage_id)
        if place is not None and (item.document_id, place) in seen:
            dropped.append(item.passage_id)
            continue
        if place is not None:
            seen.add((item.document_id, place))
        kept.append(item)
    return tuple(kept), tuple(dropped)
