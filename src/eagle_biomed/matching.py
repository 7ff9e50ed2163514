"""Find the names of tables of any size in a text.

Every stretch of a text that begins and ends where a name may is looked up by a 64-bit fingerprint in a
sorted array, all stretches of a block at once. An array takes eight bytes a name, is mapped from disk
when it is large, and needs no building: an automaton over ten million names would need gigabytes. What
has a known fingerprint is compared with the name itself, so a wrong hit cannot come of a collision.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eagle_biomed.entity_names import LOOSE, STRICT, NormalText, normalise, same_ties
from eagle_biomed.lexicon_guards import FREE, Guard, guard_allows

__all__ = [
    "MAX_NAME_CHARS",
    "MAX_NAME_PARTS",
    "FirstForms",
    "Form",
    "Hit",
    "Matcher",
    "NameTable",
    "count_parts",
    "fingerprints_of",
]

MAX_NAME_CHARS: Final = 200
"""Characters of a key; longer names do not stand in prose."""
MAX_NAME_PARTS: Final = 16
"""Places inside a name where a shorter one could end; bounds the work for each word of a text."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_SPARE_PARTS: Final = 3  # hyphens a text may have and the name has not
_BLOCK: Final = 1 << 14
_BITMAP_BITS: Final = (16, 26)  # 64 kB to 64 MB

# A polynomial modulo 2^64: the fingerprint of every stretch comes from sums over prefixes. The base is
# the golden ratio times 2^64, the mixers are those of SplitMix64 (Steele, Lea, Flood 2014).
_BASE: Final = 0x9E3779B97F4A7C15
_SPREAD: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX: Final = np.uint64(0x94D049BB133111EB)

Uint64s = NDArray[np.uint64]
Int64s = NDArray[np.int64]


def _powers(base: int) -> Uint64s:
    steps = np.full(_BLOCK + MAX_NAME_CHARS, base, dtype=np.uint64)
    steps[0] = 1
    powers: Uint64s = np.multiply.accumulate(steps)
    return powers


