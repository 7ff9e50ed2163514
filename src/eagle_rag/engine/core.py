"""The engine: what a surface can ask for, and nothing a surface has to assemble."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Literal

from eagle_rag.adapters.registry import open_registry
from eagle_rag.adapters.sources import SourceLimits, read_sources
from eagle_rag.engine.compose import (
    Kernel,
    build_kernel,
    collection_schemas,
    config_digest,
    open_assets,
    open_store,
    scope_name,
)
from eagle_rag.engine.doctor import DoctorCheck, check_engine
from eagle_rag.engine.fitted_reader import FittedReader, check_request_filter
from eagle_rag.engine.gate import WriterGate
from eagle_rag.engine.library import EngineLibrary, LibraryServices
from eagle_rag.engine.listing import PluginListing, list_plugins
from eagle_rag.engine.query_encoder import QueryEncoder
from eagle_rag.engine.rewrite import known_lexemes, rewrite_document
from eagle_rag.engine.toolbox import Toolbox
from eagle_rag.engine.worker import prepare_all
from eagle_rag.errors import InvalidInput, NotFound
from eagle_rag.ingest.pipeline import CommitConfig, IngestPipeline
from eagle_rag.ingest.prepare import PrepareConfig
from eagle_rag.ingest.recover import clear_pending_rows
from eagle_rag.ingest.standing import is_settled
from eagle_rag.ingest.verify import Proofs, verify_index
from eagle_rag.kernel.settings import Settings, load_settings
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import Refusal, Source
from eagle_rag.model.passage import FloatArray, StoredAsset
from eagle_rag.model.query import CollectionQueryPlan, SearchRequest
from eagle_rag.model.records import DocumentRecord, DocumentView, PassageRecord, RegistryStats
from eagle_rag.model.results import IngestEvent, IngestReport, SearchResults, VerifyReport
from eagle_rag.ops.excerpts import excerpt
from eagle_rag.ops.offsets import utf8_spans, utf16_spans
from eagle_rag.ops.request_rules import check_is_request
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.retrieve.pipeline import SearchConfig, SearchPipeline, SearchServices

__all__ = ["DoctorCheck", "Engine", "PluginListing", "open_engine"]

_REFRESH_S = 1.0


def open_engine(settings: Settings | None = None) -> "Engine":
    """Return an engine; the registry, the store and weights are opened on first use.

    Args:
        settings: The settings; ``None`` loads them from file and environment.

    Raises:
        ConfigurationError: The settings are wrong, or a plugin does not load.
    """
    return Engine(load_settings() if settings is None else settings)


class Engine:
    """Ingest, search, read, verify, delete. Safe to share between threads; ``close`` it once.

    Args:
        settings: The settings.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = RLock()
        self._scope = scope_name(settings)
        self._library = EngineLibrary(
            LibraryServices(
                registry=lambda: self.registry,
                store=lambda: FittedReader(self.store),
                schema=self._schema,
                encode=self._encode_for,
                namespace=self._scope,
            )
        )
        self._kernel: Kernel = build_kernel(
            settings,
            writer=lambda: self.store,
            library=self._library,
            texts=self._library,
            names=self._library,
        )
        self._queries = QueryEncoder(self._kernel.encoders, self._kernel.collections, self._schema)
        self._assets = open_assets(settings)
        self._registry: Registry | None = None
        self._store: CollectionStore | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._schemas: dict[str, CollectionSchema] = {}
        self._refreshed = 0.0
        self._gate = WriterGate(settings.data_dir / "writer.lock")
        self._ingesting: IngestPipeline | None = None

    @property
    def registry(self) -> Registry:
        """The registry, opened on first use."""
        with self._lock:
            if self._registry is None:
                self.settings.data_dir.mkdir(parents=True, exist_ok=True)
                self._registry = open_registry(self.settings.registry_url)
            return self._registry

    @property
    def store(self) -> CollectionStore:
        """The store of this workspace and namespace, opened on first use."""
        with self._lock:
            if self._store is None:
                self._store = open_store(self.settings)
            return self._store

    @property
    def kernel(self) -> Kernel:
        """Plugins, hooks, encoders, collections."""
        return self._kernel

    @property
    def toolbox(self) -> Toolbox:
        """The read-only commands that plugins bring."""
        return Toolbox(self._kernel.tools, self._library)

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        kb_name: str | None = None,
        on_event: Callable[[IngestEvent], None] = lambda _: None,
    ) -> IngestReport:
        """Read files, folders and archives and make them searchable.

        A document is durable when its ``committed`` event is reported. Run it again after an
        interruption: what is there, byte for byte, is skipped.

        Args:
            paths: What to read.
            kb_name: Knowledge base; ``None`` takes the setting.
            on_event: Called after each document, in the calling thread.

        Raises:
            InvalidInput: ``kb_name`` is empty.
            IndexLocked: Another process is writing.
            EncoderLoadError, EncoderUnavailable, StoreError, RegistryError: Nothing can be written;
                what was committed stays.
        """
        target = self.settings.kb_name if kb_name is None else kb_name
        if not target.strip():
            message = f"the knowledge base needs a name, got {target!r}"
            raise InvalidInput(message, remedy="leave it out for the one of the settings")
        self._check_present()
        with self._gate.ingesting():
            schemas = self._ensure_collections()
            digest = config_digest(self.settings, self._kernel, schemas)
            pipeline = IngestPipeline(
                self._kernel.bus.bind(self.settings.plugins.default_namespace),
                self.registry,
                store=self.store,
                config=CommitConfig(
                    namespace=self._scope,
                    kb_name=target,
                    config_digest=digest,
                    schemas=schemas,
                    optimize_every=self.settings.ingest.optimize_every,
                    assets=self._assets,
                ),
                audit=self._kernel.audit,
                on_event=on_event,
            )
            known = self.registry.sources(self._scope, target)
            fresh = self._fresh(paths, known, digest, pipeline.skip_unchanged)
            self._ingesting = pipeline
            try:
                return pipeline.run(prepare_all(fresh, self.settings, self.prepare_config(target)))
            finally:
                self._ingesting = None

    def prepare_config(self, kb_name: str) -> PrepareConfig:
        """Return what shapes prepared documents of a knowledge base."""
        passages = self.settings.passages
        return PrepareConfig(
            namespace=self._scope,
            kb_name=kb_name,
            target_chars=passages.target_chars,
            lexical_context=passages.lexical_context,
            dense_context=passages.dense_context,
            refuse_abstracts=self.settings.ingest.abstract_only == "refuse",
            max_pictures=self.settings.ingest.max_pictures,
            max_picture_bytes=self.settings.ingest.max_picture_bytes,
        )

    def _fresh(
        self,
        paths: Sequence[Path],
        known: Mapping[str, tuple[str, str]],
        digest: str,
        skip: Callable[[str], None],
    ) -> Iterator[Source | Refusal]:
        limits = SourceLimits(
            max_file_bytes=self.settings.ingest.max_file_bytes,
            max_archive_bytes=self.settings.ingest.max_archive_bytes,
        )
        for item in read_sources(paths, limits):
            if isinstance(item, Source) and is_settled(
                known.get(item.uri), (item.digest, digest), self.registry.live_versions
            ):
                skip(item.uri)
            else:
                yield item

    def search(self, request: SearchRequest) -> SearchResults:
        """Answer a request.

        Raises:
            InvalidQuery, InvalidFilter: The request has no defined answer.
            VectorSpaceMismatch: The index was built by another encoder; both are named.
            EncoderLoadError, EncoderUnavailable, StoreError: An arm failed.
        """
        check_is_request(request)
        profiles = self._kernel.collections.profiles()
        fields = {name for profile in profiles for name in profile.extra_output_fields}
        check_request_filter(request.filters, fields)
        self._refresh()
        router, search, rerank = self.settings.router, self.settings.search, self.settings.rerank
        config = SearchConfig(
            fusion=router.fusion,
            rrf_k=router.rrf_k,
            hybrid_alpha=router.hybrid_alpha,
            max_query_chars=search.max_query_chars,
            retracted=search.retracted,
            rerank_policy=self._kernel.rerank_policy(self.settings).policy,
            rerank_depth=rerank.depth,
            rerank_budget_s=rerank.budget_s,
            max_image_bytes=self.settings.ingest.max_file_bytes,
        )
        return self._searcher().search(
            request, config, namespace=self.settings.plugins.default_namespace
        )

    def _searcher(self) -> SearchPipeline:
        with self._lock:
            if self._executor is None:
                threads = self.settings.search.threads
                self._executor = ThreadPoolExecutor(threads, thread_name_prefix="eagle-arm")
            executor = self._executor
        label = self.settings.rerank.encoder
        services = SearchServices(
            registry=self.registry,
            namespace=self._scope,
            store=FittedReader(self.store),
            encode=self._queries.encode,
            reach=self._queries.reach,
            has_collection=lambda name: self._schema(name) is not None,
            executor=executor,
            audit=self._kernel.audit,
            plans=self._plans,
            pairs=None if label is None else partial(self._kernel.encoders.rerank, label),
        )
        return SearchPipeline(self._kernel.bus, services)

    def _plans(self, collections: Sequence[str]) -> tuple[CollectionQueryPlan, ...]:
        registered = {profile.name for profile in self._kernel.collections.profiles()}
        return self._kernel.collections.plans(
            [name for name in collections if name in registered],
            recall_top_k=self.settings.router.recall_top_k,
        )

    def _encode_for(self, collection: str, text: str) -> FloatArray:
        return self._queries.encode_for(collection, text)

    def _schema(self, collection: str) -> CollectionSchema | None:
        """Return the schema a collection was created with; a found one is remembered."""
        known = self._schemas.get(collection)
        if known is None:
            known = self.store.describe(collection)
            if known is not None:
                self._schemas[collection] = known
        return known

    def _check_present(self) -> None:
        if self._registry is not None:  # one that is opened now is what is there
            self._registry.check_present()

    def _refresh(self) -> None:
        self._check_present()
        now = time.monotonic()
        if now - self._refreshed > _REFRESH_S:
            self.store.refresh()
            self._refreshed = now

    def documents(
        self, identifier: str | None = None, *, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """Return live documents by id, PMID, PMCID or DOI; all of them for ``None``."""
        return self.registry.find_documents(self._scope, kb_names=kb_names, identifier=identifier)

    def show(self, identifier: str, *, kb_names: Sequence[str] | None = None) -> DocumentView:
        """Return one whole document; of several of one work, the full text.

        Raises:
            NotFound: Absent, or not among ``kb_names``.
        """
        shown = self._shown(identifier, kb_names)
        return self.registry.view(self._scope, shown, kb_names=kb_names)

    def pictures(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[StoredAsset, ...]:
        """Return the pictures kept of the document that ``show`` gives, by key.

        Raises:
            NotFound: Absent, or not among ``kb_names``.
        """
        record = self.documents(self._shown(identifier, kb_names), kb_names=kb_names)[0]
        return self._assets.list(record.document_id, record.version)

    def picture(
        self, identifier: str, key: str, *, kb_names: Sequence[str] | None = None
    ) -> bytes:
        """Return one of them.

        Raises:
            NotFound: The document or the picture is absent, or not among ``kb_names``.
        """
        record = self.documents(self._shown(identifier, kb_names), kb_names=kb_names)[0]
        return self._assets.get(record.document_id, record.version, key)

    def links(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[tuple[str, str], ...]:
        """Return ``(relation, document_id)`` of live documents linked with the one ``show`` gives.

        Errata, retraction notices, republications, preprints, expressions of concern, comments. The
        relation is read from the one shown: ``erratum_in`` when the other corrects it.

        Raises:
            NotFound: Absent, or not among ``kb_names``.
        """
        shown = self._shown(identifier, kb_names)
        return self.registry.linked_documents(self._scope, shown, kb_names=kb_names)

    def _shown(self, identifier: str, kb_names: Sequence[str] | None) -> str:
        found = self.require_documents(identifier, kb_names)
        best = min(found, key=lambda record: (not record.full_text, record.document_id))
        return best.document_id

    def require_documents(
        self, identifier: str, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """Return the live documents an identifier names.

        Raises:
            NotFound: There is none, or none among ``kb_names``.
        """
        found = self.documents(identifier, kb_names=kb_names)
        if not found:
            raise _no_document(identifier)
        return found

    def passage(
        self,
        passage_id: str,
        *,
        document_id: str | None = None,
        kb_names: Sequence[str] | None = None,
    ) -> PassageRecord:
        """Return one passage.

        Raises:
            NotFound: Absent, not among ``kb_names``, or not of ``document_id``.
        """
        found = self.registry.passages(self._scope, (passage_id,), kb_names=kb_names)
        if not found or document_id not in {None, found[0].passage.document_id}:
            message = f"no passage {excerpt(passage_id)!r}"
            raise NotFound(message, remedy="a new version of its document may have replaced it")
        return found[0]

    def convert_offsets(
        self,
        document_id: str,
        spans: Sequence[tuple[int, int]],
        *,
        unit: Literal["utf16", "byte"],
        kb_names: Sequence[str] | None = None,
    ) -> tuple[tuple[int, int], ...]:
        """Return code point spans of a document in UTF-16 units or UTF-8 bytes, in the order given.

        Raises:
            NotFound: The document is absent, or not among ``kb_names``.
            InvalidInput: A span does not lie in its text.
        """
        text = self.registry.view(self._scope, document_id, kb_names=kb_names).text
        return (utf16_spans if unit == "utf16" else utf8_spans)(text, spans)

    def delete(self, identifier: str, *, kb_names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Delete every document an identifier names, everywhere; return their ids.

        A document that an ingest of this engine is writing at that moment stays deleted.

        Raises:
            NotFound: There is none.
            IndexLocked: Another process is writing.
        """
        self._check_present()
        with self._gate.deleting():
            # By id: a document whose record is damaged can be deleted too.
            deleted = self.registry.document_ids(
                self._scope, kb_names=kb_names, identifier=identifier
            )
            if not deleted:
                raise _no_document(identifier)
            for document_id in deleted:
                running = self._ingesting
                if running is not None:
                    running.keep_deleted(document_id)
                self.registry.delete_document(document_id)
            clear_pending_rows(
                self.registry,
                self.store,
                namespace=self._scope,
                states=("clearing",),
                assets=self._assets,
            )
            return deleted

    def verify(
        self, *, repair: bool = False, on_document: Callable[[int], None] = lambda _: None
    ) -> VerifyReport:
        """Prove every passage, row and picture; with ``repair``, fix what can be fixed.

        Raises:
            IndexLocked: Another process is writing.
        """
        self._check_present()
        with self._gate.verifying():
            self.store.refresh()
            known = known_lexemes(self.settings, self._kernel, self.prepare_config)

            def rewrite(view: DocumentView) -> None:
                schemas = self._ensure_collections()
                config = self.prepare_config(view.record.kb_name)
                bus = self._kernel.bus.bind(self.settings.plugins.default_namespace)
                rewrite_document(bus, view, prepare=config, schemas=schemas, assets=self._assets)

            return verify_index(
                self.registry,
                self.store,
                namespace=self._scope,
                proofs=Proofs(rewrite if repair else None, known, self._assets),
                on_document=on_document,
            )

    def stats(self, *, kb_names: Sequence[str] | None = None) -> RegistryStats:
        """Count what is live."""
        return self.registry.stats(self._scope, kb_names=kb_names)

    def plugins(self) -> PluginListing:
        """List plugins, encoders and collections."""
        return list_plugins(self._kernel)

    def doctor(self) -> tuple[DoctorCheck, ...]:
        """Check settings, storage, encoders and collections; never raises for what it finds."""
        return check_engine(self)

    def close(self) -> None:
        """Release threads, files and connections."""
        with self._lock:
            if self._executor is not None:
                self._executor.shutdown(wait=True)
            if self._store is not None:
                self._store.close()
            if self._registry is not None:
                self._registry.close()
            self._executor = self._store = self._registry = None

    def _ensure_collections(self) -> dict[str, CollectionSchema]:
        schemas = collection_schemas(self._kernel)
        for schema in schemas.values():
            self.store.ensure(schema)
            self.registry.save_index(schema)
        self._schemas.update(schemas)
        return schemas


def _no_document(identifier: str) -> NotFound:
    message = f"no document {excerpt(identifier)!r}"
    return NotFound(message, remedy="`eagle search` shows ids; any of a document works")
