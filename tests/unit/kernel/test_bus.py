"""Modes, order, namespaces, failures; one test named after each hook."""

import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from eagle_rag.errors import EncoderUnavailable, HookFailed, PluginError, UnreadableDocument
from eagle_rag.hooks import HOOKS
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.kernel.plugins import Implementation, hook_parameters
from eagle_rag.model.document import ParseOutcome, Source
from eagle_rag.model.passage import ChunkDecision, EncodedBatch, VectorSpec, VisualAsset
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryAddition,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.model.results import TraceEvent
from eagle_rag.testing.plugin_contract import sample_document, sample_passages

DOCUMENT = sample_document()
PASSAGES = sample_passages()
SOURCE = Source("a.xml", b"<a/>", "0" * 64)
CONTEXT = QueryContext(SearchRequest("egfr"), "lab", ("egfr",))
PLAN = CollectionQueryPlan("eagle_text", "minilm")
EXPANDED = ExpandedQuery("egfr")
BATCH = EncodedBatch(np.zeros((1, 2), np.float32), VectorSpec("minilm", "0" * 64, 2))
ONE = Candidate("p1", "d1", 1, "kb", "eagle_text", 0.5)
TWO = Candidate("p2", "d2", 1, "kb", "eagle_text", 0.4)
ASSET = VisualAsset("fig1", "image/png", b"")


def _plugin(hook: str, answer: object, name: str = "lab", **more: object) -> Implementation:
    """Return an implementation that returns the answer, raises it, or calls it."""

    def function(**arguments: object) -> object:
        if isinstance(answer, BaseException):
            raise answer
        return answer(**arguments) if callable(answer) else answer

    values = {"namespace": "lab", "priority": 100} | more
    return Implementation(
        hook,
        name,
        str(values["namespace"]),
        int(str(values["priority"])),
        function,
        hook_parameters(hook),
    )


def _bus(*implementations: Implementation, events: list[TraceEvent] | None = None) -> BoundBus:
    recorder = None if events is None else events.append
    return HookBus(implementations, AuditLog(10)).bind("lab", recorder)


def _answers(hook: str, *answers: object) -> BoundBus:
    return _bus(*(_plugin(hook, answer, f"p{at}") for at, answer in enumerate(answers)))


# --- one test a hook -------------------------------------------------------------------------


def test_ingest_route_selectors_takes_the_first_answer() -> None:
    bus = _answers("ingest_route_selectors", None, "jats", "html")
    assert bus.ingest_route_selectors(SOURCE) == "jats"


def test_parse_takes_the_first_answer_and_none_when_all_abstain() -> None:
    outcome = ParseOutcome((DOCUMENT,))
    assert _answers("parse", None, outcome).parse(SOURCE) is outcome
    assert _answers("parse", None).parse(SOURCE) is None


def test_chunk_pipes_the_passages_through_all_plugins() -> None:
    def tag(name: str) -> Callable[..., object]:
        return lambda document, passages: tuple(  # noqa: ARG005 - called with the hook's names
            replace(passage, tags=tuple(sorted((*passage.tags, (name, "1")))))
            for passage in passages
        )

    bus = _answers("chunk", tag("b"), None, tag("a"))
    assert [passage.tags for passage in bus.chunk(DOCUMENT, PASSAGES)] == [
        (("a", "1"), ("b", "1"))
    ] * 2


def test_annotate_pipes_the_passages_like_chunk() -> None:
    tagged = tuple(replace(passage, tags=(("a", "1"),)) for passage in PASSAGES)
    assert _answers("annotate", None, tagged).annotate(DOCUMENT, PASSAGES) == tagged
    assert _bus().annotate(DOCUMENT, PASSAGES) is PASSAGES


def test_chunk_without_plugins_returns_what_it_was_given() -> None:
    assert _bus().chunk(DOCUMENT, PASSAGES) is PASSAGES


def test_ingest_visual_extract_collects_all_assets_in_order() -> None:
    other = replace(ASSET, key="fig2")
    bus = _answers("ingest_visual_extract", (ASSET,), None, (other,))
    assert bus.ingest_visual_extract(DOCUMENT, SOURCE) == (ASSET, other)


def test_classify_chunk_collects_and_stamps_all_decisions() -> None:
    decision = ChunkDecision(0, "eagle_text", "minilm", plugin="forged")
    found = _answers("classify_chunk", (decision,), (), (decision,)).classify_chunk(
        DOCUMENT, PASSAGES
    )
    assert [each.plugin for each in found] == ["p0", "p2"]


