"""Vectors of earlier versions, so that a corrected paper costs what was corrected."""

from collections.abc import Mapping

from eagle_rag.model.filters import AllOf, Compare, OneOf
from eagle_rag.model.passage import FloatArray
from eagle_rag.ops.pictures import row_id
from eagle_rag.ports.stores import CollectionReader

__all__ = ["KnownVectors", "read_known_vectors"]

KnownVectors = Mapping[str, Mapping[tuple[str, str], FloatArray]]


def read_known_vectors(
    store: CollectionReader, collections: tuple[str, ...], versions: Mapping[str, int]
) -> KnownVectors:
    """Return the vectors of live rows: collection -> (document id, passage text) -> vector.

    A vector depends on its text and the collection's vector space alone, and the space is enforced when
    the collection is opened for writing.

    Args:
        store: Where the rows are.
        collections: Which collections.
        versions: Live version by document id; only passages that were encoded whole and without
            context may be asked for, because the row does not tell.
    """
    known: dict[str, dict[tuple[str, str], FloatArray]] = {}
    if not versions:
        return known
    for collection in collections:
        found = known.setdefault(collection, {})
        for document_id, version in sorted(versions.items()):
            where = AllOf(
                (OneOf("document_id", (document_id,)), Compare("version", "eq", version))
            )
            for batch in store.scan(collection, where=where):
                for row in batch:
                    if row.row_id == row_id(row.passage_id, row.version):  # not of a picture
                        found[document_id, row.text] = row.vector
    return known
