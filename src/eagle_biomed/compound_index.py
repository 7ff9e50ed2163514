"""Compounds as columns, and exact searches over them: Tanimoto similarity and substructure.

Nothing here reads the library or the disk; an index never changes, so any number of threads may search it.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray
from rdkit.Chem import PatternFingerprint, SubstructMatchParameters
from rdkit.Chem.rdchem import Mol, PropertyPickleOptions
from rdkit.Chem.rdFingerprintGenerator import FingerprintGenerator64, GetMorganGenerator
from rdkit.DataStructs import BitVectToBinaryText

__all__ = [
    "FINGERPRINT_BITS",
    "RECIPE",
    "Blob",
    "CompoundIndex",
    "CompoundRows",
    "Matches",
    "empty_rows",
    "merge_rows",
    "molecule_bytes",
    "morgan_words",
    "pattern_words",
]

FINGERPRINT_BITS = 2048
RECIPE = f"morgan-2-{FINGERPRINT_BITS}/pattern-{FINGERPRINT_BITS}/1"
"""What the fingerprints are made by; a file of another recipe is made anew."""

_WORDS = FINGERPRINT_BITS // 64
_RADIUS = 2
_BLOCK = 8192  # rows at a time: 2 MB of fingerprints stay in the cache of a core
_GUARDED_ATOMS = 16
"""Patterns of more atoms are watched while one molecule is compared: 24 carbons in a row keep a fullerene busy
for minutes, and nothing else ends that. Smaller ones take a second at most, and the watch costs."""
_WATCHED_CHECKS = 1000  # pairs of atoms between two looks at the clock: a millisecond

Words = NDArray[np.uint64]
Rows = NDArray[np.int64]


@cache
def _generator() -> FingerprintGenerator64:
    return GetMorganGenerator(radius=_RADIUS, fpSize=FINGERPRINT_BITS)


class _OutOfTimeError(Exception):
    """Leaves RDKit's search from within."""


def _matching(pattern: Mol, end: float) -> SubstructMatchParameters:
    """Return how a pattern is matched, until a time on the monotonic clock."""
    parameters = SubstructMatchParameters()
    flags = {
        "maxMatches": 1,
        "useChirality": True,
    }  # stereo that the query leaves open matches any
    for name, value in flags.items():
        setattr(parameters, name, value)  # RDKit's stubs give them the type of their class
    if pattern.GetNumAtoms() > _GUARDED_ATOMS:
        checks = count(1)

        def in_time(_pattern_atom: object, _atom: object) -> bool:
            if next(checks) % _WATCHED_CHECKS == 0 and time.monotonic() > end:
                raise _OutOfTimeError
            return True

        parameters.setExtraAtomCheckFunc(in_time)
    return parameters


def morgan_words(mol: Mol) -> Words:
    """Return the Morgan fingerprint, radius 2, as 32 words (Rogers and Hahn 2010)."""
    return np.frombuffer(BitVectToBinaryText(_generator().GetFingerprint(mol)), dtype="<u8")


def pattern_words(mol: Mol) -> Words:
    """Return RDKit's substructure screen as 32 words: a part has no bit that its whole lacks."""
    return np.frombuffer(
        BitVectToBinaryText(PatternFingerprint(mol, FINGERPRINT_BITS)), dtype="<u8"
    )


def molecule_bytes(mol: Mol) -> bytes:
    """Return a molecule as RDKit stores it, without properties."""
    stored: bytes = mol.ToBinary(int(PropertyPickleOptions.NoProps))
    return stored


