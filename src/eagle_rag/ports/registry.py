"""The registry: documents, texts, passages and what may be seen of them."""

from collections.abc import Iterator, Sequence
from typing import Protocol

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

__all__ = [
    "DocumentLinks",
    "DocumentNaming",
    "DocumentProof",
    "DocumentReader",
    "DocumentShelves",
    "DocumentWriter",
    "IndexRecords",
    "LiveDocuments",
    "Registry",
]


class DocumentWriter(Protocol):
    """The only ways a document comes, changes and goes; each is one durable transaction."""

    def begin_version(
        self, document_id: str, collections: Sequence[str], *, namespace: str
    ) -> int:
        """Reserve the next version number and note it as pending (``writing``).

        ``namespace`` says in whose store the rows will be: one registry may serve several.
        """
        ...

    def commit_version(self, version: int, new: NewVersion) -> None:
        """Make a begun version live; the one it replaces becomes pending (``clearing``).

        Joins the document to works that share any of its identifiers. Marks retraction both ways:
        a notice marks the article it names, an article is marked by a notice already there.

        Raises:
            RegistryError: The version was not begun, or in another namespace, or the document was
                deleted since (then it stays deleted).
        """
        ...

    def delete_document(self, document_id: str) -> None:
        """Remove a live document; its rows become pending (``clearing``).

        Raises:
            NotFound: No live document has this id.
        """
        ...

    def pending(self, namespace: str) -> tuple[PendingVersion, ...]:
        """Return versions whose rows may still be in this namespace's store.

        Ordered by document and version. One of an unknown namespace (``""``, begun before registries
        kept it) belongs to every namespace.
        """
        ...

    def clear_pending(self, document_id: str, version: int) -> None:
        """Forget a pending version, after its rows are gone."""
        ...


