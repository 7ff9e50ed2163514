"""Filters as a tree of values; every engine compiles it, nobody pastes text.

Fields are those of ``StoredPassage`` plus a collection's extra fields; an unknown one is refused
with ``InvalidFilter`` by the compiler. ``None`` in a row never satisfies a comparison.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["AllOf", "AnyOf", "Compare", "Filter", "OneOf", "Operator", "Value"]

Value = str | int | float | bool
Operator = Literal["eq", "ne", "lt", "le", "gt", "ge"]


@dataclass(frozen=True, slots=True)
class Compare:
    """``field <operator> value``."""

    field: str
    operator: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """``field`` is one of ``values``; with no values nothing matches (fail closed)."""

    field: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """Every part matches; with no parts everything does."""

    parts: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one part matches; with no parts nothing does."""

    parts: tuple["Filter", ...]


Filter = Compare | OneOf | AllOf | AnyOf
