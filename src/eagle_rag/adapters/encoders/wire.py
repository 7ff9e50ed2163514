"""ONNX files as protobuf wire format: just enough to read tensors and to write a graph.

The ``onnx`` package would do the same, but it is 18 MB that only two functions would use at run time.
Field numbers are those of ``onnx.proto3`` (ONNX IR version 10). Not a general protobuf reader: groups
and packed repeated tensor fields other than ``dims`` are not read.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tensor", "WireError", "attribute", "model", "node", "read_tensors", "tensor", "value"]

Tensor = NDArray[Any]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    6: np.dtype("<i4"),
    7: np.dtype("<i8"),
    9: np.dtype("bool"),
    10: np.dtype("<f2"),
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_IR_VERSION = 8  # what opset 17 asks for; older runtimes refuse newer versions than they know


class WireError(ValueError):
    """The bytes are not a protobuf message of the expected shape."""


def read_tensors(data: bytes | memoryview) -> dict[str, Tensor]:
    """Return a model's initializers that keep their values in ``raw_data``, by name.

    The arrays are read-only views of ``data`` where possible: nothing is copied.

    Raises:
        WireError: The bytes are truncated or not an ONNX model.
    """
    tensors: dict[str, Tensor] = {}
    for graph in _children(memoryview(data), 7):
        for raw in _children(graph, 5):
            named = _read_tensor(raw)
            if named is not None:
                tensors[named[0]] = named[1]
    return tensors


def _read_tensor(message: memoryview) -> tuple[str, Tensor] | None:
    dims: list[int] = []
    code, name = 0, ""
    values: memoryview | None = None
    for field, content in _fields(message):
        match field, content:
            case 1, int():
                dims.append(content)
            case 1, memoryview():
                dims.extend(_packed(content))
            case 2, int():
                code = content
            case 8, memoryview():
                name = bytes(content).decode()
            case 9, memoryview():
                values = content
            case _:
                pass
    if values is None or code not in _DTYPES:
        return None
    try:
        return name, np.frombuffer(values, _DTYPES[code]).reshape(dims)
    except ValueError as error:
        problem = f"tensor {name!r} holds {len(values)} bytes for shape {dims}"
        raise WireError(problem) from error


def _children(message: memoryview, number: int) -> Iterator[memoryview]:
    for field, content in _fields(message):
        if field == number and isinstance(content, memoryview):
            yield content


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        kind = key & 7
        if kind == _VARINT:
            number, at = _read_varint(message, at)
            yield key >> 3, number
            continue
        if kind == _BYTES:
            size, at = _read_varint(message, at)
        elif kind in {_FIXED64, _FIXED32}:
            size = 8 if kind == _FIXED64 else 4
        else:
            problem = f"wire type {kind} at byte {at} is not one ONNX uses"
            raise WireError(problem)
        if at + size > len(message):
            problem = f"a field of {size} bytes ends after the message ({len(message)} bytes)"
            raise WireError(problem)
        yield key >> 3, message[at : at + size]
        at += size


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, 70, 7):
        if at >= len(message):
            problem = "a number ends after the message"
            raise WireError(problem)
        byte = message[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the continuation bit of a varint
            return number, at
    problem = "a number is longer than 10 bytes"
    raise WireError(problem)


def _packed(content: memoryview) -> Iterator[int]:
    at = 0
    while at < len(content):
        number, at = _read_varint(content, at)
        yield number


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # negative numbers are written as two's complement of 64 bits
    out = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits a byte
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field: int, number: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(number)


def _blob(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _blob(field, content.encode())


def tensor(name: str, values: Tensor) -> bytes:
    """Return a ``TensorProto`` with the values inside."""
    dtype = values.dtype.newbyteorder("<")
    if dtype not in _CODES:
        problem = f"tensor {name!r} has type {values.dtype}, which is not written here"
        raise WireError(problem)
    dims = b"".join(_number(1, size) for size in values.shape)
    raw = np.ascontiguousarray(values, dtype).tobytes()
    return dims + _number(2, _CODES[dtype]) + _text(8, name) + _blob(9, raw)


def value(name: str, dtype: str, shape: Sequence[int | str]) -> bytes:
    """Return a ``ValueInfoProto``: an input or output; a text in ``shape`` is a free dimension."""
    dims = b"".join(
        _blob(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    typed = _number(1, _CODES[np.dtype(dtype).newbyteorder("<")]) + _blob(2, dims)
    return _text(1, name) + _blob(2, _blob(1, typed))


def attribute(name: str, content: float | str | Sequence[int]) -> bytes:
    """Return an ``AttributeProto``: an integer, a float, a text or integers."""
    head = _text(1, name)
    match content:
        case int():
            return head + _number(3, content) + _number(20, 2)
        case float():
            return head + _varint(2 << 3 | _FIXED32) + struct.pack("<f", content) + _number(20, 1)
        case str():
            return head + _text(4, content) + _number(20, 3)
        case _:
            return head + b"".join(_number(8, number) for number in content) + _number(20, 7)


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    domain: str = "",
    attributes: Mapping[str, float | str | Sequence[int]] | None = None,
) -> bytes:
    """Return a ``NodeProto``; an empty input name is an optional input left out."""
    parts = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs]
    parts.append(_text(4, operator))
    parts += [_blob(5, attribute(name, content)) for name, content in (attributes or {}).items()]
    if domain:
        parts.append(_text(7, domain))
    return b"".join(parts)


def model(
    nodes: Sequence[bytes],
    tensors: Sequence[bytes],
    *,
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    opsets: Mapping[str, int],
) -> bytes:
    """Return a ``ModelProto`` ready for a runtime."""
    graph = b"".join(
        [_blob(1, part) for part in nodes]
        + [_text(2, "eagle_rag")]
        + [_blob(5, part) for part in tensors]
        + [_blob(11, part) for part in inputs]
        + [_blob(12, part) for part in outputs]
    )
    imports = [
        _blob(8, (_text(1, domain) if domain else b"") + _number(2, version))
        for domain, version in opsets.items()
    ]
    return _number(1, _IR_VERSION) + _text(2, "eagle-rag") + _blob(7, graph) + b"".join(imports)
