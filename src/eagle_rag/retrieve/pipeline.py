"""The order of the retrieval stages.

assemble, classify, expand, search, rerank (tier 1), supplement, fuse, inject, rerank (tier 2),
aggregate, enrich. Everything from search to aggregate is one pass at one depth; when a pass does not
fill the page, a deeper one runs and what it adds is appended, so that a deeper page never changes the
order of an earlier one.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field

from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    FusionMethod,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.model.records import AuditEvent, LiveState
from eagle_rag.model.results import Hit, SearchResults, Trace, TraceEvent
from eagle_rag.ports.plugins import DecisionLog
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionReader
from eagle_rag.retrieve.aggregate import RetractedPolicy, aggregate_candidates
from eagle_rag.retrieve.assemble import assemble_query
from eagle_rag.retrieve.classify import classify_query
from eagle_rag.retrieve.enrich import enrich_candidates, readable_passages
from eagle_rag.retrieve.expand import expand_for_plan, find_intent
from eagle_rag.retrieve.fuse import FusionConfig, RankedArm, fuse_arms, merge_plans
from eagle_rag.retrieve.inject import inject_supplement
from eagle_rag.retrieve.rerank import rerank_merged, rerank_plan
from eagle_rag.retrieve.search import ArmHits, Encode, PlannedQuery, Reach, search_arms
from eagle_rag.retrieve.supplement import supplement_candidates

__all__ = ["SearchConfig", "SearchPipeline", "SearchServices"]

_DEPTHS = (1, 4, 16, 64)


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """What shapes a search besides the request.

    Args:
        fusion: How arms merge when the request does not say.
        rrf_k: Constant of reciprocal rank fusion.
        hybrid_alpha: Share of the dense score in the score fusions.
        max_query_chars: Longer queries are refused.
        retracted: What becomes of retracted documents.
        rerank_depth: Candidates that tier 2 sees; 0 switches it off.
        max_image_bytes: Larger pictures are refused.
    """

    fusion: FusionMethod = "rrf"
    rrf_k: int = 60
    hybrid_alpha: float = 0.5
    max_query_chars: int = 20_000
    retracted: RetractedPolicy = "mark"
    rerank_depth: int = 0
    max_image_bytes: int = 100 << 20


@dataclass(slots=True)
class _Run:
    """What one query accumulates."""

    events: list[TraceEvent] = field(default_factory=list)
    states: dict[str, LiveState] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, message: str = "done") -> Iterator[None]:
        started = time.perf_counter()
        yield
        elapsed = (time.perf_counter() - started) * 1000
        self.events.append(TraceEvent(name, message, elapsed_ms=round(elapsed, 3)))

    def note_damage(self, message: str) -> None:
        event = TraceEvent("enrich", f"a document was left out: {message}", degraded=True)
        if event not in self.events:
            self.events.append(event)

    def note_truncation(self, arms: Sequence[ArmHits]) -> None:
        names = sorted({arm.arm for arm in arms if arm.truncated})
        if names and not any(event.stage == "encode" for event in self.events):
            message = (
                f"the query is longer than the encoder's window; {', '.join(names)} saw its head"
            )
            self.events.append(TraceEvent("encode", message, degraded=True))


@dataclass(frozen=True, slots=True)
class SearchServices:
    """What a search works with.

    Args:
        registry: Documents and passages.
        namespace: The registry's namespace: workspace and plugin namespace.
        store: Reads collections.
        encode: Encodes a query for a plan.
        reach: What the encoder of a plan takes a query as.
        has_collection: Whether a collection was ever written.
        executor: Threads for the arms.
        audit: Where routing decisions are logged.
    """

    registry: Registry
    namespace: str
    store: CollectionReader
    encode: Encode
    reach: Callable[[CollectionQueryPlan], Reach]
    has_collection: Callable[[str], bool]
    executor: Executor
    audit: DecisionLog


class SearchPipeline:
    """Answers requests; safe to use from several threads.

    Args:
        bus: All hooks.
        services: What a search works with.
    """

    def __init__(self, bus: HookBus, services: SearchServices) -> None:
        self._bus = bus
        self._services = services

    def search(
        self, request: SearchRequest, config: SearchConfig, *, namespace: str
    ) -> SearchResults:
        """Return the page of results the request asks for.

        Raises:
            InvalidQuery: The request has no defined answer.
            InvalidFilter: A filter names an unknown field.
            StoreError, EncoderLoadError, EncoderUnavailable, VectorSpaceMismatch: An arm failed.
        """
        run = _Run()
        bus = self._bus.bind(namespace, run.events.append)
        with run.stage("assemble"):
            context = assemble_query(
                bus,
                request,
                max_query_chars=config.max_query_chars,
                max_image_bytes=config.max_image_bytes,
            )
            context = find_intent(bus, context)
        if not context.tokens and request.mode != "dense" and request.query.strip():
            message = (
                "the query holds nothing that words could find: no word but stop words, no number"
            )
            run.events.append(TraceEvent("assemble", message, degraded=True))
        with run.stage("classify"):
            route = classify_query(bus, context)
            self._note_route(context, route, run)
            plans = self._planned(bus, context, route.plans, run)
        if config.rerank_depth and not bus.implements("rerank_merged"):
            message = "rerank.policy asks for a reranker and no plugin brings one; the fused order stands"
            run.events.append(TraceEvent("rerank", message, degraded=True))
        results = self._results(bus, context, plans, config=config, run=run)
        page = results[request.offset : request.offset + request.top_k]
        with run.stage("enrich"):
            hits = enrich_candidates(
                self._services.registry,
                context,
                page,
                namespace=self._services.namespace,
                first_rank=request.offset + 1,
                on_damage=run.note_damage,
            )
        if config.retracted == "mark":
            run.events.extend(_retractions(hits))
        return SearchResults(request.query, hits, Trace(tuple(run.events)))

    def _note_route(self, context: QueryContext, route: RouteDecision, run: _Run) -> None:
        collections = ", ".join(plan.collection for plan in route.plans) or "nothing"
        message = f"{collections} by {route.rule}"
        run.events.append(TraceEvent("classify", message, plugin=route.plugin))
        event = AuditEvent(
            "route_query", route.plugin, context.request.query, message, route.hints
        )
        self._services.audit.log_decision(event)

    def _planned(
        self,
        bus: BoundBus,
        context: QueryContext,
        plans: tuple[CollectionQueryPlan, ...],
        run: _Run,
    ) -> tuple[PlannedQuery, ...]:
        planned: list[PlannedQuery] = []
        for plan in plans:
            reach = self._services.reach(plan)
            unfit = self._unfit(context, plan, reach)
            if unfit is not None:
                run.events.append(unfit)
                continue
            by_picture = context.request.image is not None and reach in {"picture", "both"}
            planned.append(PlannedQuery(plan, expand_for_plan(bus, context, plan), by_picture))
        return tuple(planned)

    def _unfit(
        self, context: QueryContext, plan: CollectionQueryPlan, reach: Reach
    ) -> TraceEvent | None:
        """Return what to say of a plan that cannot be searched for this query, or ``None``."""
        name = f"collection {plan.collection!r}"
        request = context.request
        if reach == "nothing":
            message = f"no encoder fills {name} in this profile"
        elif not self._services.has_collection(plan.collection):
            message = f"{name} is empty: nothing was ingested into it"
        elif reach == "picture" and request.image is None:
            message = f"{name} is searched by pictures only: {plan.encoder} takes no words"
        elif reach == "text" and not request.query.strip():
            message = f"{name} is searched by words only, and the query has none"
            return TraceEvent("classify", message)
        else:
            return None
        return TraceEvent("classify", message, degraded=True)

    def _results(
        self,
        bus: BoundBus,
        context: QueryContext,
        planned: tuple[PlannedQuery, ...],
        *,
        config: SearchConfig,
        run: _Run,
    ) -> tuple[Candidate, ...]:
        needed = context.request.offset + context.request.top_k
        ranking: dict[str, Candidate] = {}
        results: tuple[Candidate, ...] = ()
        for depth in _DEPTHS:
            with run.stage("search", f"depth {depth}"):
                arms = search_arms(
                    planned,
                    context,
                    store=self._services.store,
                    encode=self._services.encode,
                    executor=self._services.executor,
                    depth_factor=depth,
                )
            run.note_truncation(arms)
            with run.stage("rank"):
                for candidate in self._rank(
                    bus, context, planned, arms=arms, config=config, run=run
                ):
                    ranking.setdefault(candidate.passage_id, candidate)
                results = aggregate_candidates(
                    tuple(ranking.values()),
                    run.states,
                    group_by=context.request.group_by,
                    retracted=config.retracted,
                    named=context.request.document_ids or (),
                )
            self._note_unowned(run, arms)
            exhausted = all(len(arm.hits) < arm.limit for arm in arms)
            if exhausted or len(results) >= needed:
                return results
        message = (
            f"only {len(results)} results at the greatest depth searched, {needed} were asked for"
        )
        run.events.append(TraceEvent("search", message, degraded=True))
        return results

    def _rank(
        self,
        bus: BoundBus,
        context: QueryContext,
        planned: tuple[PlannedQuery, ...],
        *,
        arms: tuple[ArmHits, ...],
        config: SearchConfig,
        run: _Run,
    ) -> tuple[Candidate, ...]:
        self._learn(run, [hit.document_id for arm in arms for hit in arm.hits])
        fusion = FusionConfig(
            context.request.fusion or config.fusion, config.rrf_k, config.hybrid_alpha
        )
        rankings: list[tuple[Candidate, ...]] = []
        for position, query in enumerate(planned):
            live = [
                RankedArm(arm.arm, tuple(hit for hit in arm.hits if _is_live(hit, run)))
                for arm in arms
                if arm.plan == position
            ]
            fused = fuse_arms(query.plan.collection, live, fusion)
            rankings.append(
                rerank_plan(
                    bus, context, plan=query.plan, expanded=query.expanded, candidates=fused
                )
            )
        merged = merge_plans(rankings, rrf_k=config.rrf_k)
        supplement = supplement_candidates(
            bus,
            context,
            tuple(query.plan for query in planned),
            store=self._services.store,
            is_live=lambda candidates: self._live_candidates(run, candidates),
        )
        merged = inject_supplement(bus, context, merged, supplement)
        return rerank_merged(
            bus,
            context,
            merged,
            depth=config.rerank_depth,
            texts_of=lambda candidates: self._texts(context, candidates, run),
        )

    def _note_unowned(self, run: _Run, arms: Sequence[ArmHits]) -> None:
        """Say when not one row found belongs to a document of the registry."""
        found = {hit.row_id: hit.document_id for arm in arms for hit in arm.hits}
        if not found or any(identity in run.states for identity in found.values()):
            return
        # A first ingest writes rows before their documents.
        pending = {
            version.document_id
            for version in self._services.registry.pending(self._services.namespace)
        }
        unowned = sum(identity not in pending for identity in found.values())
        if unowned and not any(event.stage == "registry" for event in run.events):
            message = (
                f"{unowned} rows belong to no live document; the registry may have been lost:"
                " restore it or ingest again"
            )
            run.events.append(TraceEvent("registry", message, degraded=True))

    def _learn(self, run: _Run, document_ids: Sequence[str]) -> None:
        unknown = sorted(set(document_ids) - run.states.keys())
        if unknown:
            run.states.update(self._services.registry.live_states(unknown))

    def _live_candidates(
        self, run: _Run, candidates: Sequence[Candidate]
    ) -> tuple[Candidate, ...]:
        self._learn(run, [candidate.document_id for candidate in candidates])
        return tuple(candidate for candidate in candidates if _is_live(candidate, run))

    def _texts(
        self, context: QueryContext, candidates: tuple[Candidate, ...], run: _Run
    ) -> tuple[str, ...]:
        ids = [candidate.passage_id for candidate in candidates]
        records = readable_passages(
            self._services.registry,
            ids,
            namespace=self._services.namespace,
            kb_names=context.request.kb_names,
            on_damage=run.note_damage,
        )
        texts = {record.passage.id: record.passage.text for record in records}
        return tuple(texts.get(identity, "") for identity in ids)


def _is_live(found: Candidate | StoreHit, run: _Run) -> bool:
    state = run.states.get(found.document_id)
    return state is not None and state.version == found.version


def _retractions(hits: tuple[Hit, ...]) -> Iterator[TraceEvent]:
    retracted = [hit.document_id for hit in hits if hit.retracted]
    if retracted:
        yield TraceEvent("enrich", f"retracted: {', '.join(retracted)}")