def test_classify_visual_collects_and_stamps_all_decisions() -> None:
    decision = ChunkDecision(0, "eagle_visual", "clip")
    found = _answers("classify_visual", (decision,)).classify_visual(DOCUMENT, (ASSET,))
    assert found == (replace(decision, plugin="p0"),)


def test_embed_text_takes_the_first_answer() -> None:
    assert _answers("embed_text", None, BATCH).embed_text("minilm", ["a"]) is BATCH


def test_embed_visual_takes_the_first_answer() -> None:
    assert _answers("embed_visual", None, BATCH).embed_visual("clip", [b"a"]) is BATCH


def test_upsert_vectors_takes_the_first_count_and_zero_is_an_answer() -> None:
    assert _answers("upsert_vectors", None, 0, 5).upsert_vectors("eagle_text", []) == 0


def test_query_assemble_collects_and_stamps_additions() -> None:
    addition = QueryAddition(note="x")
    found = _answers("query_assemble", addition, None, addition).query_assemble(CONTEXT)
    assert [each.plugin for each in found] == ["p0", "p2"]


def test_classify_query_takes_and_stamps_the_first_decision() -> None:
    found = _answers("classify_query", None, RouteDecision((PLAN,))).classify_query(CONTEXT)
    assert found == RouteDecision((PLAN,), plugin="p1")


def test_query_dense_expand_is_given_the_plan_or_none() -> None:
    bus = _answers(
        "query_dense_expand", lambda context, plan: ExpandedQuery(f"{context.namespace} {plan}")
    )
    expanded = bus.query_dense_expand(CONTEXT, None)
    assert expanded == ExpandedQuery("lab None")


def test_rerank_takes_the_first_order_and_stamps_its_arm() -> None:
    bus = _answers("rerank", None, (TWO, ONE))
    found = bus.rerank(CONTEXT, PLAN, EXPANDED, (ONE, TWO))
    assert found is not None
    assert [each.passage_id for each in found] == ["p2", "p1"]
    assert found[0].arms == (ArmScore("eagle_text/rerank/p1", 1, 0.4),)


def test_retrieve_supplement_returns_one_ranking_a_plugin_with_its_arm() -> None:
    bus = _answers("retrieve_supplement", (ONE,), None, (TWO,))
    found = bus.retrieve_supplement(CONTEXT, (PLAN,))
    assert [[each.arms[0].arm for each in ranking] for ranking in found] == [
        ["supplement/p0"],
        ["supplement/p2"],
    ]


def test_rrf_post_merge_may_inject_supplement_candidates() -> None:
    bus = _answers("rrf_post_merge", lambda context, merged, supplement: (*supplement, *merged))  # noqa: ARG005 - called with the hook's names
    injected = replace(TWO, arms=(ArmScore("inject/p0", 1, 0.4),))
    assert bus.rrf_post_merge(CONTEXT, (ONE,), (TWO,)) == (injected, ONE)


def test_rerank_merged_stamps_an_arm_of_its_own_and_keeps_a_given_one() -> None:
    own = replace(TWO, arms=(ArmScore("rerank_merged/p0", 9, 9.0),))
    found = _answers("rerank_merged", (own, ONE)).rerank_merged(CONTEXT, (ONE, TWO), ("a", "b"))
    assert found is not None
    assert [each.arms[0] for each in found] == [
        ArmScore("rerank_merged/p0", 9, 9.0),
        ArmScore("rerank_merged/p0", 2, 0.5),
    ]


# --- order and namespaces --------------------------------------------------------------------


def test_an_implementation_gets_only_the_arguments_it_asks_for() -> None:
    each = replace(
        _plugin("rerank", lambda **given: _assert_equal(given, {"plan": PLAN})),
        parameters=("plan",),
    )
    assert _bus(each).rerank(CONTEXT, PLAN, EXPANDED, ()) is None


def _assert_equal(found: object, expected: object) -> None:
    assert found == expected


def test_only_the_namespace_in_force_and_the_core_are_called() -> None:
    hook = "ingest_route_selectors"
    bus = HookBus(
        [
            _plugin(hook, "other", "other", namespace="other"),
            _plugin(hook, "default", "core", namespace="core", priority=-1000),
        ],
        AuditLog(1),
    )
    assert bus.bind("lab").ingest_route_selectors(SOURCE) == "default"
    assert bus.bind("other").ingest_route_selectors(SOURCE) == "other"
    assert bus.bind("lab").implements(hook) == ("core",)
    assert bus.bind("other").namespace == "other"


