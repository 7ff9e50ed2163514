"""The supplement: documents by a drug's name, scoped search within them, its order."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from eagle_biomed.entities import open_ontology
from eagle_biomed.evidence import EvidenceReader
from eagle_biomed.supplement import EntitySupplement, collections_for_intent, supplement_limit
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import OneOf
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    QueryIntent,
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

TEXT, CHEMICAL, GENERAL = "eagle_text_biomed", "eagle_chemical", "eagle_text"
PLANS = (CollectionQueryPlan(TEXT, "minilm", 20),)
REQUIRED = QueryIntent("drug_entity", require_entity_match=True)


def row(key: str, score: float, *, drugs: str = "", kb: str = "kb") -> StoreHit:
    return StoreHit(key, key, f"doc-{key}", 1, kb, score, 1, (("primary_drugs", drugs or None),))


def supplement(
    context: QueryContext,
    shelf: Shelf,
    lookup: Lookup,
    *,
    texts: Texts | None = None,
    plans: tuple[CollectionQueryPlan, ...] = PLANS,
) -> tuple[Candidate, ...]:
    def expand(_: QueryContext, plan: CollectionQueryPlan) -> ExpandedQuery | None:
        return ExpandedQuery("CCO") if plan.collection == CHEMICAL else None

    reader = EvidenceReader(texts or Texts(), lookup)
    part_of_plugin = EntitySupplement(shelf, lookup, reader, lambda: open_ontology({}), expand)
    return part_of_plugin.supplement(context, plans)


@pytest.mark.parametrize(
    ("recall", "documents", "limit"),
    [(20, 1, 8), (20, 3, 12), (20, 9, 20), (6, 1, 6), (100, 2, 8)],
)
def test_the_limit_is_four_a_document_at_least_eight_at_most_the_plans(
    recall: int, documents: int, limit: int
) -> None:
    assert supplement_limit(recall, documents) == limit


@pytest.mark.parametrize(
    ("intent", "collections"),
    [
        (QueryIntent("chemical"), (CHEMICAL,)),
        (QueryIntent("regulatory", (CHEMICAL,)), (TEXT, GENERAL)),
        (QueryIntent("drug_entity"), (TEXT, GENERAL, CHEMICAL)),
        (QueryIntent("combination"), (TEXT, GENERAL, CHEMICAL)),
        (QueryIntent("general"), (TEXT, GENERAL, CHEMICAL)),
    ],
)
def test_collections_go_by_workflow(intent: QueryIntent, collections: tuple[str, ...]) -> None:
    assert collections_for_intent(intent) == collections


def test_passages_go_by_twice_the_entity_the_words_and_a_tenth_of_the_cosine() -> None:
    """By hand: tag 2 * 1 + 2/2 + 0.04 = 3.04; head only 0 + 1/2 + 0.09 = 0.59."""
    shelf = Shelf({TEXT: (row("head", 0.9), row("tag", 0.4, drugs="osimertinib"))})
    texts = Texts(
        {
            "head": passage("head", "osimertinib alone"),
            "tag": passage("tag", "dosing of osimertinib"),
        }
    )
    lookup = Lookup({"osimertinib": ("doc-head", "doc-tag")})
    found = supplement(context_of("osimertinib dosing", REQUIRED), shelf, lookup, texts=texts)
    assert ids_of(found) == ["tag", "head"]
    assert [each.score for each in found] == pytest.approx([3.04, 0.59])
    assert part(found[0], "supplement") == found[0].score


@pytest.mark.parametrize(
    ("text", "title", "drugs", "cosine", "score"),
    [
        ("Nothing.", "", "osimertinib", 0.5, 2.05),  # 2 * 1.0 + 0/2 + 0.05
        ("Osimertinib.", "", "osimertinib", 0.5, 2.55),  # 2 * 1.0 + 1/2 + 0.05
        ("Nothing.", "On Tagrisso", "", 0.5, 1.05),  # 2 * 0.5 + 0/2 + 0.05
        ("Dosing of osimertinib.", "On Tagrisso", "erlotinib", -0.5, 1.95),  # 2 * 0.5 + 2/2 - 0.05
        ("Osimertinib.", "", "", 0.0, 0.5),  # its head is no part of the boost: 0 + 1/2 + 0
        ("Nothing.", "", "erlotinib", 1.0, 0.1),  # 0 + 0/2 + 0.1
    ],
)
def test_the_score_by_hand(text: str, title: str, drugs: str, cosine: float, score: float) -> None:
    """Terms of the words: osimertinib, dosing."""
    lookup = Lookup({"osimertinib": ("doc-a",)}, called={"doc-a": DocumentNames(title, "a.xml")})
    shelf = Shelf({TEXT: (row("a", cosine, drugs=drugs),)})
    texts = Texts({"a": passage("a", text)})
    (found,) = supplement(context_of("osimertinib dosing", REQUIRED), shelf, lookup, texts=texts)
    assert found.score == pytest.approx(score)


@pytest.mark.parametrize("query", ["Fruzaqla", "HMPL-013 in colon cancer", "fruquintinib dose"])
def test_documents_are_looked_up_by_every_name_of_the_drug(query: str) -> None:
    lookup = Lookup()
    supplement(context_of(query, REQUIRED), Shelf(), lookup)
    assert {"fruquintinib", "Fruzaqla", "HMPL-013"} <= set(lookup.asked[0])


def test_a_named_drug_is_never_replaced_by_related_ones() -> None:
    """The reference's q-exp-053."""
    lookup = Lookup()
    supplement(context_of("everolimus after EGFR inhibitors", REQUIRED), Shelf(), lookup)
    assert "everolimus" in lookup.asked[0]
    assert "gefitinib" not in lookup.asked[0]


