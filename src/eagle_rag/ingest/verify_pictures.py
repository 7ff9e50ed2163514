"""Proving the pictures: what the registry says a document has is kept, whole, and nothing else is."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from eagle_rag.errors import EagleError
from eagle_rag.model.records import DocumentView
from eagle_rag.ops.pictures import PICTURE_TAG
from eagle_rag.ports.stores import AssetStore

__all__ = ["PictureProof", "check_pictures", "orphan_pictures"]


@dataclass(frozen=True, slots=True)
class PictureProof:
    """What is right and wrong with the pictures of a live document.

    Args:
        anchors: Passage id by key of each picture it must have.
        rows: Collection and key of each row its pictures must have; ``None`` when that cannot be known.
        problems: Kind, place and message of what is wrong.
    """

    anchors: Mapping[str, str]
    rows: frozenset[tuple[str, str]] | None
    problems: tuple[tuple[str, str, str], ...] = ()


def check_pictures(view: DocumentView, assets: AssetStore | None) -> PictureProof:
    """Compare the pictures that a live document's passages name with those kept."""
    identity, version = view.record.document_id, view.record.version
    anchors = {
        value: passage.id
        for passage in view.passages
        for name, value in passage.tags
        if name == PICTURE_TAG
    }
    if assets is None:
        return PictureProof(anchors, None)
    try:
        kept = {item.key: item for item in assets.list(identity, version)}
    except EagleError as error:
        return PictureProof(anchors, None, (("missing-picture", identity, str(error)),))
    again = "delete the document and ingest it again"
    problems = [
        ("missing-picture", f"{identity}#{key}", f"the picture is not kept any more; {again}")
        for key in sorted(anchors.keys() - kept.keys())
    ]
    for key in sorted(kept):
        where = f"{identity}#{key}"
        if key not in anchors:
            problems.append(("orphan-picture", where, "the document names no such picture"))
        try:
            assets.get(identity, version, key)
        except EagleError as error:
            problems.append(("damaged-picture", where, str(error)))
    rows = frozenset(
        (place.collection, key) for key, item in kept.items() for place in item.places
    )
    return PictureProof(anchors, rows, tuple(problems))


def orphan_pictures(
    assets: AssetStore, live: Mapping[str, int], pending: Collection[str]
) -> list[tuple[str, int]]:
    """Return document and version of kept pictures that belong to no live and no pending version."""
    return [
        (identity, version)
        for identity, version in assets.versions()
        if live.get(identity) != version and identity not in pending
    ]
