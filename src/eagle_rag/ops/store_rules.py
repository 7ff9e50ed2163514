"""What every vector store must accept and refuse, in one place, so that all engines agree.

Pure checks of values on their way into a store. What is particular to one engine (how a filter is
compiled, how a row is written) belongs to its adapter.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from eagle_rag.errors import InvalidFilter, InvalidInput, UnknownName, VectorSpaceMismatch
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf, Value
from eagle_rag.model.passage import FloatArray, StoredPassage, VectorSpec

__all__ = [
    "MAX_FILTER_DEPTH",
    "MAX_QUERY_TOKENS",
    "OWN_FIELDS",
    "FieldKind",
    "check_filter",
    "check_limit",
    "check_query_vector",
    "check_rows",
    "check_same_space",
    "check_schema",
    "check_tokens",
    "filter_fields",
    "split_lexemes",
    "unknown_collection",
]

FieldKind = Literal["text", "int"]

OWN_FIELDS: Mapping[str, FieldKind] = {
    "row_id": "text",
    "passage_id": "text",
    "document_id": "text",
    "version": "int",
    "namespace": "text",
    "kb_name": "text",
    "text": "text",
    "lexemes": "text",
    "path": "text",
    "section_kind": "text",
    "chunk_type": "text",
    "source_type": "text",
    "source_chunk_id": "text",
    "start": "int",
    "end": "int",
    "year": "int",
}
"""Fields of ``StoredPassage`` that a filter may name, in row order; ``vector`` is not one."""

MAX_QUERY_TOKENS = 10_000
"""A lexical query of more tokens is refused: BM25 costs time per token, and 10,000 take seconds."""

MAX_FILTER_DEPTH = 32
"""Engines walk a filter recursively on a small native stack; nobody writes one this deep."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,62}")
_ASCII_SPACE = re.compile(r"[ \t\n\f\r]+")
_INT64 = 2**63
_METRICS = ("cosine", "ip")


def check_schema(schema: CollectionSchema) -> None:
    """Refuse a collection no store could hold.

    Raises:
        InvalidInput: Its name, a field name, its dimension or its metric.
    """
    if not _NAME.fullmatch(schema.name):
        msg = f"collection name {schema.name!r} is not usable"
        raise InvalidInput(
            msg,
            remedy="use letters, digits, '_', '-' and '.', starting with a letter or digit",
        )
    if schema.spec.dim < 1:
        msg = f"dimension must be at least 1, got {schema.spec.dim}"
        raise InvalidInput(msg)
    if schema.spec.metric not in _METRICS:
        msg = f"metric must be one of {', '.join(_METRICS)}, got {schema.spec.metric!r}"
        raise InvalidInput(msg)
    for name in schema.extra_fields:
        if not _FIELD.fullmatch(name) or name in OWN_FIELDS or name == "vector":
            msg = f"extra field name {name!r} is not usable"
            raise InvalidInput(
                msg,
                remedy="use lower case letters, digits and '_', and no name of StoredPassage's own",
            )
    if len(set(schema.extra_fields)) != len(schema.extra_fields):
        msg = f"an extra field is named twice in {schema.extra_fields!r}"
        raise InvalidInput(msg)


def check_same_space(collection: str, *, found: VectorSpec, wanted: VectorSpec) -> None:
    """Refuse vectors of another space, with both named (K4).

    Raises:
        VectorSpaceMismatch: Any part of the two specs differs.
    """
    if found == wanted:
        return
    parts = [
        f"{part.name} {getattr(found, part.name)!r} against {getattr(wanted, part.name)!r}"
        for part in dataclasses.fields(VectorSpec)
        if getattr(found, part.name) != getattr(wanted, part.name)
    ]
    msg = (
        f"collection {collection!r} was filled by encoder {found.encoder!r}, not by "
        f"{wanted.encoder!r}: {'; '.join(parts)}"
    )
    raise VectorSpaceMismatch(
        msg,
        remedy="use the encoder that filled it, or ingest into another collection",
    )


def check_rows(rows: Sequence[StoredPassage], schema: CollectionSchema) -> FloatArray:
    """Return the vectors of rows as one ``(n, dim)`` float32 array, all rows being acceptable.

    Raises:
        InvalidInput: A vector, a field or a repeated ``row_id``; the row is named.
    """
    vectors = np.empty((len(rows), schema.spec.dim), dtype=np.float32)
    seen: set[str] = set()
    for position, row in enumerate(rows):
        if row.row_id in seen:
            msg = f"row {row.row_id!r} is given twice in one call"
            raise InvalidInput(msg)
        seen.add(row.row_id)
        vectors[position] = _vector(row.vector, schema.spec, f"vector of row {row.row_id!r}")
        _check_fields(row, schema)
    return vectors


def check_query_vector(vector: FloatArray, spec: VectorSpec) -> FloatArray:
    """Return a query vector as float32 of shape ``(dim,)``.

    Raises:
        InvalidInput: Another shape, a component that is not finite, or no direction under cosine.
    """
    return _vector(vector, spec, "query vector")


def check_limit(limit: int) -> None:
    """Refuse a limit below 1."""
    if limit < 1:
        msg = f"limit must be at least 1, got {limit}"
        raise InvalidInput(msg)


