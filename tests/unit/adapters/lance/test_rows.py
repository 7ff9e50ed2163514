import json

import numpy as np
import pyarrow as pa
import pytest

from eagle_rag.adapters.lance.rows import arrow_schema, decode_spec, from_arrow, to_arrow
from eagle_rag.errors import VectorSpaceMismatch
from eagle_rag.testing.store_rows import make_row, make_schema


def test_rows_survive_the_way_to_arrow_and_back() -> None:
    schema = make_schema("c", extra_fields=("drug", "gene"))
    rows = (
        make_row("a", (1, 0, 0), "x", year=2020, extra=(("drug", "d"), ("gene", None))),
        make_row("b", (0, 2, 0), "", extra=(("drug", None), ("gene", "g"))),
    )
    (batch,) = to_arrow(rows, schema).to_batches()
    back = from_arrow(batch, schema.extra_fields)
    assert back == rows
    np.testing.assert_array_equal(back[1].vector, rows[1].vector)


def test_vectors_are_lists_of_fixed_size() -> None:
    """The engine indexes no others."""
    field = arrow_schema(make_schema("c", dim=7)).field("vector")
    assert field.type == pa.list_(pa.float32(), 7)


def test_the_vector_space_is_in_the_metadata() -> None:
    schema = make_schema("c")
    assert decode_spec("c", arrow_schema(schema)) == schema.spec


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {b"eagle_rag.vector_spec": b"{"},
        {b"eagle_rag.vector_spec": b"[]"},
        {b"eagle_rag.vector_spec": json.dumps({"encoder": "x"}).encode()},
    ],
)
def test_k4_a_table_without_a_readable_space_is_refused(
    metadata: dict[bytes, bytes] | None,
) -> None:
    with pytest.raises(VectorSpaceMismatch, match="'c' records no vector space"):
        decode_spec("c", pa.schema([pa.field("a", pa.string())], metadata=metadata))
