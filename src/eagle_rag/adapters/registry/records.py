"""Rows of ``documents`` to records and back."""

from eagle_rag.adapters.registry.dynamic import AnyRow
from eagle_rag.adapters.registry.front import pack_front, unpack_front
from eagle_rag.adapters.registry.tables import documents
from eagle_rag.model.metadata import DocumentMetadata, Identifiers
from eagle_rag.model.records import DocumentRecord, NewVersion

__all__ = ["RECORD_COLUMNS", "document_values", "record_of"]

RECORD_COLUMNS = tuple(
    column
    for column in documents.c
    if column.name not in {"doc", "collections", "warnings", "work_key", "characters"}
)
"""What ``record_of`` reads, and little else: every JSON column left out is one less to decode."""


def document_values(version: int, new: NewVersion) -> dict[str, object]:
    """Return the values of a document's row that follow from the document alone."""
    document = new.document
    metadata = document.metadata
    return {
        "document_id": new.document_id,
        "version": version,
        "namespace": new.namespace,
        "kb_name": new.kb_name,
        "work_key": new.work_key,
        "source_uri": document.source_uri,
        "member": document.member,
        "digest": document.digest,
        "source_digest": new.source_digest,
        "config_digest": new.config_digest,
        "format": document.format,
        "full_text": document.full_text,
        **_metadata_values(metadata),
        "retracted_by_itself": metadata.retracted
        or any(related.relation == "retracted_by" for related in metadata.related),
        "characters": len(document.text),
        "passages": len(new.passages),
        "reference_entries": len(document.references),
        "citations": len(document.citations),
        "figures": len(document.figures),
        "data_tables": len(document.tables),
        "truncated": new.truncated,
        "collections": sorted(new.collections),
        "edition": document.identity.edition if document.identity else 0,
        "warnings": document.warnings,
        "front": {**pack_front(metadata), "retracted": metadata.retracted},
    }


def _metadata_values(metadata: DocumentMetadata) -> dict[str, object]:
    return {
        "title": metadata.title,
        "journal": metadata.journal,
        "published": metadata.published,
        "year": metadata.year,
        "article_type": metadata.article_type,
        "licence": metadata.licence,
        "language": metadata.language,
        "volume": metadata.volume,
        "issue": metadata.issue,
        "pages": metadata.pages,
        "pmid": metadata.ids.pmid,
        "pmcid": metadata.ids.pmcid,
        "doi": metadata.ids.doi,
    }


def record_of(row: AnyRow) -> DocumentRecord:
    """Return the record of a whole row of ``documents``, without authors' affiliations."""
    single = DocumentMetadata(
        ids=Identifiers(row.pmid, row.pmcid, row.doi),
        title=row.title,
        journal=row.journal,
        published=row.published,
        year=row.year,
        article_type=row.article_type,
        licence=row.licence,
        language=row.language,
        volume=row.volume,
        issue=row.issue,
        pages=row.pages,
        retracted=row.front["retracted"],
    )
    return DocumentRecord(
        document_id=row.document_id,
        work_id=row.work_id,
        version=row.version,
        namespace=row.namespace,
        kb_name=row.kb_name,
        source_uri=row.source_uri,
        member=row.member,
        digest=row.digest,
        source_digest=row.source_digest,
        config_digest=row.config_digest,
        format=row.format,
        full_text=row.full_text,
        metadata=unpack_front(row.front, single),
        retracted=row.retracted_by_itself or row.retracted_by_notice,
        passages=row.passages,
        truncated=row.truncated,
        ingested_at=row.ingested_at,
        edition=row.edition,
    )
