"""Properties of fusion on random lists."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.ops.fusion import Arm, Fused, fuse_min_max, fuse_rrf, fuse_weighted

SCORES = st.floats(-100, 100).map(lambda score: round(score, 3))
ARMS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), SCORES, max_size=8).map(
        lambda scores: tuple(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
    ),
    max_size=4,
)


def _weighted(arms: Sequence[Arm]) -> Fused:
    return fuse_weighted(arms, [1.0] * len(arms))


METHODS = pytest.mark.parametrize("fuse", [fuse_rrf, _weighted, fuse_min_max])


@METHODS
@given(arms=ARMS, data=st.data())
def test_fusion_does_not_depend_on_the_order_of_the_arms(
    fuse: Callable[[Sequence[Arm]], Fused], arms: list[Arm], data: st.DataObject
) -> None:
    assert fuse(data.draw(st.permutations(arms))) == fuse(arms)


@METHODS
@given(arms=ARMS)
def test_fusion_keeps_every_key_once_in_total_order(
    fuse: Callable[[Sequence[Arm]], Fused], arms: list[Arm]
) -> None:
    fused = fuse(arms)
    assert sorted(key for key, _ in fused) == sorted({key for arm in arms for key, _ in arm})
    assert list(fused) == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(ARMS)
def test_rrf_agrees_with_the_formula_term_by_term(arms: list[Arm]) -> None:
    filled = [arm for arm in arms if arm]
    if len(filled) < 2:
        return
    for key, score in fuse_rrf(arms):
        ranks = [[name for name, _ in arm].index(key) + 1 for arm in filled if key in dict(arm)]
        assert score == pytest.approx(sum(1 / (60 + rank) for rank in ranks), rel=1e-12)
