"""Stage 6: rows into collections."""

from collections.abc import Sequence

from eagle_rag.errors import StoreError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.passage import StoredPassage

__all__ = ["upsert_rows"]


def upsert_rows(bus: BoundBus, collection: str, rows: Sequence[StoredPassage]) -> None:
    """Write rows of one collection durably.

    Raises:
        StoreError: No plugin writes this collection, or fewer rows were written than given.
    """
    written = bus.upsert_vectors(collection, rows)
    if written != len(rows):
        message = f"{written or 0} of {len(rows)} rows were written to collection {collection!r}"
        raise StoreError(message, remedy="run `eagle verify --repair`, then ingest again")