def test_higher_priority_is_called_first_and_ties_go_by_name() -> None:
    addition = QueryAddition()
    bus = _bus(
        _plugin("query_assemble", addition, "core", namespace="core", priority=-1000),
        _plugin("query_assemble", addition, "b", priority=5),
        _plugin("query_assemble", addition, "c", priority=50),
        _plugin("query_assemble", addition, "a", priority=5),
    )
    assert [each.plugin for each in bus.query_assemble(CONTEXT)] == ["c", "a", "b", "core"]


def test_the_first_answer_ends_the_calls() -> None:
    called: list[str] = []
    bus = _answers("parse", ParseOutcome(()), lambda source: called.append(source.uri))
    bus.parse(SOURCE)
    assert called == []


# --- failures --------------------------------------------------------------------------------


def _call(bus: BoundBus, hook: str) -> object:
    arguments: dict[str, tuple[object, ...]] = {
        "ingest_route_selectors": (SOURCE,),
        "parse": (SOURCE,),
        "chunk": (DOCUMENT, PASSAGES),
        "annotate": (DOCUMENT, PASSAGES),
        "ingest_visual_extract": (DOCUMENT, SOURCE),
        "classify_chunk": (DOCUMENT, PASSAGES),
        "classify_visual": (DOCUMENT, (ASSET,)),
        "embed_text": ("minilm", ["a"]),
        "embed_visual": ("clip", [b"a"]),
        "upsert_vectors": ("eagle_text", []),
        "query_assemble": (CONTEXT,),
        "classify_query": (CONTEXT,),
        "query_dense_expand": (CONTEXT, PLAN),
        "rerank": (CONTEXT, PLAN, EXPANDED, (ONE, TWO)),
        "retrieve_supplement": (CONTEXT, (PLAN,)),
        "rrf_post_merge": (CONTEXT, (ONE,), (TWO,)),
        "rerank_merged": (CONTEXT, (ONE,), ("a",)),
    }
    result: object = getattr(bus, hook)(*arguments[hook])
    return result


FAIL = sorted(hook for hook, rule in HOOKS.items() if rule.policy == "fail")
DEGRADE = sorted(hook for hook, rule in HOOKS.items() if rule.policy == "degrade")


@pytest.mark.parametrize("hook", FAIL)
def test_a_failing_hook_of_policy_fail_names_plugin_and_hook(hook: str) -> None:
    audit = AuditLog(10)
    bus = HookBus([_plugin(hook, KeyError("x"))], audit).bind("lab")
    with pytest.raises(
        HookFailed, match=f"plugin 'lab' failed in hook '{hook}': KeyError: 'x'"
    ) as caught:
        _call(bus, hook)
    assert isinstance(caught.value.__cause__, KeyError)
    (event,) = audit.recent()
    assert (event.category, event.plugin, event.decision) == ("hook_failure", "lab", "raised")


@pytest.mark.parametrize("hook", DEGRADE)
def test_a_failing_hook_of_policy_degrade_is_left_out_and_recorded(hook: str) -> None:
    audit, events = AuditLog(10), list[TraceEvent]()
    bus = HookBus([_plugin(hook, KeyError("x"))], audit).bind("lab", events.append)
    assert _call(bus, hook) in {None, ()}
    assert [(event.stage, event.plugin, event.degraded) for event in events] == [
        (hook, "lab", True)
    ]
    assert "KeyError" in events[0].message
    assert audit.recent()[0].decision == "left out"


def test_the_next_plugin_is_asked_after_one_was_left_out() -> None:
    bus = _answers("query_dense_expand", ValueError("x"), EXPANDED)
    assert bus.query_dense_expand(CONTEXT, None) is EXPANDED


def test_others_additions_survive_one_failure() -> None:
    bus = _answers("query_assemble", ValueError("x"), QueryAddition())
    assert [each.plugin for each in bus.query_assemble(CONTEXT)] == ["p1"]


def test_errors_of_ours_pass_as_they_are_with_a_note() -> None:
    audit = AuditLog(10)
    error = UnreadableDocument("a.xml", "empty", "is empty")
    bus = HookBus([_plugin("parse", error)], audit).bind("lab")
    with pytest.raises(UnreadableDocument) as caught:
        bus.parse(SOURCE)
    assert caught.value is error
    assert caught.value.__notes__ == ["raised by plugin 'lab' in hook 'parse'"]
    assert audit.recent() == ()


def test_errors_of_ours_degrade_where_the_policy_says_so() -> None:
    events: list[TraceEvent] = []
    bus = _bus(_plugin("rerank", EncoderUnavailable("no answer")), events=events)
    assert bus.rerank(CONTEXT, PLAN, EXPANDED, (ONE,)) is None
    assert "no answer" in events[0].message


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("hook", ["parse", "rerank"])
def test_an_interrupt_is_never_swallowed(hook: str, error: type[BaseException]) -> None:
    with pytest.raises(error):
        _call(_bus(_plugin(hook, error())), hook)


