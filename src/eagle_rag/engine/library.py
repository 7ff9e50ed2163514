"""The live documents as plugins and their tools see them: one namespace, read-only."""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eagle_rag.errors import NotFound, UnknownName
from eagle_rag.model.collection import CollectionSchema, StoreHit
from eagle_rag.model.filters import AllOf, Filter, OneOf
from eagle_rag.model.passage import FloatArray, Passage
from eagle_rag.model.records import DocumentNames, DocumentRecord
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionReader
from eagle_rag.retrieve.enrich import readable_passages

__all__ = ["EngineLibrary", "LibraryServices", "ScopedLibrary"]

_log = logging.getLogger(__name__)

# Rows of replaced versions may stand before live ones until they are cleared.
_SPARE = 2


@dataclass(frozen=True, slots=True)
class LibraryServices:
    """What the library reads; opened on first use.

    Args:
        registry: Opens the registry.
        store: Opens the store.
        schema: Schema of a collection, or ``None`` when nothing was written to it.
        encode: Encodes a query with the encoder that fills a collection.
        namespace: The registry's namespace: workspace and plugin namespace.
    """

    registry: Callable[[], Registry]
    store: Callable[[], CollectionReader]
    schema: Callable[[str], CollectionSchema | None]
    encode: Callable[[str, str], FloatArray]
    namespace: str


class EngineLibrary:
    """``Library``, ``PassageTexts`` and ``NameLookup`` over a registry and a store."""

    def __init__(self, services: LibraryServices) -> None:
        self._services = services

    def find(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """See ``Library.find``."""
        return self._services.registry().find_documents(
            self._services.namespace, kb_names=kb_names, identifier=identifier
        )

    def of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """See ``Library.of_format``."""
        return self._services.registry().of_format(
            self._services.namespace, source_format, kb_names=kb_names
        )

    def versions_of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``Library.versions_of_format``."""
        return self._services.registry().versions_of_format(
            self._services.namespace, source_format, kb_names=kb_names
        )

    def passages(
        self, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[Passage, ...]:
        """See ``Library.passages``."""
        registry, namespace = self._services.registry(), self._services.namespace
        try:
            return registry.view(namespace, document_id, kb_names=kb_names).passages
        except NotFound:
            return ()

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``Library.nearest``."""
        if self._services.schema(collection) is None:
            kind = "collection"
            remedy = "ingest something into it first"
            raise UnknownName(kind, collection, (), remedy=remedy)
        vector = self._services.encode(collection, query)
        hits = self._services.store().search_dense(
            collection, vector, limit=_SPARE * limit, where=where
        )
        states = self._services.registry().live_states([hit.document_id for hit in hits])
        live = [
            hit
            for hit in hits
            if hit.document_id in states and states[hit.document_id].version == hit.version
        ]
        return tuple(live[:limit])

    def texts(
        self, passage_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, Passage]:
        """See ``PassageTexts.texts``; a damaged document's passages are left out."""
        records = readable_passages(
            self._services.registry(),
            passage_ids,
            namespace=self._services.namespace,
            kb_names=kb_names,
            on_damage=lambda message: _log.warning("a passage was left out: %s", message),
        )
        return {record.passage.id: record.passage for record in records}

    def documents_named(
        self, terms: Sequence[str], *, kb_names: Sequence[str] | None = None, limit: int = 64
    ) -> tuple[str, ...]:
        """See ``NameLookup.documents_named``."""
        return self._services.registry().documents_named(
            self._services.namespace, terms, kb_names=kb_names, limit=limit
        )

    def names_of(
        self, document_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, DocumentNames]:
        """See ``NameLookup.names_of``."""
        return self._services.registry().names_of(
            self._services.namespace, document_ids, kb_names=kb_names
        )

    def generation(self) -> int:
        """See ``Library.generation``."""
        return self._services.registry().generation(self._services.namespace)


class ScopedLibrary:
    """A library narrowed to some knowledge bases, whatever is asked of it.

    Args:
        library: What to narrow.
        kb_names: All that may be seen.
    """

    def __init__(self, library: EngineLibrary, kb_names: Sequence[str]) -> None:
        self._library = library
        self._kb_names = tuple(kb_names)

    def find(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """See ``Library.find``."""
        return self._library.find(identifier, kb_names=self._narrowed(kb_names))

    def of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """See ``Library.of_format``."""
        return self._library.of_format(source_format, kb_names=self._narrowed(kb_names))

    def versions_of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``Library.versions_of_format``."""
        return self._library.versions_of_format(source_format, kb_names=self._narrowed(kb_names))

    def passages(
        self, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[Passage, ...]:
        """See ``Library.passages``."""
        return self._library.passages(document_id, kb_names=self._narrowed(kb_names))

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``Library.nearest``."""
        mine = OneOf("kb_name", self._kb_names)
        both = mine if where is None else AllOf((where, mine))
        return self._library.nearest(collection, query, limit=limit, where=both)

    def generation(self) -> int:
        """See ``Library.generation``."""
        return self._library.generation()

    def _narrowed(self, kb_names: Sequence[str] | None) -> tuple[str, ...]:
        if kb_names is None:
            return self._kb_names
        return tuple(name for name in kb_names if name in self._kb_names)
