"""Two processes on one store, and one that is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from eagle_rag.adapters.lance import LanceStore
from eagle_rag.testing.store_rows import make_schema, unit

_ROWS = 20

_WRITER = """
import sys
from eagle_rag.adapters.lance import DenseIndex, LanceStore
from eagle_rag.model.filters import Compare
from eagle_rag.testing.store_rows import make_row, make_schema

path, documents = sys.argv[1], int(sys.argv[2])
store = LanceStore(path, index=DenseIndex(flat_rows=100))
store.ensure(make_schema("c"))
for number in range(documents):
    store.upsert("c", [
        make_row(f"d{number}-{n}", (1, n, number), f"common w{n}", document_id=f"d{number}")
        for n in range(20)
    ])
    if number % 5 == 4:
        store.delete("c", Compare("document_id", "eq", f"d{number - 4}"))
        store.optimize("c")
    print(number, flush=True)
"""


def _writer(path: Path, documents: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", _WRITER, str(path), str(documents)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own script


@pytest.mark.timeout(120)
def test_g7_a_reader_never_fails_while_another_process_writes(tmp_path: Path) -> None:
    store = LanceStore(tmp_path)
    store.ensure(make_schema("c"))
    searches = 0
    seen: list[int] = []
    with _writer(tmp_path, 40) as writer:
        while writer.poll() is None:
            if searches % 2:
                store.refresh()
            store.search_dense("c", unit(1, 1, 1), limit=10)
            store.search_lexical("c", ["common", "w3"], limit=10)
            seen.append(store.count("c"))
            searches += 1
        assert writer.returncode == 0
    assert searches > 10
    # Never half a document, and the reader saw the collection grow.
    assert all(count % _ROWS == 0 for count in seen)
    assert len(set(seen)) > 3
    store.refresh()
    assert store.count("c") == (40 - 8) * _ROWS


@pytest.mark.timeout(120)
@pytest.mark.parametrize("after", [0, 4, 11])
def test_g4_a_kill_loses_nothing_acknowledged_and_leaves_no_half_document(
    tmp_path: Path, after: int
) -> None:
    with _writer(tmp_path, 1000) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) >= after:
                writer.kill()
                break
    store = LanceStore(tmp_path)
    store.ensure(make_schema("c"))
    count = store.count("c")
    assert count % _ROWS == 0
    assert store.search_lexical("c", ["w3"], limit=1) != ()
    documents = {row.document_id for batch in store.scan("c") for row in batch}
    deleted = {f"d{number}" for number in range(0, after + 2, 5)}
    assert {f"d{number}" for number in range(after + 1)} - deleted <= documents
    store.optimize("c")
    assert store.count("c") == count
