"""Reading collections that do not all have the fields a filter names."""

from collections.abc import Collection, Iterator, Sequence

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import FloatArray, StoredPassage
from eagle_rag.ops.filters import FIELD_TYPES, filter_names, without_fields
from eagle_rag.ops.request_rules import check_conditions
from eagle_rag.ops.store_rules import check_filter, filter_fields
from eagle_rag.ports.stores import CollectionStore

__all__ = ["FittedReader", "check_request_filter"]


class FittedReader:
    """A ``CollectionReader`` for filters that were written for all collections of an index.

    The store refuses a field that a collection lacks. Asked of several collections, one filter may name a
    field of a few of them: none of the other rows satisfies that comparison, as if it were ``None`` there.

    Args:
        store: What is read.
    """

    def __init__(self, store: CollectionStore) -> None:
        self._store = store

    def search_dense(
        self, collection: str, vector: FloatArray, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``CollectionReader.search_dense``."""
        fitted = self._fitted(collection, where)
        return self._store.search_dense(collection, vector, limit=limit, where=fitted)

    def search_lexical(
        self, collection: str, tokens: Sequence[str], *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``CollectionReader.search_lexical``."""
        fitted = self._fitted(collection, where)
        return self._store.search_lexical(collection, tokens, limit=limit, where=fitted)

    def scan(
        self, collection: str, *, where: Filter | None = None, batch_size: int = 4096
    ) -> Iterator[tuple[StoredPassage, ...]]:
        """See ``CollectionReader.scan``."""
        fitted = self._fitted(collection, where)
        return self._store.scan(collection, where=fitted, batch_size=batch_size)

    def count(self, collection: str, *, where: Filter | None = None) -> int:
        """See ``CollectionReader.count``."""
        return self._store.count(collection, where=self._fitted(collection, where))

    def refresh(self) -> None:
        """See ``CollectionReader.refresh``."""
        self._store.refresh()

    def _fitted(self, collection: str, where: Filter | None) -> Filter | None:
        if where is None or filter_names(where) <= FIELD_TYPES.keys():
            return where
        # Asked each time: another process may have added a field since.
        schema = self._store.describe(collection)
        if schema is None:
            return where  # the store says what is wrong
        return without_fields(where, {*FIELD_TYPES, *schema.extra_fields})


def check_request_filter(where: Filter | None, extra_fields: Collection[str]) -> None:
    """Refuse a request's filter that has no meaning in any collection.

    Args:
        where: The filter, if there is one.
        extra_fields: The extra fields of all registered collections.

    Raises:
        InvalidFilter: No collection has a field (those of all are listed), an unknown operator, a value of
            another kind than its field, or nesting beyond ``MAX_FILTER_DEPTH``.
    """
    if where is not None:
        check_conditions(where)  # first: what comes next takes a well-formed filter
        check_filter(where, filter_fields(sorted(extra_fields)))
