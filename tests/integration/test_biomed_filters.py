"""Filters on the plugin's fields, which the core's collection lacks."""

from collections.abc import Callable

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidFilter
from eagle_rag.model.filters import AnyOf, Compare, Filter
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import write_files

SETTINGS: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "plugins.options.biomed.domain_rerank_encoder": "",
    "plugins.options.biomed.rerank_policy": "domain",
    # What says nothing of medicine goes to the core's collection.
    "plugins.options.biomed.doc_semantic_router.ambiguous_default": "general",
    "rerank.policy": "domain",
    "ingest.workers": 1,
}
FILES = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\nResistance to osimertinib came through C797S"
    " in lung cancer.\n\n## Methods\n\nPatients on osimertinib had biopsies at progression.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\nResistance to imatinib came through T315I in a"
    " third of patients with leukaemia.\n",
    "c.md": "# Parking in towns\n\nDrivers in towns looked for parking for a third of the time, and"
    " fees changed that little.\n",
}
DRUG, SECTION = (
    Compare("primary_drugs", "eq", "osimertinib"),
    Compare("biomed_section", "eq", "results"),
)


@pytest.fixture(scope="module")
def engine(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Engine:
    engine = make_shared_engine(SETTINGS)
    report = engine.ingest([write_files(tmp_path_factory.mktemp("in"), FILES)])
    assert len(report.added) == 3
    # Rows of both, and only one collection has the fields.
    assert engine.store.count("eagle_text") > 0
    assert engine.store.count("eagle_text_biomed") > 0
    return engine


def _titles(engine: Engine, query: str, where: Filter) -> set[str]:
    hits = engine.search(SearchRequest(query, filters=where, group_by="passage")).hits
    return {" > ".join((hit.title, *hit.section_path[-1:])) for hit in hits}


@pytest.mark.parametrize("query", ["resistance", "parking fees", "resistance to osimertinib"])
def test_i1_a_filter_on_the_plugins_fields_leaves_their_rows(engine: Engine, query: str) -> None:
    """Whatever collections the query goes to, the supplement of a drug included."""
    osimertinib = "Resistance to osimertinib > "
    assert _titles(engine, query, DRUG) == {f"{osimertinib}Results", f"{osimertinib}Methods"}
    assert _titles(engine, query, SECTION) == {
        f"{osimertinib}Results",
        "Resistance to imatinib > Results",
    }


def test_i1_an_alternative_finds_what_lacks_the_field_by_its_other_part(engine: Engine) -> None:
    ids = {record.metadata.title: record.document_id for record in engine.documents()}
    where = AnyOf((DRUG, Compare("document_id", "eq", ids["Parking in towns"])))
    found = _titles(engine, "drivers looked for parking; osimertinib resistance", where)
    assert {each.partition(" > ")[0] for each in found} == {
        "Parking in towns",
        "Resistance to osimertinib",
    }


def test_i2_a_field_of_no_collection_is_refused_and_those_of_all_are_named(engine: Engine) -> None:
    with pytest.raises(InvalidFilter, match=r"'primary_drug'; known: .*primary_drugs.*year"):
        engine.search(SearchRequest("x", filters=Compare("primary_drug", "eq", "x")))
