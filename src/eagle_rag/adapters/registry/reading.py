"""Reading documents: listings, one whole document, its bibliography, counts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection, func, or_, select
from sqlalchemy import Table as SqlTable

from eagle_rag.adapters.registry import tables
from eagle_rag.adapters.registry.damage import DAMAGE, decoding
from eagle_rag.adapters.registry.dynamic import AnyColumn, AnyRow, AnySelect
from eagle_rag.adapters.registry.floats import figure_of, table_of
from eagle_rag.adapters.registry.named import OWN, typed_keys
from eagle_rag.adapters.registry.records import RECORD_COLUMNS, record_of
from eagle_rag.adapters.registry.scoping import in_scope, storable
from eagle_rag.adapters.registry.tables import documents, identifiers
from eagle_rag.adapters.registry.texts import join_chunks, unpack_blocks
from eagle_rag.errors import NotFound
from eagle_rag.model.document import (
    Citation,
    Reference,
    Section,
    SectionKind,
)
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentRecord, DocumentView, RegistryStats

__all__ = [
    "document_ids",
    "find_documents",
    "format_page",
    "format_versions",
    "read_stats",
    "references_of",
    "view_document",
]


def find_documents(
    connection: Connection,
    namespace: str,
    *,
    kb_names: Sequence[str] | None,
    identifier: str | None,
) -> tuple[DocumentRecord, ...]:
    """Return the documents in scope, ordered by id.

    Raises:
        RegistryError: The record of one of them cannot be read.
    """
    ids = document_ids(connection, namespace, kb_names=kb_names, identifier=identifier)
    rows = in_scope(select(*RECORD_COLUMNS), namespace, kb_names).order_by(documents.c.document_id)
    if identifier is not None:
        rows = rows.where(documents.c.document_id.in_(ids))
    try:
        return tuple(map(record_of, connection.execute(rows)))
    except DAMAGE:
        return tuple(_record(connection, document_id) for document_id in ids)


def _record(connection: Connection, document_id: str) -> DocumentRecord:
    rows = select(*RECORD_COLUMNS).where(documents.c.document_id == document_id)
    with decoding(document_id, "front matter"):
        return record_of(connection.execute(rows).one())


def format_page(
    connection: Connection,
    namespace: str,
    *,
    source_format: str,
    kb_names: Sequence[str] | None,
    after: str,
    limit: int,
) -> tuple[DocumentRecord, ...]:
    """Return the next documents of a format after this id."""
    columns = documents.c
    rows = in_scope(select(*RECORD_COLUMNS), namespace, kb_names)
    page = rows.where(columns.format == source_format, columns.document_id > after)
    ordered = page.order_by(columns.document_id).limit(limit)
    found = []
    for row in connection.execute(ordered):
        with decoding(row.document_id, "front matter"):
            found.append(record_of(row))
    return tuple(found)


def format_versions(
    connection: Connection,
    namespace: str,
    *,
    source_format: str,
    kb_names: Sequence[str] | None,
) -> dict[str, int]:
    """Return the live version of every document of a format."""
    columns = documents.c
    rows = in_scope(select(columns.document_id, columns.version), namespace, kb_names)
    found = connection.execute(rows.where(columns.format == source_format))
    return {document_id: int(version) for document_id, version in found}


def document_ids(
    connection: Connection,
    namespace: str,
    *,
    kb_names: Sequence[str] | None,
    identifier: str | None,
) -> tuple[str, ...]:
    """Return the ids of the documents in scope, sorted; they can be read of damaged ones too."""
    if identifier is not None and not storable(identifier):
        return ()
    columns = documents.c
    rows = in_scope(select(columns.document_id), namespace, kb_names).order_by(columns.document_id)
    if identifier is not None:
        rows = rows.where(columns.doc.in_(_docs_with(connection, identifier)))
    return tuple(connection.execute(rows).scalars())


def _docs_with(connection: Connection, identifier: str) -> list[int]:
    """Return the documents of any scope with this id, in any spelling."""
    columns = identifiers.c
    same_id = select(documents.c.doc).where(documents.c.document_id == identifier)
    found = set(connection.execute(same_id).scalars())
    keys = set(typed_keys(identifier))
    # One statement for all of them: an exact look-up is mostly the price of its statements.
    rows = select(columns.doc, columns.scheme, columns.value).where(
        columns.value.in_(sorted({value for _, value in keys})), columns.relation == OWN
    )
    found |= {row.doc for row in connection.execute(rows) if (row.scheme, row.value) in keys}
    return sorted(found)


def view_document(
    connection: Connection, namespace: str, document_id: str, *, kb_names: Sequence[str] | None
) -> DocumentView:
    """Return one whole document.

    Raises:
        NotFound: It is absent or out of scope.
    """
    row = None
    if storable(document_id):
        rows = select(documents.c.doc).where(documents.c.document_id == document_id)
        row = connection.execute(in_scope(rows, namespace, kb_names)).first()
    if row is None:
        message = f"no document {document_id!r}"
        raise NotFound(message, remedy="list the documents to see their ids")
    return _view(connection, row.doc, document_id)


def _view(connection: Connection, doc: int, document_id: str) -> DocumentView:
    record = _record(connection, document_id)
    with decoding(document_id, "text"):
        chunks = connection.execute(_of(tables.text_chunks, doc, "ordinal"))
        text = join_chunks(chunk.data for chunk in chunks)
    with decoding(document_id, "list of blocks"):
        packed = select(tables.texts.c.blocks).where(tables.texts.c.doc == doc)
        blocks = unpack_blocks(connection.execute(packed).scalar_one())
    with decoding(document_id, "list of authors"):
        record = _with_affiliations(connection, doc, record)
    with decoding(document_id, "list of sections"):
        sections = _sections(connection, doc)
    with decoding(document_id, "list of passages"):
        passages = _passages(
            connection, doc, document_id=document_id, text=text, sections=sections
        )
    with decoding(document_id, "list of figures"):
        figures = connection.execute(_of(tables.figures, doc, "ordinal"))
        read_figures = tuple(map(figure_of, figures))
    with decoding(document_id, "list of tables"):
        data_tables = connection.execute(_of(tables.data_tables, doc, "ordinal"))
        read_tables = tuple(map(table_of, data_tables))
    citations = _citations(connection.execute(_of(tables.citations, doc, "ordinal", "position")))
    return DocumentView(
        record=record,
        text=text,
        sections=sections,
        passages=passages,
        figures=read_figures,
        tables=read_tables,
        citations=citations,
        blocks=blocks,
    )


def references_of(connection: Connection, document_id: str) -> tuple[Reference, ...]:
    """Return the bibliography of a live document, in order."""
    columns = tables.reference_entries.c
    rows = (
        select(tables.reference_entries)
        .join(documents, documents.c.doc == columns.doc)
        .where(documents.c.document_id == document_id)
        .order_by(columns.ordinal)
    )
    return tuple(
        Reference(row.key, row.label, row.raw, row.title, row.year, row.pmid, row.pmcid, row.doi)
        for row in connection.execute(rows)
    )


def read_stats(
    connection: Connection, namespace: str, *, kb_names: Sequence[str] | None
) -> RegistryStats:
    """Count what is live in scope."""
    c = documents.c
    retracted = or_(c.retracted_by_itself, c.retracted_by_notice)
    counts = select(
        func.count().label("documents"),
        func.count(c.work_id.distinct()).label("works"),
        func.sum(c.passages).label("passages"),
        func.sum(c.characters).label("characters"),
        func.sum(c.reference_entries).label("references"),
        func.sum(c.citations).label("citations"),
        func.sum(c.figures).label("figures"),
        func.sum(c.data_tables).label("tables"),
        func.count().filter(retracted).label("retracted"),
        func.sum(c.truncated).label("truncated"),
    ).select_from(documents)
    row = connection.execute(in_scope(counts, namespace, kb_names)).mappings().one()
    return RegistryStats(
        **{name: int(value or 0) for name, value in row.items()},
        by_kb=_by(connection, c.kb_name, namespace=namespace, kb_names=kb_names),
        by_format=_by(connection, c.format, namespace=namespace, kb_names=kb_names),
    )


def _by(
    connection: Connection,
    column: AnyColumn,
    *,
    namespace: str,
    kb_names: Sequence[str] | None,
) -> tuple[tuple[str, int], ...]:
    rows = select(column, func.count()).select_from(documents).group_by(column).order_by(column)
    found = connection.execute(in_scope(rows, namespace, kb_names))
    return tuple((name, count) for name, count in found)


def _of(table: SqlTable, doc: int, *order: str) -> AnySelect:
    columns = [table.c[name] for name in order]
    return select(table).where(table.c.doc == doc).order_by(*columns)


def _citations(rows: Iterable[AnyRow]) -> tuple[Citation, ...]:
    """Return the markers of rows ordered by marker and place in it."""
    spans: dict[int, tuple[int, int]] = {}
    keys: dict[int, list[str]] = {}
    for row in rows:
        spans[row.ordinal] = (row.start_char, row.end_char)
        keys.setdefault(row.ordinal, [])
        if row.reference_key is not None:
            keys[row.ordinal].append(row.reference_key)
    return tuple(Citation(*span, tuple(keys[ordinal])) for ordinal, span in spans.items())


def _sections(connection: Connection, doc: int) -> tuple[Section, ...]:
    return tuple(
        Section(row.ordinal, tuple(row.path), SectionKind(row.kind), row.start_char, row.end_char)
        for row in connection.execute(_of(tables.sections, doc, "ordinal"))
    )


def _passages(
    connection: Connection,
    doc: int,
    *,
    document_id: str,
    text: str,
    sections: tuple[Section, ...],
) -> tuple[Passage, ...]:
    tags: dict[int, list[tuple[str, str]]] = {}
    tag_rows = _of(tables.passage_tags, doc, "passage", "ordinal")
    for row in connection.execute(tag_rows):
        tags.setdefault(row.passage, []).append((row.name, row.value))
    by_ordinal = {section.ordinal: section for section in sections}
    return tuple(
        Passage(
            id=row.id,
            document_id=document_id,
            ordinal=row.ordinal,
            section=row.section,
            section_path=by_ordinal[row.section].path,
            section_kind=by_ordinal[row.section].kind,
            start=row.start_char,
            end=row.end_char,
            text=text[row.start_char : row.end_char],
            tags=tuple(tags.get(row.ordinal, ())),
        )
        for row in connection.execute(_of(tables.passages, doc, "ordinal"))
    )


def _with_affiliations(connection: Connection, doc: int, record: DocumentRecord) -> DocumentRecord:
    links, names = tables.author_affiliations.c, tables.affiliations.c
    rows = (
        select(links.author, names.name)
        .join(tables.affiliations, (names.doc == links.doc) & (names.ordinal == links.affiliation))
        .where(links.doc == doc)
        .order_by(links.author, links.position)
    )
    found: dict[int, list[str]] = {}
    for row in connection.execute(rows):
        found.setdefault(row.author, []).append(row.name)
    authors = tuple(
        replace(author, affiliations=tuple(found.get(at, ())))
        for at, author in enumerate(record.metadata.authors)
    )
    return replace(record, metadata=replace(record.metadata, authors=authors))
