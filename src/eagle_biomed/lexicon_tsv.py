"""A user's own lexicon: a table with tabs."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from eagle_biomed.lexicon_source import LexiconEntry
from eagle_biomed.ontology_file import KINDS
from eagle_rag.errors import ConfigurationError, InvalidInput

__all__ = ["TsvLexicon"]

_COLUMNS: Final = ("name", "type", "aliases", "cui")
_MOST_ERRORS: Final = 20
_FIX: Final = "the columns are name, type, aliases (separated by |) and cui; see docs/ontology.md"


class TsvLexicon:
    """Names from a UTF-8 table with the header ``name``, and any of ``type``, ``aliases``, ``cui``.

    Args:
        path: The table.

    Raises:
        ConfigurationError: The file cannot be read.
    """

    licence = "as its owner says"

    def __init__(self, path: str) -> None:
        self._path = Path(path).expanduser()
        self.name = f"tsv-{''.join(c if c.isalnum() else '-' for c in self._path.stem)}"
        try:
            self._data = self._path.read_bytes()
        except OSError as error:
            message = f"the lexicon {path!r} cannot be read: {error}"
            raise ConfigurationError(message, remedy="correct `tsv` in `lexica`") from error

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        return hashlib.sha256(self._data).hexdigest()

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        """Yield one entity a line; empty lines and lines that begin with ``#`` are counted and left out.

        Raises:
            InvalidInput: Lines are wrong; the first twenty are listed by number.
        """
        lines = self._lines()
        number, header = next(((n, line) for n, line in lines if line.strip()), (0, ""))
        columns = [column.strip().lower() for column in header.split("\t")]
        unknown = sorted(set(columns) - set(_COLUMNS))
        if "name" not in columns or unknown or len(set(columns)) < len(columns):
            self._fail([f"line {max(number, 1)}: the header is {columns}"])
        found: list[LexiconEntry] = []
        errors: list[str] = []
        for number, line in lines:
            if not line.strip() or line.startswith("#"):
                skipped["empty line or comment"] += 1
                continue
            cells = dict(zip(columns, map(str.strip, line.split("\t")), strict=False))
            wrong = _wrong(cells, line.count("\t") + 1, len(columns))
            if wrong:
                errors.append(f"line {number}: {wrong}")
                continue
            found.append(_entry(cells))
        if errors:
            self._fail(errors)
        yield from found

    def _lines(self) -> Iterator[tuple[int, str]]:
        try:
            text = self._data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self._data.count(b"\n", 0, error.start) + 1
            self._fail([f"line {line}: not UTF-8: {error.reason}"])
        return iter(enumerate(text.splitlines(), start=1))

    def _fail(self, errors: list[str]) -> None:
        listed = "; ".join(errors[:_MOST_ERRORS])
        more = f"; and {len(errors) - _MOST_ERRORS} more" if len(errors) > _MOST_ERRORS else ""
        message = f"{self._path.name}: {listed}{more}"
        raise InvalidInput(message, remedy=_FIX)


def _wrong(cells: dict[str, str], count: int, expected: int) -> str:
    if count > expected:
        return f"{count} columns, the header has {expected}"
    if not cells["name"]:
        return "no name"
    kind = cells.get("type", "")
    if kind and kind not in KINDS:
        return f"type {kind!r} is none of {', '.join(KINDS)}"
    return ""


def _entry(cells: dict[str, str]) -> LexiconEntry:
    aliases = tuple(alias.strip() for alias in cells.get("aliases", "").split("|"))
    return LexiconEntry(
        cells["name"],
        tuple(alias for alias in aliases if alias),
        cui=cells.get("cui", ""),
        kind=cells.get("type", ""),
    )
