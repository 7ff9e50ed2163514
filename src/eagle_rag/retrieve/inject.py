"""Stage 8: what plugins make of the merged ranking and the supplement."""

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.query import Candidate, QueryContext

__all__ = ["inject_supplement"]


def inject_supplement(
    bus: BoundBus,
    context: QueryContext,
    merged: tuple[Candidate, ...],
    supplement: tuple[Candidate, ...],
) -> tuple[Candidate, ...]:
    """Return the ranking after ``rrf_post_merge``; unchanged when every plugin abstains."""
    changed = bus.rrf_post_merge(context, merged, supplement)
    return merged if changed is None else changed