def test_without_a_named_drug_the_first_entitys_first_four_stand_in() -> None:
    lookup = Lookup()
    supplement(context_of("compound for EGFR", REQUIRED), Shelf(), lookup)
    first = open_ontology({}).resolve_entity("EGFR").related_drugs
    assert list(lookup.asked[0])[:4] == list(first[:4])
    assert first[4] not in lookup.asked[0]


def test_only_documents_found_by_name_are_searched() -> None:
    shelf = Shelf({TEXT: (row("a", 0.9), row("b", 0.8))})
    found = supplement(
        context_of("osimertinib", REQUIRED), shelf, Lookup({"osimertinib": ("doc-b",)})
    )
    assert ids_of(found) == ["b"]
    assert shelf.asked == [(TEXT, "osimertinib", 8)]


def test_i6_the_scope_of_the_request_holds() -> None:
    shelf = Shelf({TEXT: (row("a", 0.9, kb="mine"), row("b", 0.8, kb="theirs"))})
    lookup = Lookup({"osimertinib": ("doc-a", "doc-b")})
    request = SearchRequest("osimertinib", kb_names=("mine",))
    context = context_of(request, REQUIRED, scope=OneOf("kb_name", ("mine",)))
    assert ids_of(supplement(context, shelf, lookup)) == ["a"]
    assert lookup.kb_names == [("mine",)]


def test_only_documents_that_the_request_names_are_searched() -> None:
    """However many others are about the drug, and come before them."""
    others = tuple(f"doc-{number:03}" for number in range(100))
    shelf = Shelf({TEXT: (row("z", 0.9), StoreHit("o", "o", others[0], 1, "kb", 0.95, 1))})
    lookup = Lookup({"osimertinib": (*others, "doc-z")})
    request = SearchRequest("osimertinib", document_ids=("doc-z",))
    assert ids_of(supplement(context_of(request, REQUIRED), shelf, lookup)) == ["z"]


def test_a_passage_of_two_collections_comes_once_with_its_better_score() -> None:
    plans = (*PLANS, CollectionQueryPlan(GENERAL, "minilm", 20))
    shelf = Shelf({TEXT: (row("a", 0.2),), GENERAL: (row("a", 0.7),)})
    found = supplement(
        context_of("osimertinib", REQUIRED),
        shelf,
        Lookup({"osimertinib": ("doc-a",)}),
        plans=plans,
    )
    assert [(each.passage_id, each.collection) for each in found] == [("a", GENERAL)]


def test_the_chemical_collection_is_asked_for_the_structure_alone() -> None:
    shelf = Shelf({CHEMICAL: (row("a", 0.7),), TEXT: (row("b", 0.9),)})
    plans = (*PLANS, CollectionQueryPlan(CHEMICAL, "morgan", 20))
    context = context_of("compound erlotinib", QueryIntent("chemical", require_entity_match=True))
    supplement(context, shelf, Lookup({"erlotinib": ("doc-a", "doc-b")}), plans=plans)
    assert shelf.asked == [(CHEMICAL, "CCO", 8)]


