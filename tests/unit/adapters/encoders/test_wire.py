from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from eagle_rag.adapters.encoders.wire import (
    WireError,
    attribute,
    model,
    node,
    read_tensors,
    tensor,
    value,
)

DTYPES = ("float32", "uint8", "int8", "int32", "int64", "bool", "float16")


def holding(*tensors: bytes) -> bytes:
    return model([], tensors, inputs=[], outputs=[], opsets={"": 17})


@given(
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays.arrays(
            dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=300)
        )
    )
)
def test_tensors_survive_writing_and_reading(values: NDArray[Any]) -> None:
    read = read_tensors(holding(tensor("a", values), tensor("b", values)))
    assert sorted(read) == ["a", "b"]
    assert (read["b"].dtype, read["b"].shape) == (values.dtype, values.shape)
    np.testing.assert_array_equal(read["b"], values)


def test_transposed_tensor_is_written_in_row_order() -> None:
    values = np.arange(6, dtype=np.int64).reshape(2, 3).T
    np.testing.assert_array_equal(read_tensors(holding(tensor("a", values)))["a"], values)


def test_packed_dimensions_are_read() -> None:
    """protobuf 3 packs repeated numbers; other exporters write them so."""
    packed = b"\x0a\x02\x02\x01" + b"\x10\x02" + b"\x42\x01a" + b"\x4a\x02\x07\x08"
    np.testing.assert_array_equal(read_tensors(holding(packed))["a"], [[7], [8]])


def test_tensors_without_raw_data_are_left_out() -> None:
    outside = b"\x08\x01\x10\x01\x42\x01x"
    assert read_tensors(holding(outside)) == {}


def test_every_cut_of_a_model_is_an_error_or_a_shorter_model() -> None:
    """No IndexError or endless loop on a damaged download."""
    data = holding(tensor("a", np.arange(200, dtype=np.int64)))
    for size in range(len(data)):
        try:
            assert len(read_tensors(data[:size])) <= 1
        except WireError:
            continue


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(WireError):
        assert isinstance(read_tensors(data), dict)


def test_shape_that_does_not_fit_the_values_is_refused() -> None:
    wrong = b"\x08\x03\x10\x02\x42\x01a\x4a\x02\x07\x08"
    with pytest.raises(WireError, match="'a' holds 2 bytes for shape"):
        read_tensors(holding(wrong))


def test_type_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(WireError, match="float64"):
        tensor("a", np.zeros(1))


@pytest.mark.parametrize(
    ("content", "encoded"),
    [
        (-1, b"\x18" + b"\xff" * 9 + b"\x01\xa0\x01\x02"),
        (0.5, b"\x15\x00\x00\x00\x3f\xa0\x01\x01"),
        ("x", b"\x22\x01x\xa0\x01\x03"),
        ((1, 300), b"\x40\x01\x40\xac\x02\xa0\x01\x07"),
    ],
)
def test_attributes_are_written_as_onnx_proto_says(content: Any, encoded: bytes) -> None:
    assert attribute("n", content) == b"\x0a\x01n" + encoded


def test_node_names_its_domain_only_when_it_has_one() -> None:
    assert node("Op", ["a", ""], ["b"]) == b"\x0a\x01a\x0a\x00\x12\x01b\x22\x02Op"
    assert node("Op", [], ["b"], domain="d") == b"\x12\x01b\x22\x02Op\x3a\x01d"


def test_free_dimensions_are_names() -> None:
    assert value("a", "int64", ["n", 3]) == (
        b"\x0a\x01a\x12\x0f\x0a\x0d\x08\x07\x12\x09\x0a\x03\x12\x01n\x0a\x02\x08\x03"
    )
