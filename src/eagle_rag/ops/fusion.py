"""Merging ranked lists into one.

An arm is a list of ``(key, score)``, best first, no key twice. Rank fusion is the only merge across
embedding spaces; the score fusions are for arms of one collection. All are deterministic: score
descending, then key, whatever the order of the arms (sums are exact, by ``fsum``). Empty arms are
left out, and a single arm that is not empty passes through unchanged.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import fsum, isfinite

from eagle_rag.errors import InvalidInput

__all__ = ["Arm", "Fused", "fuse_min_max", "fuse_rrf", "fuse_weighted"]

Arm = Sequence[tuple[str, float]]
Fused = tuple[tuple[str, float], ...]


def fuse_rrf(arms: Sequence[Arm], *, k: int = 60) -> Fused:
    """Return keys by reciprocal rank: the sum over arms of ``1 / (k + rank)``, ranks from 1.

    G. V. Cormack, C. L. A. Clarke, S. Büttcher, "Reciprocal rank fusion outperforms Condorcet and
    individual rank learning methods", SIGIR 2009, section 2; ``k = 60`` is theirs.

    Raises:
        InvalidInput: ``k`` is below 1, or an arm holds a key twice.
    """
    if k < 1:
        msg = f"k must be at least 1, got {k}"
        raise InvalidInput(msg)
    return _fuse(
        arms, (1.0,) * len(arms), lambda arm: [1.0 / (k + rank) for rank in range(1, len(arm) + 1)]
    )


def fuse_weighted(arms: Sequence[Arm], weights: Sequence[float]) -> Fused:
    """Return keys by the weighted sum of their scores as they are; absent from an arm counts 0.

    Raises:
        InvalidInput: Not one finite weight of at least 0 for each arm, or an arm holds a key twice.
    """
    return _fuse(arms, weights, lambda arm: [score for _, score in arm])


def fuse_min_max(arms: Sequence[Arm], weights: Sequence[float] | None = None) -> Fused:
    """Return keys by the weighted sum of scores brought to 0..1 in each arm; absent counts 0.

    In each arm ``(score - min) / (max - min)``: J. H. Lee, "Analyses of multiple evidence
    combination", SIGIR 1997, section 3. Where all scores are equal each counts 1.

    Args:
        arms: The arms.
        weights: One an arm; ``None`` weighs all alike.

    Raises:
        InvalidInput: As ``fuse_weighted``.
    """
    return _fuse(arms, (1.0,) * len(arms) if weights is None else weights, _scaled)


def _scaled(arm: Arm) -> list[float]:
    scores = [score for _, score in arm]
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _fuse(
    arms: Sequence[Arm], weights: Sequence[float], contribute: Callable[[Arm], Sequence[float]]
) -> Fused:
    _check(arms, weights)
    filled = [(arm, weight) for arm, weight in zip(arms, weights, strict=True) if arm]
    if len(filled) == 1:
        return tuple(filled[0][0])
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for arm, weight in filled:
        for (key, _), value in zip(arm, contribute(arm), strict=True):
            shares[key].append(weight * value)
    fused = [(key, fsum(values)) for key, values in shares.items()]
    return tuple(sorted(fused, key=lambda item: (-item[1], item[0])))


def _check(arms: Sequence[Arm], weights: Sequence[float]) -> None:
    if len(arms) != len(weights):
        msg = f"{len(arms)} arms need as many weights, got {len(weights)}"
        raise InvalidInput(msg)
    for weight in weights:
        if not isfinite(weight) or weight < 0:
            msg = f"a weight must be a finite number of at least 0, got {weight!r}"
            raise InvalidInput(msg)
    for number, arm in enumerate(arms):
        if len({key for key, _ in arm}) != len(arm):
            msg = f"arm {number} holds a key twice"
            raise InvalidInput(msg, remedy="dedupe each arm before fusing")