@pytest.mark.parametrize(
    "context",
    [
        context_of("what are lungs", REQUIRED),
        context_of("osimertinib", QueryIntent()),
        context_of("osimertinib", REQUIRED, policy="none"),
        context_of(SearchRequest("osimertinib", mode="lexical"), REQUIRED),
        context_of(SearchRequest("", image=b"x"), REQUIRED),
    ],
    ids=["no drug", "not required", "nobody reranks", "words alone", "no words"],
)
def test_nothing_is_looked_up_where_nothing_would_be_injected(context: QueryContext) -> None:
    lookup = Lookup({"osimertinib": ("doc-a",)})
    shelf = Shelf({TEXT: (row("a", 0.9),)})
    assert supplement(context, shelf, lookup) == ()
    assert shelf.asked == []


def test_a_worker_process_has_nothing_to_bring() -> None:
    part_of_plugin = EntitySupplement(
        None, None, EvidenceReader(None, None), lambda: open_ontology({}), lambda _, __: None
    )
    context = context_of("osimertinib", REQUIRED)
    assert part_of_plugin.supplement(context, PLANS) == ()
    with_lookup = replace(part_of_plugin, lookup=Lookup({"osimertinib": ("doc-a",)}))
    assert with_lookup.supplement(context, PLANS) == ()


BOTH = QueryIntent("combination", require_entity_match=True)
PAIR = "osimertinib plus savolitinib"


def many(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"doc-{prefix}{number:03}" for number in range(count))


def test_each_drug_of_a_combination_is_looked_up_by_itself() -> None:
    lookup = Lookup()
    supplement(context_of(PAIR, BOTH), Shelf(), lookup)
    first, second = map(set, lookup.asked)
    assert {"osimertinib", "Tagrisso"} <= first
    assert {"savolitinib", "HMPL-504"} <= second
    assert not first & second


def test_a_drug_in_hundreds_of_documents_leaves_room_for_the_other() -> None:
    crowd = tuple(row(f"a{number:03}", 0.9, drugs="osimertinib") for number in range(300))
    shelf = Shelf({TEXT: (*crowd, row("z", 0.1, drugs="savolitinib"))})
    lookup = Lookup({"osimertinib": many("a", 300), "savolitinib": ("doc-z",)})
    found = supplement(context_of(PAIR, BOTH), shelf, lookup)
    assert "z" in ids_of(found)
    assert len(found) == 20 + 1


@pytest.mark.parametrize(
    ("query", "limits"),
    [
        (PAIR, [128, 128]),  # 64 / 2 = 32 documents each, 4 * 32
        (f"{PAIR} plus erlotinib", [84, 84, 84]),  # 64 / 3 = 21 documents each, 4 * 21
    ],
)
def test_the_drugs_of_a_combination_share_64_documents_equally(
    query: str, limits: list[int]
) -> None:
    drugs = ("osimertinib", "savolitinib", "erlotinib")
    lookup = Lookup({drug: many(drug, 100) for drug in drugs})
    shelf = Shelf({TEXT: ()})
    wide = (CollectionQueryPlan(TEXT, "minilm", 1000),)
    supplement(context_of(query, BOTH), shelf, lookup, plans=wide)
    assert [limit for _, _, limit in shelf.asked] == limits


def test_a_request_for_many_documents_has_the_same_shares() -> None:
    """32 of the hundred that the request allows and the drug is in: 4 * 32 rows for each drug."""
    allowed = many("a", 100)
    lookup = Lookup({"osimertinib": allowed, "savolitinib": allowed})
    shelf = Shelf({TEXT: ()})
    wide = (CollectionQueryPlan(TEXT, "minilm", 1000),)
    request = SearchRequest(PAIR, document_ids=allowed)
    supplement(context_of(request, BOTH), shelf, lookup, plans=wide)
    assert [limit for _, _, limit in shelf.asked] == [128, 128]


def test_each_drug_of_a_combination_has_the_limit_of_its_own_documents() -> None:
    """One document gives 8, five give 4 * 5, a drug without any is not searched for."""
    shelf = Shelf({TEXT: ()})
    lookup = Lookup({"osimertinib": ("doc-a",), "erlotinib": many("b", 5)})
    wide = (CollectionQueryPlan(TEXT, "minilm", 100),)
    query = f"{PAIR} plus erlotinib"
    supplement(context_of(query, BOTH), shelf, lookup, plans=wide)
    assert shelf.asked == [(TEXT, query, 8), (TEXT, query, 20)]


