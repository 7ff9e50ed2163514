"""Two processes, a killed process, many threads."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from eagle_rag.adapters.registry import SqlRegistry, open_registry
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

# Commits versions of one document over and over and says so after each; every passage of a version
# holds the version's number.
_WRITE = """
import sys
from eagle_rag.adapters.registry import open_registry
from eagle_rag.testing.registry_sample import NAMESPACE, Sample
registry = open_registry(sys.argv[1])
for _ in range(int(sys.argv[2])):
    key = Sample("one").id
    version = registry.begin_version(key, ("eagle_text",), namespace=NAMESPACE)
    paragraphs = tuple(f"Version {version} passage {at}." for at in range(200))
    registry.commit_version(version, Sample("one", paragraphs=paragraphs).version())
    print(version, flush=True)
"""
_PASSAGES = 200


@contextmanager
def writer(url: str, times: int) -> Iterator[subprocess.Popen[str]]:
    """Run a writing process, and end it with the block."""
    command = [sys.executable, "-c", _WRITE, url, str(times)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own interpreter and script
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def served_version(registry: SqlRegistry) -> int:
    """Return the live version after checking that it is whole."""
    view = registry.view(NAMESPACE, Sample("one").id)
    version = view.record.version
    expected = [f"Version {version} passage {at}." for at in range(_PASSAGES)]
    assert [passage.text for passage in view.passages] == expected
    assert view.text == "\n\n".join(expected)
    return version


def test_g7_a_reader_never_fails_while_another_process_writes(
    registry: SqlRegistry, url: str
) -> None:
    with writer(url, 25) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        seen = [served_version(registry)]
        while process.poll() is None:
            seen.append(served_version(registry))
        assert process.returncode == 0
    assert seen == sorted(seen)
    assert served_version(registry) == 25
    assert len(set(seen)) > 1, "the reader never ran beside the writer"


@pytest.mark.parametrize("acknowledged", [1, 2, 5, 9])
def test_g4_a_killed_writer_leaves_the_old_version_or_the_new(url: str, acknowledged: int) -> None:
    with writer(url, 1000) as process:
        assert process.stdout is not None
        for _ in range(acknowledged):
            last = int(process.stdout.readline())
        process.kill()
        process.wait()
        last = max([last, *map(int, process.stdout)])
    registry = open_registry(url)
    version = served_version(registry)
    assert version in {last, last + 1}, "an acknowledged version was lost"
    pending = {(each.version, each.state) for each in registry.pending(NAMESPACE)}
    assert {number for number, state in pending if state == "clearing"} == set(range(1, version))
    assert {number for number, state in pending if state == "writing"} <= {version + 1}
    assert registry.stats(NAMESPACE).passages == _PASSAGES
    registry.close()


def test_many_threads_read_while_one_writes(registry: SqlRegistry) -> None:
    sample = Sample("one")
    commit(registry, sample)
    ids = [passage.id for passage in sample.version().passages]

    def read(_: int) -> int:
        return len(registry.passages(NAMESPACE, ids))

    with ThreadPoolExecutor(16) as pool:
        counts = pool.map(read, range(200))
        for _ in range(10):
            commit(registry, sample)
        assert set(counts) == {len(ids)}


def test_g7_a_second_writer_waits_for_the_first(registry: SqlRegistry, path: Path) -> None:
    first = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    first.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(registry.begin_version, "one", (), namespace=NAMESPACE)
        assert registry.pending(NAMESPACE) == (), "a reader waited for a writer"
        first.execute("ROLLBACK")
        assert second.result(timeout=20) == 1
    first.close()
