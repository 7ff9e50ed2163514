"""Asking a collection for a row it holds: does each arm find what is there?

Counting rows reads metadata alone and scanning reads no index, so neither notices files that are gone.
"""

import numpy as np

from eagle_rag.errors import EagleError
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.filters import Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ports.stores import CollectionReader

__all__ = ["probe_collection"]

_LIMIT = 10
_TOKENS = 32
_SLACK = 1e-3


def probe_collection(
    store: CollectionReader, collection: str, schema: CollectionSchema
) -> str | None:
    """Return what is wrong with the arms of a collection, or ``None`` when they find a stored row.

    Args:
        store: The store.
        collection: The collection.
        schema: What it holds.
    """
    try:
        row = _first_row(store, collection)
        if row is None:
            return None
        if _dense_misses(store, collection, row, normalized=schema.spec.normalized):
            return f"a search by the vector of row {row.row_id!r} does not find it"
        if schema.hybrid and _lexical_misses(store, collection, row):
            return f"a search for the words of row {row.row_id!r} does not find it"
    except EagleError as error:
        return error.message
    return None


def _first_row(store: CollectionReader, collection: str) -> StoredPassage | None:
    return next((row for batch in store.scan(collection, batch_size=1) for row in batch), None)


def _dense_misses(
    store: CollectionReader, collection: str, row: StoredPassage, *, normalized: bool
) -> bool:
    if not np.isfinite(row.vector).all() or not row.vector.any():
        return False  # A vector that is itself damaged proves nothing about the index.
    hits = store.search_dense(collection, row.vector, limit=_LIMIT)
    if any(hit.row_id == row.row_id for hit in hits):
        return False
    # Equal passages have equal vectors: then others of the same score are found.
    return not (normalized and hits and hits[0].score >= 1 - _SLACK)


def _lexical_misses(store: CollectionReader, collection: str, row: StoredPassage) -> bool:
    tokens = list(dict.fromkeys(row.lexemes.split()))[:_TOKENS]
    if not tokens:
        return False
    # Among all rows, others may be better hits; a filter does not bypass the index.
    own = Compare("row_id", "eq", row.row_id)
    return not store.search_lexical(collection, tokens, limit=1, where=own)
