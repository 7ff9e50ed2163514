"""Routes by what a query holds; the chemical collection is asked for a structure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from eagle_biomed.collections import collection_profiles
from eagle_biomed.intent import detect_retrieval_intent
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
    QueryIntent,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.ports.encoders import TextEncoder

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
CHEMICAL = CollectionQueryPlan("eagle_chemical", "molformer")
NO_MOLECULE = "c1cccc1C(=O)O"  # a ring of five aromatic carbons
TEXT = ["eagle_text_biomed", "eagle_text"]
DRUGS = BiomedOptions(drug_structure_search=True)
MEDCPT = ["eagle_text_biomed", "eagle_text_medcpt", "eagle_text"]
CARDS = (
    EncoderCard("general", "text", 8, "hash"),
    EncoderCard("pubmedbert", "text", 768, "auto"),
    EncoderCard("medcpt-query", "text", 768, "auto"),
    EncoderCard("molformer", "text", 768, "auto"),
    EncoderCard("medimageinsight", "visual", 1024, "auto", metric="ip", queries_text=True),
    EncoderCard("uni2", "visual", 1536, "auto", metric="ip"),
    EncoderCard("eyes", "visual", 8, "auto"),
)


KNOWN = {"aspirin": ASPIRIN, "gefitinib": "C#C", "adalimumab": ""}
TARGETS = {"egfr": ("gefitinib",)}


@dataclass(frozen=True)
class Known:
    entity: str
    aliases: tuple[str, ...] = ()
    related_drugs: tuple[str, ...] = ()


class Names:
    """Three drugs, one without a structure, and a gene that one of them acts on."""

    def match_entities(self, text: str) -> Sequence[str]:
        low = text.lower()
        return sorted((each for each in (*KNOWN, *TARGETS) if each in low), key=low.index)

    def match_drug_entities(self, text: str) -> Sequence[str]:
        return [name for name in self.match_entities(text) if name in KNOWN]

    def resolve_entity(self, entity: str) -> Known:
        related = ("ibuprofen",) if entity in KNOWN else TARGETS.get(entity, ())
        return Known(entity, related_drugs=related)

    def smiles_of(self, name: str) -> str:
        return KNOWN.get(name.lower(), "")

    def resolve_compound_query(self, smiles_or_name: str) -> str:
        return self.smiles_of(smiles_or_name) or smiles_or_name

    def expand_query_for_dense_retrieval(self, query: str) -> str:
        return f"{query} [biomed entities: x]"


def no_encoder() -> TextEncoder:
    raise EncoderLoadError("a route needs no weights")


def router(
    options: BiomedOptions | None = None,
    *,
    hybrid: Sequence[str] | None = None,
    cards: Sequence[EncoderCard] = CARDS,
) -> QueryRouter:
    chosen = options or BiomedOptions()
    encoders = EncoderRegistry()
    for card in cards:
        encoders.register_encoder(card, no_encoder)
    collections = CollectionRegistry(encoders, hybrid_text_collections=hybrid)
    collections.register_collection(CollectionProfile("eagle_text", 8, "general"))
    collections.register_collection(
        CollectionProfile("eagle_visual", 8, "eyes", hybrid_enabled=False)
    )
    for profile in collection_profiles(chosen.encoders, encoders.cards()):
        collections.register_collection(profile)
    return QueryRouter(chosen, collections=collections, encoders=encoders, names=Names)


def context(query: str, **changes: object) -> QueryContext:
    request = replace(SearchRequest(query), **changes)  # type: ignore[arg-type]  # fields of the request
    intent = detect_retrieval_intent(query, Names())
    return QueryContext(request, "biomed", tuple(query.split()), intent=intent)


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
        (f"trials of {ASPIRIN} in stroke", ["eagle_chemical"]),
        ("aspirin", ["eagle_chemical"]),
        ("Aspirin?", ["eagle_chemical"]),
        ("aspirin in stroke", []),
        ("EGFR resistance", []),
        ("aspirin plus gefitinib", []),
        ("compound gefitinib", ["eagle_chemical"]),
        ("compounds that bind EGFR", []),
        ("compounds similar to aspirin", ["eagle_chemical"]),
        ("drug label of aspirin", []),
        ("structure of adalimumab", []),
        ("chest radiograph", ["eagle_medical_radiology"]),
        ("aspirin analogues on CT", ["eagle_chemical", "eagle_medical_radiology"]),
    ],
)
def test_a_query_goes_to_text_and_where_its_words_say(query: str, further: list[str]) -> None:
    assert collections_of(route(query)) == TEXT + further


@pytest.mark.parametrize(
    ("query", "options", "collection", "reason"),
    [
        ("kinase", {}, "eagle_text_biomed", "always"),
        ("kinase", {"medcpt_dual_search": True}, "eagle_text_medcpt", "medcpt_dual_search"),
        ("kinase", {"default_dual_text_search": True}, "eagle_text", "default_dual_text_search"),
        (f"SMILES {ASPIRIN}", {}, "eagle_chemical", "the query holds a structure"),
        ("compound gefitinib", {}, "eagle_chemical", "the query is about compounds"),
        ("aspirin analogues", {}, "eagle_chemical", "the query asks for compounds like one it names"),
        ("aspirin", {}, "eagle_chemical", "the query is the name of a compound of known structure"),
        ("aspirin in stroke", {"drug_structure_search": True}, "eagle_chemical",
         "the query names a drug: its own structure alone"),
        ("MRI of the knee", {}, "eagle_medical_radiology", "the query speaks of radiology"),
        ("kinase", {"exploratory_search_collections": ("eagle_text_medcpt",)}, "eagle_text_medcpt",
         "exploratory_search_collections"),
    ],
)  # fmt: skip
def test_each_step_says_why_it_goes_to_its_collection(
    query: str, options: dict[str, object], collection: str, reason: str
) -> None:
    decision = route(query, BiomedOptions(**options))  # type: ignore[arg-type]  # fields of the options
    assert collection in collections_of(decision)
    assert dict(decision.hints)[collection] == reason


def test_all_steps_together_go_in_the_order_of_the_table() -> None:
    options = BiomedOptions(
        medcpt_dual_search=True, exploratory_search_collections=("eagle_text",)
    )
    decision = route(f"aspirin plus {ASPIRIN}: CT and biopsy", options, image=b"png")
    assert (
        decision.rule == "biomed-chemical:text+medcpt+general+chemical+radiology+pathology+visual"
    )


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_words_go_to_the_texts_in_every_mode(mode: str) -> None:
    assert collections_of(route("kinase", mode=mode)) == TEXT


def test_plans_have_the_collections_encoder_depth_and_bm25_arm() -> None:
    decision = route(f"SMILES {ASPIRIN}")
    assert decision.plans == (
        CollectionQueryPlan("eagle_text_biomed", "pubmedbert", 20, hybrid=True),
        CollectionQueryPlan("eagle_text", "general", 20, hybrid=True),
        CollectionQueryPlan("eagle_chemical", "molformer", 20, hybrid=False),
    )
    assert decision.rule == "biomed-chemical:text+general+chemical"


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


@pytest.mark.parametrize(
    "query", ["aspirin", "aspirin in stroke", "compound aspirin", "aspirin was similar to placebo"]
)
def test_a_query_that_names_a_drug_brings_the_compound_without_its_neighbours(query: str) -> None:
    """In a library without the drug, its neighbours would be first for its name."""
    narrowed = router().narrow(context(query), CHEMICAL, FOUND)
    assert narrowed == FOUND[:1]
    assert router().narrow(context(query), CHEMICAL, FOUND[1:]) == ()


@pytest.mark.parametrize(("cosine", "same"), [(0.9985, False), (0.999, True), (0.9995, True)])
def test_a_molecule_is_the_same_from_a_cosine_of_0_999(cosine: float, *, same: bool) -> None:
    found = candidate("found", cosine)
    assert router().narrow(context("aspirin"), CHEMICAL, (found,)) == ((found,) if same else ())


@pytest.mark.parametrize(
    ("query", "rows"),
    [("aspirin in stroke", 5), ("compounds similar to aspirin", 20), (f"SMILES {ASPIRIN}", 20)],
)
def test_the_chemical_plan_of_a_drugs_name_brings_few_rows(query: str, rows: int) -> None:
    chemical = route(query, DRUGS).plans[-1]
    assert (chemical.collection, chemical.recall_top_k) == ("eagle_chemical", rows)


def test_few_rows_are_never_more_than_the_depth() -> None:
    decision = route("aspirin", BiomedOptions(collection_recall_top_k=2))
    assert decision.plans[-1].recall_top_k == 2


@pytest.mark.parametrize(
    ("query", "collection"),
    [
        (f"SMILES {ASPIRIN}", "eagle_chemical"),
        ("compounds similar to aspirin", "eagle_chemical"),
        ("analogues of aspirin", "eagle_chemical"),
        ("aspirin derivatives", "eagle_chemical"),
        ("structurally related to aspirin", "eagle_chemical"),
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
        "eagle_text": "always: documents taken for general text are only there",
        "eagle_text_biomed": "always",
        "parent_doc_retrieval": "False",
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
    assert collections_of(route("kinase", options)) == MEDCPT


@pytest.mark.parametrize(
    ("options", "searched"),
    [
        ({}, ["eagle_text_biomed", "eagle_text"]),
        ({"general_text_search": "dual"}, ["eagle_text_biomed"]),
        (
            {"general_text_search": "dual", "default_dual_text_search": True},
            ["eagle_text_biomed", "eagle_text"],
        ),
        (
            {"general_text_search": "dual", "medcpt_dual_search": True},
            ["eagle_text_biomed", "eagle_text_medcpt"],
        ),
        (
            {"default_dual_text_search": True, "medcpt_dual_search": True},
            ["eagle_text_biomed", "eagle_text_medcpt", "eagle_text"],
        ),
        (
            {"general_text_search": "dual", "encoders": {"eagle_text_biomed": ""}},
            ["eagle_text"],
        ),
    ],
)
def test_text_is_searched_as_the_options_say(
    options: dict[str, object], searched: list[str]
) -> None:
    """Where nothing fills the biomedical text collection, its passages are in the core's."""
    decision = route("kinase", BiomedOptions(**options))  # type: ignore[arg-type]  # fields of the options
    assert collections_of(decision) == searched


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
    each = QueryRouter(BiomedOptions(), collections=None, encoders=EncoderRegistry(), names=Names)
    assert each.route(context("aspirin")) is None


