"""Writing everything that hangs on one committed version of a document."""

from collections.abc import Iterator

from sqlalchemy import Connection, Table

from eagle_rag.adapters.registry import tables
from eagle_rag.adapters.registry.texts import (
    CHUNK_CHARACTERS,
    digest_text,
    pack_blocks,
    split_text,
)
from eagle_rag.model.document import Figure, ParsedDocument, Span
from eagle_rag.model.document import Table as ParsedTable
from eagle_rag.model.metadata import DocumentMetadata, MeshHeading, MeshQualifier
from eagle_rag.model.passage import Passage

__all__ = ["write_contents"]

_Rows = list[dict[str, object]]


def write_contents(
    connection: Connection, doc: int, *, document: ParsedDocument, passages: tuple[Passage, ...]
) -> None:
    """Write a document's text, spans, passages, references and front matter under ``doc``."""
    for table, rows in _all_rows(document, passages):
        if rows:
            connection.execute(table.insert(), [{"doc": doc, **row} for row in rows])


def _all_rows(
    document: ParsedDocument, passages: tuple[Passage, ...]
) -> Iterator[tuple[Table, _Rows]]:
    yield tables.texts, [_text(document)]
    chunks = enumerate(split_text(document.text))
    yield tables.text_chunks, [{"ordinal": at, "data": data} for at, data in chunks]
    yield tables.sections, _sections(document)
    yield tables.passages, [_passage(passage) for passage in passages]
    yield tables.passage_tags, _tags(passages)
    yield tables.reference_entries, _references(document)
    yield tables.citations, _citations(document)
    yield tables.figures, [{"ordinal": at, **_figure(f)} for at, f in enumerate(document.figures)]
    yield (
        tables.data_tables,
        [{"ordinal": at, **_table(t)} for at, t in enumerate(document.tables)],
    )
    yield from _front_rows(document.metadata)


def _front_rows(metadata: DocumentMetadata) -> Iterator[tuple[Table, _Rows]]:
    yield tables.authors, _authors(metadata)
    names = list(dict.fromkeys(name for a in metadata.authors for name in a.affiliations))
    yield tables.affiliations, [{"ordinal": at, "name": name} for at, name in enumerate(names)]
    yield tables.author_affiliations, _author_affiliations(metadata, names)
    yield tables.grants, _grants(metadata)
    yield tables.mesh_headings, _mesh(metadata)
    yield tables.keywords, _numbered("keyword", metadata.keywords)
    yield tables.publication_types, _numbered("name", metadata.publication_types)
    yield tables.related_articles, _related(metadata)


def _numbered(column: str, values: tuple[str, ...]) -> _Rows:
    return [{"ordinal": at, column: value} for at, value in enumerate(values)]


def _text(document: ParsedDocument) -> dict[str, object]:
    return {
        "sha256": digest_text(document.text),
        "chunk_characters": CHUNK_CHARACTERS,
        "blocks": pack_blocks(document.blocks),
    }


def _sections(document: ParsedDocument) -> _Rows:
    return [
        {
            "ordinal": section.ordinal,
            "kind": section.kind.value,
            "path": section.path,
            "start_char": section.start,
            "end_char": section.end,
        }
        for section in document.sections
    ]


def _passage(passage: Passage) -> dict[str, object]:
    return {
        "ordinal": passage.ordinal,
        "id": passage.id,
        "section": passage.section,
        "start_char": passage.start,
        "end_char": passage.end,
        "sha256": digest_text(passage.text),
        "tags": len(passage.tags),
    }


def _tags(passages: tuple[Passage, ...]) -> _Rows:
    return [
        {"passage": passage.ordinal, "ordinal": at, "name": name, "value": value}
        for passage in passages
        for at, (name, value) in enumerate(passage.tags)
    ]


def _references(document: ParsedDocument) -> _Rows:
    return [
        {
            "ordinal": at,
            "key": reference.key,
            "label": reference.label,
            "raw": reference.raw,
            "title": reference.title,
            "year": reference.year,
            "pmid": reference.pmid,
            "pmcid": reference.pmcid,
            "doi": reference.doi,
        }
        for at, reference in enumerate(document.references)
    ]


def _citations(document: ParsedDocument) -> _Rows:
    return [
        {
            "ordinal": at,
            "position": position,
            "start_char": citation.start,
            "end_char": citation.end,
            "reference_key": key,
        }
        for at, citation in enumerate(document.citations)
        for position, key in enumerate(citation.references or (None,))
    ]


def _caption(caption: Span | None) -> dict[str, object]:
    return {
        "caption_start": caption.start if caption else None,
        "caption_end": caption.end if caption else None,
    }


def _figure(figure: Figure) -> dict[str, object]:
    return {
        "key": figure.key,
        "label": figure.label,
        **_caption(figure.caption),
        "graphics": figure.graphics,
    }


def _table(table: ParsedTable) -> dict[str, object]:
    return {
        "key": table.key,
        "label": table.label,
        **_caption(table.caption),
        "no_cells": table.no_cells,
        "rows": table.rows,
        "column_paths": table.column_paths,
        "row_paths": table.row_paths,
        "graphics": table.graphics,
    }


def _authors(metadata: DocumentMetadata) -> _Rows:
    return [
        {
            "ordinal": at,
            "family": author.family,
            "given": author.given,
            "group_name": author.group,
            "orcid": author.orcid,
        }
        for at, author in enumerate(metadata.authors)
    ]


def _author_affiliations(metadata: DocumentMetadata, names: list[str]) -> _Rows:
    ordinals = {name: at for at, name in enumerate(names)}
    return [
        {"author": at, "position": position, "affiliation": ordinals[name]}
        for at, author in enumerate(metadata.authors)
        for position, name in enumerate(author.affiliations)
    ]


def _grants(metadata: DocumentMetadata) -> _Rows:
    return [
        {"ordinal": at, "award": grant.award, "agency": grant.agency, "country": grant.country}
        for at, grant in enumerate(metadata.grants)
    ]


def _mesh(metadata: DocumentMetadata) -> _Rows:
    return [
        _heading(heading, qualifier) | {"ordinal": at, "position": position}
        for at, heading in enumerate(metadata.mesh)
        for position, qualifier in enumerate(heading.qualifiers or (MeshQualifier(""),))
    ]


def _heading(heading: MeshHeading, qualifier: MeshQualifier) -> dict[str, object]:
    return {
        "descriptor": heading.descriptor,
        "descriptor_ui": heading.ui,
        "descriptor_major": heading.major,
        "qualifier": qualifier.name,
        "qualifier_ui": qualifier.ui,
        "qualifier_major": qualifier.major,
    }


def _related(metadata: DocumentMetadata) -> _Rows:
    return [
        {
            "ordinal": at,
            "relation": related.relation,
            "source_type": related.source_type,
            "citation": related.citation,
            "pmid": related.ids.pmid,
            "pmcid": related.ids.pmcid,
            "doi": related.ids.doi,
        }
        for at, related in enumerate(metadata.related)
    ]
