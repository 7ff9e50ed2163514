"""The embedded vector store: LanceDB behind ``CollectionStore``."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from filelock import FileLock
from lancedb.expr import Expr, col
from lancedb.query import LanceFtsQueryBuilder, LanceVectorQueryBuilder, MatchQuery
from lancedb.table import Table
from numpy.typing import NDArray

from eagle_rag.adapters.lance.filters import compile_filter
from eagle_rag.adapters.lance.indexes import (
    DenseIndex,
    Distance,
    build_lexical,
    drop_dense,
    optimize_steps,
)
from eagle_rag.adapters.lance.rows import (
    HIT_COLUMNS,
    from_arrow,
    rank_hits,
    text_field,
    to_arrow,
)
from eagle_rag.adapters.lance.tables import BROKEN_REMEDY, ENGINE_ERRORS, Handle, Tables, writing
from eagle_rag.errors import InvalidInput, StoreError
from eagle_rag.model.collection import CollectionSchema, StoreHit
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import FloatArray, StoredPassage
from eagle_rag.ops.store_rules import (
    OWN_FIELDS,
    check_limit,
    check_query_vector,
    check_same_space,
    check_schema,
    check_tokens,
)

__all__ = ["LanceStore"]

_ENSURE_ATTEMPTS = 5
_ALL_PARTITIONS = 65_536
_MIN_EF = 128  # With the engine's default a stored vector may not find itself at limit 1.
_TIE_MARGIN = 16
_MAX_TIE_FETCH = 4096

_Scored = tuple[pa.Table, NDArray[np.float64]]


class LanceStore:
    """A folder of LanceDB tables, one a collection.

    Many processes may read while one writes. A reader keeps the version it opened until
    ``refresh``. One object may be used from many threads; it does not survive ``fork``.

    Args:
        path: The folder; created when absent.
        index: When which dense index is built.
        retain: ``optimize`` keeps versions younger than this for readers that still use them.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        index: DenseIndex | None = None,
        retain: timedelta = timedelta(minutes=30),
    ) -> None:
        self._path = Path(path)
        self._tables = Tables(self._path)
        self._index = index or DenseIndex()
        self._retain = retain
        self._writer = threading.RLock()
        self._optimized: dict[str, int] = {}

    def ensure(self, schema: CollectionSchema) -> None:
        """Create the collection, or add the extra fields and the BM25 index that it lacks.

        Raises:
            InvalidInput: A name, dimension or metric no store could hold.
            VectorSpaceMismatch: It exists with another ``VectorSpec``, or with none.
        """
        check_schema(schema)
        with self._writer:
            for _ in range(_ENSURE_ATTEMPTS):
                handle = self._tables.find(schema.name)
                if handle is None:
                    self._tables.create(schema)
                    continue
                check_same_space(schema.name, found=handle.schema.spec, wanted=schema.spec)
                if _complete(handle, schema):
                    return
                writing(handle.table, partial(_extend, handle, schema))
            msg = f"collection {schema.name!r} is created and dropped by another process"
            raise StoreError(msg, remedy="end that process")

    def describe(self, collection: str) -> CollectionSchema | None:
        """Return what the collection holds, or ``None`` when there is none.

        Raises:
            VectorSpaceMismatch: It records no vector space.
        """
        handle = self._tables.find(collection)
        return None if handle is None else handle.schema

    def collections(self) -> tuple[str, ...]:
        """Return the names of all collections, sorted."""
        return self._tables.names()

    def drop(self, collection: str) -> None:
        """Remove a collection; absent is fine. Readers that still use it fail."""
        with self._writer:
            self._optimized.pop(collection, None)
            self._tables.drop(collection)

    def optimize(self, collection: str) -> None:
        """Compact, rebuild what deletions made inexact, drop old versions; nothing new, no work."""
        with self._writer:
            self._tables.get(collection)
            # One process at a time: two would throw each other's work away again and again.
            with FileLock(self._path / f".{collection}.optimize.lock"):
                self._optimize(collection)

    def rebuild(self, collection: str) -> None:
        """Make the indexes anew from the rows, also when files of the old ones are gone."""
        with self._writer, FileLock(self._path / f".{collection}.optimize.lock"):
            handle = self._tables.reopen(collection)
            if handle.schema.hybrid:
                writing(handle.table, partial(build_lexical, handle.table))
            writing(handle.table, partial(drop_dense, handle.table))
            self._optimized.pop(collection, None)
            self._optimize(collection)

    def close(self) -> None:
        """Forget all tables; later use is refused."""
        self._tables.close()

    def upsert(self, collection: str, rows: Sequence[StoredPassage]) -> None:
        """Write rows durably in one commit; a row with the same ``row_id`` is replaced.

        Raises:
            UnknownName: No such collection.
            InvalidInput: A row the collection cannot hold, or two with one ``row_id``.
            StoreError: The engine refused.
        """
        with self._writer:
            handle = self._tables.reopen(collection)
            data = to_arrow(rows, handle.schema)
            if rows:
                writing(handle.table, lambda: _write(handle.table, data))

    def delete(self, collection: str, where: Filter) -> None:
        """Delete every matching row durably in one commit."""
        with self._writer:
            handle = self._tables.reopen(collection)
            condition = compile_filter(where, handle.fields)
            if condition is False:
                return
            what = condition if isinstance(condition, Expr) else "true"
            writing(handle.table, lambda: handle.table.delete(what))

    def search_dense(
        self, collection: str, vector: FloatArray, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return the nearest rows; see the port.

        Rows tied at the limit are ordered by ``row_id`` as long as fewer than 4,096 tie.
        """
        check_limit(limit)

        def search(handle: Handle) -> tuple[StoreHit, ...]:
            spec = handle.schema.spec
            query = check_query_vector(vector, spec)
            condition = compile_filter(where, handle.fields)
            if condition is False:
                return ()
            distance: Distance = "cosine" if spec.metric == "cosine" else "dot"

            def fetch(count: int) -> _Scored:
                builder = LanceVectorQueryBuilder(handle.table, query, "vector")
                builder.distance_type(distance).nprobes(_ALL_PARTITIONS)
                builder.ef(max(_MIN_EF, 2 * count))
                found = _run(builder, handle, score="_distance", count=count, where=condition)
                scores = 1.0 - found.column("_distance").to_numpy().astype(np.float64)
                # float32 puts a vector's similarity to itself a hair above 1.
                return found, np.clip(scores, -1.0, 1.0) if distance == "cosine" else scores

            return _best(fetch, limit, handle.schema.extra_fields)

        return self._tables.read(collection, search)

    def search_lexical(
        self, collection: str, tokens: Sequence[str], *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return rows by BM25 over ``lexemes``; see the port.

        A token given twice counts twice. Statistics are those of the whole collection, whatever the
        filter, as of the last ``optimize``.
        """
        check_limit(limit)
        wanted = check_tokens(tokens)

        def search(handle: Handle) -> tuple[StoreHit, ...]:
            condition = compile_filter(where, handle.fields)
            if not handle.schema.hybrid:
                msg = f"collection {collection!r} has no BM25 index"
                raise InvalidInput(
                    msg,
                    remedy="ensure it with hybrid=True",
                )
            if condition is False or not wanted:
                return ()
            # fuzziness 0 and no expansion: tokens are compared as they are.
            query = MatchQuery(" ".join(wanted), "lexemes")  # type: ignore[call-arg]  # mypy takes pydantic's Field(default) for no default

            def fetch(count: int) -> _Scored:
                builder = LanceFtsQueryBuilder(handle.table, query)
                found = _run(builder, handle, score="_score", count=count, where=condition)
                return found, found.column("_score").to_numpy().astype(np.float64)

            return _best(fetch, limit, handle.schema.extra_fields)

        return self._tables.read(collection, search)

    def scan(
        self, collection: str, *, where: Filter | None = None, batch_size: int = 4096
    ) -> Iterator[tuple[StoredPassage, ...]]:
        """Yield all matching rows of the version in use, in batches of at most ``batch_size``."""
        if batch_size < 1:
            msg = f"batch_size must be at least 1, got {batch_size}"
            raise InvalidInput(msg)

        def start(handle: Handle) -> Iterator[tuple[StoredPassage, ...]]:
            extra = handle.schema.extra_fields
            columns = [*OWN_FIELDS, "vector", *extra]
            return _passages(collection, _batches(handle, where, columns, batch_size), extra)

        return self._tables.read(collection, start)

    def count(self, collection: str, *, where: Filter | None = None) -> int:
        """Count matching rows."""

        def count(handle: Handle) -> int:
            if compile_filter(where, handle.fields) is True:
                return int(handle.table.count_rows())
            return sum(batch.num_rows for batch in _batches(handle, where, ["row_id"], 65_536))

        return self._tables.read(collection, count)

    def refresh(self) -> None:
        """See everything other processes have committed."""
        self._tables.refresh()

    def _optimize(self, collection: str) -> None:
        handle = self._tables.reopen(collection)
        if self._optimized.get(collection) == handle.table.version:
            return
        steps = optimize_steps(
            handle.table, self._index, schema=handle.schema, retain=self._retain
        )
        for step in steps:
            writing(handle.table, step)
        self._optimized[collection] = self._tables.reopen(collection).table.version


def _complete(handle: Handle, schema: CollectionSchema) -> bool:
    fields = set(schema.extra_fields) <= set(handle.schema.extra_fields)
    return fields and (handle.schema.hybrid or not schema.hybrid)


def _extend(handle: Handle, schema: CollectionSchema) -> None:
    missing = sorted(set(schema.extra_fields) - set(handle.schema.extra_fields))
    if missing:
        handle.table.add_columns([text_field(name) for name in missing])
    if schema.hybrid and not handle.schema.hybrid:
        build_lexical(handle.table)


def _write(table: Table, data: pa.Table) -> None:
    # Appending takes a tenth of the time of a merge, and new rows are the rule.
    if table.count_rows() and _holds_any(table, data.column("row_id").to_pylist()):
        merge = table.merge_insert("row_id")
        merge.when_matched_update_all().when_not_matched_insert_all().execute(data)
    else:
        table.add(data)


def _holds_any(table: Table, row_ids: list[str]) -> bool:
    query = table.search().where(col("row_id").isin(row_ids)).select(["row_id"]).limit(1)
    return bool(query.to_arrow().num_rows)


def _run(
    builder: LanceVectorQueryBuilder | LanceFtsQueryBuilder,
    handle: Handle,
    *,
    score: str,
    count: int,
    where: Expr | bool,
) -> pa.Table:
    builder.select([*HIT_COLUMNS, *handle.schema.extra_fields, score]).limit(count)
    if isinstance(where, Expr):
        builder.where(where, prefilter=True)
    return builder.to_arrow()


def _best(
    fetch: Callable[[int], _Scored], limit: int, extra: Sequence[str]
) -> tuple[StoreHit, ...]:
    """Return the best ``limit`` hits, fetching beyond the limit until no tie crosses it."""
    count = limit + _TIE_MARGIN
    most = max(_MAX_TIE_FETCH, 4 * limit)
    while True:
        found, scores = fetch(count)
        tied = len(scores) >= count and np.sort(scores)[-limit] == scores.min()
        if not tied or count >= most:
            return tuple(rank_hits(found, scores.tolist(), extra)[:limit])
        count = min(4 * count, most)


def _batches(
    handle: Handle, where: Filter | None, columns: list[str], batch_size: int
) -> Iterable[pa.RecordBatch]:
    condition = compile_filter(where, handle.fields)
    if condition is False:
        return ()
    query = handle.table.search().select(columns)
    if isinstance(condition, Expr):
        query = query.where(condition)
    batches: Iterable[pa.RecordBatch] = query.to_batches(batch_size)
    return batches


def _passages(
    collection: str, batches: Iterable[pa.RecordBatch], extra: Sequence[str]
) -> Iterator[tuple[StoredPassage, ...]]:
    try:
        for batch in batches:
            if batch.num_rows:
                yield from_arrow(batch, extra)
    except ENGINE_ERRORS as error:
        msg = f"scanning collection {collection!r} failed: {error}"
        raise StoreError(msg, remedy=BROKEN_REMEDY) from error