@pytest.mark.parametrize(
    ("query", "hints"),
    [
        ("kinase", {}),
        ("EGFR resistance", {"parent_doc_retrieval": "False"}),
        ("aspirin in stroke", {"parent_doc_retrieval": "False"}),
    ],
)
def test_parent_documents_are_not_expanded_for_a_query_that_names_an_entity(
    query: str, hints: dict[str, str]
) -> None:
    found = dict(route(query).hints)
    assert {name: found[name] for name in found if name == "parent_doc_retrieval"} == hints


def test_a_suppressed_collection_is_left_out_wherever_it_comes_from() -> None:
    options = BiomedOptions(exploratory_search_collections=("eagle_chemical",))
    decision = route("drug label of aspirin", options)
    assert collections_of(decision) == TEXT
    assert "workflow regulatory" in dict(decision.hints)["eagle_chemical"]
    assert decision.rule == "biomed-regulatory:text+general"


@pytest.mark.parametrize(
    ("query", "further"),
    [
        ("gefitinib in lung cancer", ["eagle_chemical"]),
        ("EGFR resistance to gefitinib", ["eagle_chemical"]),
        ("adalimumab in arthritis", []),
        ("EGFR resistance", []),
        ("drug label of aspirin", []),
    ],
)
def test_drug_hits_go_to_chemistry_as_in_the_reference_when_asked_to(
    query: str, further: list[str]
) -> None:
    """Off by default: the card of the compound came before the papers of the question."""
    assert collections_of(route(query, DRUGS)) == [*TEXT, *further]


