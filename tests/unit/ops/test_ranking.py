"""Order, duplicates, groups and pages of candidates."""

import math

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.model.query import ArmScore, Candidate
from eagle_rag.ops.ranking import dedupe, group_by_document, page, total_order


def candidate(passage: str, score: float, document: str = "d1", arm: str = "") -> Candidate:
    arms = (ArmScore(arm, 1, score),) if arm else ()
    return Candidate(passage, document, 1, "kb", "text", score, arms)


def test_candidates_are_ordered_by_score_then_id() -> None:
    found = total_order([candidate("b", 1.0), candidate("c", 2.0), candidate("a", 1.0)])
    assert [item.passage_id for item in found] == ["c", "a", "b"]


def test_h1_a_score_that_is_not_a_number_comes_last() -> None:
    found = total_order([candidate("a", math.nan), candidate("b", -math.inf)])
    assert [item.passage_id for item in found] == ["b", "a"]


def test_a_passage_found_twice_keeps_its_higher_place_and_all_arms() -> None:
    found = dedupe(
        [candidate("a", 2.0, arm="x"), candidate("b", 1.5), candidate("a", 1.0, arm="y")]
    )
    assert [(item.passage_id, item.score) for item in found] == [("a", 2.0), ("b", 1.5)]
    assert [arm.arm for arm in found[0].arms] == ["x", "y"]


def test_an_arm_is_not_repeated() -> None:
    (found,) = dedupe([candidate("a", 2.0, arm="x"), candidate("a", 2.0, arm="x")])
    assert [arm.arm for arm in found.arms] == ["x"]


def test_two_passages_over_the_same_characters_are_one() -> None:
    spans = {"a": (0, 9), "b": (0, 9), "c": (0, 9)}
    found = dedupe(
        [candidate("a", 2.0), candidate("b", 1.0), candidate("c", 0.5, "d2")], spans=spans
    )
    assert [item.passage_id for item in found] == ["a", "c"]


def test_a_document_is_its_best_passage() -> None:
    found = group_by_document(
        [candidate("a", 1.0), candidate("b", 3.0), candidate("c", 2.0, "d2"), candidate("d", 3.0)]
    )
    assert [(item.document_id, item.passage_id) for item in found] == [("d1", "b"), ("d2", "c")]


def test_pages_follow_each_other_without_gap_or_repeat() -> None:
    items = list(range(7))
    assert [*page(items, offset=0, limit=3), *page(items, offset=3, limit=3)] == items[:6]
    assert page(items, offset=6, limit=3) == (6,)
    assert page(items, offset=9, limit=3) == ()


@pytest.mark.parametrize(("offset", "limit"), [(-1, 1), (0, 0)])
def test_h1_a_page_that_cannot_be_is_refused(offset: int, limit: int) -> None:
    with pytest.raises(InvalidInput, match="must be at least"):
        page([1], offset=offset, limit=limit)
