"""Sources, index specs, decisions, document tags, and the cheap questions of every query."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from sqlalchemy import Connection, delete, func, select

from eagle_rag.adapters.registry.chunked import chunked
from eagle_rag.adapters.registry.records import RECORD_COLUMNS, record_of
from eagle_rag.adapters.registry.scoping import kb_condition
from eagle_rag.adapters.registry.tables import (
    audit,
    document_tags,
    documents,
    index_specs,
    kb_collections,
    sources,
    versions,
)
from eagle_rag.adapters.registry.writing import now, put
from eagle_rag.errors import NotFound
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import VectorSpec
from eagle_rag.model.records import AuditEvent, DocumentRecord, LiveState

__all__ = [
    "by_digest",
    "collections_of",
    "collections_used",
    "generation",
    "live_page",
    "live_states",
    "live_versions",
    "namespaces",
    "read_audit",
    "read_document_tags",
    "read_indexes",
    "read_sources",
    "save_audit",
    "save_index",
    "save_source",
    "tag_document",
]


def live_versions(connection: Connection, document_ids: Sequence[str]) -> dict[str, int]:
    """Return the live version of each of these documents."""
    columns = documents.c
    found: dict[str, int] = {}
    for ids in chunked(list(dict.fromkeys(document_ids))):
        rows = select(columns.document_id, columns.version).where(columns.document_id.in_(ids))
        found |= {row.document_id: row.version for row in connection.execute(rows)}
    return found


def live_states(connection: Connection, document_ids: Sequence[str]) -> dict[str, LiveState]:
    """Return version, work, retraction and standing of each of these documents."""
    columns = documents.c
    found: dict[str, LiveState] = {}
    editions: dict[str, int] = {}
    for ids in chunked(list(dict.fromkeys(document_ids))):
        rows = select(
            columns.document_id,
            columns.version,
            columns.work_id,
            columns.retracted_by_itself,
            columns.retracted_by_notice,
            columns.edition,
        ).where(columns.document_id.in_(ids))
        for document_id, version, work_id, by_itself, by_notice, edition in connection.execute(
            rows
        ):
            found[document_id] = LiveState(version, work_id, by_itself or by_notice)
            if edition:
                editions[document_id] = edition
    if editions:
        newest = _newest_editions(connection, {found[each].work_id for each in editions})
        for document_id, edition in editions.items():
            state = found[document_id]
            if edition < newest[state.work_id]:
                found[document_id] = replace(state, superseded=True)
    return found


def _newest_editions(connection: Connection, works: Collection[str]) -> dict[str, int]:
    columns = documents.c
    newest: dict[str, int] = {}
    for some in chunked(sorted(works)):
        rows = select(columns.work_id, func.max(columns.edition)).where(columns.work_id.in_(some))
        found = connection.execute(rows.group_by(columns.work_id))
        newest |= {work_id: int(edition) for work_id, edition in found}
    return newest


def generation(connection: Connection, namespace: str) -> int:
    """Return a number that no two states of a namespace share.

    A version begun is never forgotten, and a deletion leaves fewer documents with as many versions.
    """
    begun = select(func.count()).select_from(versions).where(versions.c.namespace == namespace)
    live = select(func.count()).select_from(documents).where(documents.c.namespace == namespace)
    count = int(connection.execute(begun).scalar_one())
    return (count << 32) | int(connection.execute(live).scalar_one())


def namespaces(connection: Connection) -> dict[str, int]:
    """Return how many live documents each namespace holds, by name."""
    name = documents.c.namespace
    rows = select(name, func.count()).group_by(name).order_by(name)
    return {namespace: int(count) for namespace, count in connection.execute(rows)}


def live_page(connection: Connection, after: str, limit: int) -> list[tuple[str, int, str]]:
    """Return ``(document_id, version, namespace)`` of the next live documents after this id."""
    columns = documents.c
    rows = select(columns.document_id, columns.version, columns.namespace)
    page = rows.where(columns.document_id > after).order_by(columns.document_id).limit(limit)
    return [tuple(row) for row in connection.execute(page)]


def by_digest(
    connection: Connection, namespace: str, kb_name: str, digest: str
) -> DocumentRecord | None:
    """Return the first live document with this record digest."""
    columns = documents.c
    rows = select(*RECORD_COLUMNS).where(
        columns.namespace == namespace, columns.kb_name == kb_name, columns.digest == digest
    )
    row = connection.execute(rows.order_by(columns.document_id).limit(1)).first()
    return None if row is None else record_of(row)


def read_sources(
    connection: Connection, namespace: str, kb_name: str
) -> dict[str, tuple[str, str]]:
    """Return the digests of every source read to its end."""
    columns = sources.c
    rows = select(columns.source_uri, columns.source_digest, columns.config_digest).where(
        columns.namespace == namespace, columns.kb_name == kb_name
    )
    found = connection.execute(rows.order_by(columns.source_uri))
    return {uri: (source_digest, config_digest) for uri, source_digest, config_digest in found}


def save_source(
    connection: Connection, scope: tuple[str, str], source_uri: str, digests: tuple[str, str]
) -> None:
    """Note that a source was read to its end."""
    put(
        connection,
        sources,
        key={"namespace": scope[0], "kb_name": scope[1], "source_uri": source_uri},
        values={"source_digest": digests[0], "config_digest": digests[1], "read_at": now()},
    )


def save_index(connection: Connection, schema: CollectionSchema) -> None:
    """Record a collection's schema and vector space."""
    spec = schema.spec
    put(
        connection,
        index_specs,
        key={"name": schema.name},
        values={
            "encoder": spec.encoder,
            "digest": spec.digest,
            "dim": spec.dim,
            "metric": spec.metric,
            "normalized": spec.normalized,
            "pooling": spec.pooling,
            "query_prefix": spec.query_prefix,
            "document_prefix": spec.document_prefix,
            "hybrid": schema.hybrid,
            "extra_fields": schema.extra_fields,
            "saved_at": now(),
        },
    )


