"""Which arms a query gets, and that an exact name wins whatever the encoder thinks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import Filter, OneOf
from eagle_rag.model.query import (
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    SearchMode,
    SearchRequest,
)
from eagle_rag.ops.tokens import tokenize
from eagle_rag.retrieve.fuse import FusionConfig, RankedArm, fuse_arms
from eagle_rag.retrieve.search import ArmHits, PlannedQuery, complete_arms, search_arms


def _hits(*names: str) -> tuple[StoreHit, ...]:
    return tuple(
        StoreHit(f"{name}@1", name, f"doc-{name}", 1, "kb", 1.0 / rank, rank)
        for rank, name in enumerate(names, start=1)
    )


class FakeStore:
    """Finds ``exact`` by words, and everything else by meaning."""

    def search_lexical(self, *_: object, **__: object) -> tuple[StoreHit, ...]:
        return _hits("exact")

    def search_dense(self, *_: object, **__: object) -> tuple[StoreHit, ...]:
        return _hits("alike", "near", "far")


def _arms(
    query: str, mode: SearchMode = "hybrid", store: FakeStore | None = None
) -> tuple[ArmHits, ...]:
    context = QueryContext(SearchRequest(query, mode=mode), "core", tuple(tokenize(query)))
    planned = [PlannedQuery(CollectionQueryPlan("text", "hash"), ExpandedQuery(query))]
    vector = np.ones(2, np.float32)
    with ThreadPoolExecutor(2) as executor:
        return search_arms(
            planned,
            context,
            store=store or FakeStore(),  # type: ignore[arg-type]  # only what search_arms calls
            encode=lambda *_: (vector, False),
            executor=executor,
        )


@pytest.mark.parametrize(
    ("query", "mode", "arms"),
    [
        ("what follows osimertinib", "hybrid", ["lexical", "dense"]),
        ("EGFR T790M", "hybrid", ["lexical", "identifier", "dense"]),
        ("T790M", "hybrid", ["lexical", "identifier", "dense"]),
        ("vanadium(II)", "hybrid", ["lexical", "identifier", "dense"]),
        ("T790M", "lexical", ["lexical", "identifier"]),
        ("T790M", "dense", ["dense"]),
    ],
)
def test_a_query_gets_an_arm_for_its_exact_names(
    query: str, mode: SearchMode, arms: list[str]
) -> None:
    assert [each.arm for each in _arms(query, mode)] == [f"text/{name}" for name in arms]


def test_a_text_with_the_commoner_of_two_names_alone_is_no_exact_match() -> None:
    gene_and_variant = StoreHit("both@1", "both", "doc-both", 1, "kb", 8.99, 1)
    gene = StoreHit("gene@1", "gene", "doc-gene", 1, "kb", 4.64, 2)

    class TwoNames(FakeStore):
        def search_lexical(self, *_: object, **__: object) -> tuple[StoreHit, ...]:
            return (gene_and_variant, gene)

    arms = {each.arm: each.hits for each in _arms("BRCA2 p.V220Ifs*4", store=TwoNames())}
    assert arms["text/identifier"] == (gene_and_variant,)
    assert arms["text/lexical"] == (gene_and_variant, gene)


@pytest.mark.parametrize("query", ["A157T", "SACC-111", "A157T in mice"])
def test_c2_the_text_with_the_exact_name_is_first_whatever_the_dense_arm_finds(query: str) -> None:
    ranked = [RankedArm(each.arm, each.hits) for each in _arms(query)]
    assert fuse_arms("text", ranked, FusionConfig())[0].passage_id == "exact"


def test_each_arm_scores_what_the_other_found_but_the_identifier_arm_does_not() -> None:
    asked: list[tuple[str, Filter | None]] = []

    class Noting(FakeStore):
        def search_lexical(self, *_: object, **options: object) -> tuple[StoreHit, ...]:
            asked.append(("lexical", options["where"]))  # type: ignore[arg-type]  # a filter
            return _hits("exact")

        def search_dense(self, *_: object, **options: object) -> tuple[StoreHit, ...]:
            asked.append(("dense", options["where"]))  # type: ignore[arg-type]  # a filter
            return _hits("alike", "near")

    arms = _arms("T790M", store=Noting())
    assert all(each.also == () for each in arms)
    asked.clear()
    with ThreadPoolExecutor(1) as executor:
        completed = {each.arm: each.also for each in complete_arms(arms, executor=executor)}
    assert asked == [
        ("lexical", OneOf("passage_id", ("alike", "near"))),
        ("dense", OneOf("passage_id", ("exact",))),
    ]
    assert completed["text/identifier"] == ()
    assert completed["text/dense"] == _hits("alike", "near")


def test_sparse_terms_reach_the_words_arm_behind_the_raw_query() -> None:
    tokens: list[tuple[str, ...]] = []

    class Noting(FakeStore):
        def search_lexical(self, *given: object, **_: object) -> tuple[StoreHit, ...]:
            tokens.append(given[1])  # type: ignore[arg-type]  # tokens
            return ()

    query = "what warns of it"
    context = QueryContext(SearchRequest(query), "core", tuple(tokenize(query)))
    planned = [
        PlannedQuery(
            CollectionQueryPlan("text", "hash"),
            ExpandedQuery("another text", ("osimertinib", "boxed warning")),
        )
    ]
    with ThreadPoolExecutor(1) as executor:
        search_arms(
            planned, context, store=Noting(),  # type: ignore[arg-type]  # only what search_arms calls
            encode=lambda *_: (np.ones(2, np.float32), False), executor=executor,
        )  # fmt: skip
    assert tokens == [("warn", "osimertinib", "box")]
