"""A vector store in memory: slow and obviously right; what the other stores are compared with."""

import math
import operator
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from eagle_rag.errors import InvalidInput, StoreError
from eagle_rag.model.collection import CollectionSchema, StoreHit
from eagle_rag.model.filters import AllOf, AnyOf, Filter, OneOf, Value
from eagle_rag.model.passage import FloatArray, StoredPassage, VectorSpec
from eagle_rag.ops.store_rules import (
    check_filter,
    check_limit,
    check_query_vector,
    check_rows,
    check_same_space,
    check_schema,
    check_tokens,
    filter_fields,
    split_lexemes,
    unknown_collection,
)

__all__ = ["MemoryStore", "bm25", "matches"]

_K1 = 1.2
_B = 0.75
_OPERATORS: Mapping[str, Callable[[Value, Value], bool]] = MappingProxyType(
    {
        "eq": operator.eq,
        "ne": operator.ne,
        "lt": operator.lt,
        "le": operator.le,
        "gt": operator.gt,
        "ge": operator.ge,
    }
)


@dataclass(frozen=True, slots=True)
class _Collection:
    """One version of a collection; a write puts another in its place, so readers need no lock."""

    schema: CollectionSchema
    rows: Mapping[str, StoredPassage]


class MemoryStore:
    """Collections in a dictionary; gone with the process."""

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}
        self._lock = threading.Lock()
        self._closed = False

    def ensure(self, schema: CollectionSchema) -> None:
        """Create the collection, or add what it lacks; see the port."""
        check_schema(schema)
        with self._lock:
            self._check_open()
            found = self._collections.get(schema.name)
            if found is None:
                fields = tuple(sorted(schema.extra_fields))
                made = replace(schema, extra_fields=fields)
                self._collections[schema.name] = _Collection(made, {})
                return
            check_same_space(schema.name, found=found.schema.spec, wanted=schema.spec)
            wider = replace(
                found.schema,
                hybrid=found.schema.hybrid or schema.hybrid,
                extra_fields=tuple(sorted({*found.schema.extra_fields, *schema.extra_fields})),
            )
            rows = {key: _stored(row, row.vector, wider) for key, row in found.rows.items()}
            self._collections[schema.name] = _Collection(wider, rows)

    def describe(self, collection: str) -> CollectionSchema | None:
        """Return what the collection holds, or ``None`` when there is none."""
        self._check_open()
        found = self._collections.get(collection)
        return None if found is None else found.schema

    def collections(self) -> tuple[str, ...]:
        """Return the names of all collections, sorted."""
        self._check_open()
        return tuple(sorted(self._collections))

    def drop(self, collection: str) -> None:
        """Remove a collection; absent is fine."""
        self._check_open()
        with self._lock:
            self._collections.pop(collection, None)

    def optimize(self, collection: str) -> None:
        """Do nothing; there is no index."""
        self._get(collection)

    def rebuild(self, collection: str) -> None:
        """Do nothing; there is no index."""
        self._get(collection)

    def close(self) -> None:
        """Refuse later use."""
        self._closed = True

    def upsert(self, collection: str, rows: Sequence[StoredPassage]) -> None:
        """Write rows; a row with the same ``row_id`` is replaced."""
        with self._lock:
            found = self._get(collection)
            vectors = check_rows(rows, found.schema)
            new = {
                row.row_id: _stored(row, vector, found.schema)
                for row, vector in zip(rows, vectors, strict=True)
            }
            self._collections[collection] = replace(found, rows={**found.rows, **new})

    def delete(self, collection: str, where: Filter) -> None:
        """Delete every matching row."""
        with self._lock:
            found = self._get(collection)
            gone = {row.row_id for row in _select(found, where)}
            rows = {key: row for key, row in found.rows.items() if key not in gone}
            self._collections[collection] = replace(found, rows=rows)

    def search_dense(
        self, collection: str, vector: FloatArray, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return the nearest rows by comparing with every one."""
        check_limit(limit)
        found = self._get(collection)
        query = check_query_vector(vector, found.schema.spec)
        scored = [
            (_similarity(query, row.vector, found.schema.spec), row)
            for row in _select(found, where)
        ]
        return _rank(scored, limit)

    def search_lexical(
        self, collection: str, tokens: Sequence[str], *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return rows by textbook BM25 (Robertson and Zaragoza 2009; Lucene's idf)."""
        check_limit(limit)
        query = check_tokens(tokens)
        found = self._get(collection)
        allowed = _select(found, where)
        if not found.schema.hybrid:
            msg = f"collection {collection!r} has no BM25 index"
            raise InvalidInput(
                msg,
                remedy="ensure it with hybrid=True",
            )
        scores = bm25({key: row.lexemes for key, row in found.rows.items()}, query)
        scored = [(scores[row.row_id], row) for row in allowed if row.row_id in scores]
        return _rank(scored, limit)

    def scan(
        self, collection: str, *, where: Filter | None = None, batch_size: int = 4096
    ) -> Iterator[tuple[StoredPassage, ...]]:
        """Yield all matching rows in batches."""
        if batch_size < 1:
            msg = f"batch_size must be at least 1, got {batch_size}"
            raise InvalidInput(msg)
        rows = _select(self._get(collection), where)
        return (
            tuple(rows[start : start + batch_size]) for start in range(0, len(rows), batch_size)
        )

    def count(self, collection: str, *, where: Filter | None = None) -> int:
        """Count matching rows."""
        return len(_select(self._get(collection), where))

    def refresh(self) -> None:
        """Do nothing; there are no other processes."""
        self._check_open()

    def _get(self, collection: str) -> _Collection:
        self._check_open()
        found = self._collections.get(collection)
        if found is None:
            raise unknown_collection(collection, tuple(self._collections))
        return found

    def _check_open(self) -> None:
        if self._closed:
            msg = "the store is closed"
            raise StoreError(msg, remedy="open it again")


def matches(row: StoredPassage, where: Filter) -> bool:
    """Return whether a row satisfies a filter; ``None`` satisfies no comparison."""
    if isinstance(where, AllOf):
        return all(matches(row, part) for part in where.parts)
    if isinstance(where, AnyOf):
        return any(matches(row, part) for part in where.parts)
    extra = dict(row.extra)
    value = extra[where.field] if where.field in extra else getattr(row, where.field)
    if value is None:
        return False
    if isinstance(where, OneOf):
        return value in where.values
    return _OPERATORS[where.operator](value, where.value)


def bm25(documents: Mapping[str, str], query: Sequence[str]) -> dict[str, float]:
    """Return the score of every document that holds a query token, by its key.

    A document without tokens counts neither in the number of documents nor in their mean length.
    A query token given twice counts twice.
    """
    split = {key: tokens for key, text in documents.items() if (tokens := split_lexemes(text))}
    if not split:
        return {}
    mean = sum(map(len, split.values())) / len(split)
    counts = {key: Counter(tokens) for key, tokens in split.items()}
    scores: dict[str, float] = {}
    for token, repeats in Counter(query).items():
        holders = [key for key, count in counts.items() if token in count]
        idf = math.log(1 + (len(split) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key in holders:
            frequency = counts[key][token]
            norm = _K1 * (1 - _B + _B * len(split[key]) / mean)
            gain = idf * frequency * (_K1 + 1) / (frequency + norm)
            scores[key] = scores.get(key, 0.0) + repeats * gain
    return scores


def _select(found: _Collection, where: Filter | None) -> list[StoredPassage]:
    if where is None:
        return list(found.rows.values())
    check_filter(where, filter_fields(found.schema.extra_fields))
    return [row for row in found.rows.values() if matches(row, where)]


def _similarity(query: FloatArray, vector: FloatArray, spec: VectorSpec) -> float:
    left, right = query.astype(np.float64), vector.astype(np.float64)
    product = float(left @ right)
    if spec.metric == "ip":
        return product
    return product / math.sqrt(float(left @ left) * float(right @ right))


def _rank(scored: list[tuple[float, StoredPassage]], limit: int) -> tuple[StoreHit, ...]:
    scored.sort(key=lambda pair: (-pair[0], pair[1].row_id))
    return tuple(
        StoreHit(
            row_id=row.row_id,
            passage_id=row.passage_id,
            document_id=row.document_id,
            version=row.version,
            kb_name=row.kb_name,
            score=score,
            rank=rank,
            extra=row.extra,
        )
        for rank, (score, row) in enumerate(scored[:limit], start=1)
    )


def _stored(row: StoredPassage, vector: FloatArray, schema: CollectionSchema) -> StoredPassage:
    extra = dict(row.extra)
    fields = tuple((name, extra.get(name)) for name in schema.extra_fields)
    return replace(row, vector=vector.copy(), extra=fields)
