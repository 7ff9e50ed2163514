"""Stage 3: the query as each arm sees it."""

from dataclasses import replace

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.query import CollectionQueryPlan, ExpandedQuery, QueryContext

__all__ = ["expand_for_plan", "find_intent"]


def find_intent(bus: BoundBus, context: QueryContext) -> QueryContext:
    """Return the context with the intent a plugin found; unchanged when none did."""
    expanded = bus.query_dense_expand(context, None)
    if expanded is None or expanded.intent is None:
        return context
    return replace(context, intent=expanded.intent)


def expand_for_plan(
    bus: BoundBus, context: QueryContext, plan: CollectionQueryPlan
) -> ExpandedQuery:
    """Return the expanded query of one plan; the query itself when every plugin abstains."""
    expanded = bus.query_dense_expand(context, plan)
    return expanded if expanded is not None else ExpandedQuery(context.request.query)
