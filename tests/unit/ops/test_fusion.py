"""Merging ranked lists."""

import math

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.ops.fusion import fuse_min_max, fuse_rrf, fuse_weighted

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
