"""Upgrading a registry that an older Eagle-RAG wrote."""

import sqlite3
from importlib import import_module
from io import StringIO
from pathlib import Path

import pytest
from alembic import command
from alembic.migration import MigrationContext
from alembic.operations import Operations

from eagle_rag.adapters.registry import open_registry
from eagle_rag.adapters.registry.database import Database
from eagle_rag.adapters.registry.schema import alembic_config
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit

ONE, TWO = Sample("one"), Sample("two")


@pytest.fixture
def first(path: Path, url: str) -> Path:
    """Return a registry of the first schema: one is live and replaced, and two was never committed."""
    database = Database(url)
    with database.migrating() as connection:
        command.upgrade(alembic_config(connection), "0001")
    database.close()
    with sqlite3.connect(path) as file:
        _insert(file, "documents", document_id=ONE.id, version=2, namespace=NAMESPACE)
        for sample, version, state in (
            (ONE, 1, "clearing"),
            (ONE, 2, "live"),
            (ONE, 3, "writing"),
            (TWO, 1, "writing"),
        ):
            _insert(
                file,
                "versions",
                document_id=sample.id,
                version=version,
                state=state,
                collections='["eagle_text"]',
            )
    file.close()
    return path


def _insert(connection: sqlite3.Connection, table: str, **values: object) -> None:
    """Add a row; columns that must have a value and were given none are empty."""
    empty = {"TEXT": "", "JSON": "[]", "INTEGER": 0, "BOOLEAN": 0}
    for _, name, kind, required, default, _ in connection.execute(f"PRAGMA table_info({table})"):
        if required and default is None and name != "doc":
            values.setdefault(name, empty[kind])
    marks = ", ".join("?" * len(values))
    statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - names of ours
    connection.execute(statement, tuple(values.values()))


@pytest.mark.usefixtures("first")
def test_g4_an_upgrade_gives_pending_versions_the_namespace_of_their_document(url: str) -> None:
    registry = open_registry(url)
    known = [
        (p.version, p.namespace) for p in registry.pending(NAMESPACE) if p.document_id == ONE.id
    ]
    assert known == [(1, NAMESPACE), (3, NAMESPACE)]
    assert ONE.id not in {pending.document_id for pending in registry.pending("other")}
    registry.close()


@pytest.mark.usefixtures("first")
@pytest.mark.parametrize("namespace", [NAMESPACE, "other"])
def test_g4_after_an_upgrade_a_version_of_nobody_is_pending_for_all(
    url: str, namespace: str
) -> None:
    registry = open_registry(url)
    found = [p for p in registry.pending(namespace) if p.document_id == TWO.id]
    assert [(p.version, p.collections, p.state, p.namespace) for p in found] == [
        (1, ("eagle_text",), "writing", "")
    ]
    registry.clear_pending(TWO.id, 1)
    assert TWO.id not in {pending.document_id for pending in registry.pending(namespace)}
    registry.close()


@pytest.mark.usefixtures("first")
def test_after_an_upgrade_documents_are_committed_as_ever(url: str) -> None:
    registry = open_registry(url)
    registry.commit_version(1, TWO.version())
    commit(registry, TWO)
    assert registry.live_versions((ONE.id, TWO.id)) == {ONE.id: 2, TWO.id: 2}
    registry.close()


def test_a_writer_that_was_open_during_the_upgrade_still_begins_versions(
    first: Path, url: str
) -> None:
    """It names no namespace: the column has a default."""
    open_registry(url).close()
    with sqlite3.connect(first) as connection:
        _insert(connection, "versions", document_id="late", version=1, state="writing")
    connection.close()
    registry = open_registry(url)
    assert "late" in {pending.document_id for pending in registry.pending("other")}
    registry.close()


def test_the_upgrade_is_plain_sql_for_postgresql() -> None:
    name = "eagle_rag.adapters.registry.migrations.versions.v0002_version_namespace"
    written = StringIO()
    context = MigrationContext.configure(
        dialect_name="postgresql", opts={"as_sql": True, "output_buffer": written}
    )
    with Operations.context(context):
        import_module(name).upgrade()
    assert " ".join(written.getvalue().split()) == (
        "ALTER TABLE versions ADD COLUMN namespace TEXT DEFAULT '' NOT NULL;"
        " UPDATE versions SET namespace=(SELECT documents.namespace FROM documents"
        " WHERE documents.document_id = versions.document_id)"
        " WHERE EXISTS (SELECT * FROM documents WHERE documents.document_id = versions.document_id);"
    )
