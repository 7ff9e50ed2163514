"""Routes by what a query holds; the chemical collection is asked for a structure."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from eagle_biomed.collections import collection_profiles
from eagle_biomed.options import BiomedOptions
from eagle_biomed.routing import QueryRouter, structure_in
from eagle_rag.errors import EncoderLoadError, UnknownName
from eagle_rag.kernel.collections import CollectionRegistry
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.ports.encoders import TextEncoder

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
CHEMICAL = CollectionQueryPlan("eagle_chemical", "molformer")
NO_MOLECULE = "c1cccc1C(=O)O"  # a ring of five aromatic carbons
TEXT = ["eagle_text_biomed", "eagle_text"]
CARDS = (
    EncoderCard("general", "text", 8, "hash"),
    EncoderCard("pubmedbert", "text", 768, "auto"),
    EncoderCard("medcpt-query", "text", 768, "auto"),
    EncoderCard("molformer", "text", 768, "auto"),
    EncoderCard("medimageinsight", "visual", 1024, "auto", metric="ip", queries_text=True),
    EncoderCard("uni2", "visual", 1536, "auto", metric="ip"),
    EncoderCard("eyes", "visual", 8, "auto"),
)


KNOWN = {"aspirin": ASPIRIN, "adalimumab": ""}


class Compounds:
    def match_drug_entities(self, text: str) -> Sequence[str]:
        return [name for name in KNOWN if name in text.lower()]

    def smiles_of(self, name: str) -> str:
        return KNOWN.get(name.lower(), "")


def no_encoder() -> TextEncoder:
    raise EncoderLoadError("a route needs no weights")


def router(
    options: BiomedOptions | None = None, *, hybrid: Sequence[str] | None = None
) -> QueryRouter:
    chosen = options or BiomedOptions()
    encoders = EncoderRegistry()
    for card in CARDS:
        encoders.register_encoder(card, no_encoder)
    collections = CollectionRegistry(encoders, hybrid_text_collections=hybrid)
    collections.register_collection(CollectionProfile("eagle_text", 8, "general"))
    collections.register_collection(
        CollectionProfile("eagle_visual", 8, "eyes", hybrid_enabled=False)
    )
    for profile in collection_profiles(chosen.encoders, encoders.cards()):
        collections.register_collection(profile)
    return QueryRouter(chosen, collections=collections, encoders=encoders, names=Compounds)


def context(query: str, **changes: object) -> QueryContext:
    request = replace(SearchRequest(query), **changes)  # type: ignore[arg-type]  # fields of the request
    return QueryContext(request, "biomed", tuple(query.split()))


def route(query: str, options: BiomedOptions | None = None, **changes: object) -> RouteDecision:
    decision = router(options).route(context(query, **changes))
    assert decision is not None
    return decision


def collections_of(decision: RouteDecision) -> list[str]:
    return [plan.collection for plan in decision.plans]


@pytest.mark.parametrize(
    ("query", "further"),
    [
        ("boxed warning adalimumab", []),
        ("CO poisoning of the CNS", []),
        (f"SMILES {ASPIRIN}", ["eagle_chemical"]),
        ("InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3", ["eagle_chemical"]),
        ("aspirin", ["eagle_chemical"]),
        ("Aspirin?", ["eagle_chemical"]),
        ("aspirin in stroke", []),
        ("compounds similar to aspirin", ["eagle_chemical"]),
        ("structure of adalimumab", []),
        ("chest radiograph", ["eagle_medical_radiology"]),
        ("aspirin analogues on CT", ["eagle_chemical", "eagle_medical_radiology"]),
    ],
)
def test_a_query_goes_to_text_and_where_its_words_say(query: str, further: list[str]) -> None:
    assert collections_of(route(query)) == TEXT + further


def test_plans_have_the_collections_encoder_depth_and_bm25_arm() -> None:
    decision = route(f"SMILES {ASPIRIN}")
    assert decision.plans == (
        CollectionQueryPlan("eagle_text_biomed", "pubmedbert", 20, hybrid=True),
        CollectionQueryPlan("eagle_text", "general", 20, hybrid=True),
        CollectionQueryPlan("eagle_chemical", "molformer", 20, hybrid=False),
    )
    assert decision.rule == "biomed-text+general+chemical"


def test_the_routers_hybrid_list_is_heeded() -> None:
    decision = router(hybrid=["eagle_text_biomed"]).route(context("kinase"))
    assert decision is not None
    assert [plan.hybrid for plan in decision.plans] == [True, False]


def test_the_depth_is_an_option() -> None:
    decision = route("kinase", BiomedOptions(collection_recall_top_k=100))
    assert {plan.recall_top_k for plan in decision.plans} == {100}


def candidate(name: str, similarity: float, arm: str = "eagle_chemical/dense") -> Candidate:
    return Candidate(
        name, name, 1, "default", "eagle_chemical", 0.01, (ArmScore(arm, 1, similarity),)
    )


FOUND = (candidate("same", 0.9999999), candidate("like", 0.9), candidate("far", 0.2))


def test_a_query_that_is_but_a_name_brings_the_compound_without_its_neighbours() -> None:
    """In a library without the drug, its neighbours would be first for its name."""
    narrowed = router().narrow(context("aspirin"), CHEMICAL, FOUND)
    assert narrowed == FOUND[:1]
    assert router().narrow(context("aspirin"), CHEMICAL, FOUND[1:]) == ()


@pytest.mark.parametrize(
    ("query", "collection"),
    [
        (f"SMILES {ASPIRIN}", "eagle_chemical"),
        ("compounds similar to aspirin", "eagle_chemical"),
        ("aspirin", "eagle_text"),
    ],
)
def test_other_rankings_are_left_as_they_are(query: str, collection: str) -> None:
    plan = CollectionQueryPlan(collection, "molformer")
    assert router().narrow(context(query), plan, FOUND) is None


def test_a_collection_without_an_encoder_is_left_out_and_named() -> None:
    options = BiomedOptions(
        encoders={
            "eagle_text_biomed": "pubmedbert",
            "eagle_chemical": "",
            "eagle_medical_radiology": "",
        }
    )
    decision = route("aspirin analogues on CT", options)
    assert collections_of(decision) == TEXT
    reason = "left out: no encoder fills it in this profile"
    assert dict(decision.hints) == {
        "eagle_chemical": reason,
        "eagle_medical_radiology": reason,
        "eagle_text": "always",
        "eagle_text_biomed": "always",
    }


def test_words_do_not_reach_pictures_without_a_text_tower() -> None:
    decision = route("colon biopsy")
    assert collections_of(decision) == TEXT
    assert "takes pictures alone" in dict(decision.hints)["eagle_medical_pathology"]


def test_a_picture_is_compared_with_pictures_and_no_text() -> None:
    decision = route("", image=b"png")
    assert collections_of(decision) == [
        "eagle_medical_radiology",
        "eagle_medical_pathology",
        "eagle_visual",
    ]


def test_a_picture_with_words_goes_to_text_too() -> None:
    assert collections_of(route("what is this", image=b"png"))[:2] == TEXT


def test_words_alone_do_not_go_where_there_are_no_words() -> None:
    """``mode lexical`` needs a BM25 arm; the store refuses a collection without one."""
    decision = route("aspirin analogues on CT", mode="lexical")
    assert collections_of(decision) == TEXT
    assert "no BM25 arm" in dict(decision.hints)["eagle_chemical"]


def test_medcpt_is_searched_when_it_is_filled() -> None:
    assert "eagle_text_medcpt" not in collections_of(route("kinase"))
    options = BiomedOptions(medcpt_dual_search=True)
    assert collections_of(route("kinase", options)) == [*TEXT, "eagle_text_medcpt"]


def test_exploratory_collections_are_always_searched_once() -> None:
    options = BiomedOptions(exploratory_search_collections=("eagle_text_medcpt", "eagle_text"))
    assert collections_of(route("kinase", options)) == [*TEXT, "eagle_text_medcpt"]


def test_the_chemical_collection_is_never_asked_for_words() -> None:
    """Its encoder refuses them, and the whole search would fail."""
    options = BiomedOptions(exploratory_search_collections=("eagle_chemical",))
    decision = route("kinase", options)
    assert collections_of(decision) == TEXT
    assert "no structure" in dict(decision.hints)["eagle_chemical"]


def test_what_is_smiles_by_its_grammar_alone_is_not_sent_to_chemistry() -> None:
    assert collections_of(route(f"SMILES {NO_MOLECULE}")) == TEXT


def test_an_exploratory_collection_that_is_not_there_is_an_error() -> None:
    options = BiomedOptions(exploratory_search_collections=("eagle_absent",))
    with pytest.raises(UnknownName, match="eagle_absent"):
        route("kinase", options)


def test_without_collections_the_core_decides() -> None:
    each = QueryRouter(
        BiomedOptions(), collections=None, encoders=EncoderRegistry(), names=Compounds
    )
    assert each.route(context("aspirin")) is None


@pytest.mark.parametrize("query", ["aspirin", "Aspirin in stroke", f"SMILES: {ASPIRIN} please"])
def test_the_chemical_collection_is_asked_for_the_structure_alone(query: str) -> None:
    assert router().expand(context(query), CHEMICAL) == ExpandedQuery(ASPIRIN)


def test_other_plans_and_queries_without_structure_are_left_to_the_core() -> None:
    each = router()
    assert each.expand(context("aspirin"), None) is None
    assert each.expand(context("aspirin"), CollectionQueryPlan("eagle_text", "general")) is None
    assert each.expand(context("kinase"), CHEMICAL) is None


@pytest.mark.parametrize(
    ("query", "structure"),
    [
        ("", ""),
        ("CNS", ""),
        (" Aspirin ", ASPIRIN),
        ("adalimumab or aspirin", ASPIRIN),
        ("adalimumab", ""),
        (f"{ASPIRIN} or c1ccccc1C", ASPIRIN),
    ],
)
def test_the_first_structure_of_a_query_counts(query: str, structure: str) -> None:
    assert structure_in(query, Compounds()) == structure
