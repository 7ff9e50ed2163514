"""Injection: two unseen at the top, a hundred more each, only where the entity is required."""

import pytest

from eagle_biomed.injection import inject_supplement_candidates, post_merge
from eagle_rag.model.query import QueryIntent
from eagle_rag.testing.query_side import candidate, context_of, ids_of, part

MERGED = (candidate("a", 0.5), candidate("b", 0.25))
BROUGHT = (candidate("b", 3.0), candidate("x", 2.5), candidate("y", 2.0), candidate("z", 1.0))
REQUIRED = QueryIntent("drug_entity", require_entity_match=True)


def test_two_unseen_supplement_hits_go_first_in_their_order() -> None:
    """``b`` is there already, and ``z`` would be the third."""
    ranking = inject_supplement_candidates(MERGED, BROUGHT)
    assert ids_of(ranking) == ["x", "y", "a", "b"]


def test_an_injected_hit_scores_a_hundred_more_and_says_so() -> None:
    first, second, *rest = inject_supplement_candidates(MERGED, BROUGHT)
    assert (first.score, second.score) == (102.5, 102.0)
    assert part(first, "injected") == 1.0
    assert tuple(rest) == MERGED


@pytest.mark.parametrize(("min_new", "first"), [(0, ["a"]), (1, ["x", "a"]), (9, ["x", "y", "z"])])
def test_no_more_are_injected_than_wanted(min_new: int, first: list[str]) -> None:
    ranking = inject_supplement_candidates(MERGED, BROUGHT, min_new=min_new)
    assert ids_of(ranking)[: len(first)] == first
    assert len(ranking) == len(MERGED) + min(min_new, 3)


def test_a_required_entity_and_a_supplement_are_injected() -> None:
    ranking = post_merge(context_of("osimertinib", REQUIRED), MERGED, BROUGHT)
    assert ids_of(ranking) == ["x", "y", "a", "b"]


def test_nothing_is_injected_when_the_entity_is_not_required() -> None:
    assert post_merge(context_of("lungs", QueryIntent()), MERGED, BROUGHT) == MERGED


def test_an_empty_supplement_changes_nothing() -> None:
    assert post_merge(context_of("osimertinib", REQUIRED), MERGED, ()) == MERGED


def test_nothing_is_injected_when_nobody_reranks() -> None:
    """Passages that no arm found would be the first hits."""
    context = context_of("osimertinib", REQUIRED, policy="none")
    assert post_merge(context, MERGED, BROUGHT) == MERGED
