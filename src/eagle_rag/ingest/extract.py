"""Stage 3b: the pictures of a document, within bounds."""

from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParsedDocument, Source
from eagle_rag.model.passage import VisualAsset

__all__ = ["extract_pictures"]


def extract_pictures(
    bus: BoundBus,
    document: ParsedDocument,
    source: Source,
    *,
    most: int,
    most_bytes: int,
) -> tuple[tuple[VisualAsset, ...], tuple[str, ...]]:
    """Return the pictures that plugins bring, and what was left out of them, in words.

    Of several with one key the first stands: a plugin goes before the core.

    Args:
        bus: Hooks.
        document: The document.
        source: Where it came from.
        most: How many are kept.
        most_bytes: How many bytes of all of them together.
    """
    kept: dict[str, VisualAsset] = {}
    warnings: list[str] = []
    left, size = 0, 0
    for asset in bus.ingest_visual_extract(document, source):
        key = _encodable(asset.key)
        if key in kept:
            continue
        if not key or not asset.data:
            warnings.append(f"a picture without {'a key' if asset.data else 'data'} was left out")
            continue
        if len(kept) >= most or size + len(asset.data) > most_bytes:
            left += 1
            continue
        kept[key] = VisualAsset(
            key, _encodable(asset.media_type), asset.data, _encodable(asset.caption)
        )
        size += len(asset.data)
    if left:
        warnings.append(
            f"of more pictures than ingest.max_pictures ({most}) or ingest.max_picture_bytes"
            f" ({most_bytes:,}) allow, {len(kept)} are kept"
        )
    return tuple(kept.values()), tuple(warnings)


def _encodable(text: str) -> str:
    """Return text without lone surrogates, which no store takes."""
    return text.encode("utf-8", "backslashreplace").decode()
