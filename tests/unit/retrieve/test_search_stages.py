"""Single stages: scope, routing, expansion, reranking, supplement, aggregation."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from eagle_rag.adapters.encoders.hashed import HashPairScorer
from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.errors import EncoderLoadError, PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.filters import AllOf, Compare, OneOf
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    GroupBy,
    QueryAddition,
    QueryContext,
    QueryIntent,
    SearchRequest,
)
from eagle_rag.model.records import LiveState
from eagle_rag.retrieve.aggregate import RetractedPolicy, aggregate_candidates
from eagle_rag.retrieve.assemble import assemble_query
from eagle_rag.retrieve.classify import classify_query
from eagle_rag.retrieve.expand import expand_for_plan, find_intent
from eagle_rag.retrieve.inject import inject_supplement
from eagle_rag.retrieve.rerank import Head, rerank_general, rerank_merged, rerank_plan
from eagle_rag.retrieve.supplement import supplement_candidates

MakeBus = Callable[..., BoundBus]
CONTEXT = QueryContext(SearchRequest("egfr"), "core", ("egfr",))
PLAN = CollectionQueryPlan("text", "tiny")


def candidate(key: str, document: str = "", score: float = 1.0) -> Candidate:
    """Return a candidate."""
    return Candidate(key, document or f"d{key}", 1, "kb", "text", score, (ArmScore("a", 1, 1.0),))


RANKING = tuple(candidate(key) for key in "abcd")


def order(candidates: tuple[Candidate, ...]) -> str:
    """Return passage ids in one word."""
    return "".join(each.passage_id for each in candidates)


@pytest.mark.parametrize(
    ("request_", "scope"),
    [
        (SearchRequest("egfr"), None),
        (SearchRequest("egfr", kb_names=("a",)), OneOf("kb_name", ("a",))),
        (SearchRequest("egfr", kb_names=()), OneOf("kb_name", ())),
        (SearchRequest("egfr", document_ids=()), OneOf("document_id", ())),
        (
            SearchRequest("egfr", kb_names=("a",), filters=Compare("year", "ge", 2020)),
            AllOf((OneOf("kb_name", ("a",)), Compare("year", "ge", 2020))),
        ),
    ],
)
def test_i1_the_scope_of_a_request_becomes_a_filter(
    make_bus: MakeBus, request_: SearchRequest, scope: object
) -> None:
    assert assemble_query(make_bus(), request_, max_query_chars=10).scope == scope


def test_additions_of_plugins_are_in_the_context(make_bus: MakeBus) -> None:
    bus = make_bus(query_assemble=lambda **_: QueryAddition("suffix"))
    context = assemble_query(bus, SearchRequest("egfr"), max_query_chars=10)
    assert context.additions == (QueryAddition("suffix", plugin="lab-query_assemble"),)
    assert context.tokens == ("egfr",)


def test_routing_that_nobody_does_is_an_error(make_bus: MakeBus) -> None:
    with pytest.raises(PluginError, match="no plugin of namespace 'core' routes queries"):
        classify_query(make_bus(), CONTEXT)


def test_the_intent_of_a_plugin_is_in_the_context_of_later_stages(make_bus: MakeBus) -> None:
    intent = QueryIntent("chemical")
    bus = make_bus(query_dense_expand=lambda **_: ExpandedQuery("x", intent=intent))
    assert find_intent(bus, CONTEXT).intent == intent
    assert find_intent(make_bus(), CONTEXT) is CONTEXT


def test_a_query_nobody_expands_stays_what_it_is(make_bus: MakeBus) -> None:
    assert expand_for_plan(make_bus(), CONTEXT, PLAN) == ExpandedQuery("egfr")


def test_rerank_of_a_plan_takes_the_plugins_order_or_leaves_it(make_bus: MakeBus) -> None:
    bus = make_bus(rerank=lambda candidates, **_: tuple(reversed(candidates)))
    more = {"plan": PLAN, "expanded": ExpandedQuery("egfr")}
    assert order(rerank_plan(bus, CONTEXT, candidates=RANKING, **more)) == "dcba"  # type: ignore[arg-type]  # spelled once
    assert rerank_plan(make_bus(), CONTEXT, candidates=RANKING, **more) == RANKING  # type: ignore[arg-type]  # spelled once
    assert rerank_plan(bus, CONTEXT, candidates=(), **more) == ()  # type: ignore[arg-type]  # spelled once


@pytest.mark.parametrize(("depth", "expected"), [(1, "abcd"), (2, "bacd"), (9, "dcba")])
def test_rerank_of_the_whole_sees_the_head_and_leaves_the_rest(
    make_bus: MakeBus, depth: int, expected: str
) -> None:
    bus = make_bus(rerank_merged=lambda merged, **_: tuple(reversed(merged)))
    texts: list[int] = []

    def texts_of(candidates: tuple[Candidate, ...]) -> tuple[str, ...]:
        texts.append(len(candidates))
        return ("text",) * len(candidates)

    found = rerank_merged(bus, CONTEXT, Head(RANKING, depth, texts_of))
    assert order(found.candidates) == expected
    assert found.message == f"{min(depth, 4)} of {min(depth, 4)} candidates reranked by the plugin"
    assert texts == [min(depth, 4)]


def _words(candidates: tuple[Candidate, ...]) -> tuple[str, ...]:
    return tuple("egfr" if each.passage_id in "bd" else "other words" for each in candidates)


def test_what_the_plugin_did_not_reach_keeps_its_order_below(make_bus: MakeBus) -> None:
    """A plugin whose time is spent returns what it scored; dropping the rest would hide hits."""
    bus = make_bus(rerank_merged=lambda merged, **_: (merged[2], merged[0]))
    found = rerank_merged(bus, CONTEXT, Head(RANKING, 4, _words))
    assert order(found.candidates) == "cabd"
    assert found.message == (
        "2 of 4 candidates reranked by the plugin; the others keep their order below"
    )


def test_policy_domain_without_a_plugin_says_so_and_leaves_the_order(make_bus: MakeBus) -> None:
    found = rerank_merged(make_bus(), CONTEXT, Head(RANKING, 4, _words))
    assert (found.candidates, found.degraded) == (RANKING, True)
    assert "no plugin brings one; the fused order stands" in found.message


def test_policy_general_reranks_by_the_cores_cross_encoder() -> None:
    """Ties stand by id; the raw score is a part, and the arm says who ranked."""
    scorer = HashPairScorer(EncoderCard("pairs", "rerank", 1, "hash"))
    found = rerank_general(lambda: scorer, CONTEXT, Head(RANKING, 3, _words), clock=lambda: 0.0)
    assert order(found.candidates) == "acbd"
    first = found.candidates[0]
    assert first.parts == (("ce_raw", first.score),)
    assert first.arms[-1] == ArmScore("rerank_merged/core", 1, first.score)
    assert found.message == "3 of 3 candidates reranked by pairs"


def test_a_spent_budget_leaves_the_rest_below_and_says_where_it_stopped() -> None:
    ticks = iter(range(1000))
    context = replace(CONTEXT, rerank_budget_s=0.5)
    ranking = tuple(candidate(key) for key in "abcdefgh")
    scorer = HashPairScorer(EncoderCard("pairs", "rerank", 1, "hash"))
    found = rerank_general(
        lambda: scorer, context, Head(ranking, 8, _words), clock=lambda: float(next(ticks))
    )
    assert order(found.candidates)[5:] == "fgh"
    assert found.message.startswith("5 of 8 candidates reranked by pairs; the others keep")


def test_a_candidate_without_a_text_is_not_scored_and_stays_below() -> None:
    scorer = HashPairScorer(EncoderCard("pairs", "rerank", 1, "hash"))
    head = Head(RANKING, 4, lambda _: ("", "egfr", "", "egfr"))
    found = rerank_general(lambda: scorer, CONTEXT, head, clock=lambda: 0.0)
    assert order(found.candidates) == "bdac"


def _absent() -> HashPairScorer:
    message = "no weights at models/x"
    raise EncoderLoadError(message)


@pytest.mark.parametrize(
    ("scorer", "message"),
    [(None, "rerank.encoder names none"), (_absent, "no weights at models/x")],
)
def test_policy_general_without_an_encoder_says_so_and_leaves_the_order(
    scorer: Callable[[], HashPairScorer] | None, message: str
) -> None:
    found = rerank_general(scorer, CONTEXT, Head(RANKING, 4, _words), clock=lambda: 0.0)
    assert (found.candidates, found.degraded) == (RANKING, True)
    assert message in found.message


def test_inject_takes_the_plugins_ranking_or_leaves_it(make_bus: MakeBus) -> None:
    extra = (candidate("x"),)
    bus = make_bus(rrf_post_merge=lambda merged, supplement, **_: (*supplement, *merged))
    assert order(inject_supplement(bus, CONTEXT, RANKING, extra)) == "xabcd"
    assert inject_supplement(make_bus(), CONTEXT, RANKING, extra) == RANKING


def test_a_supplement_is_deduplicated_and_held_to_what_is_live(make_bus: MakeBus) -> None:
    bus = make_bus(retrieve_supplement=lambda **_: RANKING)
    found = supplement_candidates(
        bus, CONTEXT, (PLAN,), store=MemoryStore(),
        is_live=lambda some: tuple(each for each in some if each.passage_id != "b"),
    )  # fmt: skip
    assert order(found) == "acd"


def _states(*retracted: str, works: dict[str, str] | None = None) -> dict[str, LiveState]:
    return {
        f"d{key}": LiveState(1, (works or {}).get(key, f"w{key}"), key in retracted)
        for key in "abcd"
    }


@pytest.mark.parametrize(("group_by", "expected"), [("document", "acd"), ("passage", "abcd")])
def test_e1_documents_of_one_work_are_one_result(group_by: GroupBy, expected: str) -> None:
    states = _states(works={"a": "w", "b": "w"})
    found = aggregate_candidates(RANKING, states, group_by=group_by, retracted="mark")
    assert order(found) == expected


def test_a_document_scores_as_its_best_passage() -> None:
    ranking = (candidate("a", "da"), candidate("b", "db"), candidate("c", "da"))
    found = aggregate_candidates(ranking, _states(), group_by="document", retracted="mark")
    assert order(found) == "ab"


@pytest.mark.parametrize(
    ("policy", "expected"), [("mark", "abcd"), ("allow", "abcd"), ("hide", "bd")]
)
def test_f1_only_hide_leaves_retracted_papers_out(policy: RetractedPolicy, expected: str) -> None:
    found = aggregate_candidates(RANKING, _states("a", "c"), group_by="document", retracted=policy)
    assert order(found) == expected
