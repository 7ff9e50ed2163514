"""Merging ranked lists into one.

An arm is a list of ``(key, score)``, best first, no key twice. Rank fusion is the only merge across
embedding spaces; the score fusions are for arms of one collection. All are deterministic: score
descending, then key, whatever the order of the arms (sums are exact, by ``fsum``). Empty arms are
left out, and a single arm that is not empty passes through unchanged.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum, isfinite

from eagle_rag.errors import InvalidInput

__all__ = [
    "Arm",
    "Fused",
    "HybridScore",
    "fuse_hybrid",
    "fuse_min_max",
    "fuse_rrf",
    "fuse_weighted",
]

Arm = Sequence[tuple[str, float]]
Fused = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class HybridScore:
    """What a hybrid collection says of one key.

    Args:
        key: The key.
        dense: 0 to 1.
        sparse: 0 to 1.
        combined: ``alpha * dense + (1 - alpha) * sparse``.
    """

    key: str
    dense: float
    sparse: float
    combined: float


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


def fuse_hybrid(dense: Arm, sparse: Sequence[Arm], *, alpha: float) -> tuple[HybridScore, ...]:
    """Return every key with ``combined = alpha * dense + (1 - alpha) * sparse``, best first.

    ``dense`` is the cosine, below 0 counting 0: what points the other way is as unlike as what has nothing in
    common. ``sparse`` is the BM25 score divided by the best of the arm, so that both are of one size
    (R. Manmatha et al., "Modeling score distributions for combining the outputs of search engines", SIGIR
    2001, scale by the maximum where 0 has a meaning: no term matched). Of several sparse arms that found
    something it is the mean. A key that an arm lacks counts 0 there: give each arm the scores of what
    the others found, where they have one.

    Args:
        dense: Keys with their cosine.
        sparse: Arms of keys with their BM25 score, above 0.
        alpha: Share of ``dense``, 0 to 1.

    Raises:
        InvalidInput: ``alpha`` is outside 0 to 1, or an arm holds a key twice.
    """
    if not 0.0 <= alpha <= 1.0:
        msg = f"alpha must be from 0 to 1, got {alpha!r}"
        raise InvalidInput(msg)
    _check([dense, *sparse], (1.0,) * (1 + len(sparse)))
    cosines = {key: min(1.0, max(0.0, score)) for key, score in dense}
    parts: defaultdict[str, list[float]] = defaultdict(list)
    found = [arm for arm in sparse if arm]
    for arm in found:
        best = max(score for _, score in arm)
        for key, score in arm:
            parts[key].append(score / best if best > 0 else 0.0)
    scores = []
    for key in cosines.keys() | parts.keys():
        cosine = cosines.get(key, 0.0)
        words = fsum(parts.get(key, ())) / max(1, len(found))
        scores.append(HybridScore(key, cosine, words, alpha * cosine + (1.0 - alpha) * words))
    return tuple(sorted(scores, key=lambda item: (-item.combined, item.key)))


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
