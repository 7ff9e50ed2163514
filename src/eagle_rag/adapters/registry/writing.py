"""How a document comes, changes and goes. Every function runs inside one write transaction."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, Table, and_, delete, func, or_, select, update

from eagle_rag.adapters.registry.contents import write_contents
from eagle_rag.adapters.registry.dynamic import AnyCondition, AnyRow
from eagle_rag.adapters.registry.named import (
    OWN,
    Key,
    Scope,
    holders,
    keys_of,
    named_identifiers,
    subject_names,
    write_identifiers,
)
from eagle_rag.adapters.registry.records import document_values
from eagle_rag.adapters.registry.retraction import (
    RETRACTS,
    is_retracted,
    refresh_retractions,
    retraction_targets,
)
from eagle_rag.adapters.registry.tables import (
    document_tags,
    documents,
    kb_collections,
    knowledge_bases,
    sources,
    versions,
)
from eagle_rag.adapters.registry.works import SAME_WORK, join_works, joined_works, leave_work
from eagle_rag.errors import NotFound, RegistryError
from eagle_rag.model.records import NewVersion, PendingVersion

__all__ = [
    "begin_version",
    "clear_pending",
    "commit_version",
    "delete_document",
    "now",
    "pending_versions",
    "put",
]

_WRITING, _LIVE, _CLEARING, _CLEARED = "writing", "live", "clearing", "cleared"
# Of a version begun before registries kept the namespace: its rows may be in any store.
_ANY_NAMESPACE = ""


def now() -> str:
    """Return the time, UTC, in ISO 8601 to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def put(
    connection: Connection, table: Table, *, key: dict[str, object], values: dict[str, object]
) -> None:
    """Change the row with this key, or add it."""
    same = and_(*(table.c[name] == value for name, value in key.items()))
    if connection.execute(update(table).where(same).values(values)).rowcount == 0:
        connection.execute(table.insert().values(**key, **values))


def begin_version(
    connection: Connection, document_id: str, collections: Sequence[str], namespace: str
) -> int:
    """Reserve the number after the highest ever given to this document."""
    highest = select(func.max(versions.c.version)).where(versions.c.document_id == document_id)
    version: int = (connection.execute(highest).scalar() or 0) + 1
    row = versions.insert().values(
        document_id=document_id,
        version=version,
        namespace=namespace,
        state=_WRITING,
        collections=sorted(set(collections)),
        begun_at=now(),
        ended_at="",
    )
    connection.execute(row)
    return version


def commit_version(connection: Connection, version: int, new: NewVersion) -> None:
    """Make a begun version live in place of the one that was."""
    _check(new)
    scope = (new.namespace, new.kb_name)
    _hold_knowledge_base(connection, scope)
    begun = _begun(connection, version, new)
    targets = _remove_old(connection, scope, new.document_id)
    _end_earlier(connection, new.document_id, version)
    targets |= _write_document(connection, version, new)
    refresh_retractions(connection, scope, targets)
    collections = sorted({*begun, *new.collections})
    _set_state(connection, new.document_id, version, state=_LIVE, collections=collections)
    _count_collections(connection, scope, new.collections, by=1)
    _forget_source(connection, new)


def delete_document(connection: Connection, document_id: str) -> None:
    """Remove a live document; a version of it that is being written can no longer be committed."""
    row = _live_row(connection, document_id)
    if row is None:
        message = f"no document {document_id!r}"
        raise NotFound(message, remedy="list the documents to see their ids")
    scope = (row.namespace, row.kb_name)
    _hold_knowledge_base(connection, scope)
    targets = _remove(connection, row)
    refresh_retractions(connection, scope, targets)
    _end_earlier(connection, document_id, None)
    connection.execute(delete(document_tags).where(document_tags.c.document_id == document_id))
    # Its source is no longer wholly there, so a later ingest of it must read it again.
    connection.execute(delete(sources).where(_source_is(scope, row.source_uri)))


def pending_versions(connection: Connection, namespace: str) -> tuple[PendingVersion, ...]:
    """Return the versions whose rows may still be in the store of this namespace."""
    columns = versions.c
    rows = (
        select(
            columns.document_id,
            columns.version,
            columns.collections,
            columns.state,
            columns.namespace,
        )
        .where(
            columns.state.in_((_WRITING, _CLEARING)),
            columns.namespace.in_((namespace, _ANY_NAMESPACE)),
        )
        .order_by(columns.document_id, columns.version)
    )
    return tuple(
        PendingVersion(
            row.document_id, row.version, tuple(row.collections), row.state, row.namespace
        )
        for row in connection.execute(rows)
    )


def clear_pending(connection: Connection, document_id: str, version: int) -> None:
    """Forget a pending version; a live one is left as it is."""
    row = update(versions).where(
        versions.c.document_id == document_id,
        versions.c.version == version,
        versions.c.state.in_((_WRITING, _CLEARING)),
    )
    connection.execute(row.values(state=_CLEARED, ended_at=now()))


def _check(new: NewVersion) -> None:
    text = new.document.text
    known = {section.ordinal for section in new.document.sections}
    for passage in new.passages:
        where = f"passage {passage.id!r} of document {new.document_id!r}"
        if passage.document_id != new.document_id:
            message = f"{where} says it belongs to {passage.document_id!r}"
            raise RegistryError(message)
        if text[passage.start : passage.end] != passage.text:
            message = f"{where} is not the text at {passage.start}:{passage.end}"
            raise RegistryError(message, remedy="cut passages from the document's own text")
        if passage.section not in known:
            message = f"{where} stands in section {passage.section}, which the document lacks"
            raise RegistryError(message)


