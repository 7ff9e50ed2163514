"""JSON that nobody vouches for: read with limits, and looked into without trusting its shape.

Numbers stay as they are written: ``0.50`` is the text ``0.50``, and a number of a million digits
costs no time.
"""

import hashlib
import json

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source
from eagle_rag.ops.decoding import decode_text
from eagle_rag.ops.markup import fold_space

__all__ = ["items_at", "node_at", "read_json", "record_digest", "string_at", "words_at"]


def read_json(source: Source) -> object:
    """Return what the file holds: dicts, lists, strings and booleans; numbers are strings.

    Raises:
        UnreadableDocument: ``empty``, ``too-large``, ``binary``, ``json-syntax`` or
            ``nested-too-deep``.
    """
    text, _ = decode_text(source)
    try:
        value: object = json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except RecursionError as error:
        raise UnreadableDocument(
            source.uri,
            "nested-too-deep",
            "its values are nested deeper than the stack",
            remedy="no record of this format is nested so deep: check where the file is from",
        ) from error
    except ValueError as error:
        raise UnreadableDocument(
            source.uri,
            "json-syntax",
            f"this is not JSON: {error}",
            remedy="download the file again; a cut-off transfer is the usual cause",
        ) from error
    return value


def record_digest(record: object) -> str:
    """Return ``sha256`` of one record of a file, in a form that does not depend on its spacing."""
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def node_at(node: object, *path: str) -> object:
    """Return the value at a path of keys, or ``None``."""
    for key in path:
        if not isinstance(node, dict):
            return None
        node = node.get(key)
    return node


def string_at(node: object, *path: str) -> str:
    """Return the string at a path as it is written, but for surrogates; empty for anything else."""
    value = node_at(node, *path)
    if isinstance(value, bool):
        return "true" if value else "false"
    # JSON can spell half a surrogate pair, which no text may hold.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def words_at(node: object, *path: str) -> str:
    """Return the string at a path on one line."""
    return fold_space(string_at(node, *path))


def items_at(node: object, *path: str) -> list[object]:
    """Return the list at a path; a single value is a list of one, nothing an empty one."""
    value = node_at(node, *path)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]
