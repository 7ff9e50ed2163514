"""An index that somebody has damaged says so: in a search, in verify, in doctor."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import RegistryError
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
