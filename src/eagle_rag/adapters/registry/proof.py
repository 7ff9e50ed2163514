"""Proving stored texts against the digests taken when they were committed."""

from sqlalchemy import Connection, select

from eagle_rag.adapters.registry.tables import documents, passages, text_chunks, texts
from eagle_rag.adapters.registry.texts import DamagedText, digest_text, join_chunks

__all__ = ["damaged_passages"]


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
