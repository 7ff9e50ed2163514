"""The hooks of the query side put together: who goes first, and when nothing changes."""

from dataclasses import replace

import pytest

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.evidence import EvidenceReader, evidence_of, with_parts
from eagle_biomed.exact_compounds import ExactCompounds
from eagle_biomed.options import BiomedOptions, Tier1
from eagle_biomed.pair_scores import PairScores
from eagle_biomed.query_path import QueryPath
from eagle_biomed.rerank import PlanReranker
from eagle_biomed.rerank_merged import MergedReranker
from eagle_biomed.routing import QueryRouter
from eagle_biomed.supplement import EntitySupplement
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    QueryIntent,
)
from eagle_rag.model.records import DocumentNames
from eagle_rag.testing.query_side import (
    Audit,
    Encoders,
    Lookup,
    Shelf,
    Texts,
    candidate,
    context_of,
    ids_of,
    passage,
)

TEXT, CHEMICAL = "eagle_text_biomed", "eagle_chemical"
REQUIRED = QueryIntent("drug_entity", require_entity_match=True)
EXACT = (ArmScore("supplement/exact-structure", 1, 1.0),)


class Compounds(ExactCompounds):
    """Brings given compounds; injects as the real one."""

    def __init__(self, brought: tuple[Candidate, ...]) -> None:
        super().__init__(None)
        self.brought = brought

    def supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """See ``ExactCompounds``."""
        del context, plans
        return self.brought or None


def path(
    *brought: Candidate,
    tier1: Tier1 = "filter",
    min_new: int = 2,
    lookup: Lookup | None = None,
) -> QueryPath:
    def ontology() -> Ontology:
        return open_ontology({})

    row = StoreHit("new", "new", "doc-new", 1, "kb", 0.5, 1)
    rows: dict[str, tuple[StoreHit, ...]] = {TEXT: (row,)}
    lookup = lookup or Lookup({"osimertinib": ("doc-new",)})
    reader, shelf = EvidenceReader(Texts(), lookup), Shelf(rows)
    router = QueryRouter(BiomedOptions(), collections=None, encoders=Encoders(), names=ontology)
    return QueryPath(
        router=router,
        tier1=PlanReranker(tier1, shelf, reader, ontology),
        compounds=Compounds(brought),
        supplement=EntitySupplement(shelf, lookup, reader, ontology, router.expand),
        tier2=MergedReranker(
            overrides={},
            pairs=PairScores(Encoders(), ""),
            reader=reader,
            library=shelf,
            names=ontology,
            structure=lambda _: "",
            audit=Audit(),
        ),
        names=ontology,
        min_new=min_new,
    )


CONTEXT = context_of("osimertinib", REQUIRED, namespace="biomed")
PLANS = (CollectionQueryPlan(TEXT, "minilm", 20),)


def test_the_names_of_entities_are_a_note_and_change_no_arm() -> None:
    """Expansion alone decides which encoder sees them."""
    addition = path().assemble(context_of("Tagrisso after progression"))
    assert addition is not None
    assert addition.note.startswith("[biomed entities: AZD9291")
    assert (addition.dense_suffix, addition.lexical_terms) == ("", ())
    assert path().assemble(context_of("night shifts")) is None


def test_exact_compounds_are_brought_before_passages_of_documents_named() -> None:
    exact = candidate("exact", 1.0, arms=EXACT)
    found = path(exact).retrieve_supplement(CONTEXT, PLANS)
    assert found is not None
    assert ids_of(found) == ["exact", "new"]


def test_a_compound_that_both_bring_comes_once() -> None:
    found = path(candidate("new", 1.0, arms=EXACT)).retrieve_supplement(CONTEXT, PLANS)
    assert found is not None
    assert ids_of(found) == ["new"]
    assert found[0].arms == EXACT


def test_with_nothing_to_bring_it_abstains() -> None:
    assert path(lookup=Lookup()).retrieve_supplement(CONTEXT, PLANS) is None
    assert path(min_new=0).retrieve_supplement(CONTEXT, PLANS) is None


