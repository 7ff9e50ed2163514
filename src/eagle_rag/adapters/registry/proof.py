"""Proving stored texts against the digests taken when they were committed."""

from sqlalchemy import Connection, select

from eagle_rag.adapters.registry.named import OWN, known_keys
from eagle_rag.adapters.registry.tables import documents, identifiers, passages, text_chunks, texts
from eagle_rag.adapters.registry.texts import DamagedText, digest_text, join_chunks
from eagle_rag.model.metadata import Identifiers

__all__ = ["damaged_passages", "missing_identifiers"]


def missing_identifiers(connection: Connection, document_id: str) -> tuple[str, ...]:
    """Return the PMID, PMCID and DOI that a live document has but cannot be found by."""
    columns = documents.c
    row = connection.execute(
        select(columns.doc, columns.pmid, columns.pmcid, columns.doi).where(
            columns.document_id == document_id
        )
    ).first()
    if row is None:
        return ()
    own = select(identifiers.c.scheme, identifiers.c.value).where(
        identifiers.c.doc == row.doc, identifiers.c.relation == OWN
    )
    held = {(scheme, value) for scheme, value in connection.execute(own)}
    known = known_keys(Identifiers(row.pmid, row.pmcid, row.doi))
    return tuple(value for scheme, value in known if (scheme, value) not in held)


def damaged_passages(connection: Connection, document_id: str) -> tuple[str, ...]:
    """Return the passages of a live document that are not what was committed, in order.

    When the text cannot be read at all, these are all of them.
    """
    doc = connection.execute(
        select(documents.c.doc).where(documents.c.document_id == document_id)
    ).scalar()
    stored = connection.execute(
        select(passages).where(passages.c.doc == doc).order_by(passages.c.ordinal)
    ).all()
    text = _text(connection, doc)
    if text is None:
        return tuple(row.id for row in stored)
    return tuple(
        row.id for row in stored if digest_text(text[row.start_char : row.end_char]) != row.sha256
    )


def _text(connection: Connection, doc: int | None) -> str | None:
    """Return the text, or ``None`` when a piece of it is damaged or missing."""
    pieces = select(text_chunks.c.data).where(text_chunks.c.doc == doc)
    data = connection.execute(pieces.order_by(text_chunks.c.ordinal)).scalars()
    digest = connection.execute(select(texts.c.sha256).where(texts.c.doc == doc)).scalar()
    try:
        text = join_chunks(data)
    except DamagedText:
        return None
    return text if digest_text(text) == digest else None
