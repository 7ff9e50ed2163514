"""Which documents are one work: the same article as preprint, PubMed record, PMC full text.

Documents are one work when they share a PMID, PMCID or DOI, or when one names the other as its
preprint, published form or update; and through any chain of such pairs.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from sqlalchemy import Connection, select, update

from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.named import OWN, Holder, Key, Named, Scope, keys_of
from eagle_rag.adapters.registry.tables import documents, identifiers

__all__ = ["SAME_WORK", "join_works", "joined_works", "leave_work", "work_id_of"]

SAME_WORK = frozenset({"preprint_of", "has_preprint", "update_of", "update_in"})
"""Relations between versions of one work. An erratum or a republication is a work of its own."""

_Edges = dict[int, tuple[frozenset[Key], frozenset[Key]]]
"""For each document the ids it has, and the ids it names as the same work."""


def work_id_of(scope: Scope, work_keys: Iterable[str]) -> str:
    """Return the id of the work these documents are.

    It follows from the set of documents, not from the order they came in.
    """
    parts = (*scope, min(work_keys))
    # With lengths, so that no two triples share their bytes.
    content = "".join(f"{len(part)}:{part}" for part in parts)
    return f"wrk1_{sha256(content.encode()).hexdigest()[:32]}"


def joined_works(found: Sequence[Holder], named: frozenset[Named]) -> list[str]:
    """Return the ids of the works there already that a new document belongs to.

    Args:
        found: Holders of every id the new document has or names as the same work.
        named: What the new document has and names.
    """
    own = keys_of(named, {OWN})
    return sorted(
        {
            holder.work_id
            for holder in found
            if holder.relation == OWN or (holder.relation in SAME_WORK and holder.key in own)
        }
    )


def join_works(connection: Connection, scope: Scope, works: Sequence[str], work_key: str) -> str:
    """Make one work of these and a new document, and return its id."""
    members = select(documents.c.work_key).where(documents.c.work_id.in_(works))
    keys = [work_key, *(connection.execute(members).scalars() if works else ())]
    work_id = work_id_of(scope, keys)
    moved = [work for work in works if work != work_id]
    if moved:
        rows = update(documents).where(documents.c.work_id.in_(moved))
        connection.execute(rows.values(work_id=work_id))
    return work_id


def leave_work(connection: Connection, scope: Scope, work_id: str) -> None:
    """Work out anew which works remain of one that has lost a document."""
    members = select(documents.c.doc, documents.c.work_key).where(documents.c.work_id == work_id)
    keys: dict[int, str] = {row.doc: row.work_key for row in connection.execute(members)}
    for component in _components(_edges(connection, sorted(keys))):
        new_id = work_id_of(scope, (keys[doc] for doc in component))
        if new_id != work_id:
            rows = update(documents).where(documents.c.doc.in_(component))
            connection.execute(rows.values(work_id=new_id))


def _edges(connection: Connection, docs: Sequence[int]) -> _Edges:
    columns = identifiers.c
    named: dict[int, set[Named]] = {doc: set() for doc in docs}
    for chunk in chunked(docs):
        rows = select(columns.doc, columns.relation, columns.scheme, columns.value)
        for row in connection.execute(rows.where(columns.doc.in_(chunk))):
            named[row.doc].add((row.relation, row.scheme, row.value))
    return {doc: (keys_of(held, {OWN}), keys_of(held, SAME_WORK)) for doc, held in named.items()}


def _components(edges: _Edges) -> list[list[int]]:
    components: list[list[int]] = []
    left = set(edges)
    while left:
        component = [left.pop()]
        for doc in component:
            near = {other for other in left if _same_work(edges, doc, other)}
            component += sorted(near)
            left -= near
        components.append(sorted(component))
    return sorted(components)


def _same_work(edges: _Edges, one: int, other: int) -> bool:
    (own, names), (other_own, other_names) = edges[one], edges[other]
    return bool(own & other_own or names & other_own or own & other_names)
