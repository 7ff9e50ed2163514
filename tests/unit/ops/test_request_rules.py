"""Requests that Python's type hints would forbid, and what is said of each."""

from dataclasses import fields

import pytest

from eagle_rag.errors import InvalidFilter, InvalidQuery
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.model.query import SearchRequest
from eagle_rag.ops.request_rules import (
    _RULES,
    MAX_CONDITIONS,
    MAX_NAMES,
    check_conditions,
    check_fields,
)

YEAR = Compare("year", "ge", 2020)
TOO_LONG = 10**5_000
"""Python refuses to write it."""


def nested(levels: int, inner: Filter = YEAR) -> Filter:
    """Return a filter of so many levels."""
    for _ in range(levels - 1):
        inner = AllOf((inner,))
    return inner


def test_every_field_of_a_request_has_a_rule() -> None:
    assert [*_RULES, "filters"] == sorted(
        (field.name for field in fields(SearchRequest)), key=[*_RULES, "filters"].index
    )


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("query", None, "query must be text, got None"),
        ("query", 5, "query must be text, got 5"),
        ("query", b"x", "query must be text, got a value of type bytes"),
        ("top_k", 1.5, "top_k must be a whole number of at most 64 bits, got 1.5"),
        ("top_k", "5", "top_k must be a whole number of at most 64 bits, got '5'"),
        ("top_k", True, "top_k must be a whole number of at most 64 bits, got True"),
        pytest.param(
            "top_k", TOO_LONG, "top_k must be .*, got a number of 16,610 bits", id="long"
        ),
        ("offset", 0.0, "offset must be a whole number of at most 64 bits, got 0.0"),
        ("kb_names", "default", r"kb_names must be a tuple .* got 'default'. .*\('default',\)"),
        ("kb_names", (5, "a"), "kb_names must be a tuple .* got a tuple of int, str"),
        ("document_ids", "doc1_x", "document_ids must be a tuple .* got 'doc1_x'"),
        ("document_ids", {"doc1_x"}, "document_ids must be a tuple .* got a value of type set"),
        ("group_by", "x", "group_by must be one of document, passage, got 'x'"),
        ("mode", "LEXICAL", "mode must be one of hybrid, lexical, dense, got 'LEXICAL'. leave"),
        ("mode", None, "mode must be one of hybrid, lexical, dense, got None"),
        ("mode", ["hybrid"], "mode must be one of .* got a list of str"),
        ("fusion", "x" * 999, "fusion must be one of rrf, weighted, min-max, got 'x{79}…'"),
        ("explain", 1, "explain must be True or False, got 1"),
        ("image", "x", "image must be the bytes of a picture or None, got 'x'"),
    ],
)
def test_a_field_of_another_type_is_refused_with_value_and_remedy(
    field: str, value: object, said: str
) -> None:
    values: dict[str, object] = {"query": "kinase", field: value}
    with pytest.raises(InvalidQuery, match=f"^{said}") as told:
        check_fields(SearchRequest(**values))  # type: ignore[arg-type]  # that is what is tested
    assert told.value.remedy


@pytest.mark.parametrize("field", ["kb_names", "document_ids"])
def test_a_name_that_is_not_unicode_is_refused_and_named(field: str) -> None:
    named = {"kb_names": "knowledge base", "document_ids": "document id"}[field]
    values: dict[str, object] = {field: ("fine", "a\udcff")}
    with pytest.raises(InvalidQuery, match=rf"no {named} is called 'a\\udcff'"):
        check_fields(SearchRequest("kinase", **values))  # type: ignore[arg-type]  # one of two fields


@pytest.mark.parametrize("field", ["kb_names", "document_ids"])
def test_the_number_of_names_is_bounded(field: str) -> None:
    most: dict[str, object] = {field: tuple(map(str, range(MAX_NAMES)))}
    more: dict[str, object] = {field: tuple(map(str, range(MAX_NAMES + 1)))}
    check_fields(SearchRequest("kinase", **most))  # type: ignore[arg-type]  # one of two fields
    with pytest.raises(InvalidQuery, match=f"^{field} holds 10,001 names, at most 10,000"):
        check_fields(SearchRequest("kinase", **more))  # type: ignore[arg-type]  # one of two fields


def test_lists_are_taken_for_tuples() -> None:
    check_fields(SearchRequest("kinase", kb_names=["a"]))  # type: ignore[arg-type]  # JSON has no tuples


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("year>5", "filters must be a Compare, OneOf, AllOf or AnyOf, got 'year>5'"),
        (AllOf(("year>5",)), "filters must be a Compare, .* got 'year>5'"),  # type: ignore[arg-type]  # so it is
        (AllOf(YEAR), "the parts of AllOf must be a tuple, got a value of type Compare"),  # type: ignore[arg-type]  # so it is
        (AnyOf("ab"), "the parts of AnyOf must be a tuple, got 'ab'"),  # type: ignore[arg-type]  # so it is
        (OneOf("kb_name", "default"), "values of OneOf on 'kb_name' must be a tuple, got 'def"),  # type: ignore[arg-type]  # so it is
        (OneOf(5, ("a",)), "a filter names a field by text, got 5"),  # type: ignore[arg-type]  # so it is
        (OneOf("year", (None,)), "'year' is compared with None"),  # type: ignore[arg-type]  # so it is
        (Compare("year", ">=", 5), "operator '>='; known: eq, ne, lt, le, gt, ge"),  # type: ignore[arg-type]  # so it is
        (Compare("year", "ge", (5,)), "'year' is compared with a tuple of int"),  # type: ignore[arg-type]  # so it is
        (Compare("year", "ge", TOO_LONG), "'year' is compared with a number of 16,610 bits"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_part(where: object, said: str) -> None:
    with pytest.raises(InvalidFilter, match=said):
        check_conditions(where)


def test_a_filter_nested_without_end_is_refused() -> None:
    check_conditions(nested(30))
    for levels in (31, 3_000):
        with pytest.raises(InvalidFilter, match="nested more than 30 deep"):
            check_conditions(nested(levels))


def test_parts_used_many_times_over_are_counted_as_often() -> None:
    """Twenty-five such levels are 33 million conditions, built of 26 objects."""
    where: Filter = YEAR
    for _ in range(25):
        where = AnyOf((where, where))
    with pytest.raises(InvalidFilter, match="more than 1,000 conditions"):
        check_conditions(where)


def test_conditions_and_values_are_bounded() -> None:
    check_conditions(AnyOf((YEAR,) * (MAX_CONDITIONS - 1)))
    with pytest.raises(InvalidFilter, match="more than 1,000 conditions"):
        check_conditions(AnyOf((YEAR,) * MAX_CONDITIONS))
    half = OneOf("year", tuple(range(MAX_NAMES // 2)))
    check_conditions(AnyOf((half, half)))
    with pytest.raises(InvalidFilter, match="more than 10,000 values"):
        check_conditions(AnyOf((half, half, YEAR)))
