"""Values of DICOM elements as plain text and numbers; what does not fit its field says nothing."""

import math
import struct
import zlib
from collections.abc import Iterable

from pydicom.dataset import Dataset
from pydicom.errors import BytesLengthException, InvalidDicomError
from pydicom.multival import MultiValue

__all__ = [
    "DICOM_ERRORS",
    "element_of",
    "integer_of",
    "number_text",
    "numbers_of",
    "text_of",
    "texts_of",
]

DICOM_ERRORS = (
    InvalidDicomError, BytesLengthException, ValueError, TypeError, KeyError, IndexError,
    AttributeError, EOFError, OSError, OverflowError, ArithmeticError, MemoryError,
    NotImplementedError, RecursionError, RuntimeError, AssertionError, struct.error, zlib.error,
)  # fmt: skip
"""What pydicom, its decoders and numpy were seen to raise for damaged files."""

_MAX_VALUES = 32
_LARGEST = 1e12  # of a measured value; more is a damaged file


def element_of(dataset: Dataset, keyword: str) -> object:
    """Return an element's value, or ``None`` when it is absent or cannot be converted.

    pydicom converts elements on first use; one that is damaged must not take the others with it.
    """
    try:
        return dataset.get(keyword)
    except DICOM_ERRORS:
        return None


def texts_of(dataset: Dataset, keyword: str) -> tuple[str, ...]:
    """Return an element's values as text, trimmed, in order; nothing for other kinds of value."""
    return tuple(
        str(value).strip()
        for value in _values(dataset, keyword)
        if isinstance(value, str | int | float)
    )


def text_of(dataset: Dataset, keyword: str) -> str:
    """Return an element's first value as text, or nothing."""
    return next(iter(texts_of(dataset, keyword)), "")


def numbers_of(dataset: Dataset, keyword: str) -> tuple[float, ...]:
    """Return an element's values that are finite numbers of a sensible size, in order."""
    found = (_number(value) for value in _values(dataset, keyword))
    return tuple(number for number in found if number is not None)


def integer_of(dataset: Dataset, keyword: str) -> int:
    """Return an element's first value as a whole number, 0 when it is none."""
    numbers = numbers_of(dataset, keyword)
    return int(numbers[0]) if numbers else 0


def number_text(number: float) -> str:
    """Return a number as people write it, with six significant digits."""
    return f"{number:.6g}"


def _values(dataset: Dataset, keyword: str) -> Iterable[object]:
    value = element_of(dataset, keyword)
    if isinstance(value, MultiValue | list | tuple):
        return list(value)[:_MAX_VALUES]
    return () if value is None else (value,)


def _number(value: object) -> float | None:
    if not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and abs(number) <= _LARGEST else None
