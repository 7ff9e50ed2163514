"""Filters checked and evaluated on one row: the slow, obvious version that engines must agree with."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from typing import Final

from eagle_rag.errors import InvalidFilter
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf, Value
from eagle_rag.model.passage import StoredPassage

__all__ = [
    "FIELD_TYPES",
    "field_types",
    "filter_names",
    "matches",
    "row_values",
    "validate_filter",
    "without_fields",
]

FIELD_TYPES: Final[Mapping[str, type]] = {
    field.name: int if field.name in {"version", "start", "end", "year"} else str
    for field in fields(StoredPassage)
    if field.name not in {"vector", "extra"}
}
"""Fields every collection has, and their types. Vectors are no field of a filter."""

_MAX_DEPTH: Final = 32  # nobody writes deeper; recursion stays far from its limit

_OPERATORS: Final[Mapping[str, Callable[..., bool]]] = {
    "eq": lambda held, asked: held == asked,
    "ne": lambda held, asked: held != asked,
    "lt": lambda held, asked: held < asked,
    "le": lambda held, asked: held <= asked,
    "gt": lambda held, asked: held > asked,
    "ge": lambda held, asked: held >= asked,
}


def field_types(extra_fields: Sequence[str] = ()) -> dict[str, type]:
    """Return the fields a filter may name and their types; extra fields hold text."""
    return {**dict.fromkeys(extra_fields, str), **FIELD_TYPES}


def row_values(row: StoredPassage) -> dict[str, Value | None]:
    """Return what a filter sees of a row; an extra field never hides one of the row's own."""
    own: dict[str, Value | None] = {name: getattr(row, name) for name in FIELD_TYPES}
    return {**dict(row.extra), **own}


def filter_names(where: Filter) -> frozenset[str]:
    """Return the fields a filter names."""
    if isinstance(where, Compare | OneOf):
        return frozenset((where.field,))
    return frozenset().union(*(filter_names(part) for part in where.parts))


def without_fields(where: Filter, known: Collection[str]) -> Filter:
    """Return the filter for rows that have the known fields alone.

    What compares another field matches nothing there, as ``matches`` has it for an absent field; the rest
    of the filter stands. No filter negates, so that nothing matches more than before.
    """
    if isinstance(where, Compare | OneOf):
        return where if where.field in known else AnyOf(())
    parts = tuple(without_fields(part, known) for part in where.parts)
    return AllOf(parts) if isinstance(where, AllOf) else AnyOf(parts)


def validate_filter(where: Filter, types: Mapping[str, type]) -> None:
    """Refuse a filter that has no defined meaning.

    Args:
        where: The filter.
        types: Fields and their types (``str`` or ``int``), as ``field_types`` gives.

    Raises:
        InvalidFilter: Unknown field or operator, a value of the wrong type or not finite, or more
            than 32 levels.
    """
    _validate(where, types, depth=1)


def matches(where: Filter, row: Mapping[str, Value | None]) -> bool:
    """Return whether a row satisfies a filter.

    An absent field, or one that is ``None``, satisfies no comparison, not even ``ne``.

    Raises:
        InvalidFilter: An unknown operator, or a comparison of text with a number.
    """
    match where:
        case AllOf(parts):
            return all(matches(part, row) for part in parts)
        case AnyOf(parts):
            return any(matches(part, row) for part in parts)
        case OneOf(field, values):
            return any(_compare(field, "eq", value, row=row) for value in values)
        case Compare(field, operator, value):
            return _compare(field, operator, value, row=row)


def _compare(field: str, operator: str, value: Value, *, row: Mapping[str, Value | None]) -> bool:
    compare = _operator(operator)
    held = row.get(field)
    if held is None:
        return False
    _check_value(field, value, str if isinstance(held, str) else int)
    return compare(held, value)


def _validate(where: Filter, types: Mapping[str, type], *, depth: int) -> None:
    if depth > _MAX_DEPTH:
        msg = f"filter is nested more than {_MAX_DEPTH} levels deep"
        raise InvalidFilter(msg, remedy="use one_of for long lists of values")
    match where:
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                _validate(part, types, depth=depth + 1)
        case OneOf(field, values):
            expected = _field_type(field, types)
            for value in values:
                _check_value(field, value, expected)
        case Compare(field, operator, value):
            _operator(operator)
            _check_value(field, value, _field_type(field, types))
        case _:
            msg = f"not a filter: {where!r}"
            raise InvalidFilter(msg, remedy="use Compare, OneOf, AllOf or AnyOf")


def _operator(name: str) -> Callable[..., bool]:
    compare = _OPERATORS.get(name)
    if compare is None:
        msg = f"unknown filter operator {name!r}; known: {', '.join(_OPERATORS)}"
        raise InvalidFilter(msg)
    return compare


def _field_type(field: str, types: Mapping[str, type]) -> type:
    expected = types.get(field)
    if expected is None:
        msg = f"unknown filter field {field!r}; known: {', '.join(sorted(types))}"
        raise InvalidFilter(msg)
    return expected


def _check_value(field: str, value: Value, expected: type) -> None:
    """Refuse ``True`` for a number too: engines disagree on whether it is 1."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if expected is str and not isinstance(value, str):
        msg = f"filter field {field!r} holds text, got {value!r}"
        raise InvalidFilter(msg, remedy="put the value in quotes")
    if expected is int and not number:
        msg = f"filter field {field!r} holds a number, got {value!r}"
        raise InvalidFilter(msg)
    if isinstance(value, float) and not isfinite(value):
        msg = f"filter field {field!r} is compared with {value!r}, which is not a finite number"
        raise InvalidFilter(msg)
