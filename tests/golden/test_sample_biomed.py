"""The whole sample through the default profile, hashed: kinds, tags, collections and first hits.

After a change that is meant to alter them, write the golden file anew and review its diff:
``EAGLE_RAG_UPDATE_GOLDEN=1 python -m pytest tests/golden``.
"""

import json
import os
import runpy
from collections import Counter, defaultdict
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom import dcmread
from rdkit import Chem

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.sample import record_paths, sample_paths
from eagle_rag.surfaces.cli.query import DEMO_QUESTIONS, RECORD_QUESTIONS

_GOLDEN = Path(__file__).with_name("sample_biomed.json")
_SETTINGS = {"profile": "embedded", "plugins.options.biomed.encoders.eagle_text_biomed": "hash"}
_TAGS = ("biomed_doc_type", "biomed_text_profile", "biomed_text_profile_rule")
_QUESTIONS = (*DEMO_QUESTIONS, *RECORD_QUESTIONS, "SMILES CC(=O)Oc1ccccc1C(=O)O")
_MOST_RECORD_BYTES = 60_000


@pytest.fixture(scope="module")
def engine(make_shared_engine: Callable[..., Engine]) -> Engine:
    """Return an engine with the whole sample: papers and records."""
    engine = make_shared_engine(_SETTINGS)
    report = engine.ingest([*sample_paths(), *record_paths()])
    assert (len(report.added), report.refused, report.duplicates) == (40, (), ())
    return engine


def _rows(engine: Engine) -> dict[str, Counter[str]]:
    """Return how many rows of each collection a document has, by its id."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for name in engine.store.collections():
        for batch in engine.store.scan(name):
            for row in batch:
                rows[row.document_id][name] += 1
    return rows


def _described(engine: Engine) -> dict[str, Any]:
    rows = _rows(engine)
    described: dict[str, Any] = {}
    for record in engine.documents():
        view = engine.show(record.document_id)
        tags = [dict(passage.tags) for passage in view.passages]
        described[f"{Path(record.source_uri).name}: {record.metadata.title}"] = {
            "document_id": record.document_id,
            "format": record.format,
            "edition": record.edition,
            "passages": len(view.passages),
            "characters": len(view.text),
            "tables": len(view.tables),
            "pictures": len(engine.pictures(record.document_id)),
            "collections": dict(sorted(rows[record.document_id].items())),
            "sections": dict(
                sorted(Counter(each.get("biomed_section", "") for each in tags).items())
            ),
            "drugs": sorted({each["primary_drugs"] for each in tags if each.get("primary_drugs")}),
            **{name: sorted({each.get(name, "") for each in tags}) for name in _TAGS},
        }
    return dict(sorted(described.items()))


def _answers(engine: Engine) -> dict[str, list[str]]:
    """Return what the first hit of each question is, with its section."""
    return {
        question: [
            f"{hit.title} | {' > '.join(hit.section_path)}"
            for hit in engine.search(SearchRequest(question, top_k=1)).hits
        ]
        for question in _QUESTIONS
    }


def test_the_whole_sample_gives_the_golden_documents_and_answers(engine: Engine) -> None:
    found = {"documents": _described(engine), "answers": _answers(engine)}
    if os.environ.get("EAGLE_RAG_UPDATE_GOLDEN"):
        text = json.dumps(found, ensure_ascii=False, indent=1)
        _GOLDEN.write_text(text + "\n", encoding="utf-8")
    golden = json.loads(_GOLDEN.read_text(encoding="utf-8"))
    assert found["documents"].keys() == golden["documents"].keys()
    assert found == golden


def test_the_whole_sample_is_clean(engine: Engine) -> None:
    report = engine.verify()
    assert (report.problems, report.documents) == ((), 40)
    assert report.rows > report.passages, "compounds have rows in two collections"


def test_every_record_says_that_it_is_fiction_unless_it_is_chemistry_or_a_drawing() -> None:
    """A label or a trial that somebody copies must not pass for a real one."""
    facts = {"compounds.csv", "diclofenac.sdf", "chest-phantom.dcm"}
    for path in record_paths():
        said = "fictional" in path.read_text(encoding="utf-8", errors="replace").lower()
        assert said or path.name in facts, path.name


def test_the_records_stay_small() -> None:
    """They are in everybody's installation."""
    assert sum(path.stat().st_size for path in record_paths()) < _MOST_RECORD_BYTES


def test_every_structure_of_the_sample_is_a_molecule() -> None:
    table = next(path for path in record_paths() if path.name == "compounds.csv")
    lines = table.read_text(encoding="utf-8").splitlines()[1:]
    for line in lines:
        assert Chem.MolFromSmiles(line.split(",")[1]) is not None, line
    assert len(lines) == 17


def test_the_phantom_is_what_its_script_draws_and_names_nobody() -> None:
    path = next(path for path in record_paths() if path.suffix == ".dcm")
    dataset = dcmread(BytesIO(path.read_bytes()))
    drawn = runpy.run_path(str(Path(__file__).with_name("sample_pictures.py")))["phantom_pixels"]()
    assert np.array_equal(dataset.pixel_array, drawn)
    assert not [
        each.keyword for each in dataset if each.keyword.startswith(("Patient", "Institution"))
    ]
