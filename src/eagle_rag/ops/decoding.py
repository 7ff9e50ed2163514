"""Bytes of text formats to characters: byte order marks, declared and guessed encodings."""

import codecs
import re

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["MAX_TEXT_BYTES", "decode_text"]

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Larger text files are dumps, not documents; a book of 1,000 pages has about 3 MB."""

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python's own notations and those of host names: no document is written in them.
_NO_TEXT = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL_SHARE = 0.01


def decode_text(source: Source, *, declared: str = "") -> tuple[str, tuple[str, ...]]:
    """Return the characters of a source and warnings about how they were read.

    A byte order mark wins, then the declared encoding, then UTF-8; what is none of these is read as
    Windows-1252, which agrees with Latin-1 on every letter. Nothing is normalised.

    Args:
        source: The bytes.
        declared: Encoding the document names for itself, or empty.

    Raises:
        UnreadableDocument: ``empty``, ``too-large``, or ``binary``: NUL bytes or many controls.
    """
    data = source.data
    if not data.strip():
        message = f"the file holds no text ({len(data)} bytes)"
        raise UnreadableDocument(source.uri, "empty", message, remedy="remove it or fill it")
    if len(data) > MAX_TEXT_BYTES:
        raise UnreadableDocument(
            source.uri,
            "too-large",
            f"{len(data)} bytes of text are more than {MAX_TEXT_BYTES}",
            remedy="split the file into documents",
        )
    text, warnings = _decode(data, declared)
    controls = len(_CONTROLS.findall(text))
    if "\0" in text or controls > _MAX_CONTROL_SHARE * len(text):
        raise UnreadableDocument(
            source.uri,
            "binary",
            f"{controls} of {len(text)} characters are control characters: this is not text",
            remedy="convert the file to text, Markdown, HTML or JATS first",
        )
    if not text.strip():
        message = f"the file holds no text ({len(data)} bytes)"
        raise UnreadableDocument(source.uri, "empty", message, remedy="remove it or fill it")
    return text, warnings


def _decode(data: bytes, declared: str) -> tuple[str, tuple[str, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _marked(data, encoding)
    if declared:
        try:
            return data.decode(_known(declared)), ()
        except (LookupError, UnicodeError) as error:
            text, warnings = _guess(data)
            return text, (f"declared encoding {declared!r} does not fit: {error}", *warnings)
    return _guess(data)


def _known(declared: str) -> str:
    """Return the name of an encoding of documents.

    Raises:
        LookupError: It is none.
    """
    name = codecs.lookup(declared).name
    if name.replace("_", "-") in _NO_TEXT:
        message = "no encoding of documents"
        raise LookupError(message)
    return name


def _marked(data: bytes, encoding: str) -> tuple[str, tuple[str, ...]]:
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        text = data.decode(encoding, errors="replace")
        return text, (f"bytes that are not {encoding} were replaced by U+FFFD: {error}",)


def _guess(data: bytes) -> tuple[str, tuple[str, ...]]:
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        where = error.start
    try:
        return data.decode("cp1252"), (f"not UTF-8 (byte {where}): read as Windows-1252",)
    except UnicodeDecodeError:
        return data.decode("latin-1"), (f"not UTF-8 (byte {where}): read as Latin-1",)
