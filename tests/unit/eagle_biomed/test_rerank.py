"""Tier 1: the entity filter that never empties, and the order by cosine."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_biomed.entities import open_ontology
from eagle_biomed.evidence import EvidenceReader
from eagle_biomed.options import Tier1
from eagle_biomed.rerank import PlanReranker, cosines, names_asked
from eagle_biomed.scoring import Evidence, entity_match_score
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryIntent,
    SearchMode,
    SearchRequest,
)
from eagle_rag.model.records import DocumentNames
from eagle_rag.testing.query_side import (
    Lookup,
    Shelf,
    Texts,
    candidate,
    context_of,
    ids_of,
    part,
    passage,
)

TEXT = "eagle_text_biomed"
QUERY = "resistance to osimertinib"
REQUIRED = QueryIntent("drug_entity", require_entity_match=True)
EXPANDED = ExpandedQuery("resistance to osimertinib [x]", ("osimertinib",), REQUIRED)


def dense(score: float, collection: str = TEXT) -> tuple[ArmScore, ...]:
    return (ArmScore(f"{collection}/dense", 1, score),)


def row(key: str, score: float) -> StoreHit:
    return StoreHit(key, key, f"doc-{key}", 1, "kb", score, 1)


CANDIDATES = (
    candidate("other", 0.9, arms=dense(0.95), primary_drugs="erlotinib"),
    candidate("far", 0.8, arms=dense(0.2), primary_drugs="osimertinib"),
    candidate("words", 0.7, primary_drugs="osimertinib"),
    candidate("near", 0.6, arms=dense(0.9), primary_drugs="osimertinib"),
)


def reranked(  # noqa: PLR0913 - one argument a service, each with a default
    mode: Tier1,
    candidates: Sequence[Candidate] = CANDIDATES,
    *,
    query: str = QUERY,
    expanded: ExpandedQuery = EXPANDED,
    collection: str = TEXT,
    shelf: Shelf | None = None,
    texts: Texts | None = None,
    lookup: Lookup | None = None,
    intent: QueryIntent = REQUIRED,
    search: SearchMode = "hybrid",
) -> tuple[Candidate, ...] | None:
    tier1 = PlanReranker(
        mode,
        shelf or Shelf({TEXT: (row("words", 0.5),)}),
        EvidenceReader(texts or Texts(), lookup or Lookup()),
        lambda: open_ontology({}),
    )
    return tier1.rerank(
        context_of(SearchRequest(query, mode=search), intent),
        CollectionQueryPlan(collection, "minilm"),
        expanded,
        candidates=tuple(candidates),
    )


def test_cosine_drops_what_does_not_name_the_entity_and_goes_by_cosine() -> None:
    """The reference's: 0.9, 0.5 of the stored vector of a passage only words found, 0.2."""
    found = reranked("cosine")
    assert found is not None
    assert [(each.passage_id, each.score) for each in found] == [
        ("near", 0.9),
        ("words", 0.5),
        ("far", 0.2),
    ]
    assert part(found[0], "tier1_cosine") == 0.9


def test_cosine_compares_stored_vectors_with_the_query_as_the_encoder_sees_it() -> None:
    shelf = Shelf({TEXT: (row("words", 0.5),)})
    reranked("cosine", shelf=shelf)
    assert [(where, asked) for where, asked, _ in shelf.asked] == [(TEXT, EXPANDED.dense_query)]


def test_filter_puts_what_names_the_entity_first_in_the_order_of_the_fusion() -> None:
    found = reranked("filter")
    assert found is not None
    assert ids_of(found) == ["far", "words", "near", "other"]
    assert [each.score for each in found] == [0.8, 0.7, 0.6, 0.9]


def test_off_leaves_the_fusion_alone() -> None:
    assert reranked("off") is None


@pytest.mark.parametrize("mode", ["cosine", "filter"])
@pytest.mark.parametrize("collection", ["eagle_text_biomed", "eagle_text_medcpt", "eagle_text"])
def test_it_orders_every_collection_of_texts(mode: Tier1, collection: str) -> None:
    shelf = Shelf({collection: ()})
    assert reranked(mode, collection=collection, shelf=shelf) is not None


@pytest.mark.parametrize("mode", ["cosine", "filter"])
@pytest.mark.parametrize("collection", ["eagle_medical_radiology", "eagle_visual", "elsewhere"])
def test_it_abstains_for_other_collections(mode: Tier1, collection: str) -> None:
    assert reranked(mode, collection=collection) is None


def test_the_filter_never_empties() -> None:
    others = CANDIDATES[:1]
    found = reranked("cosine", others)
    assert found is not None
    assert ids_of(found) == ["other"]
    assert reranked("filter", others) is None


@pytest.mark.parametrize(
    "intent", [QueryIntent(), QueryIntent("general", section_cues=("dosage",))]
)
def test_nothing_is_filtered_when_the_entity_is_not_required(intent: QueryIntent) -> None:
    found = reranked("cosine", intent=intent)
    assert found is not None
    assert len(found) == len(CANDIDATES)
    assert reranked("filter", intent=intent) is None


def test_nothing_is_filtered_without_sparse_terms() -> None:
    assert reranked("filter", expanded=ExpandedQuery("x")) is None


