"""Creating, recognising and refusing schemas."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from eagle_rag.adapters.registry import open_registry
from eagle_rag.adapters.registry.database import Database
from eagle_rag.adapters.registry.schema import alembic_config
from eagle_rag.adapters.registry.tables import METADATA, REVISION, REVISION_TABLE
from eagle_rag.errors import ConfigurationError, RegistryError
from eagle_rag.testing.registry_sample import NAMESPACE, Sample, commit


def tables_in(path: Path) -> set[str]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    return {name for (name,) in rows}


def run(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()


def test_the_migrations_make_the_tables_the_code_uses(url: str) -> None:
    open_registry(url).close()
    database = Database(url)
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": REVISION_TABLE})
        assert compare_metadata(context, METADATA) == []
    database.close()


def test_the_code_names_the_latest_migration() -> None:
    assert ScriptDirectory.from_config(alembic_config()).get_heads() == [REVISION]


def test_the_migrations_can_be_taken_back(path: Path, url: str) -> None:
    open_registry(url).close()
    database = Database(url)
    with database.migrating() as connection:
        command.downgrade(alembic_config(connection), "base")
    database.close()
    assert tables_in(path) == {REVISION_TABLE}


def test_a_registry_whose_migrations_were_taken_back_is_upgraded(path: Path, url: str) -> None:
    test_the_migrations_can_be_taken_back(path, url)
    open_registry(url).close()
    assert tables_in(path) == {*METADATA.tables, REVISION_TABLE}


def test_g4_a_migration_that_fails_leaves_nothing_behind(path: Path, url: str) -> None:
    run(path, "CREATE TABLE audit (id INTEGER)")
    with pytest.raises(RegistryError, match="already exists"):
        open_registry(url)
    assert tables_in(path) == {"audit"}


def test_g7_a_new_registry_may_be_opened_by_several_at_once(path: Path, url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        for registry in pool.map(open_registry, [url] * 4):
            registry.close()
    assert tables_in(path) == {*METADATA.tables, REVISION_TABLE}


def test_a_registry_of_a_newer_version_is_refused(path: Path, url: str) -> None:
    open_registry(url).close()
    run(path, f"UPDATE {REVISION_TABLE} SET version_num = '9999'")  # noqa: S608 - a constant of ours
    with pytest.raises(RegistryError, match=r"'9999'.*upgrade eagle-rag"):
        open_registry(url)


def test_opening_a_current_registry_loads_no_alembic(url: str) -> None:
    open_registry(url).close()
    script = (
        "import sys; from eagle_rag.adapters.registry import open_registry;"
        f"open_registry({url!r}).close(); print('alembic' in sys.modules)"
    )
    command_line = [sys.executable, "-c", script]
    done = subprocess.run(command_line, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter and script
    assert done.stdout == "False\n"


def test_g7_opening_a_current_registry_does_not_wait_for_a_writer(path: Path, url: str) -> None:
    open_registry(url).close()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    registry = open_registry(url)
    assert registry.pending(NAMESPACE) == ()
    registry.close()
    writer.close()


def test_the_file_is_in_write_ahead_mode_and_syncs_every_commit(url: str) -> None:
    open_registry(url).close()
    database = Database(url)
    with database.reading() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas]
    database.close()
    full = 2
    assert found == ["wal", full, 1, 30_000]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="check that the folder exists"):
        open_registry(f"sqlite:///{tmp_path / 'absent' / 'registry.db'}")


@pytest.mark.parametrize("url", ["", "registry.db", "nosuch://host/name"])
def test_a_url_that_cannot_be_read_is_named(url: str) -> None:
    with pytest.raises(ConfigurationError, match="not a registry URL"):
        open_registry(url)


def test_a_driver_that_is_not_installed_is_named() -> None:
    with pytest.raises(ConfigurationError, match="pip install"):
        open_registry("postgresql+pg8000://user:secret@host/name")


def test_a_file_that_is_no_database_is_an_error_of_ours(path: Path, url: str) -> None:
    path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(RegistryError, match="not a database"):
        open_registry(url)


def test_what_was_written_is_there_after_reopening(url: str) -> None:
    registry = open_registry(url)
    commit(registry, Sample("one"))
    registry.close()
    again = open_registry(url)
    assert len(again.find_documents("core")) == 1
    again.close()
