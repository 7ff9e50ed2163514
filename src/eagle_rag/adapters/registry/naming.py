"""Documents by what they are called or about, and what documents are called."""

from collections.abc import Sequence

from sqlalchemy import Connection, or_, select

from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.named import ABOUT, name_key
from eagle_rag.adapters.registry.scoping import in_scope, storable
from eagle_rag.adapters.registry.tables import documents, identifiers
from eagle_rag.model.records import DocumentNames

__all__ = ["documents_named", "names_of"]


def documents_named(
    connection: Connection,
    namespace: str,
    terms: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
    limit: int,
) -> tuple[str, ...]:
    """Return the documents about one of the terms, then those with one in the title; each by id.

    What a document is about is found by an index. Titles are compared one by one, in either case of their
    letters as the engine knows it, and only while there is room.
    """
    keys = list(dict.fromkeys(filter(None, map(name_key, filter(storable, terms)))))
    if not keys or limit < 1:
        return ()
    columns = documents.c
    about = (
        select(identifiers.c.doc)
        .where(identifiers.c.value.in_(keys), identifiers.c.relation == ABOUT)
        .distinct()
    )
    rows = in_scope(select(columns.document_id), namespace, kb_names)
    ordered = rows.order_by(columns.document_id).limit(limit)
    found = list(connection.execute(ordered.where(columns.doc.in_(about))).scalars())
    if len(found) < limit:
        titled = or_(*(columns.title.icontains(key, autoescape=True) for key in keys))
        found += connection.execute(ordered.where(titled)).scalars()
    return tuple(dict.fromkeys(found))[:limit]


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
