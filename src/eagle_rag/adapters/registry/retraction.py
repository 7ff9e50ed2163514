"""Which articles are retracted because a notice in the same knowledge base says so."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select, update

from eagle_rag.adapters.registry.named import OWN, Holder, Key, Named, Scope, holders, keys_of
from eagle_rag.adapters.registry.tables import documents, identifiers

__all__ = ["RETRACTS", "is_retracted", "refresh_retractions", "retraction_targets"]

RETRACTS = "retraction_of"


def is_retracted(found: Sequence[Holder], named: frozenset[Named]) -> bool:
    """Return whether a notice there already names a new document.

    Args:
        found: Holders of every id the new document has.
        named: What the new document has and names.
    """
    own = keys_of(named, {OWN})
    return any(holder.relation == RETRACTS and holder.key in own for holder in found)


def retraction_targets(connection: Connection, doc: int) -> frozenset[Key]:
    """Return the ids of the articles that a stored document retracts."""
    return keys_of(_named(connection, doc), {RETRACTS})


def refresh_retractions(connection: Connection, scope: Scope, targets: Collection[Key]) -> None:
    """Mark or unmark the articles with these ids, by the notices that are there now."""
    articles = {
        holder.doc for holder in holders(connection, scope, targets) if holder.relation == OWN
    }
    for doc in sorted(articles):
        own = keys_of(_named(connection, doc), {OWN})
        notices = [
            holder
            for holder in holders(connection, scope, own)
            if holder.relation == RETRACTS and holder.doc != doc
        ]
        row = update(documents).where(documents.c.doc == doc)
        connection.execute(row.values(retracted_by_notice=bool(notices)))


def _named(connection: Connection, doc: int) -> set[Named]:
    columns = identifiers.c
    rows = select(columns.relation, columns.scheme, columns.value).where(columns.doc == doc)
    return {(row.relation, row.scheme, row.value) for row in connection.execute(rows)}