class DocumentReader(Protocol):
    """Reading documents. ``kb_names`` is ``None`` for all, empty for none."""

    def find_documents(
        self,
        namespace: str,
        *,
        kb_names: Sequence[str] | None = None,
        identifier: str | None = None,
    ) -> tuple[DocumentRecord, ...]:
        """Return live documents, ordered by id.

        Args:
            namespace: Where.
            kb_names: Where inside it.
            identifier: A document id, PMID, PMCID or DOI, or the name of a work with or without its
                scheme (``nct:NCT00000001``); ``None`` for all.

        Raises:
            RegistryError: The record of one of them is damaged.
        """
        ...

    def document_ids(
        self,
        namespace: str,
        *,
        kb_names: Sequence[str] | None = None,
        identifier: str | None = None,
    ) -> tuple[str, ...]:
        """Return the ids of what ``find_documents`` finds, those of damaged documents too."""
        ...

    def view(
        self, namespace: str, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> DocumentView:
        """Return one whole live document.

        Raises:
            NotFound: Absent, or outside ``kb_names`` or the namespace.
            RegistryError: Something of it is damaged; it names the document and what.
        """
        ...

    def passages(
        self, namespace: str, passage_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> tuple[PassageRecord, ...]:
        """Return live passages in the order asked for; absent ones are left out.

        Raises:
            RegistryError: One of them is damaged; it names the document.
        """
        ...

    def references(self, document_id: str) -> tuple[Reference, ...]:
        """Return the live document's bibliography, in order; empty when there is none."""
        ...

    def stats(self, namespace: str, *, kb_names: Sequence[str] | None = None) -> RegistryStats:
        """Count what is live."""
        ...


class DocumentProof(Protocol):
    """What is wrong with what is stored of a document; for ``verify``."""

    def damaged_passages(self, document_id: str) -> tuple[str, ...]:
        """Return the ids of a live document's passages that are not what was committed, in order."""
        ...

    def missing_identifiers(self, document_id: str) -> tuple[str, ...]:
        """Return the PMID, PMCID and DOI that a live document has but cannot be found by."""
        ...


class DocumentLinks(Protocol):
    """Which documents say something about each other."""

    def linked_documents(
        self, namespace: str, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Return ``(relation, document_id)`` of live documents linked with this one, sorted.

        Errata, retraction notices, republications, preprints, expressions of concern, comments, of
        the same knowledge base. A link that only the other document states is turned round
        (``erratum_of`` to ``erratum_in``).

        Raises:
            NotFound: Absent, or outside ``kb_names`` or the namespace.
        """
        ...


class LiveDocuments(Protocol):
    """Cheap questions asked for every source or every query."""

    def live_versions(self, document_ids: Sequence[str]) -> dict[str, int]:
        """Return the live version of each of these documents; absent ones are missing."""
        ...

    def live_states(self, document_ids: Sequence[str]) -> dict[str, LiveState]:
        """Return what a search must know of each of these documents that is live; two queries at most."""
        ...

    def sources(self, namespace: str, kb_name: str) -> dict[str, tuple[str, str]]:
        """Return ``source_uri -> (source_digest, config_digest)`` of everything live, for skipping.

        A source is listed only when every record it held was either committed or refused for good.
        """
        ...

    def record_source(
        self, namespace: str, kb_name: str, source_uri: str, digests: tuple[str, str]
    ) -> None:
        """Note that a source was read to its end with these ``(source_digest, config_digest)``."""
        ...

    def by_digest(self, namespace: str, kb_name: str, digest: str) -> DocumentRecord | None:
        """Return the live document with this record digest, or ``None``."""
        ...

    def iter_live(self, namespace: str | None = None) -> Iterator[tuple[str, int]]:
        """Yield ``(document_id, version)`` of every live document, ordered by id."""
        ...


class IndexRecords(Protocol):
    """What the registry keeps about indexes and decisions."""

    def save_index(self, schema: CollectionSchema) -> None:
        """Record a collection's schema and vector space."""
        ...

    def indexes(self) -> tuple[CollectionSchema, ...]:
        """Return all recorded collections, by name."""
        ...

    def save_audit(self, events: Sequence[AuditEvent]) -> None:
        """Keep decisions."""
        ...

    def collections_used(
        self,
        namespace: str,
        kb_names: Sequence[str] | None = None,
        *,
        document_ids: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """Return the collections that live documents of these knowledge bases were written to, sorted.

        Args:
            namespace: Where.
            kb_names: Where inside it; ``None`` for all, empty for none.
            document_ids: Only these documents; ``None`` for all, empty for none.
        """
        ...

    def check_present(self) -> None:
        """Refuse to go on when what was opened is no longer what stands at its place; cheap.

        Raises:
            RegistryError: It was removed or replaced while it was open.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...


class DocumentShelves(Protocol):
    """Documents by kind, and whether anything changed; for plugins' own indexes."""

    def of_format(
        self, namespace: str, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """Yield every live document of a format, ordered by id, page by page.

        Raises:
            RegistryError: The record of one of them is damaged.
        """
        ...

    def versions_of_format(
        self, namespace: str, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Return ``document_id -> live version`` of every live document of a format."""
        ...

    def generation(self, namespace: str) -> int:
        """Return a number that changes whenever a document of the namespace comes, changes or goes."""
        ...

    def namespaces(self) -> dict[str, int]:
        """Return how many live documents each namespace holds, by name; those without any are left out."""
        ...


class DocumentNaming(Protocol):
    """Documents by what they are called or about. ``kb_names`` is ``None`` for all, empty for none."""

    def documents_named(
        self,
        namespace: str,
        terms: Sequence[str],
        *,
        kb_names: Sequence[str] | None = None,
        limit: int = 64,
    ) -> tuple[str, ...]:
        """Return live documents that one of the terms names, whatever their files are called.

        Those with a passage tagged with a term, by a tag whose name begins with ``primary_``; without any,
        those whose title holds one, as far as titles can be read in time. By id, at most ``limit``.
        """
        ...

    def names_of(
        self, namespace: str, document_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, DocumentNames]:
        """Return what these live documents are called, by id; what is out of scope is missing."""
        ...


class Registry(
    DocumentWriter,
    DocumentReader,
    DocumentLinks,
    DocumentProof,
    LiveDocuments,
    IndexRecords,
    DocumentShelves,
    DocumentNaming,
    Protocol,
):
    """All eight."""
