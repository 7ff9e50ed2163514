"""Rows as Arrow tables and back; the collection's vector space in the table's own metadata.

The space is written into the schema that creates the table, so a table and its space appear in one
commit: there is no moment at which one exists without the other.
"""

import dataclasses
import json
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from eagle_rag.errors import VectorSpaceMismatch
from eagle_rag.model.collection import CollectionSchema, StoreHit
from eagle_rag.model.passage import StoredPassage, VectorSpec
from eagle_rag.ops.store_rules import OWN_FIELDS, check_rows

__all__ = [
    "HIT_COLUMNS",
    "arrow_schema",
    "decode_spec",
    "extra_fields",
    "from_arrow",
    "rank_hits",
    "text_field",
    "to_arrow",
]

HIT_COLUMNS = ("row_id", "passage_id", "document_id", "version", "kb_name")
"""What a hit carries besides the collection's extra fields; no text, no vector."""

_SPEC_KEY = b"eagle_rag.vector_spec"
_NULLABLE = frozenset({"year"})


def text_field(name: str) -> pa.Field:
    """Return the column of an extra field: text that may be null."""
    return pa.field(name, pa.string(), nullable=True)


def arrow_schema(schema: CollectionSchema) -> pa.Schema:
    """Return the columns of a collection, its vector space in the metadata."""
    fields = [
        pa.field(name, pa.string() if kind == "text" else pa.int64(), nullable=name in _NULLABLE)
        for name, kind in OWN_FIELDS.items()
    ]
    fields.append(pa.field("vector", pa.list_(pa.float32(), schema.spec.dim), nullable=False))
    fields.extend(text_field(name) for name in schema.extra_fields)
    spec = json.dumps(dataclasses.asdict(schema.spec), sort_keys=True)
    return pa.schema(fields, metadata={_SPEC_KEY: spec.encode()})


def decode_spec(collection: str, found: pa.Schema) -> VectorSpec:
    """Return the vector space a table records.

    Raises:
        VectorSpaceMismatch: It records none that can be read.
    """
    try:
        return VectorSpec(**json.loads((found.metadata or {})[_SPEC_KEY]))
    except (KeyError, TypeError, ValueError) as error:
        msg = f"collection {collection!r} records no vector space"
        raise VectorSpaceMismatch(
            msg,
            remedy="it was not made by this program; drop it, or use another path",
        ) from error


def extra_fields(found: pa.Schema) -> tuple[str, ...]:
    """Return the names of a table's extra fields, sorted."""
    return tuple(
        sorted(name for name in found.names if name not in OWN_FIELDS and name != "vector")
    )


def to_arrow(rows: Sequence[StoredPassage], schema: CollectionSchema) -> pa.Table:
    """Return rows as a table; every row is checked.

    Raises:
        InvalidInput: A row the collection cannot hold.
    """
    vectors = check_rows(rows, schema)
    target = arrow_schema(schema)
    columns: dict[str, pa.Array] = {
        name: pa.array([getattr(row, name) for row in rows], type=target.field(name).type)
        for name in OWN_FIELDS
    }
    columns["vector"] = pa.FixedSizeListArray.from_arrays(
        pa.array(vectors.reshape(-1)), schema.spec.dim
    )
    extras = [dict(row.extra) for row in rows]
    for name in schema.extra_fields:
        columns[name] = pa.array([extra.get(name) for extra in extras], type=pa.string())
    return pa.table(columns, schema=target)


def from_arrow(batch: pa.RecordBatch, extra: Sequence[str]) -> tuple[StoredPassage, ...]:
    """Return the rows of a batch that holds every column."""
    flat = batch.column("vector").flatten().to_numpy(zero_copy_only=False)
    vectors = np.asarray(flat, dtype=np.float32).reshape(batch.num_rows, -1)
    own = [batch.column(name).to_pylist() for name in OWN_FIELDS]
    extras = [batch.column(name).to_pylist() for name in extra]
    return tuple(
        StoredPassage(
            **dict(zip(OWN_FIELDS, values, strict=True)),
            vector=vectors[position].copy(),
            extra=tuple(
                (name, column[position]) for name, column in zip(extra, extras, strict=True)
            ),
        )
        for position, values in enumerate(zip(*own, strict=True))
    )


def rank_hits(found: pa.Table, scores: Iterable[float], extra: Sequence[str]) -> list[StoreHit]:
    """Return hits by score descending, then ``row_id``, ranked from 1.

    Args:
        found: ``HIT_COLUMNS`` and the extra fields.
        scores: One a row, higher is better.
        extra: Names of the extra fields, sorted.
    """
    own = [found.column(name).to_pylist() for name in HIT_COLUMNS]
    extras = [found.column(name).to_pylist() for name in extra]
    values = tuple(scores)
    row_ids = own[0]
    order = sorted(range(len(values)), key=lambda place: (-values[place], row_ids[place]))
    return [
        StoreHit(
            **{name: column[place] for name, column in zip(HIT_COLUMNS, own, strict=True)},
            score=values[place],
            rank=rank,
            extra=tuple((name, column[place]) for name, column in zip(extra, extras, strict=True)),
        )
        for rank, place in enumerate(order, start=1)
    ]
