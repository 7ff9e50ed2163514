"""Documents by what they are called or about, and what documents are called."""

from collections.abc import Sequence

from sqlalchemy import Connection, or_, select

from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.named import ABOUT, name_key
from eagle_rag.adapters.registry.scoping import in_scope, storable
from eagle_rag.adapters.registry.tables import documents, identifiers
from eagle_rag.model.records import DocumentNames

__all__ = ["documents_named", "names_of"]

_TITLES = 20_000
"""Titles that one look-up compares; 100,000 took 0.2 s on two cores."""


def documents_named(
    connection: Connection,
    namespace: str,
    terms: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
    limit: int,
) -> tuple[str, ...]:
    """Return the documents about one of the terms, by id; without any, those with one in the title.

    What a document is about is found by an index. Titles are compared one by one, in either case of their
    letters as the engine knows it, so only of as many documents as a search can wait for.
    """
    keys = list(dict.fromkeys(filter(None, map(name_key, filter(storable, terms)))))
    if not keys or limit < 1:
        return ()
    found = _about(connection, namespace, keys, kb_names=kb_names)
    return tuple((found or _titled(connection, namespace, keys, kb_names=kb_names))[:limit])


def _about(
    connection: Connection, namespace: str, keys: list[str], *, kb_names: Sequence[str] | None
) -> list[str]:
    columns = identifiers.c
    about = select(columns.doc).where(columns.value.in_(keys), columns.relation == ABOUT)
    docs = sorted(set(connection.execute(about).scalars()))
    # Not as a subquery: SQLite would walk through all documents of the scope instead.
    rows = in_scope(select(documents.c.document_id), namespace, kb_names)
    found: list[str] = []
    for some in chunked(docs):
        found += connection.execute(rows.where(documents.c.doc.in_(some))).scalars()
    return sorted(found)


def _titled(
    connection: Connection, namespace: str, keys: list[str], *, kb_names: Sequence[str] | None
) -> list[str]:
    rows = in_scope(select(documents.c.document_id, documents.c.title), namespace, kb_names)
    read = rows.order_by(documents.c.document_id).limit(_TITLES).subquery()
    holds = or_(*(read.c.title.icontains(key, autoescape=True) for key in keys))
    return sorted(connection.execute(select(read.c.document_id).where(holds)).scalars())


def names_of(
    connection: Connection,
    namespace: str,
    document_ids: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
) -> dict[str, DocumentNames]:
    """Return what these live documents are called; those out of scope are missing."""
    columns = documents.c
    rows = in_scope(
        select(columns.document_id, columns.title, columns.source_uri, columns.member),
        namespace,
        kb_names,
    )
    found: dict[str, DocumentNames] = {}
    for some in chunked(list(dict.fromkeys(filter(storable, document_ids)))):
        for row in connection.execute(rows.where(columns.document_id.in_(some))):
            found[row.document_id] = DocumentNames(row.title, row.source_uri, row.member)
    return found