def check_tokens(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the tokens of a lexical query as the index splits them; repeated ones stay.

    Raises:
        InvalidInput: More than ``MAX_QUERY_TOKENS``, or a token that is not Unicode text.
    """
    joined = " ".join(tokens)
    _check_text(joined, "query")
    found = split_lexemes(joined)
    if len(found) > MAX_QUERY_TOKENS:
        msg = f"the query has {len(found)} tokens; at most {MAX_QUERY_TOKENS} are searched"
        raise InvalidInput(
            msg,
            remedy="shorten it",
        )
    return found


def split_lexemes(lexemes: str) -> tuple[str, ...]:
    """Return the tokens of a ``lexemes`` value: separated by ASCII white space, nothing else.

    ``str.split()`` would also part at no-break spaces, where the engines' analyzers do not.
    """
    return tuple(token for token in _ASCII_SPACE.split(lexemes) if token)


def filter_fields(extra_fields: Sequence[str]) -> dict[str, FieldKind]:
    """Return every field a filter may name in a collection, with its kind."""
    return {**OWN_FIELDS, **dict.fromkeys(extra_fields, "text")}


def check_filter(where: Filter, fields: Mapping[str, FieldKind], *, depth: int = 1) -> None:
    """Refuse a filter that has no defined answer.

    Args:
        where: The filter.
        fields: The fields it may name.
        depth: How deep it is nested in another one, from 1.

    Raises:
        InvalidFilter: An unknown field (the known ones are listed), an unknown operator, a value
            of another kind than its field, or nesting beyond ``MAX_FILTER_DEPTH``.
    """
    if depth > MAX_FILTER_DEPTH:
        msg = f"the filter is nested more than {MAX_FILTER_DEPTH} deep"
        raise InvalidFilter(msg)
    if isinstance(where, AllOf | AnyOf):
        for part in where.parts:
            check_filter(part, fields, depth=depth + 1)
    elif isinstance(where, OneOf):
        kind = _field_kind(where.field, fields)
        for value in where.values:
            _check_value(where.field, kind, value)
    elif isinstance(where, Compare):
        if where.operator not in {"eq", "ne", "lt", "le", "gt", "ge"}:
            msg = f"unknown operator {where.operator!r}; known: eq, ne, lt, le, gt, ge"
            raise InvalidFilter(msg)
        _check_value(where.field, _field_kind(where.field, fields), where.value)
    else:
        msg = f"not a filter: {type(where).__name__}"
        raise InvalidFilter(msg)


def unknown_collection(collection: str, known: Sequence[str]) -> UnknownName:
    """Return the error for a collection that is not there."""
    return UnknownName(
        "collection", collection, tuple(sorted(known)), remedy="ingest into it first"
    )


def _field_kind(field: str, fields: Mapping[str, FieldKind]) -> FieldKind:
    kind = fields.get(field)
    if kind is None:
        msg = f"unknown filter field {field!r}; known: {', '.join(sorted(fields))}"
        raise InvalidFilter(
            msg,
        )
    return kind


def _check_value(field: str, kind: FieldKind, value: Value) -> None:
    if kind == "text":
        if not isinstance(value, str):
            msg = f"field {field!r} holds text, got {value!r}"
            raise InvalidFilter(msg)
        _check_text(value, f"value for field {field!r}", error=InvalidFilter)
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"field {field!r} holds whole numbers, got {value!r}"
        raise InvalidFilter(msg)
    # The comparison also refuses NaN, which compares with nothing.
    if not -_INT64 <= value < _INT64:
        msg = f"value for field {field!r} is out of range: {value!r}"
        raise InvalidFilter(msg)


def _vector(vector: FloatArray, spec: VectorSpec, what: str) -> FloatArray:
    array = np.asarray(vector, dtype=np.float32)
    if array.shape != (spec.dim,):
        msg = f"{what} has shape {array.shape}, the collection wants ({spec.dim},)"
        raise InvalidInput(msg)
    if not np.isfinite(array).all():
        msg = f"{what} has a component that is not finite"
        raise InvalidInput(msg)
    # The engines sum squares in float32: what overflows or vanishes there has no defined cosine.
    with np.errstate(over="ignore", under="ignore"):
        squared = float(np.dot(array, array))
    if not np.isfinite(squared):
        msg = f"{what} is too long for float32 arithmetic"
        raise InvalidInput(msg)
    if spec.metric == "cosine" and squared < np.finfo(np.float32).tiny:
        msg = f"{what} is zero; cosine similarity has no value for it"
        raise InvalidInput(msg)
    return array


def _check_fields(row: StoredPassage, schema: CollectionSchema) -> None:
    what = f"of row {row.row_id!r}"
    for name, kind in OWN_FIELDS.items():
        value = getattr(row, name)
        if kind == "text":
            _check_text(value, f"{name} {what}")
        elif value is not None and not -_INT64 <= value < _INT64:
            msg = f"{name} {what} is out of range: {value}"
            raise InvalidInput(msg)
    for name, extra in row.extra:
        if name not in schema.extra_fields:
            msg = (
                f"row {row.row_id!r} has the extra field {name!r}, which collection "
                f"{schema.name!r} lacks; it has: {', '.join(schema.extra_fields) or 'none'}"
            )
            raise InvalidInput(
                msg,
                remedy="name it in the collection's extra fields",
            )
        if extra is not None:
            _check_text(extra, f"{name} {what}")


def _check_text(value: str, what: str, *, error: type[InvalidInput] = InvalidInput) -> None:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as reason:
        msg = f"{what} is not Unicode text: {reason.reason}"
        raise error(msg) from reason
