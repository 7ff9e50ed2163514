"""Merging ranked lists."""

import math

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.ops.fusion import fuse_hybrid, fuse_min_max, fuse_rrf, fuse_weighted

LEXICAL = (("a", 9.0), ("b", 5.0), ("c", 1.0))
DENSE = (("b", 0.9), ("d", 0.8))


def test_rrf_sums_reciprocal_ranks() -> None:
    fused = fuse_rrf([LEXICAL, DENSE])
    assert [key for key, _ in fused] == ["b", "a", "d", "c"]
    assert [score for _, score in fused] == pytest.approx(
        [1 / 62 + 1 / 61, 1 / 61, 1 / 62, 1 / 63], rel=1e-12
    )


def test_rrf_breaks_ties_by_key() -> None:
    assert [key for key, _ in fuse_rrf([[("b", 1.0)], [("a", 1.0)]])] == ["a", "b"]


def test_rrf_takes_another_k() -> None:
    assert fuse_rrf([[("a", 1.0)], [("a", 1.0)]], k=1) == (("a", 1.0),)


@pytest.mark.parametrize("k", [0, -1])
def test_rrf_refuses_a_k_below_one(k: int) -> None:
    with pytest.raises(InvalidInput, match=f"at least 1, got {k}"):
        fuse_rrf([LEXICAL], k=k)


def test_a_single_arm_that_is_not_empty_passes_through_unchanged() -> None:
    assert fuse_rrf([(), LEXICAL, ()]) == LEXICAL
    assert fuse_weighted([(), LEXICAL], [0.5, 0.1]) == LEXICAL
    assert fuse_min_max([LEXICAL, ()]) == LEXICAL


def test_h1_nothing_to_fuse_gives_nothing() -> None:
    assert fuse_rrf([]) == fuse_rrf([(), ()]) == fuse_min_max([]) == fuse_weighted([], []) == ()


def test_weighted_sums_scores_as_they_are() -> None:
    assert dict(fuse_weighted([LEXICAL, DENSE], [0.5, 10.0])) == {
        "a": 4.5,
        "b": 11.5,
        "c": 0.5,
        "d": 8.0,
    }


def test_min_max_brings_each_arm_to_the_unit_interval() -> None:
    assert dict(fuse_min_max([LEXICAL, DENSE])) == {"a": 1.0, "b": 1.5, "c": 0.0, "d": 0.0}


def test_min_max_counts_equal_scores_as_one() -> None:
    assert dict(fuse_min_max([[("a", 3.0), ("b", 3.0)], [("a", 1.0)]])) == {"a": 2.0, "b": 1.0}


def test_min_max_weighs_its_arms() -> None:
    assert dict(fuse_min_max([LEXICAL, DENSE], [1.0, 0.5]))["b"] == 1.0


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, math.nan], [math.inf, 1.0]])
def test_weights_that_mean_nothing_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidInput, match="weight"):
        fuse_weighted([LEXICAL, DENSE], weights)


def test_a_key_twice_in_one_arm_is_refused() -> None:
    with pytest.raises(InvalidInput, match="arm 1 holds a key twice"):
        fuse_rrf([LEXICAL, (("a", 1.0), ("a", 0.5))])


def test_hybrid_is_alpha_dense_plus_the_rest_sparse() -> None:
    """By hand, with alpha 0.3: a 0.7 * 9/9, b 0.3 * 0.9 + 0.7 * 5/9, c 0.7 * 1/9, d 0.3 * 0.8."""
    found = fuse_hybrid(DENSE, [LEXICAL], alpha=0.3)
    assert [each.key for each in found] == ["a", "b", "d", "c"]
    assert [each.combined for each in found] == pytest.approx(
        [0.7, 0.6588888889, 0.24, 0.0777777778]
    )
    assert [found[1].dense, found[1].sparse] == pytest.approx([0.9, 0.5555555556])


def test_hybrid_counts_a_negative_cosine_as_nothing_and_rounding_above_1_as_1() -> None:
    found = fuse_hybrid([("a", 1.0000001), ("b", -0.4)], [], alpha=1.0)
    assert [(each.key, each.combined) for each in found] == [("a", 1.0), ("b", 0.0)]


def test_hybrid_takes_the_mean_of_the_sparse_arms_that_found_something() -> None:
    """By hand: a (10/10 + 2/4) / 2 = 0.75, b 5/10/2 + 4/4/2 = 0.75; ties stand by key."""
    arms = [[("a", 10.0), ("b", 5.0)], [], [("b", 4.0), ("a", 2.0)]]
    found = fuse_hybrid([], arms, alpha=0.0)
    assert [(each.key, each.combined) for each in found] == [("a", 0.75), ("b", 0.75)]


@pytest.mark.parametrize(("alpha", "order"), [(0.0, "abcd"), (1.0, "bdac")])
def test_hybrid_at_its_ends_is_one_arm(alpha: float, order: str) -> None:
    assert "".join(each.key for each in fuse_hybrid(DENSE, [LEXICAL], alpha=alpha)) == order


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan])
def test_hybrid_refuses_an_alpha_outside_0_to_1(alpha: float) -> None:
    with pytest.raises(InvalidInput, match="alpha must be from 0 to 1"):
        fuse_hybrid(DENSE, [LEXICAL], alpha=alpha)
