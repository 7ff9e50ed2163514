"""Writing the rows of a live document anew from what the registry holds."""

from collections.abc import Callable, Mapping, Sequence

from eagle_rag.engine.compose import Kernel, collection_schemas, config_digest
from eagle_rag.errors import EagleError, StoreError
from eagle_rag.ingest.chunk import context_of, passage_lexemes
from eagle_rag.ingest.classify import classify_passages
from eagle_rag.ingest.picture_rows import document_picture_rows
from eagle_rag.ingest.prepare import PrepareConfig, PreparedDocument
from eagle_rag.ingest.rows import CommitConfig, ReadyDocument, document_rows, numbered
from eagle_rag.ingest.upsert import upsert_rows
from eagle_rag.ingest.verify import LexemesOf
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import ChunkDecision, StoredPassage, VisualAsset
from eagle_rag.model.records import DocumentView
from eagle_rag.ops.pictures import PICTURE_TAG
from eagle_rag.ports.stores import AssetStore

__all__ = ["known_lexemes", "lexemes_of", "rewrite_document"]


def lexemes_of(view: DocumentView, prepare: PrepareConfig) -> tuple[str, ...]:
    """Return the search tokens that the rows of a live document must hold."""
    return passage_lexemes(_parsed(view), view.passages, prepare.lexical_context)


def known_lexemes(
    settings: Settings, kernel: Kernel, prepare: Callable[[str], PrepareConfig]
) -> LexemesOf:
    """Return what computes the tokens of documents that were ingested under these settings.

    Args:
        settings: The settings in force.
        kernel: Made from them.
        prepare: Gives what shapes the documents of a knowledge base.
    """
    try:
        digest = config_digest(settings, kernel, collection_schemas(kernel))
    except EagleError:
        return lambda _: None  # An encoder is missing: then nobody can tell what shaped them.

    def compute(view: DocumentView) -> tuple[str, ...] | None:
        if view.record.config_digest != digest:
            return None
        return lexemes_of(view, prepare(view.record.kb_name))

    return compute


def rewrite_document(
    bus: BoundBus,
    view: DocumentView,
    *,
    prepare: PrepareConfig,
    schemas: Mapping[str, CollectionSchema],
    assets: AssetStore | None = None,
) -> None:
    """Classify, embed and write the live passages and pictures of a document; rows there are replaced.

    Pictures go where they were, not where a plugin would send them now; a picture that is damaged is
    left out.
    """
    record = view.record
    document = _parsed(view)
    pictures, decisions = _kept_pictures(view, assets)
    prepared = PreparedDocument(
        document_id=record.document_id,
        work_key=record.work_id,
        document=document,
        passages=view.passages,
        lexemes=passage_lexemes(document, view.passages, prepare.lexical_context),
        contexts=tuple(
            context_of(document, passage, prepare.dense_context) for passage in view.passages
        ),
        assets=pictures,
    )
    ready = ReadyDocument(prepared, classify_passages(bus, document, view.passages), decisions)
    config = CommitConfig(prepare.namespace, prepare.kb_name, record.config_digest, schemas)
    rows, _ = document_rows(bus, [ready], config)
    _upsert(bus, rows, record.version)
    # After the passages, so that an encoder of pictures that is gone costs only these.
    _upsert(bus, document_picture_rows(bus, [ready], config).rows, record.version)


def _upsert(bus: BoundBus, rows: Mapping[str, Sequence[StoredPassage]], version: int) -> None:
    for collection, batch in rows.items():
        upsert_rows(bus, collection, [numbered(row, version) for row in batch])


def _kept_pictures(
    view: DocumentView, assets: AssetStore | None
) -> tuple[tuple[VisualAsset, ...], tuple[ChunkDecision, ...]]:
    """Return the pictures of a document that are whole, and where each goes."""
    if assets is None:
        return (), ()
    identity, version = view.record.document_id, view.record.version
    named = {value for each in view.passages for name, value in each.tags if name == PICTURE_TAG}
    pictures: list[VisualAsset] = []
    decisions: list[ChunkDecision] = []
    try:
        kept = [item for item in assets.list(identity, version) if item.key in named]
    except StoreError:
        return (), ()
    for item in kept:
        try:
            data = assets.get(identity, version, item.key)
        except StoreError:
            continue
        decisions += (
            ChunkDecision(len(pictures), place.collection, place.encoder, place.chunk_type)
            for place in item.places
        )
        pictures.append(VisualAsset(item.key, item.media_type, data, item.caption))
    return tuple(pictures), tuple(decisions)


def _parsed(view: DocumentView) -> ParsedDocument:
    record = view.record
    return ParsedDocument(
        source_uri=record.source_uri,
        member=record.member,
        digest=record.digest,
        format=record.format,
        metadata=record.metadata,
        text=view.text,
        sections=view.sections,
        figures=view.figures,
        tables=view.tables,
        citations=view.citations,
        full_text=record.full_text,
    )
