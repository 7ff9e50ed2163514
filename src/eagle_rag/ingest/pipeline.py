"""Classifying, embedding and committing prepared sources, under the rule that nothing acknowledged is ever lost.

All of it runs in the process that holds the writer lock. A document goes
live in one registry transaction after all its rows are durable; ``committed`` is reported after that.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from eagle_rag.errors import (
    EagleError,
    EncoderLoadError,
    EncoderUnavailable,
    InvalidInput,
    PluginError,
    RegistryError,
    StoreError,
)
from eagle_rag.ingest.classify import classify_passages, classify_pictures
from eagle_rag.ingest.picture_rows import PictureRows, anchor_pictures, document_picture_rows
from eagle_rag.ingest.placement import note_collections
from eagle_rag.ingest.prepare import PreparedDocument, PreparedSource, plugin_refusal, renamed
from eagle_rag.ingest.recover import clear_pending_rows, delete_version_rows
from eagle_rag.ingest.reuse import read_known_vectors
from eagle_rag.ingest.rows import CommitConfig, ReadyDocument, document_rows, numbered
from eagle_rag.ingest.standing import Editions, behind_message, edition_of, standing_records
from eagle_rag.ingest.upsert import upsert_rows
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import Refusal
from eagle_rag.model.passage import ChunkDecision
from eagle_rag.model.records import AuditEvent, DocumentRecord, NewVersion
from eagle_rag.model.results import IngestEvent, IngestReport
from eagle_rag.ops.ids import document_id
from eagle_rag.ports.plugins import DecisionLog
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionStore

__all__ = ["CommitConfig", "IngestPipeline", "ReadyDocument", "document_rows"]

_RECORD = "pubmed"
_PICTURE_BYTES = 256 << 10  # of pictures waiting weigh as much as one passage
# Without these nothing can be written; everything else concerns the document at hand.
_UNUSABLE = (EncoderLoadError, EncoderUnavailable, RegistryError, StoreError)
# A plugin broke its word, or an encoder cannot take a text: that document's, not the batch's.
_UNWRITABLE = (PluginError, InvalidInput)


@dataclass(slots=True)
class _Tally:
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: int = 0
    duplicates: list[tuple[str, str]] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    passages: int = 0
    truncated: int = 0
    deleted: list[str] = field(default_factory=list)
    pictures: int = 0
    pictures_embedded: int = 0
    pictures_unreadable: int = 0

    def report(self, recovered: int) -> IngestReport:
        return IngestReport(
            added=tuple(self.added),
            replaced=tuple(self.replaced),
            unchanged=self.unchanged,
            duplicates=tuple(self.duplicates),
            refused=tuple(self.refused),
            passages=self.passages,
            truncated=self.truncated,
            deleted=tuple(self.deleted),
            recovered=recovered,
            pictures=self.pictures,
            pictures_embedded=self.pictures_embedded,
            pictures_unreadable=self.pictures_unreadable,
        )


class IngestPipeline:
    """Commits prepared sources. One instance serves one ingest.

    Args:
        bus: Hooks, bound to the namespace.
        registry: Where documents live.
        store: Where rows live.
        config: What shapes committing.
        audit: Where decisions are logged; the registry keeps them too.
        on_event: Called after each document or refusal.
    """

    def __init__(
        self,
        bus: BoundBus,
        registry: Registry,
        *,
        store: CollectionStore,
        config: CommitConfig,
        audit: DecisionLog,
        on_event: Callable[[IngestEvent], None],
    ) -> None:
        self._bus = bus
        self._registry = registry
        self._store = store
        self._config = config
        self._audit = audit
        self._on_event = on_event
        self._tally = _Tally()
        self._waiting: list[ReadyDocument | PreparedSource] = []
        self._waiting_keys: set[str] = set()
        self._waiting_passages = 0
        self._source_digests: dict[str, str] = {}
        self._unsettled_uris: set[str] = set()
        self._kept_deleted: set[str] = set()
        self._editions = Editions(registry, config.namespace, config.kb_name)
        self._since_optimize = 0

    def run(self, prepared: Iterable[PreparedSource | Refusal]) -> IngestReport:
        """Commit everything, in order; documents one by one, as soon as a batch is full."""
        recovered = self._clear("writing", "clearing")
        changed = recovered > 0
        for item in prepared:
            if isinstance(item, Refusal):
                self._refuse(item)
            else:
                self._take(item)
        self._flush()
        self._editions.note_replaced()
        # What a failing plugin left half written goes now: nobody else can be writing.
        self._clear("writing", "clearing")
        changed = changed or bool(self._tally.added or self._tally.replaced or self._tally.deleted)
        if changed:
            self._optimize()
        return self._tally.report(recovered)

    def skip_unchanged(self, uri: str) -> None:
        """Count a source that was read to its end before, byte for byte."""
        self._tally.unchanged += 1
        self._on_event(IngestEvent("unchanged", uri))

    def keep_deleted(self, document_id: str) -> None:
        """Commit no version of this document any more; called before it is deleted, by any thread."""
        self._kept_deleted.add(document_id)

    def _take(self, source: PreparedSource) -> None:
        for refusal in source.refusals:
            self._refuse(refusal)
        standing = standing_records(source.documents)
        for document in source.documents:
            stands = standing.get(document.document_id, document)
            if stands is document:
                self._admit(document, source)
            else:
                self._repeat(document, stands)
        # Without its documents: those that are unchanged would be held for nothing.
        self._waiting.append(replace(source, documents=()))
        if self._waiting_passages >= self._config.batch_passages or source.deleted_pmids:
            self._flush()
        for pmid in source.deleted_pmids:
            self._delete_by_pmid(pmid, source.uri)

    def _repeat(self, prepared: PreparedDocument, stands: PreparedDocument) -> None:
        """Report a record whose key another record of the same source has."""
        uri, member = prepared.document.source_uri, prepared.document.member
        self._tally.duplicates.append((f"{uri}#{member}", prepared.document_id))
        message = f"record {member} has the key of record {stands.document.member}, which stands"
        if member == stands.document.member:
            message = f"record {member} is there again: the first of its newest edition stands"
        self._on_event(IngestEvent("duplicate", uri, prepared.document_id, 0, 0, message))

    def _admit(self, prepared: PreparedDocument, source: PreparedSource) -> None:
        digest = prepared.document.digest
        if prepared.document_id in self._waiting_keys or digest in self._waiting_keys:
            self._flush()
        uri = prepared.document.source_uri
        live = self._with_digest(digest)
        if live is not None and live.document_id in self._waiting_keys:
            # A new version of it waits, with other content.
            self._flush()
            live = self._with_digest(digest)
        if live is None or live.document_id != prepared.document_id:
            prepared = self._told_apart(prepared)
        if live is not None and live.document_id != prepared.document_id:
            self._tally.duplicates.append((uri, live.document_id))
            # Read again next time: the other document may be changed or deleted by then.
            self._unsettled_uris.add(source.uri)
            message = f"same content as {live.source_uri}"
            self._on_event(
                IngestEvent("duplicate", uri, live.document_id, live.version, 0, message)
            )
        elif live is not None and live.config_digest == self._config.config_digest:
            self._tally.unchanged += 1
            self._on_event(
                IngestEvent("unchanged", uri, live.document_id, live.version, live.passages)
            )
        elif not self._set_aside(prepared, source):
            self._queue(prepared, source)

    def _set_aside(self, prepared: PreparedDocument, source: PreparedSource) -> bool:
        """Report a document of which a newer edition is live, and return whether it is one."""
        stands = self._editions.newer(prepared, source.uri)
        if stands is None:
            return False
        uri, member = prepared.document.source_uri, prepared.document.member
        identity, version = stands.document_id, stands.version
        self._tally.duplicates.append((f"{uri}#{member}" if member else uri, identity))
        message = behind_message(prepared, stands)
        self._on_event(IngestEvent("duplicate", uri, identity, version, 0, message))
        return True

    def _told_apart(self, prepared: PreparedDocument) -> PreparedDocument:
        """Give a text that names another text's work an id of its own.

        A supplement often carries the DOI of its main text. Another file with the same identifier but
        another title is not a new version of what is there; a PubMed record is, whatever its title, and so
        is what states its edition.
        """
        document = prepared.document
        if document.format == _RECORD or edition_of(prepared):
            return prepared
        found = self._registry.find_documents(
            self._config.namespace,
            kb_names=(self._config.kb_name,),
            identifier=prepared.document_id,
        )
        if not found or found[0].source_uri == document.source_uri:
            return prepared
        if _plain(found[0].metadata.title) == _plain(document.metadata.title):
            return prepared
        key = f"{prepared.document_id}#{document.source_uri}"
        identity = document_id(self._config.namespace, self._config.kb_name, key)
        return renamed(prepared, identity)

    def _with_digest(self, digest: str) -> DocumentRecord | None:
        return self._registry.by_digest(self._config.namespace, self._config.kb_name, digest)

    def _queue(self, prepared: PreparedDocument, source: PreparedSource) -> None:
        document = prepared.document
        try:
            passages = self._bus.annotate(document, prepared.passages)
            assets = () if self._config.assets is None else prepared.assets
            decisions = classify_passages(self._bus, document, passages)
            pictures = classify_pictures(self._bus, document, assets)
        except _UNUSABLE:
            raise
        except EagleError as error:
            self._refuse(plugin_refusal(document.source_uri, document.member, error))
            self._unsettled_uris.add(source.uri)
            return
        prepared = anchor_pictures(replace(prepared, passages=passages, assets=assets))
        prepared = note_collections(prepared, decisions)
        self._waiting.append(ReadyDocument(prepared, decisions, pictures))
        self._waiting_keys.update((prepared.document_id, document.digest))
        self._waiting_passages += _weight(prepared)
        for warning in (*document.warnings, *prepared.warnings):
            self._warn(document.source_uri, prepared.document_id, warning)
        self._source_digests[prepared.document_id] = source.digest
        if self._waiting_passages >= self._config.batch_passages:
            self._flush()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._waiting_keys.clear()
        self._waiting_passages = 0
        documents = [item for item in waiting if isinstance(item, ReadyDocument)]
        try:
            self._write(documents)
        except _UNWRITABLE:
            for document in documents:
                self._write_alone(document)
        for item in waiting:
            if (
                isinstance(item, PreparedSource)
                and item.uri not in self._unsettled_uris
                and not item.refusals  # what was refused is tried, and said, again
            ):
                settings = self._editions.note_of(item.uri, self._config.config_digest)
                digests = (item.digest, settings)
                self._registry.record_source(
                    self._config.namespace, self._config.kb_name, item.uri, digests
                )

    def _write_alone(self, ready: ReadyDocument) -> None:
        try:
            self._write([ready])
        except _UNWRITABLE as error:
            document = ready.prepared.document
            self._refuse(plugin_refusal(document.source_uri, document.member, error))
            self._unsettled_uris.add(document.source_uri)

    def _write(self, documents: list[ReadyDocument]) -> None:
        if not documents:
            return
        known = self._registry.live_versions([document.id for document in documents])
        vectors = read_known_vectors(
            self._store, tuple(sorted(self._config.schemas)), self._reusable(documents, known)
        )
        rows, truncated = document_rows(self._bus, documents, self._config, known=vectors)
        pictures = document_picture_rows(self._bus, documents, self._config)
        for collection, found in pictures.rows.items():
            rows.setdefault(collection, []).extend(found)
        versions = {
            document.id: self._registry.begin_version(
                document.id, document.collections, namespace=self._config.namespace
            )
            for document in documents
        }
        # After begin_version: a deletion before it is seen here, one after it ends the version.
        gone = self._kept_deleted.intersection(versions)
        self._keep_pictures(
            [document for document in documents if document.id not in gone], pictures, versions
        )
        for collection, batch in rows.items():
            final = [
                numbered(row, versions[row.document_id])
                for row in batch
                if row.document_id not in gone
            ]
            if final:
                upsert_rows(self._bus, collection, final)
        for document in documents:
            if document.id in gone:
                self._registry.clear_pending(document.id, versions[document.id])
                self._refuse_deleted(document)
                continue
            self._commit(
                document,
                version=versions[document.id],
                truncated=truncated.get(document.id, 0),
                known=document.id in known,
            )
        events = [event for document in documents for event in _audit_events(document)]
        for event in events:
            self._audit.log_decision(event)
        self._registry.save_audit(events)
        if known:
            self._clear("clearing")
        if self._since_optimize >= self._config.optimize_every:
            self._optimize()

    def _keep_pictures(
        self, documents: list[ReadyDocument], made: PictureRows, versions: Mapping[str, int]
    ) -> None:
        """Keep the pictures before anything of their versions can be found."""
        uris: dict[str, str] = {}
        for document in documents:
            assets, places = document.prepared.assets, made.places.get(document.id, {})
            if self._config.assets is not None and assets:
                uris[document.id] = document.prepared.document.source_uri
                self._config.assets.put(document.id, versions[document.id], assets, places)
                self._tally.pictures_embedded += len(places)
        for identity, key, reason in made.unreadable:
            if identity in uris:
                self._tally.pictures_unreadable += 1
                message = f"picture {key} is kept and cannot be searched: {reason}"
                self._warn(uris[identity], identity, message)

    def _warn(self, uri: str, document_id: str, message: str) -> None:
        self._on_event(IngestEvent("warning", uri, document_id, message=message))

    def _reusable(
        self, documents: list[ReadyDocument], known: Mapping[str, int]
    ) -> dict[str, int]:
        """Return the live versions whose vectors stand for their passages' whole text alone.

        Written under other settings, they may have been encoded with context.
        """
        reusable: dict[str, int] = {}
        for document in documents:
            version = known.get(document.id)
            if version is None or any(document.prepared.contexts):
                continue
            record = self._registry.find_documents(self._config.namespace, identifier=document.id)
            same_settings = record and record[0].config_digest == self._config.config_digest
            if same_settings and not record[0].truncated:
                reusable[document.id] = version
        return reusable

    def _commit(self, ready: ReadyDocument, *, version: int, truncated: int, known: bool) -> None:
        prepared = ready.prepared
        new = NewVersion(
            document_id=ready.id,
            work_key=prepared.work_key,
            namespace=self._config.namespace,
            kb_name=self._config.kb_name,
            source_digest=self._source_digests.pop(ready.id),
            config_digest=self._config.config_digest,
            document=prepared.document,
            passages=prepared.passages,
            collections=ready.collections,
            truncated=truncated,
        )
        uri = prepared.document.source_uri
        try:
            self._registry.commit_version(version, new)
        except RegistryError:
            if any(
                (pending.document_id, pending.version, pending.state)
                == (ready.id, version, "writing")
                for pending in self._registry.pending(self._config.namespace)
            ):
                raise
            # Deleted while it was being written. Rows that came after the deletion had cleared the
            # version are nobody's: they go here.
            delete_version_rows(self._store, ready.collections, ready.id, version=version)
            if self._config.assets is not None:
                self._config.assets.delete_version(ready.id, version)
            self._refuse_deleted(ready)
            return
        (self._tally.replaced if known else self._tally.added).append(ready.id)
        self._tally.passages += len(prepared.passages)
        self._tally.truncated += truncated
        self._tally.pictures += len(prepared.assets)
        self._since_optimize += 1
        self._on_event(
            IngestEvent(
                "committed",
                uri,
                ready.id,
                version,
                len(prepared.passages),
                pictures=len(prepared.assets),
            )
        )

    def _refuse_deleted(self, ready: ReadyDocument) -> None:
        document = ready.prepared.document
        message = "was deleted while it was being read, and stays deleted"
        remedy = "ingest it again to bring it back"
        self._refuse(Refusal(document.source_uri, document.member, "deleted", message, remedy))
        self._source_digests.pop(ready.id, None)
        self._unsettled_uris.add(document.source_uri)

    def _delete_by_pmid(self, pmid: str, uri: str) -> None:
        config = self._config
        found = self._registry.find_documents(
            config.namespace, kb_names=(config.kb_name,), identifier=pmid
        )
        for record in found:
            if record.format != _RECORD:
                continue  # NLM withdraws its record, not the publisher's text
            self._registry.delete_document(record.document_id)
            self._tally.deleted.append(record.document_id)
            self._on_event(IngestEvent("deleted", uri, record.document_id, record.version))
        if found:
            self._clear("clearing")

    def _clear(self, *states: str) -> int:
        return clear_pending_rows(
            self._registry,
            self._store,
            namespace=self._config.namespace,
            states=states,
            assets=self._config.assets,
        )

    def _refuse(self, refusal: Refusal) -> None:
        self._tally.refused.append(refusal)
        message = f"{refusal.reason}: {refusal.message}"
        self._on_event(IngestEvent("refused", refusal.source_uri, message=message))

    def _optimize(self) -> None:
        for collection in self._config.schemas:
            self._store.optimize(collection)
        self._since_optimize = 0
        self._on_event(IngestEvent("optimized", ""))


def _plain(title: str) -> str:
    return "".join(character for character in title.casefold() if character.isalnum())


def _weight(prepared: PreparedDocument) -> int:
    """Return what a waiting document counts for: its passages, and its pictures by their size."""
    size = sum(len(asset.data) for asset in prepared.assets)
    return len(prepared.passages) + size // _PICTURE_BYTES


def _audit_events(ready: ReadyDocument) -> Iterator[AuditEvent]:
    if ready.decisions:
        yield _audit_event("classify_chunk", ready.id, ready.decisions)
    if ready.picture_decisions:
        yield _audit_event("classify_visual", ready.id, ready.picture_decisions)


def _audit_event(
    category: str, document_id: str, decisions: Iterable[ChunkDecision]
) -> AuditEvent:
    rules = Counter((item.plugin, item.collection, item.rule) for item in decisions)
    plugin, collection, rule = max(sorted(rules), key=lambda key: rules[key])
    detail = tuple(
        (f"{name}/{where}/{why}", str(count))
        for (name, where, why), count in sorted(rules.items())
    )
    return AuditEvent(category, plugin, document_id, f"{collection} by {rule}", detail)
