"""What one query accumulates besides its hits: the events of its trace, what it learnt of documents."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from eagle_rag.model.query import CollectionQueryPlan, QueryContext, RouteDecision
from eagle_rag.model.records import LiveState
from eagle_rag.model.results import Hit, TraceEvent
from eagle_rag.ops.excerpts import excerpt

__all__ = [
    "QueryReport",
    "note_events",
    "plan_events",
    "retraction_events",
    "route_message",
    "scope_message",
]


@dataclass(slots=True)
class QueryReport:
    """What one query accumulates.

    Args:
        events: Of its trace, in order.
        states: Live state of every document it met.
        found: How many candidates each plan brought, by its position.
        places: Section path and text of every passage it read.
    """

    events: list[TraceEvent] = field(default_factory=list)
    states: dict[str, LiveState] = field(default_factory=dict)
    found: dict[int, int] = field(default_factory=dict)
    places: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, message: str = "done") -> Iterator[None]:
        """Time a stage."""
        started = time.perf_counter()
        yield
        elapsed = (time.perf_counter() - started) * 1000
        self.events.append(TraceEvent(name, message, elapsed_ms=round(elapsed, 3)))

    def note(self, stage: str, message: str, *, degraded: bool = False, plugin: str = "") -> None:
        """Add an event unless it is there."""
        event = TraceEvent(stage, message, degraded=degraded, plugin=plugin)
        if event not in self.events:
            self.events.append(event)

    def note_damage(self, message: str) -> None:
        """Say that a document was left out because it cannot be read."""
        self.note("enrich", f"a document was left out: {message}", degraded=True)

    def note_empty(self, context: QueryContext) -> None:
        """Say when a scope left nothing: a dense arm finds something wherever there is something."""
        asked = context.scope is not None and context.request.mode != "lexical"
        said = any(event.stage == "scope" for event in self.events)
        if asked and not said and not any(self.found.values()):
            self.note("scope", scope_message(context))

    def note_words(self, context: QueryContext, found: Mapping[str, int]) -> None:
        """Say when no passage holds a word of the query: a dense arm always finds something.

        Args:
            context: The query.
            found: Hits of each arm by its name.
        """
        lexical = [count for arm, count in found.items() if arm.endswith("/lexical")]
        if context.tokens and lexical and not any(lexical) and any(found.values()):
            message = (
                "no passage holds a word of the query; what is shown is near it in meaning alone"
            )
            self.note("words", message)

    def note_truncation(self, names: Sequence[str]) -> None:
        """Say once that these arms saw only the head of the query."""
        if names and not any(event.stage == "encode" for event in self.events):
            message = (
                f"the query is longer than the encoder's window; {', '.join(names)} saw its head"
            )
            self.note("encode", message, degraded=True)


def route_message(route: RouteDecision) -> str:
    """Return which collections are searched, by which rule."""
    rules: dict[str, list[str]] = {}
    for plan in route.plans:
        rules.setdefault(plan.rule or route.rule, []).append(plan.collection)
    parts = [f"{', '.join(names)} by {rule}" for rule, names in rules.items()]
    return "; ".join(parts) or f"nothing by {route.rule}"


def scope_message(context: QueryContext) -> str:
    """Return what to say of a scope that holds no document."""
    request = context.request
    if request.document_ids is not None:
        what = f"documents {excerpt(str(list(request.document_ids)))}"
        if request.kb_names is not None:
            what += f" in knowledge bases {excerpt(str(list(request.kb_names)))}"
    elif request.kb_names is not None:
        what = f"knowledge bases {excerpt(str(list(request.kb_names)))}"
    else:
        return "the scope holds no document: the filter"
    what += ", with the filter" if request.filters is not None else ""
    return f"the scope holds no document: {what}"


def plan_events(
    route: RouteDecision,
    found: Sequence[tuple[CollectionQueryPlan, int]],
    *,
    collections: Collection[str],
) -> Iterator[TraceEvent]:
    """Yield how each plan came about and how many candidates it brought, then what was not searched.

    Args:
        route: The decision; a hint named like a collection says why it is searched or not. Any other
            is yielded as an event of stage ``hint``.
        found: Plans that were searched.
        collections: Those that are registered.
    """
    hints = dict(route.hints)
    for plan, count in found:
        rule = plan.rule or route.rule
        hint = hints.pop(plan.collection, "")
        why = f" ({hint})" if hint else ""
        message = f"{plan.collection} with {plan.encoder} by {rule}{why}: {count} candidates"
        yield TraceEvent("plan", message, plugin="" if plan.rule else route.plugin)
    for name, hint in sorted(hints.items()):
        stage = "plan" if name in collections else "hint"
        yield TraceEvent(stage, f"{name}: {hint}", plugin=route.plugin)


def note_events(context: QueryContext) -> Iterator[TraceEvent]:
    """Yield what plugins noted while the query was assembled."""
    for addition in context.additions:
        if addition.note:
            yield TraceEvent("assemble", addition.note, plugin=addition.plugin)


def retraction_events(hits: Sequence[Hit]) -> Iterator[TraceEvent]:
    """Yield which documents among the hits are retracted."""
    retracted = [hit.document_id for hit in hits if hit.retracted]
    if retracted:
        yield TraceEvent("enrich", f"retracted: {', '.join(retracted)}")
