"""An index that somebody has damaged says so: in a search, in verify, in doctor."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.adapters.lance import DenseIndex, LanceStore
from eagle_rag.engine import Engine
from eagle_rag.errors import RegistryError, StoreError
from eagle_rag.ingest.probe import probe_collection
from eagle_rag.model.filters import Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import jats_article, write_files


def paper(number: int) -> bytes:
    """Return an article with a DOI of its own."""
    return jats_article(
        f"Paper {number}", [f"Kinase {number} fell."], ids={"doi": f"10.5555/{number}"}
    )


@pytest.fixture
def engine(make_engine: Callable[..., Engine], tmp_path: Path) -> Engine:
    """Return an engine with three papers."""
    engine = make_engine()
    engine.ingest(
        [write_files(tmp_path / "in", {f"{number}.xml": paper(number) for number in range(3)})]
    )
    return engine


def rows(engine: Engine) -> list[StoredPassage]:
    """Return all rows by id."""
    found = [row for batch in engine.store.scan("eagle_text") for row in batch]
    return sorted(found, key=lambda row: row.row_id)


def change(tmp_path: Path, statement: str) -> None:
    """Change the registry behind the engine's back."""
    with sqlite3.connect(tmp_path / "index" / "registry.db") as connection:
        connection.execute(statement)
    connection.close()


def test_a_search_leaves_a_damaged_document_out_and_says_so(
    engine: Engine, tmp_path: Path
) -> None:
    change(tmp_path, "UPDATE documents SET front = x'00' WHERE doi = '10.5555/1'")
    found = engine.search(SearchRequest("kinase"))
    assert sorted(hit.ids.doi for hit in found.hits) == ["10.5555/0", "10.5555/2"]
    assert [event.message for event in found.trace.events if event.degraded] != []


def test_a_search_of_nothing_but_damaged_documents_is_an_error(
    engine: Engine, tmp_path: Path
) -> None:
    change(tmp_path, "UPDATE sections SET kind = 'nonsense'")
    with pytest.raises(RegistryError, match="eagle delete doc1_"):
        engine.search(SearchRequest("kinase"))


def test_a_damaged_document_can_be_deleted_and_ingested_again(
    engine: Engine, tmp_path: Path
) -> None:
    identity = engine.show("10.5555/1").record.document_id
    change(tmp_path, "UPDATE documents SET front = x'00' WHERE doi = '10.5555/1'")
    assert [problem.where for problem in engine.verify().problems] == [identity]
    assert engine.delete("10.5555/1") == (identity,)
    assert len(engine.ingest([tmp_path / "in"]).added) == 1
    assert engine.verify().problems == ()


def remove_files(tmp_path: Path, folder: str) -> None:
    """Delete every file below folders of this name in the store."""
    gone = 0
    for parent in (tmp_path / "index" / "store").rglob(folder):
        for path in parent.rglob("*"):
            if path.is_file():
                path.unlink()
                gone += 1
    assert gone


def failed_checks(engine: Engine) -> list[str]:
    """Return the names of the checks that fail."""
    return [check.name for check in engine.doctor() if not check.ok]


def test_index_files_that_are_gone_are_found_and_built_again(
    make_engine: Callable[..., Engine], engine: Engine, tmp_path: Path
) -> None:
    before = rows(engine)
    engine.close()
    remove_files(tmp_path, "_indices")
    engine = make_engine()
    with pytest.raises(StoreError, match="eagle verify --repair"):
        engine.search(SearchRequest("kinase", mode="lexical"))
    assert [problem.kind for problem in engine.verify().problems] == ["broken-index"]
    assert failed_checks(engine) == ["store"]
    assert engine.verify(repair=True).clean
    assert engine.verify().problems == ()
    assert failed_checks(engine) == []
    assert len(engine.search(SearchRequest("kinase", mode="lexical")).hits) == 3
    assert rows(engine) == before


