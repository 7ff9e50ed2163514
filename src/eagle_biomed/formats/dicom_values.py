"""Values of DICOM elements as plain text and numbers; what does not fit its field says nothing."""

import math
from collections.abc import Iterable

from pydicom.dataset import Dataset
from pydicom.multival import MultiValue

__all__ = ["integer_of", "number_text", "numbers_of", "text_of", "texts_of"]

_MAX_VALUES = 32
_LARGEST = 1e12  # of a measured value; more is a damaged file


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
    value = dataset.get(keyword)
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