@pytest.mark.parametrize(
    "text",
    ["Osimertinib was given.", "AZD9291 was given.", "x" * 480 + " Tagrisso, then more"],
)
def test_a_name_in_the_first_512_characters_counts(text: str) -> None:
    """Brands and codes are names too."""
    texts = Texts({"named": passage("named", text)})
    found = reranked("filter", (candidate("a"), candidate("named")), texts=texts)
    assert found is not None
    assert ids_of(found) == ["named", "a"]


def test_a_name_after_512_characters_does_not_count() -> None:
    texts = Texts({"named": passage("named", "x" * 512 + " osimertinib")})
    assert reranked("filter", (candidate("a"), candidate("named")), texts=texts) is None


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("." * 501 + "osimertinib", True),  # 501 + 11 = 512: its last letter is the last
        ("." * 501 + "osimertinib-resistant", True),
        ("." * 502 + "osimertinib", False),
        ("." * 501 + "osimertinibs", False),  # no name, although the cut would make it one
        ("." * 505 + "AZD9291", True),
        ("." * 505 + "AZD92915", False),  # another code, although the cut would make it one
        ("." * 506 + "AZD9291", False),
    ],
)
def test_the_cut_at_512_neither_makes_a_name_nor_halves_one(text: str, *, named: bool) -> None:
    terms = ("osimertinib", "AZD9291", "AZD929", "osimertin")
    assert names_asked(Evidence(text=text), terms) is named


@given(st.integers(480, 520), st.sampled_from(["", "s", "5", "-", " and"]))
def test_both_tiers_find_the_same_names_in_a_text(before: int, behind: str) -> None:
    evidence = Evidence(text="." * before + "AZD9291" + behind)
    assert names_asked(evidence, ("AZD9291",)) is (entity_match_score(evidence, ("AZD9291",)) > 0)


@pytest.mark.parametrize(
    "called",
    [
        DocumentNames("Osimertinib in adults", "a.xml"),
        DocumentNames("", "label_osimertinib.xml"),
        DocumentNames("", "all.zip", "azd9291.xml"),
    ],
)
def test_a_name_in_title_or_file_counts(called: DocumentNames) -> None:
    lookup = Lookup(called={"doc-named": called})
    found = reranked("filter", (candidate("a"), candidate("named")), lookup=lookup)
    assert found is not None
    assert ids_of(found) == ["named", "a"]


def test_a_name_in_the_path_of_sections_counts() -> None:
    texts = Texts({"named": passage("named", path=("Results", "Osimertinib arm"))})
    found = reranked("filter", (candidate("a"), candidate("named")), texts=texts)
    assert found is not None
    assert ids_of(found) == ["named", "a"]


def test_cosine_counts_a_section_cue_as_the_reference_does_and_filter_does_not() -> None:
    expanded = ExpandedQuery("q", ("osimertinib", "warnings"), REQUIRED)
    texts = Texts({"cue": passage("cue", "Warnings of another drug.")})
    pair = (candidate("cue", arms=dense(0.1)), candidate("x", primary_drugs="osimertinib"))
    found = reranked("cosine", pair, expanded=expanded, texts=texts)
    assert found is not None
    assert set(ids_of(found)) == {"cue", "x"}
    filtered = reranked("filter", pair, expanded=expanded, texts=texts)
    assert filtered is not None
    assert ids_of(filtered) == ["x", "cue"]


def test_filter_keeps_what_looks_like_a_compound_although_it_has_another_name() -> None:
    pair = (candidate("like"), candidate("self", primary_drugs="osimertinib"))
    assert reranked("filter", pair, collection="eagle_chemical") is None


def test_cosine_orders_a_chemical_plan_by_structure() -> None:
    """Of what names the compound: the dense arm's 0.3, and 0.8 of the stored fingerprint of what it missed."""
    chemical = "eagle_chemical"
    shelf = Shelf({chemical: (row("missed", 0.8),)})
    found = reranked(
        "cosine",
        (
            candidate("like", 0.9, arms=dense(0.9, chemical)),
            candidate("found", 0.8, arms=dense(0.3, chemical), primary_drugs="osimertinib"),
            candidate("missed", 0.7, primary_drugs="osimertinib"),
        ),
        collection=chemical,
        shelf=shelf,
        expanded=ExpandedQuery("CCO", ("osimertinib",), REQUIRED),
    )
    assert found is not None
    assert [(each.passage_id, each.score) for each in found] == [("missed", 0.8), ("found", 0.3)]
    assert [(where, asked) for where, asked, _ in shelf.asked] == [(chemical, "CCO")]


def test_a_search_for_words_alone_encodes_nothing() -> None:
    shelf = Shelf({TEXT: (row("words", 0.5),)})
    found = reranked("cosine", shelf=shelf, search="lexical")
    assert found is not None
    assert ids_of(found) == ["far", "words", "near"]
    assert shelf.asked == []


def test_a_passage_without_a_vector_there_is_last() -> None:
    found = reranked("cosine", shelf=Shelf({TEXT: ()}))
    assert found is not None
    assert ids_of(found)[-1] == "words"


def test_a_passage_with_several_rows_counts_by_its_nearest() -> None:
    shelf = Shelf({TEXT: (row("a", 0.9), row("a", 0.4))})
    assert cosines((candidate("a"),), TEXT, "q", shelf) == {"a": 0.9}


def test_equal_cosines_go_by_passage() -> None:
    same = tuple(candidate(key, arms=dense(0.5)) for key in "cab")
    found = reranked("cosine", same, intent=QueryIntent())
    assert found is not None
    assert ids_of(found) == ["a", "b", "c"]
