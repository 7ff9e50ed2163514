"""Bringing a database to the schema this code was written for.

Alembic is loaded only when there is something to migrate: opening a current registry costs one
``SELECT``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Text, column, inspect, select, table

from eagle_rag.adapters.registry.database import Database
from eagle_rag.adapters.registry.tables import REVISION, REVISION_TABLE
from eagle_rag.errors import RegistryError

if TYPE_CHECKING:
    from alembic.config import Config

__all__ = ["alembic_config", "ensure_current"]


def ensure_current(database: Database) -> None:
    """Create the tables, or upgrade older ones in one transaction; do nothing when they are current.

    Raises:
        RegistryError: The schema is of a newer Eagle-RAG, or the database cannot be opened.
    """
    with database.reading() as connection:
        revision = _revision(connection)
    if revision == REVISION:
        return
    with database.migrating() as connection:
        # Another process may have migrated while this one waited for its turn.
        revision = _revision(connection)
        if revision != REVISION:
            _upgrade(connection, revision, database.shown_url)


def alembic_config(connection: Connection | None = None) -> "Config":
    """Return the configuration of the migrations shipped in this package."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection, revision: str | None, shown_url: str) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config(connection)
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        message = (
            f"the registry {shown_url} has schema {revision!r}, newer than {REVISION!r}, the latest "
            "this Eagle-RAG knows"
        )
        raise RegistryError(message, remedy="upgrade eagle-rag")
    command.upgrade(config, REVISION)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(REVISION_TABLE):
        return None
    revisions = table(REVISION_TABLE, column("version_num", Text))
    return connection.execute(select(revisions.c.version_num)).scalar()