def read_indexes(connection: Connection) -> tuple[CollectionSchema, ...]:
    """Return every recorded collection, by name."""
    rows = connection.execute(select(index_specs).order_by(index_specs.c.name))
    return tuple(
        CollectionSchema(
            name=row.name,
            spec=VectorSpec(
                encoder=row.encoder,
                digest=row.digest,
                dim=row.dim,
                metric=row.metric,
                normalized=row.normalized,
                pooling=row.pooling,
                query_prefix=row.query_prefix,
                document_prefix=row.document_prefix,
            ),
            hybrid=row.hybrid,
            extra_fields=tuple(row.extra_fields),
        )
        for row in rows
    )


def save_audit(connection: Connection, events: Sequence[AuditEvent]) -> None:
    """Keep decisions, in order."""
    at = now()
    rows = [
        {
            "at": at,
            "category": event.category,
            "plugin": event.plugin,
            "subject": event.subject,
            "decision": event.decision,
            "detail": event.detail,
        }
        for event in events
    ]
    if rows:
        connection.execute(audit.insert(), rows)


def read_audit(connection: Connection, limit: int) -> tuple[AuditEvent, ...]:
    """Return the latest decisions, newest first."""
    rows = connection.execute(select(audit).order_by(audit.c.id.desc()).limit(limit))
    return tuple(
        AuditEvent(
            category=row.category,
            plugin=row.plugin,
            subject=row.subject,
            decision=row.decision,
            detail=tuple((name, value) for name, value in row.detail),
        )
        for row in rows
    )


def collections_used(
    connection: Connection, namespace: str, kb_names: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the collections that live documents of these knowledge bases were written to."""
    columns = kb_collections.c
    rows = select(columns.collection).where(columns.namespace == namespace, columns.documents > 0)
    condition = kb_condition(columns.kb_name, kb_names)
    rows = rows if condition is None else rows.where(condition)
    return tuple(connection.execute(rows.distinct().order_by(columns.collection)).scalars())


def collections_of(
    connection: Connection,
    namespace: str,
    document_ids: Sequence[str],
    *,
    kb_names: Sequence[str] | None,
) -> tuple[str, ...]:
    """Return the collections that these live documents of these knowledge bases were written to."""
    columns = documents.c
    condition = kb_condition(columns.kb_name, kb_names)
    found: set[str] = set()
    for ids in chunked(list(dict.fromkeys(document_ids))):
        rows = select(columns.collections).where(
            columns.namespace == namespace, columns.document_id.in_(ids)
        )
        rows = rows if condition is None else rows.where(condition)
        for collections in connection.execute(rows).scalars():
            found.update(cast("list[str]", collections))
    return tuple(sorted(found))


def tag_document(
    connection: Connection, document_id: str, tags: Sequence[tuple[str, str]]
) -> None:
    """Replace the tags of a live document.

    Raises:
        NotFound: No live document has this id.
    """
    found = select(documents.c.doc).where(documents.c.document_id == document_id)
    if connection.execute(found).first() is None:
        message = f"no document {document_id!r}"
        raise NotFound(message, remedy="list the documents to see their ids")
    connection.execute(delete(document_tags).where(document_tags.c.document_id == document_id))
    rows = [
        {"document_id": document_id, "ordinal": at, "name": name, "value": value}
        for at, (name, value) in enumerate(sorted(set(tags)))
    ]
    if rows:
        connection.execute(document_tags.insert(), rows)


def read_document_tags(connection: Connection, document_id: str) -> tuple[tuple[str, str], ...]:
    """Return the tags of a document, sorted."""
    columns = document_tags.c
    rows = select(columns.name, columns.value).where(columns.document_id == document_id)
    return tuple(
        (name, value) for name, value in connection.execute(rows.order_by(columns.ordinal))
    )