def test_a_drug_known_by_titles_alone_is_found_beside_one_known_by_tags() -> None:
    """The registry reads titles only when no tag fits what it is asked for."""

    class TagsElseTitles(Lookup):
        def documents_named(
            self, terms: Sequence[str], *, kb_names: Sequence[str] | None = None, limit: int = 64
        ) -> tuple[str, ...]:
            """See ``NameLookup``."""
            titled = ("doc-t",) if "savolitinib" in terms else ()
            return super().documents_named(terms, kb_names=kb_names, limit=limit) or titled

    shelf = Shelf({TEXT: (row("a", 0.9, drugs="osimertinib"), row("t", 0.1))})
    found = supplement(context_of(PAIR, BOTH), shelf, TagsElseTitles({"osimertinib": ("doc-a",)}))
    assert ids_of(found) == ["a", "t"]


def test_a_passage_in_documents_of_both_drugs_comes_once() -> None:
    shelf = Shelf({TEXT: (row("a", 0.5, drugs="osimertinib,savolitinib"),)})
    lookup = Lookup({"osimertinib": ("doc-a",), "savolitinib": ("doc-a",)})
    assert ids_of(supplement(context_of(PAIR, BOTH), shelf, lookup)) == ["a"]


LISTED = (
    *("osimertinib", "savolitinib", "erlotinib", "gefitinib", "imatinib"),
    *("nilotinib", "dasatinib", "everolimus", "fruquintinib", "surufatinib"),
)


def test_a_list_of_many_drugs_has_eight_look_ups() -> None:
    lookup = Lookup()
    supplement(context_of(" plus ".join(LISTED), BOTH), Shelf(), lookup)
    assert [asked[0] for asked in lookup.asked] == list(LISTED[:8])


def test_two_drugs_that_are_no_combination_are_looked_up_together() -> None:
    """As the reference has it: 64 documents in all, so 4 * 64 rows."""
    lookup = Lookup({"osimertinib": many("a", 100), "savolitinib": many("b", 100)})
    shelf = Shelf({TEXT: ()})
    wide = (CollectionQueryPlan(TEXT, "minilm", 1000),)
    query = "osimertinib or savolitinib"
    supplement(context_of(query, REQUIRED), shelf, lookup, plans=wide)
    assert len(lookup.asked) == 1
    assert shelf.asked == [(TEXT, query, 256)]


MERGED = (candidate("m", 0.5, primary_drugs="osimertinib"),)
BROUGHT = (
    candidate("a", 3.0, primary_drugs="osimertinib"),
    candidate("b", 2.9, primary_drugs="osimertinib"),
    candidate("z", 1.0),
)


def injected(
    context: QueryContext, texts: Texts, brought: tuple[Candidate, ...] = BROUGHT
) -> list[str]:
    reader = EvidenceReader(texts, Lookup())
    part_of_plugin = EntitySupplement(
        None, None, reader, lambda: open_ontology({}), lambda _, __: None
    )
    return ids_of(part_of_plugin.inject(context, MERGED, brought, min_new=2))


def test_a_combination_injects_for_each_drug_what_the_registry_says_it_names() -> None:
    """``z`` names the other drug at its head; the ranking names the first one already."""
    texts = Texts({"z": passage("z", "HMPL-504 was added.")})
    assert injected(context_of(PAIR, BOTH), texts) == ["z", "a", "m"]


def test_a_list_of_many_drugs_injects_for_eight() -> None:
    """The pool of the rerank is no place for a list."""
    brought = tuple(candidate(drug, 1.0, primary_drugs=drug) for drug in LISTED)
    found = injected(context_of(" plus ".join(LISTED), BOTH), Texts(), brought)
    assert set(found) == {*LISTED[:8], "m"}


def test_other_workflows_inject_the_best_and_read_nothing() -> None:
    texts = Texts({"z": passage("z", "HMPL-504 was added.")})
    assert injected(context_of(PAIR, REQUIRED), texts) == ["a", "b", "m"]
    assert texts.asked == []


def test_nothing_is_read_when_nobody_reranks() -> None:
    texts = Texts()
    assert injected(context_of(PAIR, BOTH, policy="none"), texts) == ["m"]
    assert texts.asked == []
