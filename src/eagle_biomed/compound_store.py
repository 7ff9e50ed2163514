"""The columns of compounds on disk, and made from documents.

One file of a workspace and namespace: a line of JSON that says what follows (recipe, columns, digests), then
the columns. It is written beside its place and renamed, read by mapping it into memory, and made anew
when it is damaged or of another recipe. It holds nothing that the library does not.
"""

import hashlib
import json
import logging
import mmap
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rdkit import rdBase
from rdkit.Chem.rdchem import Mol

from eagle_biomed.chemistry import parse_smiles
from eagle_biomed.compound_index import (
    RECIPE,
    Blob,
    CompoundRows,
    empty_rows,
    merge_rows,
    molecule_bytes,
    morgan_words,
    pattern_words,
)
from eagle_biomed.exact_compounds import compound_id_of
from eagle_rag.model.records import DocumentRecord

__all__ = ["FILE_NAME", "make_rows", "read_rows", "structure_stamp", "write_rows"]

FILE_NAME = "compounds.idx"

_LOG = logging.getLogger(__name__)
_MAGIC = b"eagle-compounds 1\n"
_ALIGNED = 64
_MAX_HEADER = 1 << 20
_DAMAGED = (OSError, ValueError, KeyError, TypeError, AttributeError)


@dataclass(frozen=True, slots=True)
class _Structure:
    """What is computed of a compound."""

    heavy: int
    morgan: NDArray[np.uint64]
    pattern: NDArray[np.uint64]
    molecule: bytes
    parent: bytes


def structure_stamp(record: DocumentRecord) -> bytes:
    """Return the digest of what a compound's row is made of, 32 hexadecimal characters.

    Not the InChIKey: two tautomers may share one and yet contain different groups.
    """
    known = dict(record.metadata.properties)
    parts = (
        *(known.get(name, "") for name in ("smiles", "parent_smiles", "inchikey", "name")),
        known.get("synonyms", ""),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32].encode()


def make_rows(
    records: Iterable[DocumentRecord], known: CompoundRows | None = None
) -> tuple[CompoundRows, int]:
    """Return the rows of compound documents, and how many of them have no structure that can be read.

    Args:
        records: Documents of format ``compound``.
        known: Rows whose fingerprints and molecules are used again where the structures are equal.
    """
    held = {} if known is None else {stamp: at for at, stamp in enumerate(known.stamps.tolist())}
    rows: list[tuple[DocumentRecord, bytes, _Structure]] = []
    unreadable = 0
    for record in records:
        stamp = structure_stamp(record)
        at = held.get(stamp)
        structure = _compute(record) if at is None or known is None else _held(known, at)
        if structure is None:
            unreadable += 1
        else:
            rows.append((record, stamp, structure))
    if not rows:
        return empty_rows(), unreadable
    made = _columns(rows)
    return merge_rows([(made, np.arange(len(made)))]), unreadable


def _held(known: CompoundRows, at: int) -> _Structure:
    return _Structure(
        int(known.heavy[at]),
        known.morgan[at],
        known.pattern[at],
        known.molecules[at],
        known.parents[at],
    )


def _compute(record: DocumentRecord) -> _Structure | None:
    properties = dict(record.metadata.properties)
    smiles = properties.get("smiles", "")
    parent_smiles = properties.get("parent_smiles", "") or smiles
    mol = parse_smiles(smiles)
    if mol is None:
        return None
    parent = mol if parent_smiles == smiles else parse_smiles(parent_smiles)
    return _describe(mol, mol if parent is None else parent)


def _describe(mol: Mol, parent: Mol) -> _Structure:
    other = parent is not mol
    pattern = pattern_words(mol)
    return _Structure(
        mol.GetNumHeavyAtoms(),
        morgan_words(parent),
        pattern | pattern_words(parent) if other else pattern,
        molecule_bytes(mol),
        molecule_bytes(parent) if other else b"",
    )


