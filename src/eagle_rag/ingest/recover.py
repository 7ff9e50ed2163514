"""Clearing rows and pictures that no live version owns: after a replacement, a deletion, or a crash."""

from collections.abc import Collection

from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.ports.registry import DocumentWriter
from eagle_rag.ports.stores import AssetStore, CollectionStore

__all__ = ["clear_pending_rows", "delete_version_rows"]


def clear_pending_rows(
    registry: DocumentWriter,
    store: CollectionStore,
    *,
    namespace: str,
    states: Collection[str],
    assets: AssetStore | None = None,
) -> int:
    """Delete rows and pictures of a namespace's pending versions in these states; forget the versions.

    Safe to repeat: a crash in between leaves the version pending.

    Args:
        registry: Where versions are pending.
        store: Where their rows may be: the store of this namespace.
        namespace: Whose versions. Those of others stay: their rows are in other stores.
        assets: Where their pictures may be.
        states: ``clearing`` while an ingest runs, also ``writing`` when nobody can be writing.

    Returns:
        How many versions were cleared.
    """
    existing = set(store.collections())
    cleared = 0
    for pending in registry.pending(namespace):
        if pending.state not in states:
            continue
        found = existing.intersection(pending.collections)
        delete_version_rows(store, found, pending.document_id, version=pending.version)
        if assets is not None:
            assets.delete_version(pending.document_id, pending.version)
        registry.clear_pending(pending.document_id, pending.version)
        cleared += 1
    return cleared


def delete_version_rows(
    store: CollectionStore, collections: Collection[str], document_id: str, *, version: int
) -> None:
    """Delete the rows of one version of a document from these collections."""
    where = AllOf((Compare("document_id", "eq", document_id), Compare("version", "eq", version)))
    for collection in sorted(collections):
        store.delete(collection, where)
