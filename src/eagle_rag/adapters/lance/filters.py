"""Compile a filter to LanceDB's expression builder: from values, never from pasted text."""

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from lancedb.expr import Expr, col, lit

from eagle_rag.model.filters import AllOf, Compare, Filter, OneOf, Value
from eagle_rag.ops.store_rules import FieldKind, check_filter

__all__ = ["compile_filter"]

_OPERATORS: Mapping[str, Callable[[Expr, Expr], Expr]] = MappingProxyType(
    {
        "eq": Expr.eq,
        "ne": Expr.ne,
        "lt": Expr.lt,
        "le": Expr.lte,
        "gt": Expr.gt,
        "ge": Expr.gte,
    }
)


def compile_filter(where: Filter | None, fields: Mapping[str, FieldKind]) -> Expr | bool:
    """Return the expression, or ``True`` or ``False`` when every or no row matches.

    The constants are folded here, so that an empty list never reaches the engine (I1).

    Args:
        where: The filter; ``None`` matches every row.
        fields: The fields it may name.

    Raises:
        InvalidFilter: An unknown field or operator, or a value of another kind than its field.
    """
    if where is None:
        return True
    check_filter(where, fields)
    return _compile(where)


def _compile(where: Filter) -> Expr | bool:
    if isinstance(where, Compare):
        return _compare(where)
    if isinstance(where, OneOf):
        # A number with a fraction equals no whole number; the fields that hold numbers hold those.
        values = dict.fromkeys(_whole(value) for value in where.values if not _fraction(value))
        return col(where.field).isin(values) if values else False
    parts = [_compile(part) for part in where.parts]
    if isinstance(where, AllOf):
        return _join(parts, operator.and_, neutral=True)
    return _join(parts, operator.or_, neutral=False)


def _compare(where: Compare) -> Expr | bool:
    name, value = where.operator, where.value
    if isinstance(value, float) and _fraction(value):
        # Kept in whole numbers: the engine would compare large ones as inexact floats.
        if name == "eq":
            return False
        if name == "ne":
            return col(where.field).gte(lit(-(2**63)))
        below = name in {"lt", "le"}
        name = "le" if below else "ge"
        value = math.floor(value) if below else math.ceil(value)
    return _OPERATORS[name](col(where.field), lit(_whole(value)))


def _fraction(value: Value) -> bool:
    return isinstance(value, float) and not value.is_integer()


def _whole(value: Value) -> Value:
    return int(value) if isinstance(value, float) else value


def _join(
    parts: list[Expr | bool], combine: Callable[[Expr, Expr], Expr], *, neutral: bool
) -> Expr | bool:
    # `is`: Expr overloads `==` and would build an expression.
    if any(part is (not neutral) for part in parts):
        return not neutral
    level = [part for part in parts if isinstance(part, Expr)]
    if not level:
        return neutral
    while len(level) > 1:
        # Joined as a balanced tree: a chain of thousands overflows the engine's stack.
        pairs = zip(level[::2], level[1::2], strict=False)
        joined = [combine(left, right) for left, right in pairs]
        level = joined + level[len(level) - len(level) % 2 :]
    return level[0]