def test_that_a_drugs_structure_is_not_searched_is_said() -> None:
    assert (
        "drug_structure_search is off" in dict(route("aspirin in stroke").hints)["eagle_chemical"]
    )


def test_a_target_is_no_structure_and_its_drugs_are_not_put_in_its_place() -> None:
    decision = route("EGFR resistance")
    assert "no structure" in dict(decision.hints)["eagle_chemical"]


def test_a_combination_goes_to_pictures_that_can_be_asked_in_words() -> None:
    query = "aspirin plus gefitinib"
    assert collections_of(route(query)) == TEXT
    assert "takes pictures alone" in dict(route(query).hints)["eagle_visual"]
    cards = tuple(replace(card, queries_text=card.label == "eyes") for card in CARDS)
    decision = router(cards=cards).route(context(query))
    assert decision is not None
    assert collections_of(decision) == [*TEXT, "eagle_visual"]
    assert "eagle_visual" not in dict(route("aspirin and gefitinib").hints)


def test_a_query_of_another_namespace_is_left_to_the_core() -> None:
    foreign = replace(context("aspirin"), namespace="core")
    assert router().route(foreign) is None
    assert router().expand(foreign, None) is None
    assert router().expand(foreign, CHEMICAL) is None


@pytest.mark.parametrize("query", ["aspirin", "Aspirin in stroke", f"SMILES: {ASPIRIN} please"])
def test_the_chemical_collection_is_asked_for_the_structure_alone(query: str) -> None:
    expanded = router().expand(context(query), CHEMICAL)
    assert expanded is not None
    assert expanded.dense_query == ASPIRIN


def test_without_a_plan_the_query_comes_back_with_its_intent() -> None:
    expanded = router().expand(context("aspirin warnings"), None)
    intent = QueryIntent("drug_entity", section_cues=("warnings",), require_entity_match=True)
    assert expanded == ExpandedQuery("aspirin warnings", ("aspirin", "warnings"), intent)


@pytest.mark.parametrize(
    ("encoder", "options", "dense"),
    [
        ("pubmedbert", (), "aspirin [biomed entities: x]"),
        ("medcpt-query", (), "aspirin"),
        ("general", (), "aspirin"),
        ("general", ("general",), "aspirin [biomed entities: x]"),
    ],
)
def test_the_options_say_whose_query_is_rewritten(
    encoder: str, options: tuple[str, ...], dense: str
) -> None:
    plan = CollectionQueryPlan("eagle_text", encoder)
    expanded = router(BiomedOptions(expand_encoders=options)).expand(context("aspirin"), plan)
    assert expanded is not None
    assert (expanded.dense_query, expanded.sparse_terms) == (dense, ("aspirin",))


def test_a_picture_is_left_to_the_core_and_chemistry_is_asked_for_nothing_without_a_structure() -> (
    None
):
    each = router()
    assert each.expand(context("", image=b"png"), None) is None
    expanded = each.expand(context("kinase"), CHEMICAL)
    assert expanded is not None
    assert expanded.dense_query == ""


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
    assert structure_in(query, Names()) == structure
