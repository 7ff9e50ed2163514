"""Stage 2: which collections a query goes to."""

from eagle_rag.errors import PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.query import QueryContext, RouteDecision

__all__ = ["classify_query"]


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
