"""Stage 6: candidates that plugins bring, held to the scope of the request."""

from collections.abc import Callable, Sequence

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.filters import AllOf, Filter, OneOf
from eagle_rag.model.query import Candidate, CollectionQueryPlan, QueryContext
from eagle_rag.ports.stores import CollectionReader

__all__ = ["supplement_candidates"]


def supplement_candidates(
    bus: BoundBus,
    context: QueryContext,
    plans: tuple[CollectionQueryPlan, ...],
    *,
    store: CollectionReader,
    is_live: Callable[[Sequence[Candidate]], tuple[Candidate, ...]],
) -> tuple[Candidate, ...]:
    """Return the supplement of all plugins in turn, without what is out of scope or not live."""
    rankings = bus.retrieve_supplement(context, plans)
    first: dict[str, Candidate] = {}
    for candidate in (candidate for ranking in rankings for candidate in ranking):
        first.setdefault(candidate.passage_id, candidate)
    brought = is_live(tuple(first.values()))
    if context.scope is not None and brought:
        allowed = _in_scope(brought, context.scope, store)
        brought = tuple(item for item in brought if item.passage_id in allowed)
    return brought


def _in_scope(
    brought: tuple[Candidate, ...], scope: Filter, store: CollectionReader
) -> frozenset[str]:
    allowed: set[str] = set()
    for collection in sorted({item.collection for item in brought}):
        ids = tuple(item.passage_id for item in brought if item.collection == collection)
        where = AllOf((scope, OneOf("passage_id", ids)))
        for batch in store.scan(collection, where=where):
            allowed.update(row.passage_id for row in batch)
    return frozenset(allowed)
