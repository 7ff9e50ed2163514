"""What is particular to LanceDB; the port's promises are in the contract."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import lancedb
import numpy as np
import pyarrow as pa
import pytest
from lancedb._lancedb import IndexConfig
from lancedb.table import Table

from eagle_rag.adapters.lance import DenseIndex, LanceStore
from eagle_rag.adapters.lance.indexes import build_lexical
from eagle_rag.adapters.lance.rows import arrow_schema
from eagle_rag.adapters.lance.tables import writing
from eagle_rag.errors import InvalidInput, StoreError, VectorSpaceMismatch
from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.model.passage import FloatArray
from eagle_rag.testing.store_rows import make_row, make_schema, unit

if TYPE_CHECKING:
    from collections.abc import Callable

_SCHEMA = make_schema("c")


def _many(count: int, *, dim: int = 3) -> list[FloatArray]:
    return list(np.random.default_rng(3).standard_normal((count, dim)).astype(np.float32))


def _table(path: Path) -> Table:
    return lancedb.connect(path).open_table("c")


def _dense_indexes(path: Path) -> list[IndexConfig]:
    return [index for index in _table(path).list_indices() if index.columns == ["vector"]]


def test_k4_a_table_of_another_program_is_refused(tmp_path: Path) -> None:
    """It has vectors, and nothing that says whose."""
    lancedb.connect(tmp_path).create_table("c", pa.table({"a": ["x"]}))
    store = LanceStore(tmp_path)
    calls: tuple[Callable[[], object], ...] = (
        lambda: store.ensure(_SCHEMA),
        lambda: store.describe("c"),
    )
    for call in calls:
        with pytest.raises(VectorSpaceMismatch, match="records no vector space"):
            call()
    assert store.collections() == ("c",)
    store.drop("c")
    store.ensure(_SCHEMA)
    assert store.describe("c") == _SCHEMA


def test_g4_a_folder_left_by_a_killed_creation_is_no_collection(tmp_path: Path) -> None:
    (tmp_path / "c.lance" / "data").mkdir(parents=True)
    store = LanceStore(tmp_path)
    assert store.collections() == ()
    assert store.describe("c") is None
    store.ensure(_SCHEMA)
    store.upsert("c", [make_row("a", (1, 0, 0), "x")])
    assert store.count("c") == 1


def test_g4_a_table_created_without_its_bm25_index_is_completed(tmp_path: Path) -> None:
    """Killed between the two commits of its creation."""
    lancedb.connect(tmp_path).create_table("c", schema=arrow_schema(_SCHEMA))
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    store.upsert("c", [make_row("a", (1, 0, 0), "x")])
    assert len(store.search_lexical("c", ["x"], limit=1)) == 1


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.count("c")


def test_a_reader_whose_version_was_cleaned_away_goes_on(tmp_path: Path) -> None:
    """A server that never refreshes meets files that are gone, once, and moves on."""
    writer = LanceStore(tmp_path, retain=timedelta(milliseconds=1))
    writer.ensure(_SCHEMA)
    writer.upsert("c", [make_row(f"a{n}", (1, 0, 0), "x") for n in range(5)])
    reader = LanceStore(tmp_path)
    assert reader.count("c") == 5
    writer.upsert("c", [make_row("b", (0, 1, 0), "y")])
    found = []
    # The engine may find the version too young to clean away; then the reader rightly goes on with it.
    for gone in ("a1", "a2", "a3"):
        writer.delete("c", Compare("row_id", "eq", gone))
        writer.optimize("c")
        (hit,) = reader.search_dense("c", unit(0, 1, 0), limit=1)
        found.append(hit.row_id)
    assert found[-1] == "b"


def test_optimize_of_an_unchanged_collection_commits_nothing(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    store.upsert("c", [make_row("a", (1, 0, 0), "x")])
    store.optimize("c")
    before = _table(tmp_path).version
    store.optimize("c")
    assert _table(tmp_path).version == before


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        (DenseIndex(flat_rows=100), "IvfFlat"),
        (DenseIndex(flat_rows=100, exact_floats=1), "IvfHnswFlat"),
        (DenseIndex(), None),
    ],
)
def test_a_stored_vector_finds_itself_at_limit_one(
    tmp_path: Path, index: DenseIndex, wanted: str | None
) -> None:
    """The engine's own default of ``ef`` loses it now and then."""
    store = LanceStore(tmp_path, index=index)
    store.ensure(make_schema("c", dim=16))
    vectors = _many(500, dim=16)
    store.upsert("c", [make_row(f"r{n}", vector, "x") for n, vector in enumerate(vectors)])
    store.optimize("c")
    assert [found.index_type for found in _dense_indexes(tmp_path)] == ([wanted] if wanted else [])
    for number in range(0, 500, 7):
        (hit,) = store.search_dense("c", vectors[number], limit=1)
        assert hit.row_id == f"r{number}"


