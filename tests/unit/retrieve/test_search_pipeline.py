"""The order of the stages with plugins in them, on a small index."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import StoreError
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.kernel.plugins import Implementation, hook_parameters
from eagle_rag.model.filters import Compare
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    GroupBy,
    QueryAddition,
    QueryContext,
    QueryIntent,
    RerankPolicy,
    RouteDecision,
    SearchMode,
    SearchRequest,
)
from eagle_rag.model.records import AuditEvent
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


def _two_collections(make_engine: Callable[..., Engine], tmp_path: Path) -> Engine:
    """Return an engine whose papers are in ``eagle_text`` and in ``labels``."""
    engine = make_engine({"store.kind": "memory", "collections.labels.encoder": "hash"})
    section = "Kinase fell. " * 30
    files = {
        "1.xml": jats_article("Paper 1", [section], ids={"doi": "10.5555/1"}),
        "2.xml": jats_article("Paper 2", ["Kinase rose."], ids={"doi": "10.5555/2"}),
    }
    engine.ingest([write_files(tmp_path / "in", dict(files))], kb_name="one")
    return engine


def _text_only(**_: object) -> RouteDecision:
    return RouteDecision((CollectionQueryPlan("eagle_text", "hash"),), rule="lab-rule")


@pytest.mark.parametrize(
    ("scope", "rules"),
    [
        ({}, "eagle_text by lab-rule"),
        ({"kb_names": ("one",)}, "eagle_text by lab-rule; labels by scope"),
        ({"kb_names": ("absent",)}, "eagle_text by lab-rule"),
        (
            {"filters": Compare("source_type", "eq", "jats")},
            "eagle_text by lab-rule; labels by scope",
        ),
        ({"filters": Compare("source_type", "eq", "spl")}, "eagle_text by lab-rule"),
    ],
)
def test_i1_a_scope_is_searched_in_every_collection_it_was_written_to(
    make_engine: Callable[..., Engine], tmp_path: Path, scope: dict[str, Any], rules: str
) -> None:
    engine = _two_collections(make_engine, tmp_path)
    results = _search(engine, SearchRequest("kinase", **scope), classify_query=_text_only)
    messages = [event.message for event in results.trace.events if event.stage == "classify"]
    assert messages[0] == rules
    empty = {"absent": "knowledge bases ['absent']", "spl": "the filter"}
    said = [
        f"the scope holds no document: {what}" for key, what in empty.items() if key in str(scope)
    ]
    assert [event.message for event in results.trace.events if event.stage == "scope"] == said
    assert bool(results.hits) == (not said)


def test_the_intent_is_found_once_before_routing_and_every_later_hook_sees_it(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = _two_collections(make_engine, tmp_path)
    intent = QueryIntent("lab", suppress_collections=("labels",))
    seen: list[tuple[str, QueryIntent]] = []

    def expand(context: QueryContext, plan: CollectionQueryPlan | None) -> ExpandedQuery:
        seen.append(("expand" if plan else "intent", context.intent))
        return ExpandedQuery("kinase", intent=None if plan else intent)

    def note(hook: str, value: object) -> Callable[..., object]:
        def noting(context: QueryContext, **_: object) -> object:
            seen.append((hook, context.intent))
            return value

        return noting

    results = _search(
        engine,
        SearchRequest("kinase", kb_names=("one",)),
        SearchConfig(rerank_policy="domain"),
        query_dense_expand=expand,
        classify_query=note("classify", _text_only()),
        rerank=note("rerank", None),
        retrieve_supplement=note("supplement", None),
        rrf_post_merge=note("inject", None),
        rerank_merged=note("rerank_merged", None),
    )
    hooks = ["classify", "expand", "rerank", "supplement", "inject", "rerank_merged"]
    assert seen == [("intent", QueryIntent()), *((hook, intent) for hook in hooks)]
    assert any("labels left out of the scope" in event.message for event in results.trace.events)


def test_explain_names_plans_ranks_parts_and_injections(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = _two_collections(make_engine, tmp_path)
    stray = replace(_of(engine, 2), score=100.5, parts=(("entity", 1.0),))
    results = _search(
        engine,
        SearchRequest("fell", kb_names=("one",), explain=True, fusion="weighted"),
        classify_query=lambda **_: RouteDecision(
            _text_only().plans, "lab-rule", hints=(("eagle_text", "it has words"),)
        ),
        rerank=lambda candidates, **_: tuple(
            each for each in candidates if each.document_id != stray.document_id
        ),
        retrieve_supplement=lambda **_: (stray,),
        rrf_post_merge=lambda merged, supplement, **_: (*supplement, *merged),
    )
    injected, found = results.hits[0], results.hits[-1]
    assert [arm.arm for arm in injected.arms] == ["supplement/lab", "inject/lab"]
    assert injected.parts == (("entity", 1.0),)
    assert [arm.arm for arm in found.arms] == [
        *(f"eagle_text/{name}" for name in ("lexical", "dense", "plan", "rerank/lab")),
        *(f"labels/{name}" for name in ("lexical", "dense", "plan", "rerank/lab")),
        "fused",
    ]
    parts = dict(found.parts)
    assert sorted(parts) == [
        f"{collection}/{name}"
        for collection in ("eagle_text", "labels")
        for name in ("combined", "dense", "sparse")
    ]
    assert parts["labels/combined"] == pytest.approx(
        0.5 * parts["labels/dense"] + 0.5 * parts["labels/sparse"]
    )
    assert [event.message for event in results.trace.events if event.stage == "plan"] == [
        "eagle_text with hash by lab-rule (it has words): 2 candidates",
        "labels with hash by scope: 2 candidates",
    ]


def test_every_policy_is_audited(engine: Engine) -> None:
    categories = {
        policy: [
            event.category
            for event in _audited(engine, SearchConfig(rerank_policy=policy))
            if event.category.startswith("rerank")
        ]
        for policy in ("domain", "general", "none")
    }
    assert categories == {
        "domain": ["rerank_t2_domain"],
        "general": ["rerank_t2_general"],
        "none": ["rerank_t2_passthrough"],
    }


def _audited(engine: Engine, config: SearchConfig) -> tuple[AuditEvent, ...]:
    log = AuditLog(10)
    services = replace(engine._searcher()._services, audit=log)
    bus = HookBus(engine.kernel.loaded.implementations, log)
    SearchPipeline(bus, services).search(SearchRequest("kinase"), config, namespace="core")
    return log.recent()


@pytest.mark.parametrize(
    ("policy", "reason"),
    [("domain", "no plugin brings one"), ("general", "rerank.encoder names none")],
)
def test_a_policy_without_a_reranker_is_said_and_the_fused_order_stands(
    engine: Engine, policy: RerankPolicy, reason: str
) -> None:
    plain = _search(engine, SearchRequest("kinase"))
    asked = _search(engine, SearchRequest("kinase"), SearchConfig(rerank_policy=policy))
    assert asked.hits == plain.hits
    assert [reason in event.message for event in asked.trace.events if event.degraded] == [True]


@pytest.mark.parametrize(
    ("policy", "told"), [("domain", "none"), ("general", "none"), ("none", "none")]
)
def test_plugins_are_told_that_nobody_reranks_where_the_one_asked_for_is_not_there(
    engine: Engine, policy: RerankPolicy, told: str
) -> None:
    seen: list[str] = []

    def retrieve_supplement(context: QueryContext, **_: object) -> None:
        seen.append(context.rerank_policy)

    _search(
        engine,
        SearchRequest("kinase"),
        SearchConfig(rerank_policy=policy),
        retrieve_supplement=retrieve_supplement,
    )
    assert seen == [told]


def test_a_scope_is_not_called_empty_for_words_that_are_not_in_it(engine: Engine) -> None:
    """The lexical arm alone cannot tell."""
    filters = Compare("source_type", "eq", "jats")
    results = _search(engine, SearchRequest("zebra", mode="lexical", filters=filters))
    assert results.hits == ()
    assert all(event.stage != "scope" for event in results.trace.events)


@pytest.mark.parametrize(
    ("query", "mode", "said"),
    [
        ("zebra", "hybrid", 1),
        ("zebra kinase", "hybrid", 0),
        ("zebra", "dense", 0),
        ("zebra", "lexical", 0),
    ],
)
def test_it_is_said_when_no_passage_holds_a_word_of_the_query(
    engine: Engine, query: str, mode: SearchMode, said: int
) -> None:
    results = _search(engine, SearchRequest(query, mode=mode))
    events = [event for event in results.trace.events if event.stage == "words"]
    assert len(events) == said
    assert not results.trace.degraded


def test_what_plugins_note_of_a_query_is_in_the_trace_when_it_is_explained(engine: Engine) -> None:
    def query_assemble(**_: object) -> QueryAddition:
        return QueryAddition(note="also called MET")

    def noted(*, explain: bool) -> list[tuple[str, str]]:
        request = SearchRequest("kinase", explain=explain)
        events = _search(engine, request, query_assemble=query_assemble).trace.events
        return [(each.message, each.plugin) for each in events if "MET" in each.message]

    assert noted(explain=True) == [("also called MET", "lab")]
    assert noted(explain=False) == []


def test_a_supplement_is_asked_for_and_injected_in_the_first_pass_alone(engine: Engine) -> None:
    """Four deeper passes look for a tenth result that is not there; they only append."""
    calls: list[str] = []

    def noted(what: str) -> Callable[..., None]:
        return lambda **_: calls.append(what)

    def classify_query(**_: object) -> RouteDecision:
        plan = CollectionQueryPlan("eagle_text", "hash", 1, hybrid=True)
        return RouteDecision((plan,), rule="one row an arm")

    results = _search(
        engine,
        SearchRequest("kinase", top_k=4),
        retrieve_supplement=noted("supplement"),
        rrf_post_merge=noted("inject"),
        rerank=noted("plan"),
        classify_query=classify_query,
    )
    assert len(results.hits) == 4
    assert calls.count("plan") > 1
    assert (calls.count("supplement"), calls.count("inject")) == (1, 1)


def test_joining_plans_is_audited_with_what_was_left_out(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """Two plans found the same passages: each is one candidate."""
    engine = _two_collections(make_engine, tmp_path)
    log = AuditLog(10)
    pipeline = SearchPipeline(
        HookBus(engine.kernel.loaded.implementations, log),
        replace(engine._searcher()._services, audit=log),
    )
    request = SearchRequest("kinase", group_by="passage")
    results = pipeline.search(request, SearchConfig(), namespace="core")
    ids = [hit.passage_id for hit in results.hits]
    assert len(ids) == len(set(ids)) == 2
    assert [event.decision for event in log.recent() if event.category == "rrf_dedupe"] == [
        "2 rows of passages found in several collections joined, 0 repetitions left out"
    ]


def test_the_cores_cross_encoder_reranks_by_policy_general(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine(
        {
            "store.kind": "memory",
            "encoders.pairs.modality": "rerank",
            "encoders.pairs.runtime": "hash",
            "rerank.policy": "general",
            "rerank.encoder": "pairs",
        }
    )
    files = {f"{n}.txt": f"Kinase {n} fell.\n" for n in range(6)}
    engine.ingest([write_files(tmp_path / "in", dict(files))])
    results = engine.search(SearchRequest("kinase", explain=True))
    scorer = engine.kernel.encoders.rerank("pairs")
    expected = scorer.score_pairs("kinase", [hit.text for hit in results.hits])
    assert [hit.score for hit in results.hits] == pytest.approx(list(expected))
    assert list(expected) == sorted(expected, reverse=True)
    assert dict(results.hits[0].parts)["ce_raw"] == results.hits[0].score
    assert not results.trace.degraded
    reranked = [event.message for event in results.trace.events if event.stage == "rerank"]
    assert reranked == ["6 of 6 candidates reranked by pairs"]


@pytest.mark.parametrize(("group_by", "left_out"), [("passage", 1), ("document", 0)])
def test_a_passage_that_repeats_a_higher_one_is_left_out_of_merged_plans(
    make_engine: Callable[..., Engine], tmp_path: Path, group_by: GroupBy, left_out: int
) -> None:
    """One result a document has no use for it, and no reranker's time is saved."""
    engine = make_engine({"store.kind": "memory", "collections.labels.encoder": "hash"})
    same = "Kinase fell as was said. " * 40
    text = same[: same.rindex(".", 0, 900) + 1]
    engine.ingest([write_files(tmp_path / "in", {"a.txt": f"{text}\n\n{text}\n"})])
    (document,) = engine.documents()
    texts = [passage.text for passage in engine.show(document.document_id).passages]
    assert len(texts) == 2
    assert texts[0] == texts[1]
    log = AuditLog(10)
    pipeline = SearchPipeline(
        HookBus(engine.kernel.loaded.implementations, log),
        replace(engine._searcher()._services, audit=log),
    )
    request = SearchRequest("kinase", group_by=group_by)
    results = pipeline.search(request, SearchConfig(), namespace="core")
    assert len(results.hits) == 1
    (event,) = [event for event in log.recent() if event.category == "rrf_dedupe"]
    assert event.decision.endswith(f", {left_out} repetitions left out")
