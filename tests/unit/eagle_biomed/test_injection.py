"""Injection: two unseen at the top, a hundred more each, only where the entity is required; drugs in turns."""

import pytest

from eagle_biomed.combination import DrugMentions
from eagle_biomed.evidence import evidence_of
from eagle_biomed.injection import (
    inject_for_each_drug,
    inject_supplement_candidates,
    post_merge,
)
from eagle_biomed.scoring import Evidence
from eagle_rag.model.query import Candidate, QueryIntent
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


@pytest.mark.parametrize(
    "workflow", ["chemical", "regulatory", "drug_entity", "combination", "general"]
)
@pytest.mark.parametrize("required", [True, False])
def test_the_entity_must_be_required_whatever_the_workflow(
    workflow: str, *, required: bool
) -> None:
    context = context_of("osimertinib", QueryIntent(workflow, require_entity_match=required))
    ranking = post_merge(context, MERGED, BROUGHT)
    assert ids_of(ranking) == (["x", "y", "a", "b"] if required else ["a", "b"])


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


A, B, C, AB = "osimertinib", "savolitinib", "erlotinib", "osimertinib,savolitinib"


def about(*hits: str) -> tuple[Candidate, ...]:
    """Return hits such as ``x=osimertinib``, each scored 0.1 less than the one before."""
    return tuple(
        candidate(hit.partition("=")[0], 3.0 - at / 10, primary_drugs=hit.partition("=")[2])
        for at, hit in enumerate(hits)
    )


def in_turns(
    merged: tuple[Candidate, ...],
    supplement: tuple[Candidate, ...],
    *,
    drugs: tuple[str, ...] = (A, B),
    min_new: int = 2,
) -> tuple[Candidate, ...]:
    mentions = DrugMentions(
        tuple((drug,) for drug in drugs),
        lambda given: [evidence_of(each, None, None) for each in given],
    )
    return inject_for_each_drug(merged, supplement, mentions, min_new=min_new)


@pytest.mark.parametrize(
    ("merged", "supplement", "order"),
    [
        ((), (f"x={A}", f"y={A}", f"z={B}"), "xz"),
        ((f"m={A}",), (f"x={A}", f"y={A}", f"z={B}"), "zxm"),
        ((f"m={A}",), (f"x={B}", f"y={B}", f"z={A}"), "xzm"),
        ((f"m={A}", f"n={B}"), (f"x={A}", f"y={A}", f"z={B}"), "xzmn"),
        ((f"m={AB}",), (f"x={B}", f"y={B}", f"z={A}"), "zxm"),
        ((), (f"x={AB}", f"y={B}", f"z={A}"), "xz"),
        ((), (f"x={A}", f"y={AB}", f"z={B}"), "xy"),
        ((), (f"x={A}", f"y={A}", f"z={A}"), "xy"),
        ((), ("x=", f"y={A}", f"z={A}"), "yz"),
        ((), ("x=", "z=", f"y={A}"), "yx"),
        ((f"x={A}",), (f"x={A}", f"y={A}", f"z={B}"), "zyx"),
    ],
    ids=[
        "one each before a second",
        "the missing drug first",
        "one for the drug that is there before a second for the other",
        "both stand there",
        "the one named first in the query first",
        "a hit with both counts for both",
        "a hit with both is the best of the second",
        "the other drug has none",
        "what names none comes last",
        "what names none fills up",
        "what is there is not brought again",
    ],
)
def test_the_drugs_of_a_combination_take_turns(
    merged: tuple[str, ...], supplement: tuple[str, ...], order: str
) -> None:
    assert "".join(ids_of(in_turns(about(*merged), about(*supplement)))) == order


@pytest.mark.parametrize(
    ("drugs", "min_new", "order"),
    [
        ((A, B), 0, ""),
        ((A, B), 1, "vy"),  # one a drug, also when fewer are wanted
        ((A, B), 2, "vy"),
        ((A, B), 3, "vyw"),
        ((A, B), 4, "vywz"),
        ((A, B, C), 2, "vyu"),
        ((A, B, C), 9, "vyuwzx"),
    ],
)
def test_one_a_drug_or_as_many_as_wanted_are_injected(
    drugs: tuple[str, ...], min_new: int, order: str
) -> None:
    brought = about(f"v={A}", f"w={A}", f"x={A}", f"y={B}", f"z={B}", f"u={C}")
    found = in_turns((), brought, drugs=drugs, min_new=min_new)
    assert "".join(ids_of(found)) == order


def test_scores_of_those_injected_in_turns_descend() -> None:
    """3.0 + 100; 2.8 + 100; then 2.9, lowered to 2.8."""
    found = in_turns((), about(f"x={A}", f"y={A}", f"z={B}"), min_new=3)
    assert [(each.passage_id, each.score) for each in found] == [
        ("x", 103.0),
        ("z", 102.8),
        ("y", 102.8),
    ]
    assert all(part(each, "injected") == 1.0 for each in found)


@pytest.mark.parametrize(("place", "order"), [(47, ["y", "x"]), (48, ["x", "y"])])
def test_a_drug_that_stands_below_what_is_reranked_is_missing(
    place: int, order: list[str]
) -> None:
    """Fifty are reranked; two injected ones push the 49th and the 50th out."""
    merged = [candidate(f"m{at}") for at in range(60)]
    merged[place] = candidate("m", primary_drugs=A)
    assert ids_of(in_turns(tuple(merged), about(f"x={A}", f"y={B}")))[:2] == order


def test_nothing_new_changes_nothing_and_reads_nothing() -> None:
    def read(_: object) -> list[Evidence]:
        message = "asked"
        raise AssertionError(message)

    mentions = DrugMentions(((A,), (B,)), read)
    ranking = about(f"x={A}")
    assert inject_for_each_drug(ranking, ranking, mentions) == ranking
    assert inject_for_each_drug((), ranking, mentions, min_new=0) == ()