def test_an_index_is_replaced_when_the_collection_outgrows_it(tmp_path: Path) -> None:
    store = LanceStore(tmp_path, index=DenseIndex(flat_rows=10, exact_floats=300))
    store.ensure(_SCHEMA)
    seen: list[str] = []
    for first in (0, 50, 200):
        vectors = _many(first + 50)
        store.upsert("c", [make_row(f"r{first}-{n}", v, "x") for n, v in enumerate(vectors)])
        store.optimize("c")
        seen += [found.index_type for found in _dense_indexes(tmp_path)]
    assert seen == ["IvfFlat", "IvfHnswFlat", "IvfHnswFlat"]


def test_many_optimizes_leave_few_index_segments(tmp_path: Path) -> None:
    """Each adds one; a query visits all of them."""
    store = LanceStore(tmp_path, index=DenseIndex(flat_rows=1))
    store.ensure(_SCHEMA)
    for number in range(12):
        store.upsert("c", [make_row(f"r{number}", (1, number, 0), "x")])
        store.optimize("c")
    (found,) = _dense_indexes(tmp_path)
    assert found.num_segments is not None
    assert found.num_segments <= 9
    assert len(store.search_dense("c", unit(1, 0, 0), limit=20)) == 12


def test_a_batch_size_below_one_is_refused(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    with pytest.raises(InvalidInput):
        store.scan("c", batch_size=0)


def test_g7_an_outdated_writer_starts_from_the_newest_version(tmp_path: Path) -> None:
    """Two processes optimize; the second lost the race and repeats."""
    LanceStore(tmp_path).ensure(_SCHEMA)
    outdated, other = _table(tmp_path), LanceStore(tmp_path)
    for number in range(3):
        other.upsert("c", [make_row(f"a{number}", (1, 0, 0), "x")])
    attempts: list[int] = []

    def write() -> None:
        attempts.append(outdated.version)
        if len(attempts) == 1:
            raise RuntimeError("Retryable commit conflict for version 3")

    writing(outdated, write)
    assert attempts[1] == _table(tmp_path).version > attempts[0]


@pytest.mark.parametrize("message", ["commit conflict", "No space left on device"])
def test_a_write_that_keeps_failing_is_an_error(tmp_path: Path, message: str) -> None:
    LanceStore(tmp_path).ensure(_SCHEMA)

    def write() -> None:
        raise RuntimeError(message)

    with pytest.raises(StoreError, match=f"'c'.*{message}"):
        writing(_table(tmp_path), write)


def test_an_engine_failure_while_reading_is_a_store_error(tmp_path: Path) -> None:
    """Never an empty list (J3)."""
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    store.upsert("c", [make_row("a", (1, 0, 0), "x")])
    for file in (tmp_path / "c.lance" / "data").iterdir():
        file.write_bytes(b"")
    again = LanceStore(tmp_path)
    calls = (
        lambda: again.search_dense("c", unit(1, 0, 0), limit=1),
        lambda: list(again.scan("c")),
    )
    for call in calls:
        with pytest.raises(StoreError, match="'c'"):
            call()


def test_the_bm25_index_can_be_built_again(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.ensure(_SCHEMA)
    store.upsert("c", [make_row("a", (1, 0, 0), "x")])
    build_lexical(_table(tmp_path))
    store.refresh()
    assert len(store.search_lexical("c", ["x"], limit=5)) == 1
    store.delete("c", AllOf(()))
    assert store.search_lexical("c", ["x"], limit=5) == ()
