"""What is stored is what was committed, or it is said."""

import sqlite3
import zlib
from pathlib import Path

import pytest

from eagle_rag.adapters.registry import SqlRegistry
from eagle_rag.errors import RegistryError
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

SAMPLE = Sample("one")
IDS = tuple(passage.id for passage in SAMPLE.version().passages)


def change(path: Path, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


def test_passages_as_committed_are_not_damaged(registry: SqlRegistry) -> None:
    commit(registry, SAMPLE)
    assert registry.damaged_passages(SAMPLE.id) == ()
    assert registry.damaged_passages("absent") == ()


def test_a_text_changed_on_disk_is_found(registry: SqlRegistry, path: Path) -> None:
    commit(registry, SAMPLE)
    other = zlib.compress(b"First passage.\n\nAnother passage.")
    change(path, "UPDATE text_chunks SET data = ?", other)
    assert registry.damaged_passages(SAMPLE.id) == IDS


def test_a_span_changed_on_disk_is_found(registry: SqlRegistry, path: Path) -> None:
    commit(registry, SAMPLE)
    change(path, "UPDATE passages SET end_char = end_char - 1 WHERE ordinal = 1")
    assert registry.damaged_passages(SAMPLE.id) == IDS[1:]


@pytest.mark.parametrize(
    "statement", ["UPDATE text_chunks SET data = x'00'", "DELETE FROM text_chunks"]
)
def test_a_text_that_cannot_be_read_is_an_error_that_says_what_to_do(
    registry: SqlRegistry, path: Path, statement: str
) -> None:
    commit(registry, SAMPLE)
    change(path, statement)
    assert registry.damaged_passages(SAMPLE.id) == IDS
    with pytest.raises(RegistryError, match=r"damaged.*eagle delete"):
        registry.passages(NAMESPACE, IDS)
