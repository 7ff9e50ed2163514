"""Pictures by their first bytes, and the names that their rows and files have."""

import re
from hashlib import sha256

__all__ = [
    "ENDINGS",
    "PICTURE_TAG",
    "picture_file",
    "picture_key",
    "picture_type",
    "row_id",
]

ENDINGS: dict[str, str] = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/tiff": ".tif",
    "image/bmp": ".bmp",
    "image/webp": ".webp",
}
"""File ending of each kind of picture that is kept."""

PICTURE_TAG = "picture"
"""Name of the tag that says which pictures hang on a passage; its value is the picture's key."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_BMP_HEADERS = frozenset({12, 16, 40, 52, 56, 64, 108, 124})
_ENDING = re.compile(r"[a-z0-9]{1,8}")


def picture_type(data: bytes) -> str:
    """Return the media type that the first bytes say, or empty when they are of no known picture.

    PNG (RFC 2083), JPEG (ITU T.81), GIF 87a and 89a, TIFF 6.0, BMP (by the size of its second header,
    as two letters alone prove little) and WebP (RFC 9649).
    """
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    is_bmp = data.startswith(b"BM") and int.from_bytes(data[14:18], "little") in _BMP_HEADERS
    return "image/bmp" if is_bmp else ""


def picture_file(key: str, media_type: str) -> str:
    """Return the file name of a picture: a hash of its key, as a key may be any text."""
    kind = media_type.rpartition("/")[2].lower()
    ending = ENDINGS.get(media_type) or (f".{kind}" if _ENDING.fullmatch(kind) else ".bin")
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ending


def row_id(passage_id: str, version: int, picture: str = "") -> str:
    """Return the id of a passage's row, or of the row of a picture that hangs on it."""
    return f"{passage_id}#{picture}@{version}" if picture else f"{passage_id}@{version}"


def picture_key(row: str, passage_id: str, version: int) -> str:
    """Return the key of the picture that a row is of; empty for the row of the passage itself."""
    head, tail = f"{passage_id}#", f"@{version}"
    if row.startswith(head) and row.endswith(tail):
        return row[len(head) : len(row) - len(tail)]
    return ""
