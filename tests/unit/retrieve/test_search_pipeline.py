"""The order of the stages with plugins in them, on a small index."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import StoreError
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.kernel.plugins import Implementation, hook_parameters
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.model.results import SearchResults
from eagle_rag.retrieve.pipeline import SearchConfig, SearchPipeline
from eagle_rag.testing.articles import jats_article, write_files


@pytest.fixture
def engine(make_engine: Callable[..., Engine], tmp_path: Path) -> Engine:
    """Return an engine with five papers in two knowledge bases."""
    engine = make_engine({"store.kind": "memory"})
    for kb, numbers in (("one", range(3)), ("two", range(3, 5))):
        files = {
            f"{n}.xml": jats_article(
                f"Paper {n}", [f"Kinase {n} fell."], ids={"doi": f"10.5555/{n}"}
            )
            for n in numbers
        }
        engine.ingest([write_files(tmp_path / kb, dict(files))], kb_name=kb)
    return engine


def _search(
    engine: Engine,
    request: SearchRequest,
    config: SearchConfig | None = None,
    **hooks: Callable[..., object],
) -> SearchResults:
    own = [
        Implementation(hook, "lab", "core", 100, function, hook_parameters(hook))
        for hook, function in hooks.items()
    ]
    bus = HookBus((*own, *engine.kernel.loaded.implementations), AuditLog(10))
    pipeline = SearchPipeline(bus, engine._searcher()._services)
    return pipeline.search(request, config or SearchConfig(), namespace="core")


def _dois(results: SearchResults) -> list[str]:
    return [hit.ids.doi for hit in results.hits]


def _of(engine: Engine, number: int) -> Candidate:
    view = engine.show(f"10.5555/{number}")
    passage = view.passages[0]
    record = view.record
    return Candidate(
        passage.id, record.document_id, record.version, record.kb_name, "eagle_text", 9.0
    )


def test_explain_shows_the_arms_and_nothing_else_does(engine: Engine) -> None:
    explained = _search(engine, SearchRequest("kinase 1 fell", explain=True)).hits[0]
    assert {arm.arm for arm in explained.arms} >= {"eagle_text/lexical", "eagle_text/dense"}
    assert _search(engine, SearchRequest("kinase 1 fell")).hits[0].arms == ()


def test_a_failing_query_plugin_is_left_out_and_the_trace_says_so(engine: Engine) -> None:
    def query_assemble(context: QueryContext) -> None:
        raise ZeroDivisionError(context.namespace)

    results = _search(engine, SearchRequest("kinase"), query_assemble=query_assemble)
    assert len(results.hits) == 5
    assert results.trace.degraded
    assert [event.plugin for event in results.trace.events if event.degraded] == ["lab"]


def test_i1_a_supplement_out_of_scope_is_dropped(engine: Engine) -> None:
    results = _search(
        engine,
        SearchRequest("kinase", kb_names=("one",)),
        retrieve_supplement=lambda **_: (_of(engine, 4), _of(engine, 1)),
        rrf_post_merge=lambda merged, supplement, **_: supplement,  # noqa: ARG005 - named as the bus calls it
    )
    assert _dois(results) == ["10.5555/1"]


def test_i1_what_a_plugin_injects_past_the_scope_is_not_shown(engine: Engine) -> None:
    stray = _of(engine, 4)
    results = _search(
        engine,
        SearchRequest("kinase", kb_names=("one",)),
        retrieve_supplement=lambda **_: (stray,),
    )
    assert "10.5555/4" not in _dois(results)


def test_tier_2_reranks_the_head_as_deep_as_configured(engine: Engine) -> None:
    plain = _dois(_search(engine, SearchRequest("kinase")))
    turned = _search(
        engine,
        SearchRequest("kinase"),
        SearchConfig(rerank_policy="domain", rerank_depth=2),
        rerank_merged=lambda merged, **_: tuple(reversed(merged)),
    )
    assert _dois(turned) == [plain[1], plain[0], *plain[2:]]


def test_a_plan_for_a_collection_nobody_wrote_to_is_skipped_and_said(engine: Engine) -> None:
    plans = (CollectionQueryPlan("eagle_text", "hash"), CollectionQueryPlan("empty", "hash"))
    results = _search(
        engine, SearchRequest("kinase"), classify_query=lambda **_: RouteDecision(plans)
    )
    assert len(results.hits) == 5
    assert "'empty' is empty" in next(e.message for e in results.trace.events if e.degraded)


def test_two_plans_for_one_collection_give_no_hit_twice(engine: Engine) -> None:
    plans = (CollectionQueryPlan("eagle_text", "hash"),) * 2
    results = _search(
        engine,
        SearchRequest("kinase", group_by="passage"),
        classify_query=lambda **_: RouteDecision(plans),
    )
    assert len(set(_dois(results))) == len(results.hits) == 5


def test_an_arm_that_fails_is_an_error_and_not_an_empty_list(engine: Engine) -> None:
    engine.store.close()
    with pytest.raises(StoreError):
        _search(engine, SearchRequest("kinase"))


def test_the_order_is_the_same_every_time(engine: Engine) -> None:
    first = _search(engine, SearchRequest("kinase fell")).hits
    assert all(_search(engine, SearchRequest("kinase fell")).hits == first for _ in range(5))


def test_the_trace_times_every_stage(engine: Engine) -> None:
    events = _search(engine, SearchRequest("kinase")).trace.events
    timed = [event.stage for event in events if event.elapsed_ms is not None]
    assert timed == ["assemble", "classify", "search", "rank", "enrich"]