@dataclass(frozen=True, slots=True)
class Blob:
    """Byte strings end to end: ``starts`` has one entry more than there are strings."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, items: Sequence[bytes]) -> "Blob":
        """Return the strings as one."""
        starts = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in items], out=starts[1:])
        return cls(np.frombuffer(b"".join(items), dtype=np.uint8), starts)

    def __len__(self) -> int:
        """Return how many strings there are."""
        return len(self.starts) - 1

    def __getitem__(self, at: int) -> bytes:
        """Return one string."""
        return self.data[self.starts[at] : self.starts[at + 1]].tobytes()

    def items(self) -> Iterator[bytes]:
        """Yield every string."""
        whole = self.data.data
        for start, end in pairwise(self.starts.tolist()):
            yield bytes(whole[start:end])


@dataclass(frozen=True, slots=True)
class CompoundRows:
    """Compounds as columns: one row a document, by heavy atoms, then InChIKey, then document id.

    The order makes a substructure search that stops early give the smallest molecules first.

    Args:
        documents: Document ids, ASCII.
        versions: Live version of each.
        kbs: Knowledge base of each, as UTF-8.
        keys: InChIKey, or sha256 of the SMILES where InChI has none.
        stamps: Digest of the structures, by which they are known again.
        heavy: Heavy atoms of the compound as given.
        morgan: Fingerprint of the parent, shape ``(n, 32)``.
        counts: Its bits.
        pattern: Screen of the compound as given and of its parent, shape ``(n, 32)``.
        molecules: The compound as given.
        parents: Its parent; empty where that is the compound itself.
        names: Name and synonyms as UTF-8, joined by newlines.
    """

    documents: NDArray[np.bytes_]
    versions: NDArray[np.int64]
    kbs: NDArray[np.bytes_]
    keys: NDArray[np.bytes_]
    stamps: NDArray[np.bytes_]
    heavy: NDArray[np.int32]
    morgan: Words
    counts: NDArray[np.int64]
    pattern: Words
    molecules: Blob
    parents: Blob
    names: Blob

    def __len__(self) -> int:
        """Return how many compounds there are."""
        return len(self.documents)


def empty_rows() -> CompoundRows:
    """Return no compound at all."""
    text = np.zeros(0, dtype="S1")
    numbers = np.zeros(0, dtype=np.int64)
    words = np.zeros((0, _WORDS), dtype=np.uint64)
    none = Blob.of(())
    return CompoundRows(
        documents=text,
        versions=numbers,
        kbs=text,
        keys=text,
        stamps=text,
        heavy=numbers.astype(np.int32),
        morgan=words,
        counts=numbers,
        pattern=words,
        molecules=none,
        parents=none,
        names=none,
    )


def merge_rows(parts: Sequence[tuple[CompoundRows, Rows]]) -> CompoundRows:
    """Return the chosen rows of all parts, in order.

    Args:
        parts: Compounds, and which of their rows are kept.
    """
    heavy, keys, documents = (
        np.concatenate([getattr(rows, name)[kept] for rows, kept in parts])
        for name in ("heavy", "keys", "documents")
    )
    order = np.lexsort((documents, keys, heavy))
    columns: dict[str, object] = {}
    for each in fields(CompoundRows):
        name = each.name
        if isinstance(getattr(parts[0][0], name), Blob):
            items = [item for rows, kept in parts for item in _chosen(getattr(rows, name), kept)]
            columns[name] = Blob.of([items[at] for at in order.tolist()])
        else:
            column = np.concatenate([getattr(rows, name)[kept] for rows, kept in parts])
            columns[name] = column[order]
    return CompoundRows(**columns)  # type: ignore[arg-type]  # one entry a field, of its own kind


def _chosen(blob: Blob, kept: Rows) -> Iterator[bytes]:
    whole = blob.data.data
    for start, end in zip(blob.starts[kept].tolist(), blob.starts[kept + 1].tolist(), strict=True):
        yield bytes(whole[start:end])


@dataclass(frozen=True, slots=True)
class Matches:
    """What a search found.

    Args:
        found: Rows with their scores, best first.
        looked_at: Molecules that were compared.
        candidates: Molecules that had to be.
        complete: Neither the limit nor the time ended the search.
        timed_out: The time ended it.
    """

    found: tuple[tuple[int, float], ...]
    looked_at: int = 0
    candidates: int = 0
    complete: bool = True
    timed_out: bool = False


class CompoundIndex:
    """Exact searches over compounds.

    Args:
        rows: The compounds; they are not copied and must not change.
    """

    def __init__(self, rows: CompoundRows) -> None:
        self.rows = rows

    def with_key(self, key: str) -> tuple[int, ...]:
        """Return the rows of an InChIKey, or of the sha256 that stands for one."""
        return tuple(np.flatnonzero(self.rows.keys == key.encode()).tolist())

    def nearest(
        self, fingerprint: Words, *, limit: int, kb_names: Sequence[str] | None = None
    ) -> Matches:
        """Return the rows of highest Tanimoto similarity; ties by InChIKey, then document id.

        Every row is compared: the answer is exact.

        Args:
            fingerprint: ``morgan_words`` of the query's parent.
            limit: The most rows.
            kb_names: Only of these knowledge bases; ``None`` for all, empty for none.
        """
        chosen = self._scope(kb_names)
        size = len(self.rows) if chosen is None else len(chosen)
        scores = np.zeros(size)
        own = int(np.bitwise_count(fingerprint).sum())
        for start in range(0, size, _BLOCK):
            part = slice(start, start + _BLOCK)
            rows: slice | Rows = part if chosen is None else chosen[part]
            shared = np.bitwise_count(self.rows.morgan[rows] & fingerprint).sum(
                axis=1, dtype=np.int64
            )
            total = self.rows.counts[rows] + own - shared
            np.divide(shared, total, out=scores[part], where=total > 0)
        best = self._best(scores, chosen, limit)
        return Matches(best, size, size, complete=len(best) == size)

    def _best(
        self, scores: NDArray[np.float64], chosen: Rows | None, limit: int
    ) -> tuple[tuple[int, float], ...]:
        if not limit or not len(scores):
            return ()
        least = np.partition(scores, -limit)[-limit] if limit < len(scores) else scores.min()
        places = np.flatnonzero(scores >= least)
        rows = places if chosen is None else chosen[places]
        found = scores[places]
        order = np.lexsort((self.rows.documents[rows], self.rows.keys[rows], -found))[:limit]
        return tuple(zip(rows[order].tolist(), found[order].tolist(), strict=True))

    def containing(
        self,
        query: Mol,
        *,
        limit: int,
        kb_names: Sequence[str] | None = None,
        time_limit_s: float = 5.0,
    ) -> Matches:
        """Return the rows whose molecule, as given or as its parent, contains the query.

        The smallest molecules come first; the score is the share of heavy atoms that the query covers.

        Args:
            query: A molecule or a SMARTS pattern.
            limit: The search ends with so many rows.
            kb_names: As in ``nearest``.
            time_limit_s: Wall time after which it ends.
        """
        candidates = self._screened(query, kb_names)
        end = time.monotonic() + time_limit_s
        matching = _matching(query, end)
        # Not its heavy atoms: an atom of any element, or of several, counts as none of them.
        size = query.GetNumAtoms()
        found: list[tuple[int, float]] = []
        looked_at, timed_out = 0, False
        for row in candidates.tolist():
            try:
                fits = self._contains(row, query, matching)
            except _OutOfTimeError:
                timed_out = True
                break
            looked_at += 1
            if fits:
                found.append((row, min(1.0, size / max(int(self.rows.heavy[row]), 1))))
            timed_out = time.monotonic() > end
            if timed_out or len(found) == limit:
                break
        complete = looked_at == len(candidates)
        return Matches(
            tuple(found),
            looked_at,
            len(candidates),
            complete=complete,
            timed_out=timed_out and not complete and len(found) < limit,
        )

    def _screened(self, query: Mol, kb_names: Sequence[str] | None) -> Rows:
        wanted = pattern_words(query)
        used = np.flatnonzero(wanted)  # a query sets few of the words: only those are compared
        passed = np.ones(len(self.rows), dtype=bool)
        for word in used.tolist():
            passed &= (self.rows.pattern[:, word] & wanted[word]) == wanted[word]
        chosen = self._scope(kb_names)
        if chosen is None:
            return np.flatnonzero(passed)
        return chosen[passed[chosen]]

    def _contains(self, row: int, query: Mol, matching: SubstructMatchParameters) -> bool:
        if _molecule(self.rows.molecules[row]).HasSubstructMatch(query, matching):
            return True
        parent = self.rows.parents[row]
        return bool(parent) and _molecule(parent).HasSubstructMatch(query, matching)

    def _scope(self, kb_names: Sequence[str] | None) -> Rows | None:
        if kb_names is None:
            return None
        return np.flatnonzero(np.isin(self.rows.kbs, [name.encode() for name in kb_names]))


def _molecule(stored: bytes) -> Mol:
    molecule: Mol = Mol(stored)  # type: ignore[call-overload]  # RDKit's stubs say str for bytes
    return molecule
