"""Records of structure files, one after the other: SDF, MOL and MOL2. No chemistry is done here."""

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["MAX_RECORD_CHARS", "RawRecord", "read_mol2", "read_sdf", "text_lines"]

MAX_RECORD_CHARS = 2_000_000
"""Of one record; what is longer is refused, and the file goes on at the next record."""
_MAX_LINE_CHARS = 1_000_000
_CHUNK = 1 << 20
_HEAD_BYTES = 65536
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DATA_HEADER = re.compile(r">.*?<(?P<name>[^\n]*?)>[^>\n]*$")
_MOL2_START = "@<TRIPOS>MOLECULE"


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One record as the file has it.

    Args:
        number: Position in the file, from 1.
        kind: How the structure is written, as ``read_structure`` names it.
        structure: The structure.
        title: The record's own name, or empty.
        fields: Its further fields, in order; names may repeat.
        raw: All of it, for the digest.
        problem: Why it cannot be used, or empty.
    """

    number: int
    kind: str
    structure: str
    title: str
    fields: tuple[tuple[str, str], ...]
    raw: str
    problem: str = ""


def text_lines(source: Source) -> io.TextIOWrapper:
    """Return the characters of a source as a stream of lines; only the bytes are held in memory.

    A byte order mark decides the encoding, else UTF-8 if all of it is, else Windows-1252, in which a
    byte without meaning becomes U+FFFD. Lines end at LF, CRLF or CR, which stay.

    Raises:
        UnreadableDocument: ``empty`` or ``binary``.
    """
    data = source.data
    if not data[:_HEAD_BYTES].strip() and not data.strip():
        message = f"the file holds no text ({len(data)} bytes)"
        raise UnreadableDocument(source.uri, "empty", message, remedy="remove it or fill it")
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if not encoding:
        if b"\0" in data[:_HEAD_BYTES]:
            message = "holds NUL bytes: this is not text"
            raise UnreadableDocument(source.uri, "binary", message, remedy="check the file")
        encoding = "utf-8" if _is_utf8(data) else "cp1252"
    return io.TextIOWrapper(io.BytesIO(data), encoding, errors="replace", newline="")


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _CHUNK):
            decoder.decode(view[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def read_sdf(stream: io.TextIOBase, *, single: bool = False) -> Iterator[RawRecord]:
    """Yield the records of an SDF, or the one of a MOL file.

    Args:
        stream: Its characters.
        single: It is a MOL file: everything is one record.
    """
    lines: list[str] = []
    size = number = 0
    for line in _lines(stream):
        if line.startswith("$$$$") and not single:
            number += 1
            yield _sdf_record(number, lines, size)
            lines, size = [], 0
            continue
        size += len(line) + 1
        if size <= MAX_RECORD_CHARS:
            lines.append(line)
    if any(line.strip() for line in lines):
        yield _sdf_record(number + 1, lines, size)


def _lines(stream: io.TextIOBase) -> Iterator[str]:
    """Yield lines without their ends; a line that has none comes in pieces."""
    while piece := stream.readline(_MAX_LINE_CHARS):
        yield piece.rstrip("\r\n")


def _sdf_record(number: int, lines: list[str], size: int) -> RawRecord:
    end = next((at for at, line in enumerate(lines) if line.startswith("M  END")), len(lines))
    if end == len(lines):
        end = next((at for at, line in enumerate(lines) if line.startswith(">")), end)
    block = lines[: end + 1] if end < len(lines) and lines[end].startswith("M") else lines[:end]
    return RawRecord(
        number=number,
        kind="molblock",
        structure="\n".join(block) + "\n" if any(map(str.strip, block)) else "",
        title=lines[0].strip() if lines else "",
        fields=tuple(_data_fields(lines[len(block) :])),
        raw="\n".join(lines),
        problem=_too_long(size),
    )


def _too_long(size: int) -> str:
    if size <= MAX_RECORD_CHARS:
        return ""
    return f"the record has {size} characters, more than {MAX_RECORD_CHARS}"


def _data_fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and value of the data items: ``> <NAME>``, lines of value, an empty line."""
    name, values = "", list[str]()
    for line in lines:
        header = _DATA_HEADER.match(line) if line.startswith(">") else None
        if header is None and line.strip():
            values.append(line)
            continue
        if name and values:
            yield name, "\n".join(values)
        values = []
        name = header["name"].strip() if header is not None else ""
    if name and values:
        yield name, "\n".join(values)


def read_mol2(stream: io.TextIOBase) -> Iterator[RawRecord]:
    """Yield the molecules of a MOL2 file."""
    lines: list[str] = []
    size = number = 0
    for line in _lines(stream):
        if line.startswith(_MOL2_START):
            if lines:
                number += 1
                yield _mol2_record(number, lines, size)
            lines, size = [line], len(line)
        elif lines and size <= MAX_RECORD_CHARS:
            size += len(line) + 1
            lines.append(line)
    if lines:
        yield _mol2_record(number + 1, lines, size)


def _mol2_record(number: int, lines: list[str], size: int) -> RawRecord:
    title = lines[1].strip() if len(lines) > 1 else ""
    text = "\n".join(lines) + "\n"
    unnamed = title.strip("*") == "" or title.startswith("@")
    return RawRecord(number, "mol2", text, "" if unnamed else title, (), text, _too_long(size))
