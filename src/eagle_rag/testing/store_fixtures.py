"""An empty and a filled store as fixtures, and how tests look into them."""

from collections.abc import Callable

import pytest

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_rows import make_row, make_schema

__all__ = ["NAME", "Reopen", "StoreFixtures", "hit_ids", "stored_rows"]

Reopen = Callable[[CollectionStore], CollectionStore]
"""Returns what another process would see of the given store."""

NAME = "passages"
"""The collection the tests use."""


def hit_ids(hits: tuple[StoreHit, ...]) -> list[str]:
    """Return the row ids of hits, in order."""
    return [hit.row_id for hit in hits]


def stored_rows(store: CollectionStore, where: Filter | None = None) -> dict[str, StoredPassage]:
    """Return the matching rows by their ids."""
    return {row.row_id: row for batch in store.scan(NAME, where=where) for row in batch}


class StoreFixtures:
    """Fixtures of the store contract."""

    @pytest.fixture
    def store(self) -> CollectionStore:
        """Return an empty store; override."""
        raise NotImplementedError

    @pytest.fixture
    def reopen(self) -> Reopen:
        """Return how to open the same data once more; a store of one process returns itself."""
        return lambda store: store

    @pytest.fixture
    def filled(self, store: CollectionStore) -> CollectionStore:
        """Return a store with five rows of three documents in two knowledge bases."""
        store.ensure(make_schema(NAME, extra_fields=("drug",)))
        store.upsert(
            NAME,
            [
                make_row("a", (1, 0, 0), "egfr t790m resistance", document_id="d1", year=2019),
                make_row("b", (0, 1, 0), "egfr", document_id="d1", extra=(("drug", "x"),)),
                make_row("c", (0, 0, 1), "osimertinib trial", document_id="d2", kb_name="two"),
                make_row("d", (1, 1, 0), "hla-b*57:01 abacavir", document_id="d3", year=2021),
                make_row("e", (-1, 0, 0), "", document_id="d3", kb_name="two"),
            ],
        )
        return store
