"""Rules that every search request must meet, whoever built it: Python checks no annotation by itself.

Only what can be told from the request alone. Whether a field exists, and of which type it is, a
collection says (``ops.store_rules``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, get_args

from eagle_rag.errors import InvalidFilter, InvalidQuery
from eagle_rag.model.filters import AllOf, AnyOf, Compare, OneOf, Operator
from eagle_rag.model.query import FusionMethod, GroupBy, SearchMode, SearchRequest
from eagle_rag.ops.excerpts import excerpt
from eagle_rag.ops.store_rules import MAX_FILTER_DEPTH

__all__ = [
    "MAX_CONDITIONS",
    "MAX_NAMES",
    "check_conditions",
    "check_fields",
    "check_is_request",
    "check_names",
    "shown_value",
]

MAX_NAMES: Final = 10_000
"""Knowledge bases, document ids or values of a filter in one request: ten times as many cost seconds."""

MAX_CONDITIONS: Final = 1_000
"""Nodes of a filter. Each is evaluated on every row; long lists belong into one ``OneOf``."""

# The scope of the request goes around its filter, and plugins may add a level of their own.
_MAX_DEPTH: Final = MAX_FILTER_DEPTH - 2
_INT64_BITS: Final = 63


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a field must be: whether a value is, in words, and how to write one."""

    holds: Callable[[object], bool]
    words: str
    remedy: str


