"""Names from a UMLS ``MRCONSO.RRF``, read as a stream.

Columns: "Concept Names and Sources", UMLS Reference Manual, chapter 3 (NLM). A row is a name of a concept;
kept are the English preferred forms (``LAT`` is ``ENG`` and ``ISPREF`` is ``Y``).
"""

import hashlib
import logging
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from eagle_biomed.lexicon_source import LexiconEntry

__all__ = ["Mrconso"]

_LOG: Final = logging.getLogger(__name__)
_CUI, _LANGUAGE, _STATUS, _FORM, _PREFERRED, _STRING = 0, 1, 2, 4, 6, 14
_COLUMNS: Final = 18
_MOST_NAMES: Final = 1000  # a piece of a concept with more is handed on: memory stays bounded
_MOST_LINE_BYTES: Final = 65_536  # the longest row of UMLS 2024 is under 4 kB


class Mrconso:
    """The preferred English names of a file; nothing when the file is absent.

    Args:
        path: ``MRCONSO.RRF``, as its licensee unpacked it.
    """

    name = "mrconso"
    licence = "UMLS Metathesaurus licence (NLM); the file is the licensee's own"

    def __init__(self, path: str) -> None:
        self._path = Path(path).expanduser()

    def digest(self) -> str:
        """Return the SHA-256 of the file; empty when it is absent.

        A process reads a file of unchanged size and time once: it has gigabytes.
        """
        try:
            state = self._path.stat()
            return _digest(self._path, state.st_size, state.st_mtime_ns)
        except OSError as error:
            _LOG.warning("no UMLS names: %s cannot be read: %s", self._path, error)
            return ""

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        """Yield concepts; one whose rows are apart or many comes in several pieces.

        The canonical name is the preferred form of the preferred term (``TS`` is ``P`` and ``STT`` is
        ``PF``), else the first name.
        """
        concept = ""
        best = ""
        names: dict[str, None] = {}
        for cui, name, is_best in self._rows(skipped):
            if cui != concept or len(names) >= _MOST_NAMES:
                if names:
                    yield _entry(concept, best, names)
                concept, best, names = cui, "", {}
            names[name] = None
            best = best or (name if is_best else "")
        if names:
            yield _entry(concept, best, names)

    def _rows(self, skipped: Counter[str]) -> Iterator[tuple[str, str, bool]]:
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            while line := file.readline(_MOST_LINE_BYTES):
                if len(line) == _MOST_LINE_BYTES and not line.endswith(b"\n"):
                    skipped["line too long"] += 1
                    while rest := file.readline(_MOST_LINE_BYTES):
                        if rest.endswith(b"\n"):
                            break
                    continue
                row = _row(line, skipped)
                if row is not None:
                    yield row


@lru_cache(maxsize=8)
def _digest(path: Path, size: int, changed_ns: int) -> str:  # noqa: ARG001 - size and time are the cache's key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _row(line: bytes, skipped: Counter[str]) -> tuple[str, str, bool] | None:
    """Return concept, name and whether it is the best name; ``None`` counts why not."""
    cells = line.rstrip(b"\r\n").split(b"|")
    if len(cells) not in {_COLUMNS, _COLUMNS + 1}:
        skipped["wrong number of columns" if line.strip() else "empty line"] += 1
        return None
    if cells[_LANGUAGE] != b"ENG" or cells[_PREFERRED] != b"Y":
        skipped["not English" if cells[_LANGUAGE] != b"ENG" else "not preferred"] += 1
        return None
    try:
        cui, name = cells[_CUI].decode("ascii"), " ".join(cells[_STRING].decode("utf-8").split())
    except UnicodeDecodeError:
        skipped["not UTF-8"] += 1
        return None
    if not cui or not name:
        skipped["no concept or no name"] += 1
        return None
    return cui, name, cells[_STATUS] == b"P" and cells[_FORM] == b"PF"


def _entry(concept: str, best: str, names: dict[str, None]) -> LexiconEntry:
    name = best or next(iter(names))
    return LexiconEntry(name, tuple(other for other in names if other != name), cui=concept)
