"""Verify finds every broken promise, and repair mends what it can."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.filters import Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.query import SearchRequest
from eagle_rag.ops.ids import passage_id
from eagle_rag.testing.articles import jats_article, write_files

_TEXT = "eagle_text"
PAPER = jats_article(
    "Paper",
    {"Methods": ["Kinase was used [1]. " * 60], "Results": ["Kinase fell."]},
    ids={"doi": "10.5555/1"},
)


@pytest.fixture
def engine(make_engine: Callable[..., Engine], tmp_path: Path) -> Engine:
    """Return an engine with one paper of several passages, in memory."""
    engine = make_engine({"store.kind": "memory"})
    engine.ingest([write_files(tmp_path / "in", {"a.xml": PAPER})])
    return engine


def rows(engine: Engine) -> list[StoredPassage]:
    """Return all rows by id."""
    found = [row for batch in engine.store.scan(_TEXT) for row in batch]
    return sorted(found, key=lambda row: row.row_id)


def kinds(engine: Engine) -> list[str]:
    """Return the kind of each problem."""
    return [problem.kind for problem in engine.verify().problems]


def test_a_missing_row_is_found_and_written_again_as_it_was(engine: Engine) -> None:
    before = rows(engine)
    engine.store.delete(_TEXT, Compare("row_id", "eq", before[0].row_id))
    assert kinds(engine) == ["missing-row"]
    assert engine.verify(repair=True).clean
    assert rows(engine) == before
    assert all(
        np.allclose(one.vector, other.vector)
        for one, other in zip(rows(engine), before, strict=True)
    )
    assert kinds(engine) == []


def test_all_rows_gone_is_repaired_from_the_registry_alone(engine: Engine) -> None:
    before = rows(engine)
    engine.store.drop(_TEXT)
    assert set(kinds(engine)) == {"missing-row"}
    assert engine.verify(repair=True).clean
    assert rows(engine) == before
    assert engine.search(SearchRequest("kinase fell")).hits


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"row_id": "other@1"}, "duplicate-row"),
        ({"text": "Kinase rose."}, "text-mismatch"),
        ({"start": 0}, "text-mismatch"),
        ({"vector": np.ones(384, np.float32)}, "vector-space"),
        ({"kb_name": "other"}, "stale-fields"),
        ({"namespace": "other"}, "stale-fields"),
        ({"path": "Other"}, "stale-fields"),
        ({"section_kind": "other"}, "stale-fields"),
        ({"source_type": "other"}, "stale-fields"),
        ({"year": 1900}, "stale-fields"),
        ({"lexemes": "other"}, "stale-fields"),
        ({"row_id": "other@9", "version": 9}, "stale-row"),
        ({"row_id": "other@1", "document_id": "doc1_other"}, "orphan-row"),
    ],
)
def test_a_wrong_row_is_found(engine: Engine, change: dict[str, object], kind: str) -> None:
    before = rows(engine)
    engine.store.upsert(_TEXT, [replace(before[0], **change)])  # type: ignore[arg-type]  # parametrized
    assert kind in kinds(engine)
    assert engine.verify(repair=True).clean
    assert kinds(engine) == []
    assert rows(engine) == before


def test_lexemes_of_other_settings_are_not_called_wrong(
    make_engine: Callable[..., Engine], engine: Engine
) -> None:
    other = make_engine({"store.kind": "memory", "passages.lexical_context": "none"})
    other._store = engine.store
    assert kinds(other) == []


@pytest.mark.parametrize("change", [{"version": 9}, {"document_id": "doc1_other"}])
def test_rows_of_nobody_are_deleted_by_repair(engine: Engine, change: dict[str, object]) -> None:
    before = rows(engine)
    engine.store.upsert(_TEXT, [replace(before[0], row_id="x@1", **change)])  # type: ignore[arg-type]  # parametrized
    assert engine.verify(repair=True).clean
    assert rows(engine) == before


def test_a_version_left_half_written_is_found_and_cleared(engine: Engine) -> None:
    identity = engine.documents()[0].document_id
    version = engine.registry.begin_version(identity, (_TEXT,), namespace="default/core")
    engine.store.upsert(_TEXT, [replace(rows(engine)[0], row_id="x@2", version=version)])
    assert set(kinds(engine)) == {"pending-version", "stale-row"}
    assert engine.verify(repair=True).clean
    assert kinds(engine) == []


def test_verify_counts_documents_passages_and_rows(engine: Engine) -> None:
    seen: list[int] = []
    report = engine.verify(on_document=seen.append)
    passages = engine.show("10.5555/1").passages
    assert (report.documents, report.passages, report.rows) == (1, len(passages), len(passages))
    assert seen == [1]


def test_a_row_that_proves_itself_but_is_no_passage_of_its_document_is_found(
    engine: Engine,
) -> None:
    row = rows(engine)[0]
    identity = passage_id(row.document_id, row.start, row.end, "Kinase rose.")
    engine.store.upsert(
        _TEXT, [replace(row, row_id="x@1", passage_id=identity, text="Kinase rose.")]
    )
    assert kinds(engine) == ["text-mismatch"]


def test_rows_that_verify_would_call_wrong_are_not_served(engine: Engine) -> None:
    old = replace(rows(engine)[0], row_id="x@9", version=9, passage_id="psg1_old")
    engine.store.upsert(_TEXT, [old])
    hits = engine.search(SearchRequest("kinase", top_k=50, group_by="passage")).hits
    assert "psg1_old" not in {hit.passage_id for hit in hits}
    assert hits