def test_queries_side_by_side_record_into_their_own_list() -> None:
    together = threading.Barrier(4)

    def slow(context: QueryContext) -> QueryAddition | None:
        together.wait(timeout=10)
        raise ValueError(context.request.query)

    bus = HookBus([_plugin("query_assemble", slow)], AuditLog(10))

    def search(query: str) -> list[str]:
        events: list[TraceEvent] = []
        bus.bind("lab", events.append).query_assemble(
            replace(CONTEXT, request=SearchRequest(query))
        )
        return [event.message for event in events]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(search, "abcd"))
    assert [re.findall(r"ValueError: (\w)", message) for (message,) in found] == [
        [c] for c in "abcd"
    ]


# --- contracts -------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", FAIL)
def test_a_return_of_another_type_names_plugin_and_hook(hook: str) -> None:
    with pytest.raises(
        PluginError, match=f"'lab' broke the contract of hook '{hook}': it returned"
    ):
        _call(_bus(_plugin(hook, 1.5)), hook)


@pytest.mark.parametrize("hook", DEGRADE)
def test_a_return_of_another_type_degrades_a_query(hook: str) -> None:
    events: list[TraceEvent] = []
    assert _call(_bus(_plugin(hook, 1.5), events=events), hook) in {None, ()}
    assert "returned float" in events[0].message


def test_true_is_not_a_count() -> None:
    with pytest.raises(PluginError, match="returned bool, not int"):
        _bus(_plugin(hook="upsert_vectors", answer=True)).upsert_vectors("c", [])


def test_a_list_is_not_a_tuple_and_items_are_checked() -> None:
    with pytest.raises(PluginError, match="returned list, not tuple"):
        _answers("classify_chunk", []).classify_chunk(DOCUMENT, PASSAGES)
    with pytest.raises(PluginError, match="a tuple with a str, not ChunkDecision"):
        _answers("classify_chunk", ("x",)).classify_chunk(DOCUMENT, PASSAGES)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (PASSAGES[:1], "returned 1 passages for 2"),
        (PASSAGES[::-1], "changed id of passage 0"),
        ((replace(PASSAGES[0], text="x"), PASSAGES[1]), "changed text of passage 0"),
        ((replace(PASSAGES[0], start=1), PASSAGES[1]), "changed start of passage 0"),
        ((replace(PASSAGES[0], tags=(("b", ""), ("a", ""))), PASSAGES[1]), "unsorted"),
    ],
)
def test_chunk_may_change_nothing_but_tags(changed: object, message: str) -> None:
    with pytest.raises(PluginError, match=f"'p0'.*{message}"):
        _answers("chunk", changed).chunk(DOCUMENT, PASSAGES)


def test_chunk_may_return_some_passages_untouched() -> None:
    tagged = (PASSAGES[0], replace(PASSAGES[1], tags=(("a", "1"),)))
    assert _answers("chunk", tagged).chunk(DOCUMENT, PASSAGES) == tagged


def test_chunk_may_not_remove_anothers_tags() -> None:
    tagged = tuple(replace(passage, tags=(("a", "1"),)) for passage in PASSAGES)
    with pytest.raises(PluginError, match=r"'p1'.*removed tags of passage 0"):
        _answers("chunk", tagged, PASSAGES).chunk(DOCUMENT, PASSAGES)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((replace(ONE, passage_id="p9"),), "p9, which was not given"),
        ((replace(ONE, kb_name="other"),), "p1, which was not given"),
        ((ONE, ONE), "p1 twice"),
        ((replace(ONE, score=float("nan")),), "scored passage p1 nan"),
    ],
)
def test_a_reranker_returns_a_subset_once_with_finite_scores(
    answer: Sequence[Candidate], message: str
) -> None:
    events: list[TraceEvent] = []
    bus = _bus(_plugin("rerank", answer), events=events)
    assert bus.rerank(CONTEXT, PLAN, EXPANDED, (ONE, TWO)) is None
    assert message in events[0].message


def test_a_reranker_may_leave_candidates_out() -> None:
    found = _answers("rerank", (TWO,)).rerank(CONTEXT, PLAN, EXPANDED, (ONE, TWO))
    assert found is not None
    assert len(found) == 1


def test_every_hook_has_a_method_of_its_own_and_a_test_named_after_it() -> None:
    names = "\n".join(name for name in globals() if name.startswith("test_"))
    for hook in HOOKS:
        assert callable(getattr(BoundBus, hook))
        assert re.search(rf"^test_{hook}_", names, re.MULTILINE), hook
