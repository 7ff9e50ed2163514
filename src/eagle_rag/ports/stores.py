"""The vector store: collections, rows, two kinds of search; and the store of pictures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from eagle_rag.model.collection import CollectionSchema, StoreHit
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import (
    FloatArray,
    PicturePlace,
    StoredAsset,
    StoredPassage,
    VisualAsset,
)

__all__ = [
    "AssetStore",
    "CollectionAdmin",
    "CollectionCare",
    "CollectionReader",
    "CollectionStore",
    "CollectionWriter",
]


class CollectionAdmin(Protocol):
    """Creating and looking after collections."""

    def ensure(self, schema: CollectionSchema) -> None:
        """Create the collection, or add the extra fields that it lacks.

        Raises:
            VectorSpaceMismatch: It exists with another ``VectorSpec``, or with none; both are named.
        """
        ...

    def describe(self, collection: str) -> CollectionSchema | None:
        """Return the schema the collection was created from, or ``None`` when there is none.

        Raises:
            VectorSpaceMismatch: The collection is there but records no vector space.
        """
        ...

    def collections(self) -> tuple[str, ...]:
        """Return the names of all collections, sorted."""
        ...

    def drop(self, collection: str) -> None:
        """Remove a collection; absent is fine."""
        ...

    def close(self) -> None:
        """Release files and threads."""
        ...


class CollectionCare(Protocol):
    """Keeping indexes quick and whole."""

    def optimize(self, collection: str) -> None:
        """Fold new rows into the indexes, drop deleted ones and old versions."""
        ...

    def rebuild(self, collection: str) -> None:
        """Make the collection's indexes anew from its rows, whatever state they are in."""
        ...


class CollectionWriter(Protocol):
    """Changing rows."""

    def upsert(self, collection: str, rows: Sequence[StoredPassage]) -> None:
        """Write rows durably; a row with the same ``row_id`` is replaced.

        Raises:
            InvalidInput: A vector has another dimension, or a component that is not finite.
            StoreError: The engine refused.
        """
        ...

    def delete(self, collection: str, where: Filter) -> None:
        """Delete every matching row durably."""
        ...


class CollectionReader(Protocol):
    """Finding rows. Reading never blocks and never sees half a write."""

    def search_dense(
        self, collection: str, vector: FloatArray, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return the nearest rows, score descending, then ``row_id``; scores are similarities.

        Raises:
            UnknownName: No such collection.
            InvalidFilter: Unknown field or operator.
            InvalidInput: Wrong dimension or a component that is not finite.
        """
        ...

    def search_lexical(
        self, collection: str, tokens: Sequence[str], *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return rows by BM25 (k1 1.2, b 0.75, Lucene's idf) of ``lexemes``, as ``search_dense``.

        A row matches when it holds any of the tokens; no tokens match nothing.
        """
        ...

    def scan(
        self, collection: str, *, where: Filter | None = None, batch_size: int = 4096
    ) -> Iterator[tuple[StoredPassage, ...]]:
        """Yield all matching rows in batches, in no particular order, vectors included."""
        ...

    def count(self, collection: str, *, where: Filter | None = None) -> int:
        """Count matching rows."""
        ...

    def refresh(self) -> None:
        """See everything other processes have committed."""
        ...


class CollectionStore(
    CollectionAdmin, CollectionCare, CollectionWriter, CollectionReader, Protocol
):
    """All four."""


class AssetStore(Protocol):
    """The pictures of documents, by document and version; each version is there whole or not at all.

    A picture's key is any text and never part of a path.
    """

    def put(
        self,
        document_id: str,
        version: int,
        assets: Sequence[VisualAsset],
        places: Mapping[str, Sequence[PicturePlace]],
    ) -> tuple[StoredAsset, ...]:
        """Keep the pictures of a version durably, in place of what was kept of it; return what is kept.

        Args:
            document_id: The document.
            version: Its version.
            assets: Its pictures, no key twice.
            places: By key, where the picture's vectors are.

        Raises:
            StoreError: They cannot be written.
        """
        ...

    def list(self, document_id: str, version: int) -> tuple[StoredAsset, ...]:
        """Return what is kept of a version's pictures, by key; empty when there are none.

        Raises:
            StoreError: What is kept cannot be read.
        """
        ...

    def get(self, document_id: str, version: int, key: str) -> bytes:
        """Return the bytes of one picture.

        Raises:
            NotFound: The version has no picture of this key.
            StoreError: Its file is absent, damaged or cannot be read.
        """
        ...

    def delete_version(self, document_id: str, version: int) -> None:
        """Remove the pictures of a version durably; absent is fine."""
        ...

    def versions(self) -> Iterator[tuple[str, int]]:
        """Yield document and version of everything kept, ordered by both.

        What a killed writer left half written is listed as version 0; deleting that removes it.
        """
        ...
