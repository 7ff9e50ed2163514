"""The order of the retrieval stages.

assemble, classify, expand, search, rerank (tier 1), supplement, fuse, inject, rerank (tier 2),
aggregate, enrich. Everything from search to aggregate is one pass at one depth; when a pass does not
fill the page, a deeper one runs and what it adds is appended, so that a deeper page never changes the
order of an earlier one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.kernel.contracts import stamp_arm
from eagle_rag.kernel.plugins import CORE
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    FusionMethod,
    QueryContext,
    RerankPolicy,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.model.records import AuditEvent
from eagle_rag.model.results import SearchResults, Trace, TraceEvent
from eagle_rag.ports.encoders import PairScorer
from eagle_rag.ports.plugins import DecisionLog
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionReader
from eagle_rag.retrieve.aggregate import RetractedPolicy, aggregate_candidates
from eagle_rag.retrieve.assemble import RerankTerms, assemble_query, rerank_terms
from eagle_rag.retrieve.classify import Catalogue, add_scope_plans, classify_query
from eagle_rag.retrieve.enrich import enrich_candidates, readable_passages
from eagle_rag.retrieve.expand import find_intent
from eagle_rag.retrieve.fuse import (
    FusionConfig,
    Place,
    RankedArm,
    drop_repeats,
    fuse_arms,
    merge_plans,
    repeat_suspects,
)
from eagle_rag.retrieve.inject import inject_supplement
from eagle_rag.retrieve.planning import Reached, plan_queries, unfit_plan
from eagle_rag.retrieve.report import (
    QueryReport,
    note_events,
    plan_events,
    retraction_events,
    route_message,
    scope_message,
)
from eagle_rag.retrieve.rerank import Head, rerank_general, rerank_merged, rerank_plan
from eagle_rag.retrieve.search import (
    ArmHits,
    Encode,
    PlannedQuery,
    Reach,
    complete_arms,
    search_arms,
)
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
        rerank_policy: Who reranks the merged ranking.
        rerank_depth: Candidates that tier 2 sees.
        rerank_budget_s: Seconds that scoring them may take; ``None`` for no limit.
        max_image_bytes: Larger pictures are refused.
    """

    fusion: FusionMethod = "rrf"
    rrf_k: int = 60
    hybrid_alpha: float = 0.5
    max_query_chars: int = 20_000
    retracted: RetractedPolicy = "mark"
    rerank_policy: RerankPolicy = "none"
    rerank_depth: int = 50
    rerank_budget_s: float | None = None
    max_image_bytes: int = 100 << 20


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
        audit: Where decisions are logged.
        plans: Plans of collections by their default encoders; see ``Catalogue.plans``.
        pairs: Gives the core's cross-encoder; ``None`` when none is configured.
    """

    registry: Registry
    namespace: str
    store: CollectionReader
    encode: Encode
    reach: Callable[[CollectionQueryPlan], Reach]
    has_collection: Callable[[str], bool]
    executor: Executor
    audit: DecisionLog
    plans: Callable[[Sequence[str]], tuple[CollectionQueryPlan, ...]]
    pairs: Callable[[], PairScorer] | None


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
        run = QueryReport()
        bus = self._bus.bind(namespace, run.events.append)
        terms = RerankTerms(config.rerank_policy, config.rerank_budget_s, config.rerank_depth)
        with run.stage("assemble"):
            context = assemble_query(
                bus,
                request,
                max_query_chars=config.max_query_chars,
                max_image_bytes=config.max_image_bytes,
                rerank=rerank_terms(bus, terms, has_pairs=self._services.pairs is not None),
            )
            context = find_intent(bus, context)
        if not context.tokens and request.mode != "dense" and request.query.strip():
            message = (
                "the query holds nothing that words could find: no word but stop words, no number"
            )
            run.events.append(TraceEvent("assemble", message, degraded=True))
        with run.stage("classify"):
            route = self._route(bus, context, run)
            plans = plan_queries(
                bus, context, route.plans, reaches=self._reaches, note=run.events.append
            )
        results = self._results(bus, context, plans, config=config, run=run)
        run.note_empty(context)
        if request.explain:
            found = [(each.plan, run.found.get(at, 0)) for at, each in enumerate(plans)]
            known = {plan.collection for plan in self._services.plans([*dict(route.hints)])}
            run.events.extend(
                (*plan_events(route, found, collections=known), *note_events(context))
            )
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
            run.events.extend(retraction_events(hits))
        return SearchResults(request.query, hits, Trace(tuple(run.events)))

    def _route(self, bus: BoundBus, context: QueryContext, run: QueryReport) -> RouteDecision:
        services = self._services
        catalogue = Catalogue(
            services.registry,
            services.namespace,
            services.store,
            lambda collections: self._scope_plans(context, collections),
        )
        scoped = add_scope_plans(context, classify_query(bus, context), catalogue)
        route = scoped.decision
        message = route_message(route)
        run.note("classify", message, plugin=route.plugin)
        if scoped.empty:
            run.note("scope", scope_message(context))
        if scoped.suppressed:
            names = ", ".join(scoped.suppressed)
            run.note("classify", f"{names} left out of the scope: the intent suppresses it")
        self._log("route_query", context, message, plugin=route.plugin, detail=route.hints)
        return route

    def _scope_plans(
        self, context: QueryContext, collections: Sequence[str]
    ) -> tuple[CollectionQueryPlan, ...]:
        """Return the plans of those collections that this query can be asked of."""
        return tuple(
            plan
            for plan in self._services.plans(collections)
            if unfit_plan(context, plan, self._reaches(plan)) is None
            and (plan.hybrid or context.request.mode != "lexical")
        )

    def _reaches(self, plan: CollectionQueryPlan) -> Reached:
        return Reached(self._services.reach(plan), self._services.has_collection(plan.collection))

    def _log(
        self,
        category: str,
        context: QueryContext,
        decision: str,
        *,
        plugin: str = CORE,
        detail: tuple[tuple[str, str], ...] = (),
    ) -> None:
        event = AuditEvent(category, plugin, context.request.query, decision, detail)
        self._services.audit.log_decision(event)

    def _results(
        self,
        bus: BoundBus,
        context: QueryContext,
        planned: tuple[PlannedQuery, ...],
        *,
        config: SearchConfig,
        run: QueryReport,
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
                if _method(context, config) == "weighted":
                    arms = complete_arms(arms, executor=self._services.executor)
            run.note_truncation(sorted({arm.arm for arm in arms if arm.truncated}))
            run.note_words(context, {arm.arm: len(arm.hits) for arm in arms})
            with run.stage("rank"):
                merged = self._rank(bus, context, planned, arms=arms, config=config, run=run)
                if depth == _DEPTHS[0]:
                    # Deeper passes only append.
                    merged = self._supplemented(bus, context, planned, merged=merged, run=run)
                    merged = self._rerank(bus, context, merged, config=config, run=run)
                for candidate in merged:
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
        run: QueryReport,
    ) -> tuple[Candidate, ...]:
        self._learn(run, [hit.document_id for arm in arms for hit in arm.hits])
        fusion = FusionConfig(_method(context, config), config.rrf_k, config.hybrid_alpha)
        explain = context.request.explain
        rankings: list[tuple[Candidate, ...]] = []
        for position, query in enumerate(planned):
            live = [
                RankedArm(arm.arm, _live_hits(arm.hits, run), _live_hits(arm.also, run))
                for arm in arms
                if arm.plan == position
            ]
            fused = fuse_arms(query.plan.collection, live, fusion)
            run.found[position] = len(fused)
            if explain:
                fused = stamp_arm(fused, f"{query.plan.collection}/plan")
            rankings.append(
                rerank_plan(
                    bus, context, plan=query.plan, expanded=query.expanded, candidates=fused
                )
            )
        merged = self._merge(context, rankings, config=config, run=run)
        if explain:
            merged = stamp_arm(merged, "fused")
        return merged

    def _supplemented(
        self,
        bus: BoundBus,
        context: QueryContext,
        planned: tuple[PlannedQuery, ...],
        *,
        merged: tuple[Candidate, ...],
        run: QueryReport,
    ) -> tuple[Candidate, ...]:
        supplement = supplement_candidates(
            bus,
            context,
            tuple(query.plan for query in planned),
            store=self._services.store,
            is_live=lambda candidates: self._live_candidates(run, candidates),
        )
        return inject_supplement(bus, context, merged, supplement)

    def _merge(
        self,
        context: QueryContext,
        rankings: Sequence[tuple[Candidate, ...]],
        *,
        config: SearchConfig,
        run: QueryReport,
    ) -> tuple[Candidate, ...]:
        """Merge the plans; of several that found something, the head is freed of repetitions.

        Not where nothing comes of it: one result a document, and no reranker whose time they take.
        """
        merged = merge_plans(rankings, rrf_k=config.rrf_k)
        filled = [ranking for ranking in rankings if ranking]
        if len(filled) < 2:  # noqa: PLR2004 - one list repeats nothing across collections
            return merged
        shared = sum(len(ranking) for ranking in filled) - len(merged)
        depth = max(config.rerank_depth, context.request.offset + context.request.top_k)
        head, tail = merged[:depth], merged[depth:]
        repeats: tuple[str, ...] = ()
        if context.request.group_by == "passage" or config.rerank_policy != "none":
            head, repeats = drop_repeats(head, self._places(context, repeat_suspects(head), run))
        if shared or repeats:
            decision = (
                f"{shared} rows of passages found in several collections joined,"
                f" {len(repeats)} repetitions left out"
            )
            detail = tuple(("left out", each) for each in sorted(repeats))
            self._log("rrf_dedupe", context, decision, detail=detail)
        return (*head, *tail)

    def _rerank(
        self,
        bus: BoundBus,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        *,
        config: SearchConfig,
        run: QueryReport,
    ) -> tuple[Candidate, ...]:
        if config.rerank_policy == "none":
            self._log("rerank_t2_passthrough", context, "the fused order stands")
            return merged
        head = Head(
            merged, config.rerank_depth, lambda candidates: self._texts(context, candidates, run)
        )
        result = (
            rerank_merged(bus, context, head)
            if config.rerank_policy == "domain"
            else rerank_general(self._services.pairs, context, head, clock=time.monotonic)
        )
        self._log(f"rerank_t2_{config.rerank_policy}", context, result.message)
        run.note("rerank", result.message, degraded=result.degraded)
        return result.candidates

    def _note_unowned(self, run: QueryReport, arms: Sequence[ArmHits]) -> None:
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

    def _learn(self, run: QueryReport, document_ids: Sequence[str]) -> None:
        unknown = sorted(set(document_ids) - run.states.keys())
        if unknown:
            run.states.update(self._services.registry.live_states(unknown))

    def _live_candidates(
        self, run: QueryReport, candidates: Sequence[Candidate]
    ) -> tuple[Candidate, ...]:
        self._learn(run, [candidate.document_id for candidate in candidates])
        return tuple(candidate for candidate in candidates if _is_live(candidate, run))

    def _texts(
        self, context: QueryContext, candidates: tuple[Candidate, ...], run: QueryReport
    ) -> tuple[str, ...]:
        ids = [candidate.passage_id for candidate in candidates]
        places = self._places(context, ids, run)
        return tuple(places[identity][1] if identity in places else "" for identity in ids)

    def _places(
        self, context: QueryContext, passage_ids: Sequence[str], run: QueryReport
    ) -> Mapping[str, Place]:
        """Return section path and text of live passages; each is read once a query."""
        unread = [identity for identity in passage_ids if identity not in run.places]
        if unread:
            records = readable_passages(
                self._services.registry,
                unread,
                namespace=self._services.namespace,
                kb_names=context.request.kb_names,
                on_damage=run.note_damage,
            )
            run.places.update(
                (record.passage.id, (record.passage.section_path, record.passage.text))
                for record in records
            )
        return run.places


def _is_live(found: Candidate | StoreHit, run: QueryReport) -> bool:
    state = run.states.get(found.document_id)
    return state is not None and state.version == found.version


def _live_hits(hits: Sequence[StoreHit], run: QueryReport) -> tuple[StoreHit, ...]:
    return tuple(hit for hit in hits if _is_live(hit, run))


def _method(context: QueryContext, config: SearchConfig) -> FusionMethod:
    return context.request.fusion or config.fusion
