"""Combination queries ask for each drug in the top five documents."""

from itertools import pairwise

import pytest

from eagle_biomed.combination import bring_up_each_drug
from eagle_biomed.entities import open_ontology
from eagle_biomed.scoring import Evidence
from eagle_rag.model.query import Candidate
from eagle_rag.testing.query_side import candidate, part

QUERY = "osimertinib plus savolitinib"
OSI, SAVO, BOTH = "osimertinib", "savolitinib", "osimertinib,savolitinib"


def ranking(*drugs: str) -> list[tuple[Candidate, Evidence]]:
    """Return a ranking of documents named 0, 1, 2 ... about these drugs."""
    return [
        (candidate(str(at), 10.0 - at), Evidence(primary_drugs=tuple(named.split(","))))
        for at, named in enumerate(drugs)
    ]


@pytest.mark.parametrize(
    ("drugs", "order"),
    [
        ([OSI, OSI, OSI, OSI, OSI, OSI, SAVO, SAVO], "01236457"),
        ([OSI, SAVO, OSI, OSI, OSI, OSI], "012345"),
        ([OSI, OSI, OSI, OSI, OSI, BOTH], "012354"),
        (["x", "x", "x", "x", OSI, SAVO], "012543"),
        (["x", "x", "x", "x", "x", OSI, SAVO], "0126534"),
        ([OSI, OSI, OSI], "012"),
        (["x", "x", "x", "x", "x", "x"], "012345"),
    ],
    ids=[
        "the best with the missing drug takes place five",
        "both are there",
        "a document with both counts for each",
        "the only one with the other drug keeps its place",
        "both are missing",
        "no candidate has it",
        "no candidate has either",
    ],
)
def test_each_drug_is_in_the_top_five(drugs: list[str], order: str) -> None:
    found = bring_up_each_drug(ranking(*drugs), QUERY, open_ontology({}))
    assert "".join(each.passage_id for each, _ in found) == order


def test_scores_still_descend_and_say_what_was_brought_up() -> None:
    found = bring_up_each_drug(ranking(*[OSI] * 6, SAVO), QUERY, open_ontology({}))
    scores = [each.score for each, _ in found]
    assert all(first >= second for first, second in pairwise(scores))
    assert found[4][0].passage_id == "6"
    assert part(found[4][0], "brought_up") == 1.0


def test_five_passages_of_one_document_are_one_hit() -> None:
    """A page shows documents; the second one here is well within its first five."""
    same = [(candidate(str(at), 9 - at, document="d"), known) for at, (_, known) in
            enumerate(ranking(*[OSI] * 6))]  # fmt: skip
    other = (candidate("s", 1.0), Evidence(primary_drugs=(SAVO,)))
    assert bring_up_each_drug([*same, other], QUERY, open_ontology({})) == [*same, other]


def test_a_brand_or_code_counts_as_the_drug() -> None:
    listed = ranking(*[OSI] * 6)
    named = (candidate("code", 1.0), Evidence(text="HMPL-504 was added."))
    found = bring_up_each_drug([*listed, named], QUERY, open_ontology({}))
    assert found[4][0].passage_id == "code"