@pytest.mark.usefixtures("engine")
def test_a_dense_index_that_is_gone_is_built_again(tmp_path: Path) -> None:
    path = tmp_path / "index" / "store" / "default" / "core"
    # Two rows are enough for an index here.
    store = LanceStore(path, index=DenseIndex(flat_rows=2))
    store.optimize("eagle_text")
    remove_files(tmp_path, "_indices")
    schema = store.describe("eagle_text")
    assert schema is not None
    broken = LanceStore(path, index=DenseIndex(flat_rows=2))
    assert probe_collection(broken, "eagle_text", schema) is not None
    broken.rebuild("eagle_text")
    assert probe_collection(broken, "eagle_text", schema) is None
    indexed = {
        tuple(index.columns) for index in broken._tables.get("eagle_text").table.list_indices()
    }
    assert indexed == {("lexemes",), ("vector",)}


def test_data_files_that_are_gone_are_found_and_the_rows_written_again(
    make_engine: Callable[..., Engine], engine: Engine, tmp_path: Path
) -> None:
    before = rows(engine)
    engine.close()
    remove_files(tmp_path, "data")
    engine = make_engine()
    assert [problem.kind for problem in engine.verify().problems] == ["broken-store"]
    assert failed_checks(engine) == ["store"]
    assert engine.verify(repair=True).clean
    assert engine.verify().problems == ()
    assert failed_checks(engine) == []
    assert len(engine.search(SearchRequest("kinase")).hits) == 3
    assert [(row.row_id, row.text) for row in rows(engine)] == [
        (row.row_id, row.text) for row in before
    ]


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE passages SET sha256 = x'00'", "text-mismatch"),
        ("UPDATE citations SET end_char = 99999", "wrong-span"),
        ("DELETE FROM identifiers", "missing-identifier"),
        ("UPDATE sections SET kind = 'nonsense'", "damaged-document"),
        ("UPDATE data_tables SET rows = '['", "damaged-document"),
        ("UPDATE documents SET front = x'00'", "damaged-document"),
    ],
)
def test_a_changed_registry_is_found(
    engine: Engine, tmp_path: Path, statement: str, kind: str
) -> None:
    added = b"""<sec><title>T</title><p>See <xref ref-type="bibr" rid="r1">1</xref>.</p>
        <table-wrap id="t1"><label>Table 1</label><caption><p>Cap.</p></caption>
        <table><tr><td>1</td></tr></table></table-wrap></sec></body>"""
    back = b"""<back><ref-list><ref id="r1"><mixed-citation>Someone 2010.</mixed-citation></ref>
        </ref-list></back></article>"""
    rich = paper(9).replace(b"</body>", added).replace(b"</article>", back)
    engine.ingest([write_files(tmp_path / "rich", {"rich.xml": rich})])
    change(tmp_path, statement)
    assert kind in {problem.kind for problem in engine.verify().problems}


def test_a_lost_registry_is_told_and_its_rows_are_kept(
    make_engine: Callable[..., Engine], engine: Engine, tmp_path: Path
) -> None:
    before = rows(engine)
    engine.close()
    for path in (tmp_path / "index").glob("registry.db*"):
        path.unlink()
    engine = make_engine()
    events = engine.search(SearchRequest("kinase")).trace.events
    told = [event.message for event in events if event.degraded]
    assert len(told) == 1
    assert told[0].startswith("3 rows belong to no live document; the registry may have been lost")
    assert failed_checks(engine) == ["registry"]
    report = engine.verify(repair=True)
    assert [(problem.kind, problem.repaired) for problem in report.problems] == [
        ("lost-registry", False)
    ]
    assert rows(engine) == before


def test_a_document_whose_rows_cannot_be_written_does_not_stop_the_repair_of_others(
    engine: Engine, tmp_path: Path
) -> None:
    identity = engine.show("10.5555/0").record.document_id
    for row in rows(engine):
        engine.store.delete("eagle_text", Compare("row_id", "eq", row.row_id))
    change(tmp_path, "UPDATE documents SET version = 'x' WHERE doi = '10.5555/0'")
    report = engine.verify(repair=True)
    left = {problem.where for problem in report.problems if not problem.repaired}
    assert identity in left
    assert len(engine.search(SearchRequest("kinase")).hits) == 2
