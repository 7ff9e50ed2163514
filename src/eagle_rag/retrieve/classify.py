"""Stage 2: which collections a query goes to: a plugin's choice, and what the scope adds to it.

A caller who asks within some knowledge bases or documents expects all of them to be searched, also
the part that was written to a collection the classifier would not have thought of.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from eagle_rag.errors import InvalidFilter, PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.filters import AllOf, AnyOf, Filter
from eagle_rag.model.query import CollectionQueryPlan, QueryContext, RouteDecision
from eagle_rag.ports.registry import IndexRecords
from eagle_rag.ports.stores import CollectionReader

__all__ = ["Catalogue", "ScopedRoute", "add_scope_plans", "classify_query"]

_RULE = "scope"
# Fields that narrow a search within documents, or by what all kinds of documents have; all others
# (knowledge base, document, kind of source or row, a plugin's tags) name what is asked for.
_WITHIN = frozenset({"year", "section_kind", "path", "text", "start", "end", "version"})


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Where the rows of documents are.

    Args:
        records: Says which collections documents were written to.
        namespace: The registry's namespace.
        store: Tells whether a collection holds a row that matches a filter.
        plans: Gives the plans of collections by their default encoders; one that is not registered
            here, or that nothing fills, has none.
    """

    records: IndexRecords
    namespace: str
    store: CollectionReader
    plans: Callable[[Sequence[str]], tuple[CollectionQueryPlan, ...]]


@dataclass(frozen=True, slots=True)
class ScopedRoute:
    """A decision with what the scope added.

    Args:
        decision: The plans, those of the scope last, with rule ``scope``.
        empty: There is a scope, and no document is in it.
        suppressed: Collections that hold documents of the scope and that the intent leaves out.
    """

    decision: RouteDecision
    empty: bool = False
    suppressed: tuple[str, ...] = ()


def classify_query(bus: BoundBus, context: QueryContext) -> RouteDecision:
    """Return the plans.

    Raises:
        PluginError: Every plugin abstained, the core included.
    """
    decision = bus.classify_query(context)
    if decision is None:
        message = f"no plugin of namespace {context.namespace!r} routes queries"
        raise PluginError(message, remedy="enable the core plugin")
    return decision


def add_scope_plans(
    context: QueryContext, decision: RouteDecision, catalogue: Catalogue
) -> ScopedRoute:
    """Return the decision and a plan for each further collection that documents of the scope are in.

    Without a scope nothing is added: then the classifier's choice is among everything the caller may
    see. What the intent suppresses is not added.
    """
    request = context.request
    chosen = _fields(request.filters) - _WITHIN
    if request.kb_names is None and request.document_ids is None and not chosen:
        return ScopedRoute(decision)
    used = catalogue.records.collections_used(
        catalogue.namespace, request.kb_names, document_ids=request.document_ids
    )
    if not used:
        return ScopedRoute(decision, empty=True)
    planned = {plan.collection for plan in decision.plans}
    suppressed = tuple(name for name in used if name in context.intent.suppress_collections)
    plans = catalogue.plans([name for name in used if name not in {*planned, *suppressed}])
    added = tuple(
        replace(plan, rule=_RULE)
        for plan in plans
        if not chosen or _holds_any(catalogue.store, plan.collection, context.scope)
    )
    if not added:
        return ScopedRoute(decision, suppressed=suppressed)
    return ScopedRoute(replace(decision, plans=decision.plans + added), suppressed=suppressed)


def _fields(where: Filter | None) -> set[str]:
    if where is None:
        return set()
    if isinstance(where, AllOf | AnyOf):
        return {name for part in where.parts for name in _fields(part)}
    return {where.field}


def _holds_any(store: CollectionReader, collection: str, scope: Filter | None) -> bool:
    try:
        rows: Iterator[object] = store.scan(collection, where=scope, batch_size=1)
        return next(rows, None) is not None
    except InvalidFilter:
        return False  # it lacks the field, so none of its rows satisfies the filter