def _columns(rows: Sequence[tuple[DocumentRecord, bytes, _Structure]]) -> CompoundRows:
    morgan = np.stack([structure.morgan for *_, structure in rows])
    return CompoundRows(
        documents=np.array([record.document_id.encode() for record, *_ in rows]),
        versions=np.array([record.version for record, *_ in rows], dtype=np.int64),
        kbs=np.array([record.kb_name.encode() for record, *_ in rows]),
        keys=np.array([compound_id_of(record).encode() for record, *_ in rows]),
        stamps=np.array([stamp for _, stamp, _ in rows]),
        heavy=np.array([structure.heavy for *_, structure in rows], dtype=np.int32),
        morgan=morgan,
        counts=np.bitwise_count(morgan).sum(axis=1, dtype=np.int64),
        pattern=np.stack([structure.pattern for *_, structure in rows]),
        molecules=Blob.of([structure.molecule for *_, structure in rows]),
        parents=Blob.of([structure.parent for *_, structure in rows]),
        names=Blob.of([_names(record) for record, *_ in rows]),
    )


def _names(record: DocumentRecord) -> bytes:
    known = dict(record.metadata.properties)
    names = (known.get("name", ""), *known.get("synonyms", "").split("; "))
    return "\n".join(name for name in names if name).encode()


def write_rows(folder: Path, rows: CompoundRows) -> None:
    """Write the file; one that cannot be written is left out with a warning, for it can be made anew."""
    parts: list[bytes] = []
    columns: list[dict[str, object]] = []
    for name, column in _arrays(rows):
        whole = column.tobytes()
        parts.append(whole)
        shape, digest = list(column.shape), hashlib.sha256(whole).hexdigest()
        columns.append({"name": name, "dtype": column.dtype.str, "shape": shape, "sha256": digest})
    header = json.dumps({"recipe": _recipe(), "columns": columns}).encode() + b"\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{FILE_NAME}-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + header)
                for part in parts:
                    file.write(b"\0" * (-file.tell() % _ALIGNED))
                    file.write(part)
            Path(name).replace(folder / FILE_NAME)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()
    except OSError as error:
        _LOG.warning("the index of compounds was not kept in %s: %s", folder, error)


def read_rows(folder: Path) -> CompoundRows | None:
    """Return what the file holds; ``None`` when it is absent, damaged or of another recipe."""
    path = folder / FILE_NAME
    try:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        return None
    except _DAMAGED as error:
        _LOG.warning("the index of compounds %s is made anew: %s", path, error)
        return None
    try:
        return _parse(whole)
    except _DAMAGED as error:
        _LOG.warning("the index of compounds %s is made anew: %s", path, error)
        return None


def _parse(whole: mmap.mmap) -> CompoundRows | None:
    if whole[: len(_MAGIC)] != _MAGIC:
        message = "it is no index of compounds of this version"
        raise ValueError(message)
    end = whole.find(b"\n", len(_MAGIC), len(_MAGIC) + _MAX_HEADER)
    header: Mapping[str, Any] = json.loads(whole[len(_MAGIC) : end])
    if header["recipe"] != _recipe():
        return None
    at = end + 1
    arrays: dict[str, NDArray[Any]] = {}
    for column in header["columns"]:
        at += -at % _ALIGNED
        dtype, shape = np.dtype(column["dtype"]), tuple(column["shape"])
        count = int(np.prod(shape, dtype=np.int64))
        size = count * dtype.itemsize
        with memoryview(whole) as view:
            if hashlib.sha256(view[at : at + size]).hexdigest() != column["sha256"]:
                message = f"column {column['name']} is damaged"
                raise ValueError(message)
        arrays[column["name"]] = (
            np.frombuffer(whole, dtype, count, at) if count else np.zeros(0, dtype)
        ).reshape(shape)
        at += size
    parts: dict[str, Any] = {
        each.name: arrays[each.name]
        if each.name in arrays
        else Blob(arrays[f"{each.name}.data"], arrays[f"{each.name}.starts"])
        for each in fields(CompoundRows)
    }
    return CompoundRows(**parts)


def _arrays(rows: CompoundRows) -> list[tuple[str, NDArray[Any]]]:
    arrays: list[tuple[str, NDArray[Any]]] = []
    for each in fields(CompoundRows):
        value = getattr(rows, each.name)
        if isinstance(value, Blob):
            arrays += [(f"{each.name}.data", value.data), (f"{each.name}.starts", value.starts)]
        else:
            arrays.append((each.name, value))
    return arrays


def _recipe() -> str:
    return f"{RECIPE}/rdkit-{rdBase.rdkitVersion}"
