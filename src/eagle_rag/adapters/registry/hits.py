"""Reading passages by id, with what a hit shows: the hot path of every search.

A fixed number of queries, however many ids up to ``chunked.MAX_VALUES``: passages with their
sections, documents, other versions of the works, the pieces of text the passages stand in; and, only
when there are any, tags, figures and tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select
from sqlalchemy import Table as SqlTable

from eagle_rag.adapters.registry import tables
from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.damage import DAMAGE, decoding
from eagle_rag.adapters.registry.dynamic import AnyColumn, AnyCondition, AnyRow
from eagle_rag.adapters.registry.floats import figure_of
from eagle_rag.adapters.registry.records import RECORD_COLUMNS, record_of
from eagle_rag.adapters.registry.scoping import in_scope, storable
from eagle_rag.adapters.registry.tables import (
    documents,
    passage_tags,
    passages,
    sections,
    text_chunks,
)
from eagle_rag.adapters.registry.texts import CHUNK_CHARACTERS, cut_text, unpack_chunk
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentRecord, PassageRecord

__all__ = ["read_passages"]


_Tags = dict[tuple[int, int], list[tuple[str, str]]]
_Floats = dict[int, list[AnyRow]]


def _any_of(column: AnyColumn, name: str) -> AnyCondition:
    """Return ``column IN (...)``, its values given when the statement is run.

    Statements made once cost a search much less than statements made anew around 50 values.
    """
    return column.in_(bindparam(name, expanding=True))


_PASSAGES = (
    select(
        passages.c.doc,
        passages.c.ordinal,
        passages.c.id,
        passages.c.section,
        passages.c.start_char,
        passages.c.end_char,
        passages.c.tags,
        sections.c.kind,
        sections.c.path,
    )
    .join(
        sections, (sections.c.doc == passages.c.doc) & (sections.c.ordinal == passages.c.section)
    )
    .where(_any_of(passages.c.id, "ids"))
)

# Not joined to the passages: SQLite would start from all documents of the namespace.
_DOCUMENTS = select(documents.c.doc, *RECORD_COLUMNS).where(_any_of(documents.c.doc, "docs"))

_MEMBERS = (
    select(documents.c.work_id, documents.c.document_id)
    .where(_any_of(documents.c.work_id, "works"))
    .order_by(documents.c.document_id)
)

# Joined to the passages, not asked by a list of (doc, ordinal): SQLite would scan the table for that.
_CHUNKS = (
    select(text_chunks)
    .join(
        passages,
        (text_chunks.c.doc == passages.c.doc)
        & (text_chunks.c.ordinal >= passages.c.start_char // CHUNK_CHARACTERS)
        & (text_chunks.c.ordinal <= (passages.c.end_char - 1) // CHUNK_CHARACTERS),
    )
    .where(_any_of(passages.c.id, "ids"))
)

# Joined for the same reason: a long document has a hundred times the tags of the few passages asked for.
_TAGS = (
    select(passage_tags)
    .join(
        passages,
        (passage_tags.c.doc == passages.c.doc) & (passage_tags.c.passage == passages.c.ordinal),
    )
    .where(_any_of(passages.c.id, "ids"))
    .order_by(passage_tags.c.doc, passage_tags.c.passage, passage_tags.c.ordinal)
)


@dataclass(frozen=True, slots=True)
class _Found:
    """What the queries brought, by ``doc``."""

    records: dict[int, DocumentRecord]
    versions: dict[int, tuple[str, ...]]
    chunks: dict[int, dict[int, str]]
    tags: _Tags
    figures: _Floats
    data_tables: _Floats


def read_passages(
    connection: Connection,
    namespace: str,
    passage_ids: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
) -> tuple[PassageRecord, ...]:
    """Return the live passages in scope, in the order asked for.

    Raises:
        RegistryError: One of them, or its document, is damaged; it names the document.
    """
    found: dict[str, PassageRecord] = {}
    for ids in chunked(list(dict.fromkeys(filter(storable, passage_ids)))):
        try:
            found |= _read(connection, namespace, ids, kb_names=kb_names)
        except DAMAGE:
            for passage_id in ids:
                with decoding(_document_of(connection, passage_id), "record"):
                    found |= _read(connection, namespace, [passage_id], kb_names=kb_names)
    return tuple(found[passage_id] for passage_id in passage_ids if passage_id in found)


def _document_of(connection: Connection, passage_id: str) -> str:
    columns = documents.c
    rows = select(columns.document_id).join(passages, passages.c.doc == columns.doc)
    return connection.execute(rows.where(passages.c.id == passage_id)).scalar() or ""


def _read(
    connection: Connection,
    namespace: str,
    ids: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
) -> dict[str, PassageRecord]:
    rows = connection.execute(_PASSAGES, {"ids": ids}).all()
    docs = sorted({row.doc for row in rows})
    visible = connection.execute(in_scope(_DOCUMENTS, namespace, kb_names), {"docs": docs}).all()
    seen = {row.doc for row in visible}
    shown = [row for row in rows if row.doc in seen]
    if not shown:
        return {}
    brought = _bring(connection, shown, visible)
    return {row.id: _record(row, brought) for row in shown}


def _bring(
    connection: Connection, rows: Sequence[AnyRow], document_rows: Sequence[AnyRow]
) -> _Found:
    captioned = sorted({row.doc for row in rows if row.kind == SectionKind.CAPTION.value})
    return _Found(
        records={row.doc: record_of(row) for row in document_rows},
        versions=_versions(connection, document_rows),
        chunks=_chunks(connection, rows),
        tags=_tags(connection, rows),
        figures=_captioned(connection, tables.figures, captioned),
        data_tables=_captioned(connection, tables.data_tables, captioned),
    )


def _record(row: AnyRow, found: _Found) -> PassageRecord:
    document = found.records[row.doc]
    is_caption = row.kind == SectionKind.CAPTION.value
    figures = _of_caption(row, found.figures) if is_caption else []
    data_tables = _of_caption(row, found.data_tables) if is_caption else []
    return PassageRecord(
        passage=Passage(
            id=row.id,
            document_id=document.document_id,
            ordinal=row.ordinal,
            section=row.section,
            section_path=tuple(row.path),
            section_kind=SectionKind(row.kind),
            start=row.start_char,
            end=row.end_char,
            text=cut_text(found.chunks[row.doc], row.start_char, row.end_char),
            tags=tuple(found.tags.get((row.doc, row.ordinal), ())),
        ),
        version=document.version,
        document=document,
        figures=tuple(figure_of(figure) for figure in figures),
        tables=tuple((table.key, table.label) for table in data_tables),
        versions=found.versions[row.doc],
    )


def _versions(
    connection: Connection, document_rows: Sequence[AnyRow]
) -> dict[int, tuple[str, ...]]:
    """Return for each document the others of its work; a work never leaves its knowledge base."""
    works = sorted({row.work_id for row in document_rows})
    by_work: dict[str, list[str]] = {}
    for row in connection.execute(_MEMBERS, {"works": works}):
        by_work.setdefault(row.work_id, []).append(row.document_id)
    return {
        row.doc: tuple(other for other in by_work[row.work_id] if other != row.document_id)
        for row in document_rows
    }


def _chunks(connection: Connection, rows: Sequence[AnyRow]) -> dict[int, dict[int, str]]:
    chunks: dict[int, dict[int, str]] = {row.doc: {} for row in rows}
    for doc, ordinal, data in connection.execute(_CHUNKS, {"ids": [row.id for row in rows]}):
        if ordinal not in chunks[doc]:
            chunks[doc][ordinal] = unpack_chunk(data)
    return chunks


def _tags(connection: Connection, rows: Sequence[AnyRow]) -> _Tags:
    tags: _Tags = {}
    tagged = [row.id for row in rows if row.tags]
    if tagged:
        for row in connection.execute(_TAGS, {"ids": tagged}):
            tags.setdefault((row.doc, row.passage), []).append((row.name, row.value))
    return tags


def _captioned(connection: Connection, table: SqlTable, docs: Sequence[int]) -> _Floats:
    columns = [table.c[name] for name in ("doc", "key", "label", "caption_start", "caption_end")]
    floats: _Floats = {}
    if docs:
        rows = select(*columns, table.c.graphics).where(table.c.doc.in_(docs))
        for row in connection.execute(rows.order_by(table.c.doc, table.c.ordinal)):
            floats.setdefault(row.doc, []).append(row)
    return floats


def _of_caption(row: AnyRow, floats: _Floats) -> list[AnyRow]:
    """Return the figures or tables whose caption the passage stands in.

    Overlap, not containment: a passage may begin with the label, before the caption proper, and
    caption sections hold one caption each.
    """
    return [
        item
        for item in floats.get(row.doc, ())
        if item.caption_start is not None
        and item.caption_start < row.end_char
        and item.caption_end > row.start_char
    ]
