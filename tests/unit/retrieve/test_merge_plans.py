"""Plans to one ranking: reciprocal ranks with numbers worked out by hand, and what one list keeps of its own.

The arms of one plan are in ``test_fuse``.
"""

from dataclasses import replace

import pytest

from eagle_rag.model.query import ArmScore, Candidate
from eagle_rag.retrieve.fuse import Place, drop_repeats, merge_plans, repeat_suspects


def ranking(keys: str, collection: str = "text") -> tuple[Candidate, ...]:
    """Return candidates in this order, one a letter, each with the rank and score of its dense arm."""
    return tuple(
        Candidate(
            key, f"doc-{key}", 1, "kb", collection, 1.0 - rank / 100,
            (ArmScore(f"{collection}/dense", rank, 1.0 - rank / 100),),
        )
        for rank, key in enumerate(keys, 1)
    )  # fmt: skip


def scores(candidates: tuple[Candidate, ...]) -> list[tuple[str, float]]:
    """Return passages and scores, in order."""
    return [(each.passage_id, each.score) for each in candidates]


# Lists a-b-c-d, c-a-e and e-c. Ranks: a 1 and 2; b 2; c 3, 1 and 2; d 4; e 3 and 1.
OVERLAPPING = ("abcd", "cae", "ec")
BY_HAND = {
    60: {
        "c": 0.0483954908,  # 1/63 + 1/61 + 1/62
        "a": 0.0325224749,  # 1/61 + 1/62
        "e": 0.0322664585,  # 1/63 + 1/61
        "b": 0.0161290323,  # 1/62
        "d": 0.0156250000,  # 1/64
    },
    10: {
        "c": 0.2511655012,  # 1/13 + 1/11 + 1/12
        "a": 0.1742424242,  # 1/11 + 1/12
        "e": 0.1678321678,  # 1/13 + 1/11
        "b": 0.0833333333,  # 1/12
        "d": 0.0714285714,  # 1/14
    },
}


@pytest.mark.parametrize("k", BY_HAND)
@pytest.mark.parametrize("empty", [None, 0, 1, 3])
def test_three_overlapping_lists_give_the_numbers_worked_out_by_hand(
    k: int, empty: int | None
) -> None:
    """An empty list beside them changes nothing, wherever it stands."""
    rankings = [ranking(keys, f"c{at}") for at, keys in enumerate(OVERLAPPING)]
    if empty is not None:
        rankings.insert(empty, ())
    merged = merge_plans(rankings, rrf_k=k)
    assert [each.passage_id for each in merged] == list(BY_HAND[k])
    assert {each.passage_id: each.score for each in merged} == pytest.approx(BY_HAND[k], abs=5e-11)


def test_the_order_of_the_lists_does_not_change_the_merge() -> None:
    rankings = [ranking(keys, f"c{at}") for at, keys in enumerate(OVERLAPPING)]
    there, back = merge_plans(rankings, rrf_k=60), merge_plans(rankings[::-1], rrf_k=60)
    assert scores(there) == scores(back)


@pytest.mark.parametrize(
    ("k", "first", "score"),
    [(10, "A", 0.0909090909), (60, "Z", 0.0250000000)],
    ids=["10: 1/11 before 2/30", "60: 2/80 before 1/61"],
)
def test_a_small_k_favours_the_first_of_one_list_and_a_large_one_what_two_lists_agree_on(
    k: int, first: str, score: float
) -> None:
    """A is first of one list; Z is twentieth of both."""
    one, other = "Abcdefghijklmnopqrs" + "Z", "BCDEFGHIJKLMNOPQRST" + "Z"
    merged = merge_plans([ranking(one, "c0"), ranking(other, "c1")], rrf_k=k)
    best = next(each for each in merged if each.passage_id in "AZ")
    assert best.passage_id == first
    assert best.score == pytest.approx(score, abs=5e-11)


