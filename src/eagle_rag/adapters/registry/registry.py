"""``ports.registry.Registry`` in SQL: one transaction a method, the work is in the modules beside."""

from collections.abc import Iterator, Sequence

from eagle_rag.adapters.registry import catalog, reading, writing
from eagle_rag.adapters.registry.database import Database
from eagle_rag.adapters.registry.hits import read_passages
from eagle_rag.adapters.registry.links import linked_documents
from eagle_rag.adapters.registry.naming import documents_named, names_of
from eagle_rag.adapters.registry.proof import damaged_passages, missing_identifiers
from eagle_rag.adapters.registry.schema import ensure_current
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import Reference
from eagle_rag.model.records import (
    AuditEvent,
    DocumentNames,
    DocumentRecord,
    DocumentView,
    LiveState,
    NewVersion,
    PassageRecord,
    PendingVersion,
    RegistryStats,
)

__all__ = ["SqlRegistry", "open_registry"]

_PAGE = 1000
"""Documents ``iter_live`` reads at once."""


def open_registry(url: str) -> "SqlRegistry":
    """Open a registry, creating or upgrading its schema when it has to.

    Args:
        url: An SQLAlchemy URL: ``sqlite:///path/registry.db`` (the folder must exist) or
            ``postgresql+psycopg://user@host/name``.

    Raises:
        ConfigurationError: The URL cannot be read, or its driver is not installed.
        RegistryError: The database cannot be opened, or was written by a newer Eagle-RAG.
    """
    database = Database(url)
    try:
        ensure_current(database)
        database.note_file()
    except BaseException:
        database.close()
        raise
    return SqlRegistry(database)


