import pytest
from lancedb.expr import Expr

from eagle_rag.adapters.lance.filters import compile_filter
from eagle_rag.errors import InvalidFilter
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.ops.store_rules import filter_fields

_FIELDS = filter_fields(("drug",))
_EVERY = AllOf(())
_NONE = AnyOf(())
_ONE = Compare("kb_name", "eq", "one")


def _sql(where: Filter) -> str:
    compiled = compile_filter(where, _FIELDS)
    assert isinstance(compiled, Expr)
    return compiled.to_sql().replace("`", "")


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (None, True),
        (_EVERY, True),
        (_NONE, False),
        (OneOf("kb_name", ()), False),
        (AllOf((_ONE, OneOf("kb_name", ()))), False),
        (AnyOf((_ONE, _EVERY)), True),
        (AllOf((_EVERY, _EVERY)), True),
        (AnyOf((_NONE, _NONE)), False),
        (Compare("year", "eq", 2019.5), False),
        (OneOf("year", (2019.5,)), False),
    ],
)
def test_i1_constants_never_reach_the_engine(where: Filter | None, *, wanted: bool) -> None:
    assert compile_filter(where, _FIELDS) is wanted


def test_neutral_parts_are_left_out() -> None:
    assert _sql(AllOf((_EVERY, _ONE))) == _sql(AnyOf((_NONE, _ONE))) == _sql(_ONE)


def test_i4_a_quote_stays_inside_its_literal() -> None:
    assert _sql(Compare("drug", "eq", "x' OR '1'='1")) == "(drug = 'x'' OR ''1''=''1')"


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        ("lt", "(year <= 2019)"),
        ("le", "(year <= 2019)"),
        ("gt", "(year >= 2020)"),
        ("ge", "(year >= 2020)"),
    ],
)
def test_a_fraction_is_compared_as_whole_numbers(operator: str, wanted: str) -> None:
    where = Compare("year", operator, 2019.5)  # type: ignore[arg-type]  # parametrised
    assert _sql(where) == wanted


def test_a_whole_float_is_the_number_it_is() -> None:
    assert _sql(Compare("year", "eq", 2019.0)) == "(year = 2019)"


def test_i2_an_unknown_field_is_refused_before_it_is_compiled() -> None:
    with pytest.raises(InvalidFilter, match="known: chunk_type"):
        compile_filter(AnyOf((_EVERY, Compare("a = 1 OR b", "eq", "x"))), _FIELDS)
