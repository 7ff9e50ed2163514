"""Compounds by InChIKey, and what they do to the core's ranking."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from eagle_biomed.exact_compounds import ExactCompounds, exact_forms
from eagle_rag.model.query import Candidate, CollectionQueryPlan, QueryContext, SearchRequest

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

Make = Callable[..., "FakeLibrary"]
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
SODIUM = "CC(=O)Oc1ccccc1C(=O)[O-].[Na+]"
POTASSIUM = "CC(=O)Oc1ccccc1C(=O)[O-].[K+]"
KEY = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
PLANS = (CollectionQueryPlan("eagle_text", "e"), CollectionQueryPlan("eagle_text_biomed", "e"))


def _context(query: str, kb_names: tuple[str, ...] | None = None) -> QueryContext:
    return QueryContext(SearchRequest(query, kb_names=kb_names), "biomed", ())


def _supplement(library: "FakeLibrary | None", query: str) -> tuple[Candidate, ...] | None:
    return ExactCompounds(library).supplement(_context(query), PLANS)


def _candidate(passage: str, score: float) -> Candidate:
    return Candidate(passage, f"doc_{passage}", 1, "a", "eagle_text", score)


def test_o2_the_compound_comes_before_its_parent_and_that_before_other_salts(
    make_library: Make,
) -> None:
    library = make_library(POTASSIUM, ASPIRIN, SODIUM, "CCO")
    sodium_key = next(
        dict(r.metadata.properties)["inchikey"]
        for r in library.records.values()
        if dict(r.metadata.properties)["smiles"] == SODIUM
    )
    forms = exact_forms(library, sodium_key, KEY)
    smiles = [dict(each.record.metadata.properties)["smiles"] for each in forms]
    assert smiles == [SODIUM, ASPIRIN, POTASSIUM]
    assert [each.match for each in forms] == ["exact", "parent", "parent"]


def test_a_compound_without_keys_has_no_forms(make_library: Make) -> None:
    assert exact_forms(make_library("*CC", ASPIRIN), "", "") == ()


@pytest.mark.parametrize(
    "query",
    [f"SMILES {ASPIRIN}", f"what inhibits what {ASPIRIN} does?", "SMILES: OC(=O)c1ccccc1OC(C)=O"],
)
def test_a_structure_in_a_query_brings_its_documents(make_library: Make, query: str) -> None:
    brought = _supplement(make_library(SODIUM, ASPIRIN, "CCO"), query)
    assert brought is not None
    assert [KEY.lower() in each.document_id for each in brought] == [True, False]
    assert {each.collection for each in brought} == {"eagle_text_biomed"}


@pytest.mark.parametrize(
    "query", [KEY, f"which drug has the InChIKey {KEY}?", f"inchikey={KEY.lower()}", f"({KEY})"]
)
def test_an_inchikey_in_a_query_brings_its_compound_first_then_its_salts(
    make_library: Make, query: str
) -> None:
    brought = _supplement(make_library(SODIUM, ASPIRIN, "CCO"), query)
    assert brought is not None
    assert [KEY.lower() in each.document_id for each in brought] == [True, False]


def test_an_inchikey_of_a_salt_brings_that_salt(make_library: Make) -> None:
    library = make_library(POTASSIUM, ASPIRIN, SODIUM)
    keys = {
        dict(each.metadata.properties)["smiles"]: dict(each.metadata.properties)["inchikey"]
        for each in library.records.values()
    }
    brought = _supplement(library, f"what is {keys[SODIUM]}")
    assert brought is not None
    assert [keys[SODIUM].lower() in each.document_id for each in brought] == [True]


@pytest.mark.parametrize("query", [f"X{KEY}", f"{KEY}-7", "BSYNRYMUTXBXSQ-UHFFFAOYSA"])
def test_what_is_longer_or_shorter_than_an_inchikey_is_none(
    make_library: Make, query: str
) -> None:
    assert _supplement(make_library(ASPIRIN), query) is None


@pytest.mark.parametrize("query", ["aspirin for headache", "CNS and CO", "SMILES: C(C", ""])
def test_a_query_without_a_structure_is_left_alone(make_library: Make, query: str) -> None:
    assert _supplement(make_library(ASPIRIN), query) is None


def test_a_structure_that_is_nowhere_brings_nothing(make_library: Make) -> None:
    assert _supplement(make_library("CCO"), ASPIRIN) is None


def test_a_worker_without_a_library_abstains() -> None:
    assert _supplement(None, ASPIRIN) is None


def test_i6_only_the_callers_knowledge_bases_are_asked(make_library: Make) -> None:
    library = make_library(ASPIRIN)
    compounds = ExactCompounds(library)
    for names, found in ((("a",), 1), (("b",), 0), ((), 0)):
        brought = compounds.supplement(_context(ASPIRIN, names), PLANS) or ()
        assert len(brought) == found


def test_a_search_of_no_text_collection_brings_nothing(make_library: Make) -> None:
    plans = (CollectionQueryPlan("eagle_visual", "e"),)
    assert ExactCompounds(make_library(ASPIRIN)).supplement(_context(ASPIRIN), plans) is None


def test_what_was_brought_goes_first_and_the_rest_keeps_its_order(make_library: Make) -> None:
    compounds = ExactCompounds(make_library(ASPIRIN, SODIUM))
    brought = compounds.supplement(_context(ASPIRIN), PLANS) or ()
    known = _candidate(brought[0].passage_id, 0.2)
    merged = (_candidate("x", 0.9), known, _candidate("y", 0.1))
    ranking = compounds.inject(merged, (*brought, _candidate("z", 5.0)))
    assert ranking is not None
    expected = [*(each.passage_id for each in brought), "x", "y"]
    assert [each.passage_id for each in ranking] == expected
    scores = [each.score for each in ranking]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] > 0.9


def test_without_exact_compounds_the_ranking_is_left_to_others(make_library: Make) -> None:
    compounds = ExactCompounds(make_library(ASPIRIN))
    assert compounds.inject((_candidate("x", 0.9),), (_candidate("z", 5.0),)) is None