def test_exact_compounds_go_before_injected_hits_before_the_ranking() -> None:
    supplement = (candidate("exact", 1.0, arms=EXACT), candidate("new", 2.0))
    found = path().post_merge(CONTEXT, (candidate("a", 0.5),), supplement)
    assert found is not None
    assert ids_of(found) == ["exact", "new", "a"]
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(("min_new", "first"), [(1, ["x", "a"]), (3, ["x", "y", "z", "a"])])
def test_as_many_are_injected_as_the_option_says(min_new: int, first: list[str]) -> None:
    brought = tuple(candidate(key, 2.0) for key in "xyz")
    found = path(min_new=min_new).post_merge(CONTEXT, (candidate("a", 0.5),), brought)
    assert found is not None
    assert ids_of(found) == first


def test_exact_compounds_take_none_of_the_two_places_of_others() -> None:
    supplement = (*(candidate(key, 1.0, arms=EXACT) for key in "xyz"), candidate("new", 2.0))
    found = path().post_merge(CONTEXT, (), supplement)
    assert found is not None
    assert ids_of(found) == ["x", "y", "z", "new"]


@pytest.mark.parametrize(
    "supplement",
    [(), (candidate("a", 3.0),)],
    ids=["empty", "all of it is there"],
)
def test_a_supplement_with_nothing_new_changes_nothing(supplement: tuple[Candidate, ...]) -> None:
    assert path().post_merge(CONTEXT, (candidate("a", 0.5),), supplement) is None


def test_a_compounds_neighbours_are_left_out_before_tier_one_sees_them() -> None:
    def found(key: str, cosine: float) -> Candidate:
        return candidate(key, 0.1, arms=(ArmScore(f"{CHEMICAL}/dense", 1, cosine),))

    plan = CollectionQueryPlan(CHEMICAL, "morgan")
    kept = path(tier1="cosine").rerank(
        CONTEXT,
        plan,
        ExpandedQuery("CCO", ("osimertinib",)),
        candidates=(found("like", 0.7), found("self", 1.0)),
    )
    assert kept is not None
    assert ids_of(kept) == ["self"]


def test_without_a_change_the_fusion_is_left_alone() -> None:
    plan, expanded = PLANS[0], ExpandedQuery("x")
    assert path().rerank(CONTEXT, plan, expanded, candidates=(candidate("a"),)) is None


def test_the_merged_rerank_is_the_domains_only() -> None:
    general = replace(CONTEXT, rerank_policy="general")
    assert path().rerank_merged(general, (candidate("a"),), ("",)) is None
    found = path().rerank_merged(CONTEXT, (candidate("a"),), ("",))
    assert found is not None
    assert ids_of(found) == ["a"]


def test_evidence_is_of_the_row_first_and_of_the_registry_where_the_row_has_none() -> None:
    known = passage("a", "Text.", path=("Results", "Cohort"), tags={"biomed_section": "results"})
    called = DocumentNames("Title", "file:///x/Label.XML", "7")
    found = evidence_of(
        candidate("a", primary_drugs="erlotinib", content_summary="Sum"), known, called
    )
    assert found.primary_drugs == ("erlotinib",)
    assert found.section == "results"
    assert found.blob == "results > cohort\ntitle\nfile:///x/label.xml\n7"
    assert (found.text, found.summary) == ("Text.", "Sum")


def test_without_the_registry_evidence_is_what_the_row_holds() -> None:
    (found,) = EvidenceReader(None, None).read((candidate("a", primary_drugs="x"),), kb_names=None)
    assert (found.primary_drugs, found.blob, found.text) == (("x",), "", "")


def test_parts_are_replaced_by_name_and_sorted() -> None:
    first = replace(candidate("a"), parts=(("b", 1.0), ("c", 2.0)))
    assert with_parts(first, c=3.0, a=0.0) == (("a", 0.0), ("b", 1.0), ("c", 3.0))
