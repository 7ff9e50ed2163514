"""Opening Lance tables: handles, what they hold, and the engine's errors in our words."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import lancedb
from lancedb.table import Table

from eagle_rag.adapters.lance.rows import arrow_schema, decode_spec, extra_fields
from eagle_rag.errors import EagleError, StoreError
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.ops.store_rules import FieldKind, filter_fields, unknown_collection

__all__ = ["BROKEN_REMEDY", "ENGINE_ERRORS", "Handle", "Tables", "writing"]

ENGINE_ERRORS = (RuntimeError, ValueError, OSError)
"""What the engine raises; it has no exception types of its own for most failures."""

BROKEN_REMEDY = "if it happens again, run `eagle verify --repair`"
"""Files that are gone or damaged look like any other failure of the engine."""

_WRITE_ATTEMPTS = 10
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Handle:
    """An open table as of one version.

    Args:
        table: The engine's table.
        schema: What it holds; ``hybrid`` when its BM25 index exists.
        fields: What a filter may name.
    """

    table: Table
    schema: CollectionSchema
    fields: Mapping[str, FieldKind]


class Tables:
    """The tables of one folder; a handle is opened once and kept until ``refresh``.

    Args:
        path: The folder; created when absent.
    """

    def __init__(self, path: Path) -> None:
        self._connection = lancedb.connect(path)
        self._handles: dict[str, Handle] = {}
        self._lock = threading.Lock()
        self._closed = False

    def names(self) -> tuple[str, ...]:
        """Return the names of all tables that can be opened, sorted.

        A folder left by a creation that was killed before its first commit is none.
        """
        names: list[str] = []
        token: str | None = None
        while True:
            page = self._connection.list_tables(page_token=token)
            names.extend(page.tables)
            token = page.page_token
            if not token:
                break
        return tuple(sorted(name for name in names if self._open_table(name) is not None))

    def get(self, name: str) -> Handle:
        """Return the handle of a collection, opened at first use.

        Raises:
            UnknownName: No such collection.
            VectorSpaceMismatch: It records no vector space.
        """
        with self._lock:
            handle = self._handles.get(name)
        return handle if handle is not None else self.reopen(name)

    def reopen(self, name: str) -> Handle:
        """Return a handle on the newest version; errors as ``get``."""
        handle = self.find(name)
        if handle is None:
            raise unknown_collection(name, self.names())
        return handle

    def find(self, name: str) -> Handle | None:
        """Return a handle on the newest version, or ``None`` when there is no such table."""
        table = self._open_table(name)
        handle = None if table is None else _handle(name, table)
        with self._lock:
            if handle is None:
                self._handles.pop(name, None)
            else:
                self._handles[name] = handle
        return handle

    def create(self, schema: CollectionSchema) -> bool:
        """Create an empty table with its vector space in one commit; ``False`` if it was there."""
        try:
            self._connection.create_table(schema.name, schema=arrow_schema(schema))
        except ENGINE_ERRORS as error:
            if "already exists" in str(error):
                return False
            msg = f"cannot create collection {schema.name!r}: {error}"
            raise StoreError(msg) from error
        return True

    def drop(self, name: str) -> None:
        """Remove a table; absent is fine."""
        if self._open_table(name) is not None:
            try:
                self._connection.drop_table(name)
            except ENGINE_ERRORS as error:
                msg = f"cannot drop collection {name!r}: {error}"
                raise StoreError(msg) from error
        with self._lock:
            self._handles.pop(name, None)

    def refresh(self) -> None:
        """Move every open handle to the newest version, or forget it when its table is gone."""
        with self._lock:
            names = tuple(self._handles)
        for name in names:
            self.find(name)

    def close(self) -> None:
        """Forget all handles; later use is refused."""
        with self._lock:
            self._handles.clear()
            self._closed = True

    def read(self, name: str, action: Callable[[Handle], _Result]) -> _Result:
        """Return ``action(handle)``; once more on a fresh handle when its version was cleaned away.

        Raises:
            StoreError: The engine failed.
        """
        try:
            return action(self.get(name))
        except EagleError:
            raise
        except ENGINE_ERRORS as error:
            # A version older than the retention of `optimize`: its files are gone.
            if "not found" not in str(error).lower():
                msg = f"reading collection {name!r} failed: {error}"
                raise StoreError(msg, remedy=BROKEN_REMEDY) from error
        try:
            return action(self.reopen(name))
        except EagleError:
            raise
        except ENGINE_ERRORS as error:
            msg = f"reading collection {name!r} failed: {error}"
            raise StoreError(msg, remedy=BROKEN_REMEDY) from error

    def _open_table(self, name: str) -> Table | None:
        if self._closed:
            msg = "the store is closed"
            raise StoreError(msg, remedy="open it again")
        try:
            return self._connection.open_table(name)
        except ENGINE_ERRORS as error:
            message = str(error)
            if "was not found" in message or "Invalid table name" in message:
                return None
            msg = f"cannot open collection {name!r}: {message}"
            raise StoreError(msg) from error


def writing(table: Table, action: Callable[[], object]) -> None:
    """Run a write to a table; again when another process committed a conflicting one first.

    Raises:
        StoreError: The engine refused, or lost every race.
    """
    for attempt in range(1, _WRITE_ATTEMPTS + 1):
        try:
            action()
        except ENGINE_ERRORS as error:
            if isinstance(error, EagleError):
                raise
            if "conflict" in str(error).lower() and attempt < _WRITE_ATTEMPTS:
                # Without it the engine starts from the same outdated version again.
                table.checkout_latest()  # type: ignore[no-untyped-call]  # the library has no types
                continue
            msg = f"writing collection {table.name!r} failed: {error}"
            raise StoreError(msg, remedy=BROKEN_REMEDY) from error
        return


def _handle(name: str, table: Table) -> Handle:
    found = table.schema
    extra = extra_fields(found)
    hybrid = any(index.columns == ["lexemes"] for index in table.list_indices())
    schema = CollectionSchema(name, decode_spec(name, found), hybrid=hybrid, extra_fields=extra)
    return Handle(table, schema, filter_fields(extra))
