"""What the tags of a passage say about where its rows are."""

from eagle_rag.model.passage import Passage

__all__ = ["COLLECTION_TAG", "collections_noted"]

COLLECTION_TAG = "collection"
"""One tag a collection, on passages that are in several."""


def collections_noted(passage: Passage) -> tuple[str, ...]:
    """Return the collections that the tags of a passage name; none when it is in one alone."""
    return tuple(value for name, value in passage.tags if name == COLLECTION_TAG)
