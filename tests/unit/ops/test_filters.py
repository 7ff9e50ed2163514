"""Filters on one row."""

from typing import cast

import numpy as np
import pytest

from eagle_rag.errors import InvalidFilter
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf, Operator, Value
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ops.filters import (
    FIELD_TYPES,
    field_types,
    filter_names,
    matches,
    row_values,
    validate_filter,
    without_fields,
)

ROW: dict[str, Value | None] = {"year": 2020, "kb_name": "a", "drug": None}


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("eq", 2020, True),
        ("ne", 2020, False),
        ("lt", 2021, True),
        ("le", 2020, True),
        ("gt", 2020, False),
        ("ge", 2020.0, True),
    ],
)
def test_each_operator_compares(operator: Operator, value: Value, *, expected: bool) -> None:
    assert matches(Compare("year", operator, value), ROW) is expected


@pytest.mark.parametrize("field", ["drug", "absent"])
@pytest.mark.parametrize("operator", ["eq", "ne", "lt", "ge"])
def test_nothing_compares_with_an_absent_value(field: str, operator: Operator) -> None:
    assert not matches(Compare(field, operator, "x"), ROW)


def test_i1_one_of_nothing_matches_nothing() -> None:
    assert not matches(OneOf("kb_name", ()), ROW)
    assert matches(OneOf("kb_name", ("b", "a")), ROW)
    assert not matches(OneOf("drug", ("a",)), ROW)


def test_i1_an_empty_choice_matches_nothing_and_an_empty_list_of_demands_everything() -> None:
    assert not matches(AnyOf(()), ROW)
    assert matches(AllOf(()), ROW)


_YEAR, _MAKER = Compare("year", "eq", 2020), Compare("maker", "ne", "x")


@pytest.mark.parametrize(
    ("where", "left"),
    [
        (_YEAR, _YEAR),
        (_MAKER, AnyOf(())),
        (OneOf("maker", ("x",)), AnyOf(())),
        (AllOf((_YEAR, _MAKER)), AllOf((_YEAR, AnyOf(())))),
        (AnyOf((_MAKER, AllOf((_YEAR,)))), AnyOf((AnyOf(()), AllOf((_YEAR,))))),
    ],
)
def test_i1_what_compares_an_unknown_field_matches_nothing(where: Filter, left: Filter) -> None:
    """And decides as the whole filter does on a row that lacks the field."""
    fitted = without_fields(where, ROW)
    assert fitted == left
    assert matches(fitted, ROW) is matches(where, ROW)
    assert filter_names(fitted) <= ROW.keys()


def test_the_fields_of_a_filter_are_those_of_all_its_parts() -> None:
    assert filter_names(AnyOf((_MAKER, AllOf((_YEAR, OneOf("drug", ())))))) == {
        *("maker", "year", "drug")
    }


def test_i3_two_filters_are_both_demanded() -> None:
    holds, fails = Compare("year", "eq", 2020), Compare("kb_name", "eq", "b")
    assert not matches(AllOf((holds, fails)), ROW)
    assert matches(AnyOf((fails, holds)), ROW)


def test_i4_values_are_data() -> None:
    assert matches(Compare("kb_name", "eq", "'; --"), {"kb_name": "'; --"})


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Compare("yaer", "eq", 1), "unknown filter field 'yaer'; known: .*year"),
        (OneOf("vector", ("x",)), "unknown filter field 'vector'"),
        (
            Compare("year", cast("Operator", "like"), 1),
            "unknown filter operator 'like'; known: eq",
        ),
        (Compare("year", "eq", "2020"), "'year' holds a number, got '2020'"),
        (Compare("year", "eq", value=True), "'year' holds a number, got True"),
        (Compare("year", "lt", float("nan")), "'year' is compared with nan"),
        (Compare("kb_name", "eq", 1), "'kb_name' holds text, got 1"),
        (OneOf("kb_name", ("a", 1)), "'kb_name' holds text, got 1"),
        (AllOf((AnyOf((Compare("x", "eq", 1),)),)), "unknown filter field 'x'"),
        (cast("Filter", "year = 1"), "not a filter: 'year = 1'"),
    ],
)
def test_i2_a_filter_without_meaning_is_refused(where: Filter, message: str) -> None:
    with pytest.raises(InvalidFilter, match=message):
        validate_filter(where, field_types())


def test_a_filter_nested_without_end_is_refused() -> None:
    where: Filter = AllOf(())
    for _ in range(40):
        where = AllOf((where,))
    with pytest.raises(InvalidFilter, match="nested more than 32"):
        validate_filter(where, field_types())


def test_a_valid_filter_passes() -> None:
    validate_filter(
        AllOf((Compare("year", "ge", 2000), OneOf("drug", ("x",)), AnyOf(()))),
        field_types(["drug"]),
    )


def test_matching_refuses_what_it_cannot_compare() -> None:
    with pytest.raises(InvalidFilter, match="holds text, got 3"):
        matches(Compare("kb_name", "lt", 3), ROW)
    with pytest.raises(InvalidFilter, match="unknown filter operator"):
        matches(Compare("year", cast("Operator", "~"), 3), ROW)


def test_i2_an_extra_field_never_hides_one_of_the_rows_own() -> None:
    assert field_types(["year", "drug"])["year"] is int
    row = StoredPassage(
        *("r", "p", "d", 1, "ns", "kb", "text", "text"),
        np.zeros(2, np.float32),
        *("S", "body", "text", "jats", "p", 0, 4),
        year=None,
        extra=(("drug", "x"), ("kb_name", "other")),
    )
    values = row_values(row)
    assert (values["kb_name"], values["drug"], values["year"]) == ("kb", "x", None)
    assert set(FIELD_TYPES) < set(values)
