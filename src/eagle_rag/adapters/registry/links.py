"""Which live documents are linked: notices and what they are about, errata, republications."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from eagle_rag.adapters.registry.named import OWN, holders, keys_of
from eagle_rag.adapters.registry.scoping import in_scope
from eagle_rag.adapters.registry.tables import documents, identifiers
from eagle_rag.errors import NotFound

__all__ = ["linked_documents"]

_REVERSE = {
    "retraction_of": "retracted_by",
    "erratum_of": "erratum_in",
    "republished_in": "republished_from",
    "preprint_of": "has_preprint",
    "comment_on": "comment_in",
    "update_of": "update_in",
    "expression_of_concern_for": "expression_of_concern_in",
    "related": "related",
}
_REVERSE |= {other: relation for relation, other in _REVERSE.items()}


def linked_documents(
    connection: Connection, namespace: str, document_id: str, *, kb_names: Sequence[str] | None
) -> tuple[tuple[str, str], ...]:
    """Return ``(relation, document_id)`` of every live document linked with this one.

    The relation is read from this document: ``erratum_in`` when the other says that it is an erratum
    of this one, whether or not this one says so too.

    Raises:
        NotFound: The document is absent or out of scope.
    """
    columns = documents.c
    rows = select(columns.doc, columns.namespace, columns.kb_name)
    found = rows.where(columns.document_id == document_id)
    row = connection.execute(in_scope(found, namespace, kb_names)).first()
    if row is None:
        message = f"no document {document_id!r}"
        raise NotFound(message, remedy="list the documents to see their ids")
    named = connection.execute(
        select(identifiers.c.relation, identifiers.c.scheme, identifiers.c.value).where(
            identifiers.c.doc == row.doc
        )
    )
    held = {(name.relation, name.scheme, name.value) for name in named}
    own = keys_of(held, {OWN})
    relations = {relation for relation, _, _ in held} - {OWN}
    links: set[tuple[str, int]] = set()
    for holder in holders(
        connection, (row.namespace, row.kb_name), keys_of(held, {OWN, *relations})
    ):
        if holder.relation == OWN:
            links |= {
                (relation, holder.doc)
                for relation in relations
                if holder.key in keys_of(held, {relation})
            }
        elif holder.key in own:
            links.add((_REVERSE.get(holder.relation, holder.relation), holder.doc))
    ids = _document_ids(connection, {doc for _, doc in links} - {row.doc})
    return tuple(sorted((relation, ids[doc]) for relation, doc in links if doc in ids))


def _document_ids(connection: Connection, docs: set[int]) -> dict[int, str]:
    rows = select(documents.c.doc, documents.c.document_id)
    found = connection.execute(rows.where(documents.c.doc.in_(sorted(docs))))
    return {row.doc: row.document_id for row in found}