def test_equal_sums_go_by_passage() -> None:
    merged = merge_plans([ranking("ba", "c0"), ranking("ab", "c1")], rrf_k=60)
    assert [each.passage_id for each in merged] == ["a", "b"]
    assert [each.score for each in merged] == pytest.approx([0.0325224749] * 2)


@pytest.mark.parametrize("k", [1, 10, 60])
@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_single_list_passes_through_unchanged_whatever_k_is(k: int, empty: int) -> None:
    alone = tuple(replace(each, parts=(("dense", 0.5),)) for each in ranking("cab"))
    assert merge_plans([*[()] * empty, alone, *[()] * (2 - empty)], rrf_k=k) == alone


def test_a_passage_of_three_collections_keeps_the_arms_parts_and_pictures_of_all() -> None:
    """It is of the collection that named it first."""
    rankings = [
        tuple(
            replace(each, parts=(("dense", float(at)),), pictures=(f"f{at}", "f9"))
            for each in ranking(keys, name)
        )
        for at, (name, keys) in enumerate({"text": "ab", "medcpt": "ba", "chemical": "cb"}.items())
    ]
    merged = {each.passage_id: each for each in merge_plans(rankings, rrf_k=60)}
    found = merged["b"]
    assert found.collection == "text"
    assert found.arms == (
        ArmScore("text/dense", 2, 0.98),
        ArmScore("medcpt/dense", 1, 0.99),
        ArmScore("chemical/dense", 2, 0.98),
    )
    assert found.parts == (("chemical/dense", 2.0), ("medcpt/dense", 1.0), ("text/dense", 0.0))
    assert found.pictures == ("f0", "f9", "f1", "f2")
    assert found.score == pytest.approx(0.0486515071, abs=5e-11)  # 1/62 + 1/61 + 1/62
    assert [arm.arm for arm in merged["c"].arms] == ["chemical/dense"]


def _of(document: str, keys: str) -> tuple[Candidate, ...]:
    return tuple(replace(each, document_id=document) for each in ranking(keys))


SAME: Place = (("Results",), "Kinase fell.")


@pytest.mark.parametrize(
    ("places", "kept", "dropped"),
    [
        ({}, "abcx", ()),
        ({"a": SAME, "b": SAME, "c": SAME}, "ax", ("b", "c")),
        ({"a": SAME, "b": (("Methods",), SAME[1]), "c": SAME}, "abx", ("c",)),
        ({"a": SAME, "b": (SAME[0], "Kinase rose."), "c": SAME}, "abx", ("c",)),
        ({"b": SAME, "c": SAME}, "abx", ("c",)),
        ({"a": SAME, "x": SAME}, "abcx", ()),
    ],
    ids=[
        "nothing is known of them",
        "the same three times",
        "one in another section",
        "one says something else",
        "an unknown one is kept",
        "another document may say it too",
    ],
)
def test_the_first_of_the_same_words_in_one_section_of_one_document_stays(
    places: dict[str, Place], kept: str, dropped: tuple[str, ...]
) -> None:
    merged = (*_of("d1", "abc"), *_of("d2", "x"))
    left, out = drop_repeats(merged, places)
    assert ("".join(each.passage_id for each in left), out) == (kept, dropped)


def test_scores_and_arms_of_what_stays_are_untouched_by_what_goes() -> None:
    merged = _of("d1", "ab")
    assert drop_repeats(merged, {"a": SAME, "b": SAME})[0] == merged[:1]


@pytest.mark.parametrize(
    ("documents", "suspects"),
    [({}, ()), ({"d1": "a", "d2": "b"}, ()), ({"d1": "ab", "d2": "x", "d3": "yz"}, tuple("abyz"))],
)
def test_only_documents_with_several_passages_can_repeat_themselves(
    documents: dict[str, str], suspects: tuple[str, ...]
) -> None:
    merged = tuple(each for name, keys in documents.items() for each in _of(name, keys))
    assert repeat_suspects(merged) == suspects
