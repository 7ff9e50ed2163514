"""Saying on a passage in which collections it is, when it is in several.

One collection needs no note: a passage of which no row is found is missing. Of a passage in two
collections, the loss of one row would go unnoticed.
"""

from collections.abc import Iterable
from dataclasses import replace

from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.model.passage import ChunkDecision, Passage
from eagle_rag.ops.placement import COLLECTION_TAG

__all__ = ["note_collections"]


def note_collections(
    prepared: PreparedDocument, decisions: Iterable[ChunkDecision]
) -> PreparedDocument:
    """Return the document with a tag for each collection on every passage that is in several."""
    chosen: dict[int, set[str]] = {}
    for decision in decisions:
        chosen.setdefault(decision.target, set()).add(decision.collection)
    several = {ordinal: names for ordinal, names in chosen.items() if len(names) > 1}
    if not several:
        return prepared
    passages = tuple(
        _tagged(passage, several[passage.ordinal]) if passage.ordinal in several else passage
        for passage in prepared.passages
    )
    return replace(prepared, passages=passages)


def _tagged(passage: Passage, collections: set[str]) -> Passage:
    noted = {(COLLECTION_TAG, name) for name in collections}
    return replace(passage, tags=tuple(sorted({*passage.tags, *noted})))
