"""An engine whose data folder goes away while it is open: nothing is answered from a file without a name."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import RegistryError
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import write_files

SAID = (
    r"the registry .*registry.db was removed or replaced while it was open. open the engine again"
)
ASKED: dict[str, Callable[[Engine], object]] = {
    "search": lambda engine: engine.search(SearchRequest("kinase")),
    "documents": lambda engine: engine.documents(),
    "show": lambda engine: engine.show("doc1_any"),
    "stats": lambda engine: engine.stats(),
    "delete": lambda engine: engine.delete("doc1_any"),
    "verify": lambda engine: engine.verify(),
}


@pytest.fixture
def removed(engine: Engine, tmp_path: Path) -> Engine:
    """Return an engine that has ingested and searched, and whose folder is gone since."""
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase fell.\n"})])
    assert engine.search(SearchRequest("kinase")).hits
    shutil.rmtree(tmp_path / "index")
    return engine


@pytest.mark.parametrize("asked", ASKED)
def test_a_registry_that_was_removed_is_an_error_that_says_so(removed: Engine, asked: str) -> None:
    with pytest.raises(RegistryError, match=SAID):
        ASKED[asked](removed)


def test_an_ingest_into_a_removed_index_is_refused_and_writes_nothing(
    removed: Engine, tmp_path: Path
) -> None:
    with pytest.raises(RegistryError, match=SAID):
        removed.ingest([write_files(tmp_path / "more", {"b.txt": "Ligand rose.\n"})])
    assert not (tmp_path / "index").exists()


def test_an_index_that_was_replaced_by_another_is_not_mixed_with_it(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """A backup was put back, while somebody still searches what was there before."""
    first = make_engine()
    first.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase fell.\n"})])
    shutil.move(tmp_path / "index", tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "index")
    with pytest.raises(RegistryError, match=SAID):
        first.search(SearchRequest("kinase"))
    first.close()
    assert first.search(SearchRequest("kinase")).hits