def shown_value(value: object) -> str:
    """Return a value for a message: short texts and plain numbers as they are, all else by its type."""
    if isinstance(value, int) and _is_too_long(value):
        return f"a number of {value.bit_length():,} bits"  # Python refuses to write the longest
    if value is None or isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list) and value:
        held = sorted({type(each).__name__ for each in value})
        return f"a {type(value).__name__} of {', '.join(held)}"
    return (
        repr(excerpt(value))
        if isinstance(value, str)
        else f"a value of type {type(value).__name__}"
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_whole(value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and not _is_too_long(value)


def _is_too_long(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > _INT64_BITS


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_bytes(value: object) -> bool:
    return value is None or isinstance(value, bytes)


def _is_one_of(known: tuple[str | None, ...], value: object) -> bool:
    return (value is None or isinstance(value, str)) and value in known


def _are_texts(value: object) -> bool:
    return value is None or (
        isinstance(value, tuple | list) and all(isinstance(each, str) for each in value)
    )


def _choice(literal: object, remedy: str, *, unset: bool = False) -> _Rule:
    names: tuple[str, ...] = get_args(literal)
    known = (*names, None) if unset else names
    return _Rule(partial(_is_one_of, known), f"one of {', '.join(names)}", remedy)


def _names(what: str, example: str) -> _Rule:
    return _Rule(
        _are_texts,
        f"a tuple of {what} or None",
        f"for one of them write ({example!r},), with the comma",
    )


_WHOLE = "a whole number of at most 64 bits"
_RULES: Final[Mapping[str, _Rule]] = {
    "query": _Rule(_is_text, "text", "give '' to search by a picture alone"),
    "top_k": _Rule(_is_whole, _WHOLE, "for example top_k=10"),
    "offset": _Rule(_is_whole, _WHOLE, "for example offset=0"),
    "kb_names": _names("names of knowledge bases", "default"),
    "document_ids": _names("document ids", "doc1_..."),
    "group_by": _choice(GroupBy, "leave it out for one result a document"),
    "mode": _choice(SearchMode, "leave it out for hybrid"),
    "fusion": _choice(FusionMethod, "leave it out for the one of the settings", unset=True),
    "explain": _Rule(_is_flag, "True or False", "leave it out for False"),
    "image": _Rule(_are_bytes, "the bytes of a picture or None", "read the file first"),
}
"""Every field but ``filters``, in the order of the request; see ``check_conditions`` for that."""


def check_is_request(value: object) -> None:
    """Refuse what is no request, such as the question alone.

    Raises:
        InvalidQuery: The value, and how to write it.
    """
    if not isinstance(value, SearchRequest):
        message = f"a search takes a SearchRequest, got {excerpt(repr(value))}"
        raise InvalidQuery(message, remedy='write SearchRequest("your question")')


def check_fields(request: SearchRequest) -> None:
    """Refuse a request with a field of another type, or with a word that no field has.

    Raises:
        InvalidQuery: The field, its value, what it must be, and how to write it.
    """
    for field, rule in _RULES.items():
        value = getattr(request, field)
        if not rule.holds(value):
            message = f"{field} must be {rule.words}, got {shown_value(value)}"
            raise InvalidQuery(message, remedy=rule.remedy)
    check_names("kb_names", request.kb_names or (), what="knowledge base")
    check_names("document_ids", request.document_ids or (), what="document id")


def check_names(field: str, names: Sequence[str], *, what: str) -> None:
    """Refuse names that no engine can be asked for.

    Args:
        field: Where they stand.
        names: The names.
        what: What one of them names.

    Raises:
        InvalidQuery: More than ``MAX_NAMES``, or one that is not Unicode text.
    """
    if len(names) > MAX_NAMES:
        message = f"{field} holds {len(names):,} names, at most {MAX_NAMES:,} are allowed"
        raise InvalidQuery(message, remedy="ask in several requests, or by a filter on a field")
    for name in names:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            message = f"no {what} is called {excerpt(name)!r}: it is not Unicode text"
            raise InvalidQuery(message, remedy="write the name in UTF-8") from error


def check_conditions(where: object) -> None:
    """Refuse what is no filter, or one so deep or so long that nobody wrote it.

    Level by level, so that neither depth nor a part used many times over costs anything.

    Raises:
        InvalidFilter: The part and its value, and what to write.
    """
    level: list[object] = [where]
    conditions = values = 0
    for _ in range(_MAX_DEPTH):
        conditions += len(level)
        _check_count("conditions", conditions, MAX_CONDITIONS)
        values += sum(_check_node(node) for node in level)
        _check_count("values", values, MAX_NAMES)
        groups = [node for node in level if isinstance(node, AllOf | AnyOf)]
        _check_count("conditions", sum(len(group.parts) for group in groups), MAX_CONDITIONS)
        level = [part for group in groups for part in group.parts]
        if not level:
            return
    message = f"filters is nested more than {_MAX_DEPTH} deep"
    raise InvalidFilter(message, remedy="put the parts side by side in one AllOf or AnyOf")


def _check_count(what: str, count: int, most: int) -> None:
    if count > most:
        message = f"filters holds more than {most:,} {what}"
        raise InvalidFilter(message, remedy="use one OneOf for a long list, or several requests")


def _check_node(node: object) -> int:
    """Return how many values a node compares with."""
    match node:
        case AllOf(parts) | AnyOf(parts):
            _check_list(parts, f"parts of {type(node).__name__}")
            return 0
        case OneOf(field, values):
            _check_field(field)
            _check_list(values, f"values of OneOf on {shown_value(field)}")
            for value in values:
                _check_value(field, value)
            return len(values)
        case Compare(field, operator, value):
            _check_field(field)
            if not _is_one_of(get_args(Operator), operator):
                known = ", ".join(get_args(Operator))
                message = f"unknown filter operator {shown_value(operator)}; known: {known}"
                raise InvalidFilter(message)
            _check_value(field, value)
            return 1
    message = f"filters must be a Compare, OneOf, AllOf or AnyOf, got {shown_value(node)}"
    raise InvalidFilter(message, remedy="for example Compare('year', 'ge', 2020)")


def _check_list(value: object, what: str) -> None:
    if not isinstance(value, tuple | list):
        message = f"the {what} must be a tuple, got {shown_value(value)}"
        raise InvalidFilter(message, remedy="for a single one write (x,), with the comma")


def _check_field(field: object) -> None:
    if not isinstance(field, str):
        message = f"a filter names a field by text, got {shown_value(field)}"
        raise InvalidFilter(message, remedy="for example Compare('year', 'ge', 2020)")


def _check_value(field: str, value: object) -> None:
    if not isinstance(value, str | int | float) or _is_too_long(value):
        message = f"filter field {excerpt(field)!r} is compared with {shown_value(value)}"
        raise InvalidFilter(message, remedy="give text or a number of at most 64 bits")
