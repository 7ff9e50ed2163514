"""A document's text as it lies in the database: compressed pieces of equal length in characters.

A passage is cut by decompressing the one or two pieces it stands in, not the whole text. Compressed
bytes also hold what an SQL text column cannot (a NUL character), so the text comes back as it was.
"""

import json
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256

from eagle_rag.model.document import Block, BlockKind

__all__ = [
    "CHUNK_CHARACTERS",
    "DamagedText",
    "cut_text",
    "digest_text",
    "join_chunks",
    "pack_blocks",
    "split_text",
    "unpack_blocks",
    "unpack_chunk",
]

CHUNK_CHARACTERS = 4096
"""Characters in a piece: about four passages. Shorter pieces compress worse, longer ones make a
passage dearer to cut. Changing it needs a migration that splits every text anew."""

_LEVEL = 1
"""zlib's fastest; on pieces this short the higher levels gain little."""


class DamagedText(ValueError):
    """A stored piece of text is missing or cannot be read."""


def split_text(text: str) -> list[bytes]:
    """Return the pieces of a text, in order; none for an empty text."""
    return [
        zlib.compress(text[at : at + CHUNK_CHARACTERS].encode(), _LEVEL)
        for at in range(0, len(text), CHUNK_CHARACTERS)
    ]


def unpack_chunk(data: bytes) -> str:
    """Return the characters of one piece.

    Raises:
        DamagedText: The bytes are not what was stored; zlib keeps a checksum of its own.
    """
    try:
        return zlib.decompress(data).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        message = f"a piece of text cannot be read: {error}"
        raise DamagedText(message) from error


def join_chunks(chunks: Iterable[bytes]) -> str:
    """Return the text of all pieces in order; the reverse of ``split_text``."""
    return "".join(map(unpack_chunk, chunks))


def cut_text(chunks: Mapping[int, str], start: int, end: int) -> str:
    """Return ``text[start:end]`` from those pieces, by ordinal, that the span touches.

    Raises:
        DamagedText: A piece is missing.
    """
    if start == end:
        return ""
    first, last = start // CHUNK_CHARACTERS, (end - 1) // CHUNK_CHARACTERS
    missing = [ordinal for ordinal in range(first, last + 1) if ordinal not in chunks]
    if missing:
        message = f"piece {missing[0]} of a text is missing"
        raise DamagedText(message)
    joined = "".join(chunks[ordinal] for ordinal in range(first, last + 1))
    offset = first * CHUNK_CHARACTERS
    return joined[start - offset : end - offset]


def digest_text(text: str) -> bytes:
    """Return ``sha256`` of the text in UTF-8."""
    return sha256(text.encode()).digest()


def pack_blocks(blocks: Iterable[Block]) -> bytes:
    """Return the blocks of a document as one value."""
    rows = [[block.kind.value, block.start, block.end, block.section] for block in blocks]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), _LEVEL)


def unpack_blocks(data: bytes) -> tuple[Block, ...]:
    """Return what ``pack_blocks`` was given.

    Raises:
        ValueError: The bytes are not what it returned.
    """
    rows = json.loads(unpack_chunk(data))
    return tuple(Block(BlockKind(kind), start, end, section) for kind, start, end, section in rows)
