"""The corpus of ``biomed_queries.py``: the sample, drug labels, trials, compounds and oncology papers.

    python benchmarks/biomed_corpus.py DATA INDEX [--large]

DATA holds the unpacked sets ``labels_fda_spl``, ``trials_aact_ctgov``, ``compounds`` and ``xml`` with
``oncology_ids.txt``. Which files are taken depends on nothing but their names and a fixed seed. The papers
that the questions need are named in ``data/biomed_queries.yaml``; others stand around them. The table of
drugs is written from the ontology that the plugin ships, its names and structures. The large corpus holds what
the small one leaves out for time: all oncology papers, long trials, and more of the tables. The index is kept,
and a second run finds everything unchanged.
"""

import argparse
import csv
import random  # noqa: TID251 - numpy's Generator may draw otherwise in another version; the corpus may not
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from eagle_rag import Engine, load_settings, open_engine
from eagle_rag.sample import record_paths, sample_paths

__all__ = [
    "LARGE",
    "QUERIES",
    "SMALL",
    "Corpus",
    "Extent",
    "build_corpus",
    "main",
    "open_index",
    "select_corpus",
]

QUERIES = Path(__file__).with_name("data") / "biomed_queries.yaml"
_SEED = 20
_LABELS = (
    (
        "FDA+openfda/openfda/annotation_table/tests/data/multi_upc_test/spl/s3_sync/"
        "64f8040f-938d-4236-8e22-c838c9b5f8da/64f8040f-938d-4236-8e22-c838c9b5f8da.xml"
    ),
    "FDA+openfda/openfda/spl/tests/data/cough.xml",
    "FDA+openfda/openfda/spl/tests/data/humira.xml",
    "FDA+openfda/openfda/spl/tests/data/lipitor-orig.xml",
    "FDA+openfda/openfda/spl/tests/data/lipitor-repack.xml",
    "FDA+openfda/openfda/spl/tests/data/no-title.xml",
    "kgrid-objects+fda-label-collection/XML Oct 2020 Remdesivir.xml",
)
_TRIALS = (
    "spec/support/xml_data/NCT????????.xml",
    "spec/support/xml_data/NCT????????_covid_19*.xml",
    "spec/support/json_data/NCT????????.json",
)
# Records that are cut off, and one study under another's name.
_NO_TRIALS = ("NCT00465816.json", "NCT03453554.json", "NCT02278341.json", "NCT00980226.xml")
_TABLES = (
    ("deepchem+deepchem/datasets/delaney-processed.csv", "delaney.csv"),
    (
        "volkamerlab+teachopencadd/teachopencadd/talktorials/T001_query_chembl/data/EGFR_compounds.csv",
        "egfr.csv",
    ),
)
_LIGANDS = "rdkit+rdkit/Docs/Book/data/cdk2.sdf"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much stands around what the questions need.

    Args:
        papers: How many in all, those that questions need included.
        max_bytes: Of a trial or paper that no question needs: many short documents make few passages.
        rows: Of each of the two tables of compounds.
    """

    papers: int
    max_bytes: int
    rows: tuple[int, int]


SMALL = Extent(papers=130, max_bytes=60_000, rows=(250, 200))
LARGE = Extent(papers=591, max_bytes=10_000_000, rows=(1_100, 2_000))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The files of the corpus by kind, each list sorted."""

    sample: tuple[Path, ...]
    labels: tuple[Path, ...]
    trials: tuple[Path, ...]
    compounds: tuple[Path, ...]
    papers: tuple[Path, ...]

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.sample, *self.labels, *self.trials, *self.compounds, *self.papers)

    @property
    def counts(self) -> str:
        """How many files each kind has, one line."""
        kinds = ("sample", "labels", "trials", "compounds", "papers")
        return ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in kinds) + " (files)"


def select_corpus(data: Path, scratch: Path, *, extent: Extent = SMALL) -> Corpus:
    """Return the corpus; the tables of compounds are written to ``scratch``.

    Raises:
        SystemExit: DATA lacks one of the sets.
    """
    labels = tuple(data / "labels_fda_spl" / name for name in _LABELS)
    folder = data / "trials_aact_ctgov"
    trials = sorted(path for pattern in _TRIALS for path in folder.glob(pattern))
    corpus = Corpus(
        sample=(*sample_paths(), *record_paths()),
        labels=labels,
        trials=tuple(path for path in trials if _is_wanted(path, extent)),
        compounds=_compounds(data / "compounds", scratch, extent),
        papers=_papers(data, extent),
    )
    missing = [path for path in corpus.paths if not path.is_file()]
    if missing or not trials:
        sys.exit(
            f"{data} lacks {missing[0] if missing else folder}; unpack the sets named in --help"
        )
    return corpus