def _hold_knowledge_base(connection: Connection, scope: Scope) -> None:
    """Create the knowledge base if need be, and keep other writers out of it until the commit.

    SQLite has one writer anyway and ignores ``FOR UPDATE``; on PostgreSQL two documents of one work
    must not be joined at the same time.
    """
    row = select(knowledge_bases.c.name).where(
        knowledge_bases.c.namespace == scope[0], knowledge_bases.c.name == scope[1]
    )
    if connection.execute(row.with_for_update()).first() is None:
        connection.execute(
            knowledge_bases.insert().values(namespace=scope[0], name=scope[1], created_at=now())
        )


def _begun(connection: Connection, version: int, new: NewVersion) -> list[str]:
    """Return the collections of a version being written."""
    document_id = new.document_id
    row = connection.execute(
        select(versions.c.state, versions.c.collections, versions.c.namespace)
        .where(versions.c.document_id == document_id, versions.c.version == version)
        .with_for_update()
    ).first()
    if row is None or row.state != _WRITING:
        state = "was never begun" if row is None else f"is already {row.state}"
        message = f"version {version} of document {document_id!r} {state}"
        remedy = "the document was deleted or replaced meanwhile; begin a new version"
        raise RegistryError(message, remedy=remedy)
    if row.namespace not in {new.namespace, _ANY_NAMESPACE}:
        message = (
            f"version {version} of document {document_id!r} was begun in namespace"
            f" {row.namespace!r}, not in {new.namespace!r}"
        )
        raise RegistryError(message, remedy="begin and commit a version in one namespace")
    begun: list[str] = row.collections
    return begun


def _live_row(connection: Connection, document_id: str) -> AnyRow | None:
    columns = documents.c
    row = select(
        columns.doc,
        columns.document_id,
        columns.version,
        columns.namespace,
        columns.kb_name,
        columns.work_id,
        columns.source_uri,
        columns.collections,
    ).where(columns.document_id == document_id)
    return connection.execute(row).first()


def _remove_old(connection: Connection, scope: Scope, document_id: str) -> frozenset[Key]:
    row = _live_row(connection, document_id)
    if row is None:
        return frozenset()
    if (row.namespace, row.kb_name) != scope:
        message = f"document {document_id!r} belongs to another knowledge base"
        raise RegistryError(message, remedy="derive document ids from the knowledge base too")
    return _remove(connection, row)


def _remove(connection: Connection, row: AnyRow) -> frozenset[Key]:
    """Remove a live document with everything that hangs on it; return whom it retracted."""
    scope = (row.namespace, row.kb_name)
    targets = retraction_targets(connection, row.doc)
    connection.execute(delete(documents).where(documents.c.doc == row.doc))
    leave_work(connection, scope, row.work_id)
    _count_collections(connection, scope, row.collections, by=-1)
    _set_state(connection, row.document_id, row.version, state=_CLEARING)
    return targets


def _write_document(connection: Connection, version: int, new: NewVersion) -> frozenset[Key]:
    """Write the document and everything that hangs on it; return whom it retracts."""
    scope = (new.namespace, new.kb_name)
    named = named_identifiers(new.document)
    found = holders(connection, scope, keys_of(named, {OWN, *SAME_WORK}))
    values = document_values(version, new) | {
        "work_id": join_works(connection, scope, joined_works(found, named), new.work_key),
        "retracted_by_notice": is_retracted(found, named),
        "ingested_at": now(),
    }
    key = connection.execute(documents.insert().values(values)).inserted_primary_key
    doc = int(key[0]) if key is not None else 0
    write_identifiers(connection, doc, named | subject_names(new.passages))
    write_contents(connection, doc, document=new.document, passages=new.passages)
    return keys_of(named, {RETRACTS})


def _set_state(
    connection: Connection,
    document_id: str,
    version: int,
    *,
    state: str,
    collections: Sequence[str] | None = None,
) -> None:
    values: dict[str, object] = {"state": state, "ended_at": "" if state == _LIVE else now()}
    if collections is not None:
        values["collections"] = collections
    row = update(versions).where(
        versions.c.document_id == document_id, versions.c.version == version
    )
    connection.execute(row.values(values))


def _end_earlier(connection: Connection, document_id: str, version: int | None) -> None:
    """Let no earlier begun version (``None``: no begun version at all) be committed any more."""
    rows = update(versions).where(
        versions.c.document_id == document_id, versions.c.state == _WRITING
    )
    if version is not None:
        rows = rows.where(versions.c.version < version)
    connection.execute(rows.values(state=_CLEARING, ended_at=now()))


def _count_collections(
    connection: Connection, scope: Scope, collections: Sequence[str], *, by: int
) -> None:
    columns = kb_collections.c
    for collection in sorted(set(collections)):
        same = and_(
            columns.namespace == scope[0],
            columns.kb_name == scope[1],
            columns.collection == collection,
        )
        changed = update(kb_collections).where(same).values(documents=columns.documents + by)
        if connection.execute(changed).rowcount == 0:
            connection.execute(
                kb_collections.insert().values(
                    namespace=scope[0], kb_name=scope[1], collection=collection, documents=by
                )
            )


def _source_is(scope: Scope, source_uri: str) -> AnyCondition:
    return and_(
        sources.c.namespace == scope[0],
        sources.c.kb_name == scope[1],
        sources.c.source_uri == source_uri,
    )


def _forget_source(connection: Connection, new: NewVersion) -> None:
    """Forget that the source was read when it has changed since.

    It is half read now; were it to change back before it is read to its end, the old note would
    call it unchanged.
    """
    other = or_(
        sources.c.source_digest != new.source_digest, sources.c.config_digest != new.config_digest
    )
    is_source = _source_is((new.namespace, new.kb_name), new.document.source_uri)
    connection.execute(delete(sources).where(is_source, other))
