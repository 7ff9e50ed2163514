"""Long lists of values in pieces that every engine accepts as parameters."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["MAX_VALUES", "chunked"]

T = TypeVar("T")

MAX_VALUES = 900
"""SQLite builds before 3.32 take 999 parameters a statement."""


def chunked(values: Sequence[T], size: int = MAX_VALUES) -> Iterator[Sequence[T]]:
    """Yield the values in order, at most ``size`` at a time."""
    for at in range(0, len(values), size):
        yield values[at : at + size]