def open_index(index: Path, overrides: dict[str, object] | None = None) -> Engine:
    """Return an engine of the default profile over the index, with further settings."""
    return open_engine(load_settings(overrides={"data_dir": str(index)} | (overrides or {})))


def build_corpus(data: Path, index: Path, *, extent: Extent = SMALL) -> None:
    """Ingest what is not there yet, and print counts."""
    tables = index / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    corpus = select_corpus(data, tables, extent=extent)
    print(corpus.counts)
    engine = open_index(index)
    try:
        report = engine.ingest(corpus.paths)
        stats = engine.stats()
    finally:
        engine.close()
    print(
        f"{len(report.added)} added, {len(report.replaced)} replaced, {report.unchanged} unchanged, "
        f"{len(report.duplicates)} duplicates, {len(report.refused)} refused"
    )
    for refusal in report.refused:
        print(f"  refused: {refusal}")
    kinds = ", ".join(f"{count} {kind}" for kind, count in stats.by_format)
    print(f"{stats.documents} documents ({kinds}), {stats.passages} passages")


def _papers(data: Path, extent: Extent) -> tuple[Path, ...]:
    """Return the papers that questions name and, up to ``papers``, others drawn with a fixed seed."""
    known = (data / "oncology_ids.txt").read_text("utf-8").split()
    needed = set(_queries()["papers"])
    paths = {name: data / "xml" / f"{name}.xml" for name in sorted(set(known) - needed)}
    others = [name for name, path in paths.items() if path.stat().st_size <= extent.max_bytes]
    random.Random(_SEED).shuffle(others)  # noqa: S311 - a sample, no secret
    chosen = sorted({*needed, *others[: max(0, extent.papers - len(needed))]})
    return tuple(data / "xml" / f"{name}.xml" for name in chosen)


def _is_wanted(trial: Path, extent: Extent) -> bool:
    """Return whether a trial is in the corpus: a whole record that a question needs, or a short one."""
    items = _queries()["queries"]
    needed = trial.name[:11] in {key for item in items for key in item["expected"]}
    return trial.name not in _NO_TRIALS and (needed or trial.stat().st_size <= extent.max_bytes)


@lru_cache(maxsize=1)
def _queries() -> dict[str, Any]:
    queries: dict[str, Any] = yaml.safe_load(QUERIES.read_text("utf-8"))
    return queries


def _compounds(folder: Path, scratch: Path, extent: Extent) -> tuple[Path, ...]:
    """Return the tables of compounds: slices of two sets, ligands of one target, and the ontology's drugs."""
    for (name, target), rows in zip(_TABLES, extent.rows, strict=True):
        lines = (folder / name).read_text("utf-8").splitlines()
        picked = sorted(random.Random(_SEED).sample(range(1, len(lines)), rows))  # noqa: S311 - as above
        _write(scratch / target, "\n".join([lines[0], *(lines[at] for at in picked)]) + "\n")
    with (scratch / "drugs.csv.new").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("name", "smiles"))
        writer.writerows(_ontology_drugs())
    _write(scratch / "drugs.csv", (scratch / "drugs.csv.new").read_text("utf-8"))
    (scratch / "drugs.csv.new").unlink()
    written = (scratch / target for _, target in _TABLES)
    return (folder / _LIGANDS, *sorted((*written, scratch / "drugs.csv")))


def _write(path: Path, text: str) -> None:
    """Write a file unless it is there as it should be: ingest then need not read it again."""
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def _ontology_drugs() -> Sequence[tuple[str, str]]:
    text = (files("eagle_biomed.data") / "ontology.yaml").read_text("utf-8")
    entities = yaml.safe_load(text)["entities"]
    return sorted(
        (str(name), each["smiles"]) for name, each in entities.items() if each.get("smiles")
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument(
        "--large", action="store_true", help="all papers, trials and more compounds"
    )
    arguments = parser.parse_args()
    build_corpus(arguments.data, arguments.index, extent=LARGE if arguments.large else SMALL)


if __name__ == "__main__":
    main()
