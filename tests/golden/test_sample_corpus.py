"""The sample corpus through the whole pipeline: what comes out is what came out before.

After a change that is meant to alter documents or passages, write the golden file anew and review its
diff: ``EAGLE_RAG_UPDATE_GOLDEN=1 python -m pytest tests/golden``.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.sample import sample_paths
from eagle_rag.surfaces.cli.query import DEMO_QUESTIONS

_GOLDEN = Path(__file__).with_name("sample_corpus.json")
_EXPECTED = (
    {"PMC99000001", "PMC99000011"},
    {"PMC99000002"},
    {"PMC99000006"},
)


@pytest.fixture(scope="module")
def engine(make_shared_engine: Callable[..., Engine]) -> Engine:
    """Return an engine with the sample corpus, hashed."""
    engine = make_shared_engine()
    report = engine.ingest(sample_paths())
    assert (len(report.added), report.refused, report.duplicates) == (13, (), ())
    return engine


def _described(engine: Engine) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for record in engine.documents():
        view = engine.show(record.document_id)
        ids = "".join(passage.id for passage in view.passages)
        described[record.metadata.ids.pmcid] = {
            "document_id": record.document_id,
            "title": record.metadata.title,
            "characters": len(view.text),
            "sections": [" > ".join(section.path) for section in view.sections],
            "section_kinds": sorted({section.kind.value for section in view.sections}),
            "passages": len(view.passages),
            "passage_ids_sha256": hashlib.sha256(ids.encode()).hexdigest(),
            "figures": [figure.label for figure in view.figures],
            "tables": [[table.label, len(table.rows), table.no_cells] for table in view.tables],
            "references": len(engine.registry.references(record.document_id)),
            "citations": len(view.citations),
            "retracted": record.retracted,
        }
    return dict(sorted(described.items()))


def test_the_sample_corpus_gives_the_golden_documents(engine: Engine) -> None:
    described = _described(engine)
    if os.environ.get("EAGLE_RAG_UPDATE_GOLDEN"):
        text = json.dumps(described, ensure_ascii=False, indent=1)
        _GOLDEN.write_text(text + "\n", encoding="utf-8")
    golden = json.loads(_GOLDEN.read_text(encoding="utf-8"))
    assert described.keys() == golden.keys()
    assert described == golden


def test_the_sample_corpus_is_clean(engine: Engine) -> None:
    report = engine.verify()
    assert (report.problems, report.documents) == ((), 13)
    assert report.rows == report.passages


def test_exactly_one_sample_paper_is_retracted_by_its_notice(engine: Engine) -> None:
    flagged = [record.metadata.ids.pmcid for record in engine.documents() if record.retracted]
    assert flagged == ["PMC99000012"]


@pytest.mark.parametrize(
    ("question", "expected"), list(zip(DEMO_QUESTIONS, _EXPECTED, strict=True))
)
def test_the_demo_questions_bring_the_papers_about_them(
    engine: Engine, question: str, expected: set[str]
) -> None:
    hits = engine.search(SearchRequest(question, top_k=3)).hits
    assert expected <= {hit.ids.pmcid for hit in hits}


def test_ids_do_not_depend_on_the_order_or_the_number_of_files(
    engine: Engine, tmp_path: Path, make_engine: Callable[..., Engine]
) -> None:
    other = make_engine({"data_dir": str(tmp_path / "other")})
    other.ingest(tuple(reversed(sample_paths()))[:5])
    whole = {record.document_id: record.passages for record in engine.documents()}
    part = {record.document_id: record.passages for record in other.documents()}
    assert len(part) == 5
    assert part.items() <= whole.items()


def test_the_default_encoder_answers_the_demo_questions_too(
    make_engine: Callable[..., Engine],
) -> None:
    engine = make_engine({"collections.eagle_text.encoder": "minilm"})
    engine.ingest(sample_paths())
    for question, expected in zip(DEMO_QUESTIONS, _EXPECTED, strict=True):
        hits = engine.search(SearchRequest(question, top_k=3)).hits
        assert expected <= {hit.ids.pmcid for hit in hits}
    assert engine.verify().clean
