"""Connections and transactions; the only file that knows how the two engines differ."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from eagle_rag.adapters.registry.texts import DamagedText
from eagle_rag.errors import ConfigurationError, RegistryError

__all__ = ["Database"]

_BUSY_TIMEOUT_MS = 30_000
"""How long a SQLite writer waits for another: longer than any single document's commit."""

_WRITE = "eagle_rag_write"
_MIGRATION_LOCK = 7_214_663_021
"""An arbitrary number that every Eagle-RAG process uses to migrate one PostgreSQL at a time."""


class Database:
    """A pool of connections with two kinds of transaction.

    SQLite: a read is one snapshot of the write-ahead log and never waits; a write takes the one write
    lock at its start, so that it cannot fail half way for want of it. PostgreSQL: a read is one
    ``REPEATABLE READ`` snapshot.

    Args:
        url: An SQLAlchemy URL, ``sqlite:///path/registry.db`` or ``postgresql+psycopg://...``.

    Raises:
        ConfigurationError: The URL cannot be read, or its driver is not installed.
    """

    def __init__(self, url: str) -> None:
        engine = _engine(url)
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.shown_url = engine.url.render_as_string(hide_password=True)
        self._engine = engine
        if self.is_sqlite:
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            self._reader = engine
        else:
            self._reader = engine.execution_options(isolation_level="REPEATABLE READ")
        self._writer = engine.execution_options(**{_WRITE: True})
        self._file = _file_of(engine)
        self._identity: tuple[int, int] | None = None

    def check_present(self) -> None:
        """Refuse to go on when the file was removed or replaced since ``note_file``; microseconds.

        SQLite goes on in a file that no longer has a name, and all of it is gone when it is closed.

        Raises:
            RegistryError: It was.
        """
        if self._identity is not None and _identity_of(self._file) != self._identity:
            message = f"the registry {self.shown_url} was removed or replaced while it was open"
            raise RegistryError(
                message, remedy="open the engine again, or start the command again"
            )

    def note_file(self) -> None:
        """Remember which file is open, once it is there; a database that is no file has none."""
        self._identity = _identity_of(self._file)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open one snapshot; nothing is written."""
        self.check_present()
        with self._explained("read"), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open one transaction: all of it is durable afterwards, or none of it when it raises."""
        self.check_present()
        with self._explained("write"), self._writer.begin() as connection:
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Open a write transaction that no other process migrates beside."""
        with self._explained("migrate"):
            if self.is_sqlite:
                self._use_write_ahead_log()
            with self._writer.begin() as connection:
                if not self.is_sqlite:
                    lock = text("SELECT pg_advisory_xact_lock(:number)")
                    connection.execute(lock, {"number": _MIGRATION_LOCK})
                yield connection

    def close(self) -> None:
        """Release every connection."""
        self._engine.dispose()

    def _use_write_ahead_log(self) -> None:
        """Switch the file to WAL, which it remembers; no transaction may be open meanwhile."""
        connection = self._engine.raw_connection()
        try:
            # Only a new file takes the page size: rows of 4 KB are common here.
            connection.cursor().execute("PRAGMA page_size=8192").close()
            connection.cursor().execute("PRAGMA journal_mode=WAL").close()
        finally:
            connection.close()

    @contextmanager
    def _explained(self, action: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            cause = getattr(error, "orig", None) or error
            message = f"cannot {action} the registry {self.shown_url}: {cause}"
            raise RegistryError(message, remedy=_remedy(str(cause))) from error
        except (DamagedText, json.JSONDecodeError) as error:
            message = f"the registry {self.shown_url} is damaged: {error}"
            remedy = "run eagle verify, and ingest the documents it names again"
            raise RegistryError(message, remedy=remedy) from error
        except UnicodeEncodeError as error:
            message = f"cannot {action} the registry {self.shown_url}: {error}"
            remedy = "the document holds characters that are not Unicode text; decode it again"
            raise RegistryError(message, remedy=remedy) from error


def _file_of(engine: Engine) -> Path | None:
    """Return the absolute path of a SQLite file: the working directory may change meanwhile."""
    name = engine.url.database
    # What begins with file: is an address with options of its own, which only SQLite reads.
    if engine.dialect.name != "sqlite" or not name or name.startswith((":memory:", "file:")):
        return None
    return Path(name).absolute()


def _identity_of(file: Path | None) -> tuple[int, int] | None:
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remedy(cause: str) -> str:
    if "locked" in cause or "busy" in cause:
        return "another process is writing; try again when it has ended"
    if "unable to open" in cause:
        return "check that the folder exists and may be written to"
    return ""


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        options: dict[str, Any] = {"pool_size": 8, "max_overflow": 56}
        if parsed.get_backend_name() == "sqlite":
            options["connect_args"] = {"check_same_thread": False}
        return create_engine(parsed, json_serializer=_dump, **options)
    except (ArgumentError, TypeError) as error:
        message = f"not a registry URL: {url!r}"
        remedy = "use sqlite:///path/registry.db or postgresql+psycopg://user@host/name"
        raise ConfigurationError(message, remedy=remedy) from error
    except ModuleNotFoundError as error:
        message = f"the registry URL needs the driver {error.name!r}, which is not installed"
        remedy = "for PostgreSQL: pip install 'psycopg[binary]'"
        raise ConfigurationError(message, remedy=remedy) from error


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 - a DBAPI connection has no common type
    # The driver must not open transactions by itself: _begin_sqlite decides which kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA mmap_size=1073741824")
    cursor.execute("PRAGMA cache_size=-16384")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