class SqlRegistry:
    """Documents, texts and passages in one SQL database; may be shared by threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin_version(
        self, document_id: str, collections: Sequence[str], *, namespace: str
    ) -> int:
        """See ``DocumentWriter.begin_version``."""
        with self._database.writing() as connection:
            return writing.begin_version(connection, document_id, collections, namespace)

    def commit_version(self, version: int, new: NewVersion) -> None:
        """See ``DocumentWriter.commit_version``."""
        with self._database.writing() as connection:
            writing.commit_version(connection, version, new)

    def delete_document(self, document_id: str) -> None:
        """See ``DocumentWriter.delete_document``.

        Its source is forgotten too, so ingesting that source again brings the document back.
        """
        with self._database.writing() as connection:
            writing.delete_document(connection, document_id)

    def pending(self, namespace: str) -> tuple[PendingVersion, ...]:
        """See ``DocumentWriter.pending``."""
        with self._database.reading() as connection:
            return writing.pending_versions(connection, namespace)

    def clear_pending(self, document_id: str, version: int) -> None:
        """See ``DocumentWriter.clear_pending``."""
        with self._database.writing() as connection:
            writing.clear_pending(connection, document_id, version)

    def find_documents(
        self,
        namespace: str,
        *,
        kb_names: Sequence[str] | None = None,
        identifier: str | None = None,
    ) -> tuple[DocumentRecord, ...]:
        """See ``DocumentReader.find_documents``; identifiers in any usual spelling."""
        with self._database.reading() as connection:
            return reading.find_documents(
                connection, namespace, kb_names=kb_names, identifier=identifier
            )

    def document_ids(
        self,
        namespace: str,
        *,
        kb_names: Sequence[str] | None = None,
        identifier: str | None = None,
    ) -> tuple[str, ...]:
        """See ``DocumentReader.document_ids``."""
        with self._database.reading() as connection:
            return reading.document_ids(
                connection, namespace, kb_names=kb_names, identifier=identifier
            )

    def view(
        self, namespace: str, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> DocumentView:
        """See ``DocumentReader.view``."""
        with self._database.reading() as connection:
            return reading.view_document(connection, namespace, document_id, kb_names=kb_names)

    def passages(
        self, namespace: str, passage_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> tuple[PassageRecord, ...]:
        """See ``DocumentReader.passages``."""
        with self._database.reading() as connection:
            return read_passages(connection, namespace, passage_ids, kb_names=kb_names)

    def references(self, document_id: str) -> tuple[Reference, ...]:
        """See ``DocumentReader.references``."""
        with self._database.reading() as connection:
            return reading.references_of(connection, document_id)

    def linked_documents(
        self, namespace: str, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[tuple[str, str], ...]:
        """See ``DocumentLinks.linked_documents``."""
        with self._database.reading() as connection:
            return linked_documents(connection, namespace, document_id, kb_names=kb_names)

    def damaged_passages(self, document_id: str) -> tuple[str, ...]:
        """Return the ids of a live document's passages that are not what was committed, in order.

        Each is compared with the ``sha256`` taken then; all of them when the text itself is damaged.
        """
        with self._database.reading() as connection:
            return damaged_passages(connection, document_id)

    def missing_identifiers(self, document_id: str) -> tuple[str, ...]:
        """See ``DocumentReader.missing_identifiers``."""
        with self._database.reading() as connection:
            return missing_identifiers(connection, document_id)

    def stats(self, namespace: str, *, kb_names: Sequence[str] | None = None) -> RegistryStats:
        """See ``DocumentReader.stats``."""
        with self._database.reading() as connection:
            return reading.read_stats(connection, namespace, kb_names=kb_names)

    def live_versions(self, document_ids: Sequence[str]) -> dict[str, int]:
        """See ``LiveDocuments.live_versions``."""
        with self._database.reading() as connection:
            return catalog.live_versions(connection, document_ids)

    def live_states(self, document_ids: Sequence[str]) -> dict[str, LiveState]:
        """See ``LiveDocuments.live_states``."""
        with self._database.reading() as connection:
            return catalog.live_states(connection, document_ids)

    def sources(self, namespace: str, kb_name: str) -> dict[str, tuple[str, str]]:
        """See ``LiveDocuments.sources``."""
        with self._database.reading() as connection:
            return catalog.read_sources(connection, namespace, kb_name)

    def record_source(
        self, namespace: str, kb_name: str, source_uri: str, digests: tuple[str, str]
    ) -> None:
        """See ``LiveDocuments.record_source``."""
        with self._database.writing() as connection:
            catalog.save_source(connection, (namespace, kb_name), source_uri, digests)

    def by_digest(self, namespace: str, kb_name: str, digest: str) -> DocumentRecord | None:
        """See ``LiveDocuments.by_digest``."""
        with self._database.reading() as connection:
            return catalog.by_digest(connection, namespace, kb_name, digest)

    def iter_live(self, namespace: str | None = None) -> Iterator[tuple[str, int]]:
        """See ``LiveDocuments.iter_live``.

        Read page by page, so that a slow caller does not hold a snapshot open: a document that
        comes or goes meanwhile may or may not be seen.
        """
        after = ""
        while True:
            with self._database.reading() as connection:
                page = catalog.live_page(connection, after, _PAGE)
            for document_id, version, where in page:
                if namespace is None or where == namespace:
                    yield document_id, version
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def of_format(
        self, namespace: str, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """See ``DocumentShelves.of_format``."""
        after = ""
        while True:
            with self._database.reading() as connection:
                page = reading.format_page(
                    connection,
                    namespace,
                    source_format=source_format,
                    kb_names=kb_names,
                    after=after,
                    limit=_PAGE,
                )
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].document_id

    def versions_of_format(
        self, namespace: str, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``DocumentShelves.versions_of_format``."""
        with self._database.reading() as connection:
            return reading.format_versions(
                connection, namespace, source_format=source_format, kb_names=kb_names
            )

    def documents_named(
        self,
        namespace: str,
        terms: Sequence[str],
        *,
        kb_names: Sequence[str] | None = None,
        limit: int = 64,
    ) -> tuple[str, ...]:
        """See ``DocumentNaming.documents_named``."""
        with self._database.reading() as connection:
            return documents_named(connection, namespace, terms, kb_names=kb_names, limit=limit)

    def names_of(
        self, namespace: str, document_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, DocumentNames]:
        """See ``DocumentNaming.names_of``."""
        with self._database.reading() as connection:
            return names_of(connection, namespace, document_ids, kb_names=kb_names)

    def generation(self, namespace: str) -> int:
        """See ``DocumentShelves.generation``."""
        with self._database.reading() as connection:
            return catalog.generation(connection, namespace)

    def namespaces(self) -> dict[str, int]:
        """See ``DocumentShelves.namespaces``."""
        with self._database.reading() as connection:
            return catalog.namespaces(connection)

    def save_index(self, schema: CollectionSchema) -> None:
        """See ``IndexRecords.save_index``."""
        with self._database.writing() as connection:
            catalog.save_index(connection, schema)

    def indexes(self) -> tuple[CollectionSchema, ...]:
        """See ``IndexRecords.indexes``."""
        with self._database.reading() as connection:
            return catalog.read_indexes(connection)

    def save_audit(self, events: Sequence[AuditEvent]) -> None:
        """See ``IndexRecords.save_audit``."""
        with self._database.writing() as connection:
            catalog.save_audit(connection, events)

    def audit(self, *, limit: int = 100) -> tuple[AuditEvent, ...]:
        """Return the latest decisions kept, newest first."""
        with self._database.reading() as connection:
            return catalog.read_audit(connection, limit)

    def collections_used(
        self,
        namespace: str,
        kb_names: Sequence[str] | None = None,
        *,
        document_ids: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """See ``IndexRecords.collections_used``."""
        with self._database.reading() as connection:
            if document_ids is None:
                return catalog.collections_used(connection, namespace, kb_names)
            return catalog.collections_of(connection, namespace, document_ids, kb_names=kb_names)

    def tag_document(self, document_id: str, tags: Sequence[tuple[str, str]]) -> None:
        """Replace a live document's own tags; they outlive its versions and go with its deletion.

        Raises:
            NotFound: No live document has this id.
        """
        with self._database.writing() as connection:
            catalog.tag_document(connection, document_id, tags)

    def document_tags(self, document_id: str) -> tuple[tuple[str, str], ...]:
        """Return a document's own tags, sorted ``(name, value)`` pairs."""
        with self._database.reading() as connection:
            return catalog.read_document_tags(connection, document_id)

    def check_present(self) -> None:
        """See ``IndexRecords.check_present``."""
        self._database.check_present()

    def close(self) -> None:
        """See ``IndexRecords.close``."""
        self._database.close()
