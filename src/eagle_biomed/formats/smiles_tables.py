"""Records of files that hold a structure a line: SMILES lists, CSV and TSV tables, InChI lists."""

import csv
import io
import re
from collections.abc import Iterator

from eagle_biomed.formats.molecules_records import RawRecord
from eagle_biomed.formats.molecules_signs import structure_column, table_delimiter
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source
from eagle_rag.ops.exact import INCHIKEY

__all__ = ["read_inchi_list", "read_smiles_list", "read_table"]

_MAX_LINE_CHARS = 1_000_000
_HEADER = re.compile(r"[\"']?(?:\w+_)?smiles\b", re.IGNORECASE)
# Extended SMILES says more about the structure between bars, before the name.
_EXTENSION = re.compile(r"\|[^|]*\|\s*")
_INCHIKEY = re.compile(INCHIKEY)


def read_smiles_list(stream: io.TextIOBase) -> Iterator[RawRecord]:
    """Yield the lines of a SMILES file: a structure, white space, a name.

    Empty lines, comments (``#``) and a first line that says "smiles" are no records.
    """
    number = 0
    for position, line in enumerate(_short_lines(stream)):
        bare = line.rstrip("\r\n")
        if not bare.strip() or bare.startswith("#"):
            continue
        if position == 0 and _HEADER.match(bare):
            continue
        number += 1
        structure, name = _split(bare)
        yield RawRecord(number, "smiles", structure, name, (), bare, _cut_line(line))


def read_inchi_list(stream: io.TextIOBase) -> Iterator[RawRecord]:
    """Yield the lines of an InChI file: a structure, then maybe its key and a name."""
    number = 0
    for line in _short_lines(stream):
        bare = line.rstrip("\r\n")
        if not bare.strip() or bare.startswith("#"):
            continue
        number += 1
        structure, name = _split(bare)
        words = [word for word in name.split(" ") if not _INCHIKEY.fullmatch(word)]
        yield RawRecord(number, "inchi", structure, " ".join(words), (), bare, _cut_line(line))


def _short_lines(stream: io.TextIOBase) -> Iterator[str]:
    """Yield lines; of one that is too long the first part, and the rest is passed over."""
    while line := stream.readline(_MAX_LINE_CHARS):
        yield line
        while line and not line.endswith("\n"):
            line = stream.readline(_MAX_LINE_CHARS)


def _cut_line(line: str) -> str:
    if len(line) < _MAX_LINE_CHARS:
        return ""
    return f"the line has more than {_MAX_LINE_CHARS} characters"


def _split(line: str) -> tuple[str, str]:
    """Return structure and name; a line that begins with white space has no structure."""
    if line[0].isspace():
        return "", line.strip()
    structure, *rest = line.split(maxsplit=1)
    return structure, _EXTENSION.sub("", rest[0], count=1).strip() if rest else ""


def read_table(stream: io.TextIOBase, source: Source) -> Iterator[RawRecord]:
    """Yield the rows of a table whose header names a column of structures.

    Raises:
        UnreadableDocument: ``no-structure-column``.
    """
    header = _first_line(stream)
    delimiter = table_delimiter(header)
    names = next(csv.reader([header], delimiter=delimiter), []) if delimiter else []
    names = [name.strip() for name in names]
    column = structure_column(names)
    if column is None:
        message = f"the header {header.strip()[:200]!r} names no column of SMILES or InChI"
        remedy = "name the column of structures 'smiles'"
        raise UnreadableDocument(source.uri, "no-structure-column", message, remedy=remedy)
    rows = csv.reader(_table_lines(stream), delimiter=delimiter)
    number = 0
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield RawRecord(number, column[1], "", "", (), "", f"the row is not CSV: {error}")
            continue
        if any(map(str.strip, row)):
            number += 1
            yield _row(number, row, names=names, column=column)


def _first_line(stream: io.TextIOBase) -> str:
    line = "\n"
    while line and not line.strip():
        line = stream.readline(_MAX_LINE_CHARS)
    return line.rstrip("\r\n")


def _table_lines(stream: io.TextIOBase) -> Iterator[str]:
    """Yield lines with their ends; the csv module joins those of a quoted cell."""
    return iter(lambda: stream.readline(_MAX_LINE_CHARS).replace("\0", "\ufffd"), "")


def _row(number: int, row: list[str], *, names: list[str], column: tuple[int, str]) -> RawRecord:
    at, kind = column
    problem = ""
    if len(row) > len(names) and any(map(str.strip, row[len(names) :])):
        problem = f"the row has {len(row)} cells, the header {len(names)}"
    fields = tuple(
        (name, value)
        for position, (name, value) in enumerate(zip(names, row, strict=False))
        if position != at and name and value.strip()
    )
    structure = row[at].strip() if at < len(row) else ""
    raw = "\x1f".join((*names, *row))
    return RawRecord(number, kind, structure, "", fields, raw, problem)
