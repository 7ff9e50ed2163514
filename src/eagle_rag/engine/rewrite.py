"""Writing the rows of a live document anew from what the registry holds."""

from collections.abc import Mapping
from dataclasses import replace

from eagle_rag.ingest.chunk import context_of, passage_lexemes
from eagle_rag.ingest.classify import classify_passages
from eagle_rag.ingest.prepare import PrepareConfig, PreparedDocument
from eagle_rag.ingest.rows import CommitConfig, ReadyDocument, document_rows
from eagle_rag.ingest.upsert import upsert_rows
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.records import DocumentView

__all__ = ["lexemes_of", "rewrite_document"]


def lexemes_of(view: DocumentView, prepare: PrepareConfig) -> tuple[str, ...]:
    """Return the search tokens that the rows of a live document must hold."""
    return passage_lexemes(_parsed(view), view.passages, prepare.lexical_context)


def rewrite_document(
    bus: BoundBus,
    view: DocumentView,
    *,
    prepare: PrepareConfig,
    schemas: Mapping[str, CollectionSchema],
) -> None:
    """Classify, embed and write the live passages of a document; rows that are there are replaced."""
    record = view.record
    document = _parsed(view)
    prepared = PreparedDocument(
        document_id=record.document_id,
        work_key=record.work_id,
        document=document,
        passages=view.passages,
        lexemes=passage_lexemes(document, view.passages, prepare.lexical_context),
        contexts=tuple(
            context_of(document, passage, prepare.dense_context) for passage in view.passages
        ),
    )
    ready = ReadyDocument(prepared, classify_passages(bus, document, view.passages))
    config = CommitConfig(prepare.namespace, prepare.kb_name, record.config_digest, schemas)
    rows, _ = document_rows(bus, [ready], config)
    for collection, batch in rows.items():
        numbered = [
            replace(row, row_id=f"{row.passage_id}@{record.version}", version=record.version)
            for row in batch
        ]
        upsert_rows(bus, collection, numbered)


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