_UP: Final = _powers(_BASE)
_DOWN: Final = _powers(pow(_BASE, -1, 1 << 64))


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an entity.

    Args:
        entity: Canonical name of the entity.
        ties: What may be between the characters of its key.
        loose: Whether a digit or a Greek letter may touch it: ``VEGFR`` in ``VEGFR1``.
        guard: When it is a name although it is also a word.
    """

    entity: str
    ties: bytes
    loose: bool = False
    guard: Guard = FREE


class Hit(NamedTuple):
    """A name found: its entity and where it stands in the source."""

    entity: str
    start: int
    end: int


class NameTable(Protocol):
    """Names by fingerprint."""

    @property
    def fingerprints(self) -> Uint64s:
        """Sorted; may hold one several times."""
        ...

    @property
    def parts(self) -> int:
        """The most parts any of its names has."""
        ...

    def forms(self, fingerprint: int, key: str) -> Sequence[Form]:
        """Return the forms with this key, the preferred first; empty when only the fingerprint is known."""
        ...


class FirstForms:
    """A table in memory; of two entities with one name the one added first keeps it."""

    def __init__(self, forms: Iterable[tuple[NormalText, Form]]) -> None:
        """Build the table from names as they are compared, and their forms."""
        self._forms: dict[str, tuple[Form, ...]] = {}
        self.parts = 0
        for name, form in forms:
            self._forms[name.key] = (*self._forms.get(name.key, ()), form)
            self.parts = max(self.parts, count_parts(name))
        self.fingerprints = np.sort(fingerprints_of(list(self._forms)))

    def forms(self, fingerprint: int, key: str) -> Sequence[Form]:  # noqa: ARG002 - the key is enough here
        """Return the forms of a key, the first added first."""
        return self._forms.get(key, ())


def count_parts(name: NormalText) -> int:
    """Return in how many places after its beginning a name could end, its own end included."""
    return len(name.stops) - name.stops.count(0) - 1


def _prefixes(key: str) -> Uint64s:
    codes = np.frombuffer(key.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    sums = np.zeros(len(codes) + 1, dtype=np.uint64)
    np.cumsum((codes.astype(np.uint64) + np.uint64(1)) * _SPREAD * _UP[: len(codes)], out=sums[1:])
    return sums


def _stretches(prefixes: Uint64s, begins: Int64s, ends: Int64s) -> Uint64s:
    value = (prefixes[ends] - prefixes[begins]) * _DOWN[begins]
    value ^= value >> np.uint64(32)
    value *= _MIX
    value ^= value >> np.uint64(29)
    return value


def fingerprints_of(keys: Sequence[str]) -> Uint64s:
    """Return the fingerprint of each key, shape ``(len(keys),)``; keys of at most ``MAX_NAME_CHARS``."""
    parts = [np.zeros(0, dtype=np.uint64)]
    for batch in _batches(keys):
        ends = np.cumsum([len(key) for key in batch], dtype=np.int64)
        begins = np.concatenate(([0], ends[:-1])).astype(np.int64)
        parts.append(_stretches(_prefixes("".join(batch)), begins, ends))
    return np.concatenate(parts)


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for number, key in enumerate(keys):
        if size + len(key) > _BLOCK:
            yield keys[start:number]
            start, size = number, 0
        size += len(key)
    if start < len(keys):
        yield keys[start:]


class Matcher:
    """Finds the names of tables; earlier tables win."""

    def __init__(self, tables: Sequence[NameTable]) -> None:
        """Prepare a matcher."""
        self._tables = tuple(table for table in tables if len(table.fingerprints))
        names = sum(len(table.fingerprints) for table in self._tables)
        low, high = _BITMAP_BITS
        bits = min(max(low, (8 * names).bit_length()), high)
        self._shift = np.uint64(64 - bits)
        # Most stretches are in no table: one look into a map that fits the cache tells.
        self._known = np.zeros(1 << bits, dtype=np.bool_)
        for table in self._tables:
            for start in range(0, len(table.fingerprints), 1 << 20):
                self._known[table.fingerprints[start : start + (1 << 20)] >> self._shift] = True
        most = max((table.parts for table in self._tables), default=0)
        self._reach = np.arange(most + _SPARE_PARTS, dtype=np.int64)

    def hits(self, text: str) -> tuple[Hit, ...]:
        """Return the names in a text: leftmost, then longest, without overlap, in order."""
        if _LETTER.search(text) is None:
            return ()  # a table of numbers: as slow to fold as prose, and nobody's name
        normal = normalise(text)
        found: list[Hit] = []
        free = 0
        for begin, end, fingerprint in self._candidates(normal):
            if begin < free:
                continue
            form = self._form(text, normal, (begin, end), fingerprint)
            if form is not None:
                found.append(Hit(form.entity, normal.starts[begin], normal.ends[end - 1]))
                free = end
        return tuple(found)

    def _form(
        self, text: str, normal: NormalText, span: tuple[int, int], fingerprint: int
    ) -> Form | None:
        """Return the form that stands there, or ``None``."""
        begin, end = span
        key = normal.key[begin:end]
        strength = min(normal.begins[begin], normal.stops[end])
        start, stop = normal.starts[begin], normal.ends[end - 1]
        for table in self._tables:
            for form in table.forms(fingerprint, key):
                if (
                    strength >= (LOOSE if form.loose else STRICT)
                    and same_ties(key, form.ties, normal.ties[begin:end])
                    and guard_allows(form.guard, text, start, stop)
                ):
                    return form
        return None

    def _candidates(self, normal: NormalText) -> Iterator[tuple[int, int, int]]:
        """Yield stretches with a known fingerprint: by begin, the longest first."""
        begins = np.flatnonzero(np.frombuffer(normal.begins, dtype=np.uint8))
        stops = np.flatnonzero(np.frombuffer(normal.stops, dtype=np.uint8))
        for low in range(0, len(normal.key), _BLOCK):
            first, last = np.searchsorted(begins, (low, low + _BLOCK))
            if first < last and self._tables:
                key = normal.key[low : low + _BLOCK + MAX_NAME_CHARS]
                yield from self._in_block(key, low, begins[first:last], stops)

    def _in_block(
        self, key: str, low: int, begins: Int64s, stops: Int64s
    ) -> Iterator[tuple[int, int, int]]:
        places = np.searchsorted(stops, begins, side="right")[:, None] + self._reach
        inside = places < len(stops)
        ends = stops[np.where(inside, places, 0)] - low
        starts = np.broadcast_to((begins - low)[:, None], ends.shape)
        inside &= (ends - starts <= MAX_NAME_CHARS) & (ends > starts)
        starts, ends = starts[inside], ends[inside]
        values = _stretches(_prefixes(key), starts, ends)
        maybe = np.flatnonzero(self._known[values >> self._shift])
        maybe = maybe[self._is_known(values[maybe])]
        order = maybe[np.lexsort((-ends[maybe], starts[maybe]))]
        yield from zip(
            (starts[order] + low).tolist(),
            (ends[order] + low).tolist(),
            values[order].tolist(),
            strict=True,
        )

    def _is_known(self, values: Uint64s) -> NDArray[np.bool_]:
        known = np.zeros(len(values), dtype=np.bool_)
        for table in self._tables:
            at = np.searchsorted(table.fingerprints, values)
            inside = at < len(table.fingerprints)
            known[inside] |= table.fingerprints[at[inside]] == values[inside]
        return known
