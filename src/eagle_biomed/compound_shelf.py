"""The index of compounds, kept in step with the library."""

import logging
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np

from eagle_biomed.compound_index import CompoundIndex, CompoundRows, empty_rows, merge_rows
from eagle_biomed.compound_store import make_rows, read_rows, write_rows
from eagle_biomed.entity_names import key_of
from eagle_biomed.exact_compounds import COMPOUND_FORMAT
from eagle_rag.model.records import DocumentRecord
from eagle_rag.ports.services import Library

__all__ = ["CompoundShelf"]

_LOG = logging.getLogger(__name__)
_ONE_BY_ONE = 500
"""So many changed documents are read by id; more are read in one pass over all of them."""
_KEPT_AFTER = 100
"""New compounds after which the file is written again; removed ones are taken from it at once."""
_KEPT_SHARE = 100  # or a hundredth of all


class CompoundShelf:
    """An index that follows the live compounds of a library; safe to use from several threads.

    Args:
        library: All live documents.
        cache_dir: Where the index is kept between processes; ``None`` to keep it in memory alone.
    """

    def __init__(self, library: Library, cache_dir: Path | None) -> None:
        self._library = library
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._index: CompoundIndex | None = None
        self._generation = -1
        self._unwritten = 0
        self._names = lru_cache(maxsize=1)(_names_of)

    def index(self, *, anew: bool = False) -> CompoundIndex:
        """Return the index of what is live now.

        Args:
            anew: Compare with the library although nothing says that it changed.
        """
        with self._lock:
            # Asked first: what comes while documents are read is seen by the next search.
            generation = self._library.generation()
            if self._index is None:
                kept = None if self._cache_dir is None else read_rows(self._cache_dir)
                self._index = CompoundIndex(empty_rows() if kept is None else kept)
                anew = True
            if anew or generation != self._generation:
                self._index = self._followed(self._index)
                self._generation = generation
            return self._index

    def _followed(self, index: CompoundIndex) -> CompoundIndex:
        rows = index.rows
        live = self._library.versions_of_format(COMPOUND_FORMAT)
        documents, versions = rows.documents.tolist(), rows.versions.tolist()
        held = {name.decode(): version for name, version in zip(documents, versions, strict=True)}
        changed = {name for name, version in live.items() if held.get(name) != version}
        stays = [
            live.get(name.decode()) == old for name, old in zip(documents, versions, strict=True)
        ]
        kept = np.flatnonzero(np.array(stays, dtype=bool))
        if not changed and len(kept) == len(rows):
            return index
        new, unreadable = make_rows(self._records(changed, len(live)), rows)
        if unreadable:
            _LOG.warning("%d compounds have no structure that can be read again", unreadable)
        merged = merge_rows([(rows, kept), (new, np.arange(len(new)))])
        self._keep(merged, added=len(new), removed=len(rows) - len(kept))
        return CompoundIndex(merged)

    def _records(self, changed: set[str], live: int) -> Iterator[DocumentRecord]:
        if len(changed) <= min(_ONE_BY_ONE, live // 2):
            for name in sorted(changed):
                found = self._library.find(name)
                yield from (each for each in found if each.document_id == name)
            return
        for record in self._library.of_format(COMPOUND_FORMAT):
            if record.document_id in changed:
                yield record

    def _keep(self, rows: CompoundRows, *, added: int, removed: int) -> None:
        self._unwritten += added
        due = max(_KEPT_AFTER, len(rows) // _KEPT_SHARE)
        if self._cache_dir is not None and (removed or self._unwritten >= due):
            write_rows(self._cache_dir, rows)
            self._unwritten = 0

    def named(self, name: str) -> tuple[str, ...]:
        """Return the documents of compounds of this name in any spelling, smallest molecule first.

        Those whose own name it is come before those that have it as a synonym.
        """
        index = self.index()
        rows = self._names(index).get(key_of(name), ())
        return tuple(index.rows.documents[row].decode() for row in rows)


def _names_of(index: CompoundIndex) -> dict[str, tuple[int, ...]]:
    own: dict[str, list[int]] = {}
    others: dict[str, list[int]] = {}
    for row, names in enumerate(index.rows.names.items()):
        first, *rest = names.decode().split("\n")
        own.setdefault(key_of(first), []).append(row)
        for name in rest:
            others.setdefault(key_of(name), []).append(row)
    return {
        key: tuple(dict.fromkeys((*own.get(key, ()), *others.get(key, ()))))
        for key in own.keys() | others.keys()
        if key
    }
