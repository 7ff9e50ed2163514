"""Which plans of a route can be searched for a query, and what each is asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.query import CollectionQueryPlan, QueryContext
from eagle_rag.model.results import TraceEvent
from eagle_rag.retrieve.expand import expand_for_plan
from eagle_rag.retrieve.search import PlannedQuery, Reach, has_arms

__all__ = ["Reached", "plan_queries", "unfit_plan"]

_BY_PICTURE = frozenset({"picture", "both"})


@dataclass(frozen=True, slots=True)
class Reached:
    """What is known of a plan's collection.

    Args:
        reach: What its encoder takes a query as.
        exists: Something was written to it.
    """

    reach: Reach
    exists: bool


def plan_queries(
    bus: BoundBus,
    context: QueryContext,
    plans: Sequence[CollectionQueryPlan],
    *,
    reaches: Callable[[CollectionQueryPlan], Reached],
    note: Callable[[TraceEvent], None],
) -> tuple[PlannedQuery, ...]:
    """Return the plans that can be searched, each with the query expanded for it.

    Args:
        bus: Hooks.
        context: The query.
        plans: Of the route.
        reaches: What is known of a plan's collection.
        note: Told of every plan that is left out.
    """
    planned: list[PlannedQuery] = []
    for plan in plans:
        reached = reaches(plan)
        unfit = unfit_plan(context, plan, reached)
        if unfit is not None:
            note(unfit)
            continue
        by_picture = context.request.image is not None and reached.reach in _BY_PICTURE
        query = PlannedQuery(plan, expand_for_plan(bus, context, plan), by_picture)
        if has_arms(query, context):
            planned.append(query)
        else:
            message = (
                f"collection {plan.collection!r} is not searched: the query has nothing for it"
            )
            note(TraceEvent("classify", message))
    if context.request.image is not None and not any(each.by_picture for each in planned):
        message = "the picture was not searched for: no encoder of pictures fills a collection"
        note(TraceEvent("classify", message, degraded=True))
    return tuple(planned)


def unfit_plan(
    context: QueryContext, plan: CollectionQueryPlan, reached: Reached
) -> TraceEvent | None:
    """Return what to say of a plan that cannot be searched for this query, or ``None``."""
    name = f"collection {plan.collection!r}"
    request = context.request
    if reached.reach == "nothing":
        message = f"no encoder fills {name} in this profile"
    elif not reached.exists:
        message = f"{name} is empty: nothing was ingested into it"
    elif reached.reach == "picture" and request.image is None:
        message = f"{name} is searched by pictures only: {plan.encoder} takes no words"
    elif reached.reach == "text" and not request.query.strip():
        message = f"{name} is searched by words only, and the query has none"
        return TraceEvent("classify", message)
    else:
        return None
    return TraceEvent("classify", message, degraded=True)
