"""Questions of several kinds against one index of labels, trials, compounds, pictures and papers.

    python benchmarks/mixed_queries.py DATA [--index FOLDER] [--papers 150]

DATA holds the unpacked sets ``labels_fda_spl``, ``trials_aact_ctgov``, ``images_dicom_nifti``, ``compounds``
and ``xml``. Builds an index with the default profile (kept in ``--index`` and reused), asks each question, and
prints at which rank the first document of the right kind, and the right one, stands. Exit code 1 unless the
right kind is first everywhere.
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from eagle_rag import Engine, SearchRequest, load_settings, open_engine

_SETS = (
    "labels_fda_spl/FDA+openfda/openfda/spl/tests/data",
    "labels_fda_spl/kgrid-objects+fda-label-collection",
    "trials_aact_ctgov",
    "images_dicom_nifti",
    "compounds/deepchem+deepchem/datasets/delaney-processed.csv",
    "compounds/rdkit+rdkit/Docs/Book/data",
    "compounds/biopython+biopython",
)
_LABELS = ("spl", "openfda-label")
_PICTURES = ("dicom", "picture", "nifti")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the formats that answer it, and words of the right document's title or file name."""

    text: str
    formats: tuple[str, ...]
    words: str = ""


QUESTIONS = (
    Question("boxed warning adalimumab", _LABELS, "humira"),
    Question("atorvastatin contraindications", _LABELS, "lipitor"),
    Question("dosage and administration of Lipitor", _LABELS, "lipitor"),
    Question("Humira serious infections warning", _LABELS, "humira"),
    Question("trial eligibility atopic dermatitis", ("ctgov",), "dupilumab"),
    Question("trial eligibility axial spondyloarthritis", ("ctgov",), "certolizumab"),
    Question("inclusion criteria alcohol use disorder trial", ("ctgov",), "get73"),
    Question("NCT03475563", ("ctgov",), "bioss"),
    Question("SMILES CC(=O)Oc1ccccc1C(=O)O", ("compound",), ""),
    Question("CN1C=NC2=C1C(=O)N(C(=O)N2C)C", ("compound",), "caffeine"),
    Question("solubility of caffeine compound", ("compound",), "caffeine"),
    Question("chest radiograph", _PICTURES, "chest"),
    Question("CT image of the chest", _PICTURES, ""),
    Question("magnetic resonance image of the brain", _PICTURES, ""),
    Question("crystal structure resolution of an HIV capsid protein", ("structure",), ""),
    Question("whole genome sequencing of mutant mice", ("jats",), ""),
)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument(
        "--papers", type=int, default=150, help="how many JATS papers stand around"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        index = arguments.index or Path(scratch)
        engine = open_engine(load_settings(overrides={"data_dir": str(index)}))
        try:
            papers = sorted((arguments.data / "xml").glob("*.xml"))[: arguments.papers]
            report = engine.ingest([*(arguments.data / name for name in _SETS), *papers])
            print(
                f"{len(report.added)} added, {report.unchanged} unchanged, {len(report.refused)} refused,"
                f" {report.passages} passages"
            )
            wrong = [question for question in QUESTIONS if not _ask(engine, question)]
        finally:
            engine.close()
    print(
        f"the right kind is first for {len(QUESTIONS) - len(wrong)} of {len(QUESTIONS)} questions"
    )
    return 1 if wrong else 0


def _ask(engine: Engine, question: Question) -> bool:
    """Print where the right kind and the right document stand; return whether the kind is first."""
    hits = engine.search(SearchRequest(question.text, top_k=10)).hits
    formats = [engine.documents(hit.document_id)[0].format for hit in hits]
    kind = next((rank for rank, name in enumerate(formats, 1) if name in question.formats), 0)
    uris = [engine.documents(hit.document_id)[0].source_uri for hit in hits]
    right = next(
        (
            rank
            for rank, (hit, uri) in enumerate(zip(hits, uris, strict=True), 1)
            if question.words in f"{hit.title} {uri}".lower()
        ),
        0,
    )
    first = f"{formats[0]}: {hits[0].title[:60]}" if hits else "nothing"
    print(
        f"{'ok  ' if kind == 1 else 'MISS'} kind {kind}, document {right}  {question.text!r} -> {first}"
    )
    return kind == 1


if __name__ == "__main__":
    sys.exit(main())
