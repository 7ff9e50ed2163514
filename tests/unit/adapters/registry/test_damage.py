"""A cell that somebody else has written is an error that names the document."""

import sqlite3
from pathlib import Path

import pytest

from eagle_rag.adapters.registry import SqlRegistry
from eagle_rag.errors import RegistryError
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit, rich_version

SAMPLE = Sample("one")
OTHER = Sample("two")
IDS = tuple(passage.id for passage in SAMPLE.version().passages)


def _change(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE sections SET kind = 'nonsense'", "list of sections"),
        ("UPDATE sections SET path = '['", "list of sections"),
        ("UPDATE documents SET front = x'00'", "front matter"),
        ("UPDATE documents SET front = '[]'", "front matter"),
        ("UPDATE data_tables SET rows = '['", "list of tables"),
        ("UPDATE figures SET graphics = '7'", "list of figures"),
        ("UPDATE texts SET blocks = x'00'", "list of blocks"),
        ("UPDATE text_chunks SET data = x'00'", "text"),
        ("UPDATE passages SET section = 99", "list of passages"),
    ],
)
def test_a_damaged_cell_is_named_with_its_document(
    registry: SqlRegistry, path: Path, statement: str, what: str
) -> None:
    new = rich_version(SAMPLE)
    registry.commit_version(
        registry.begin_version(new.document_id, new.collections, namespace=new.namespace), new
    )
    _change(path, statement)
    with pytest.raises(RegistryError, match=f"the {what} of document '{new.document_id}'") as told:
        registry.view(new.namespace, new.document_id)
    assert f"eagle delete {new.document_id}" in told.value.remedy


def test_the_passages_of_a_damaged_document_are_named_and_those_of_others_are_read(
    registry: SqlRegistry, path: Path
) -> None:
    commit(registry, SAMPLE)
    commit(registry, OTHER)
    others = tuple(passage.id for passage in OTHER.version().passages)
    _change(path, f"UPDATE documents SET front = x'00' WHERE document_id = '{SAMPLE.id}'")  # noqa: S608 - a test's own id
    assert len(registry.passages(NAMESPACE, others)) == len(others)
    with pytest.raises(RegistryError, match=SAMPLE.id):
        registry.passages(NAMESPACE, (*others, *IDS))
    with pytest.raises(RegistryError, match=SAMPLE.id):
        registry.find_documents(NAMESPACE)


def test_a_damaged_document_can_be_named_and_deleted(registry: SqlRegistry, path: Path) -> None:
    commit(registry, SAMPLE)
    _change(path, "UPDATE documents SET front = x'00'")
    assert registry.document_ids(NAMESPACE, identifier=SAMPLE.id) == (SAMPLE.id,)
    registry.delete_document(SAMPLE.id)
    assert registry.document_ids(NAMESPACE) == ()
