import math
from dataclasses import replace

import numpy as np
import pytest

from eagle_rag.errors import InvalidFilter, InvalidInput, UnknownName, VectorSpaceMismatch
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.ops.store_rules import (
    MAX_FILTER_DEPTH,
    MAX_QUERY_TOKENS,
    OWN_FIELDS,
    check_filter,
    check_limit,
    check_query_vector,
    check_rows,
    check_same_space,
    check_schema,
    check_tokens,
    filter_fields,
    split_lexemes,
    unknown_collection,
)
from eagle_rag.testing.store_rows import make_row, make_schema

_FIELDS = filter_fields(("drug",))


def test_own_fields_are_those_of_a_row() -> None:
    row = make_row("a", (1, 0, 0), "x", year=2000)
    kinds = {"text": str, "int": int}
    assert all(isinstance(getattr(row, name), kinds[kind]) for name, kind in OWN_FIELDS.items())
    others = {"vector", "extra"}
    assert set(OWN_FIELDS) == set(type(row).__dataclass_fields__) - others


def test_a_usable_schema_passes() -> None:
    check_schema(make_schema("eagle_text-2.0", extra_fields=("drug", "gene_2")))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dim": 0}, "dimension must be at least 1, got 0"),
        ({"metric": "l2"}, "metric must be one of cosine, ip, got 'l2'"),
    ],
)
def test_an_unusable_space_is_refused(change: dict[str, object], message: str) -> None:
    schema = make_schema("c")
    spec = replace(schema.spec, **change)  # type: ignore[arg-type]  # parametrised
    with pytest.raises(InvalidInput, match=message):
        check_schema(replace(schema, spec=spec))


@pytest.mark.parametrize("name", ["", ".", "a b", "a\n", "é"])
def test_i4_an_unusable_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="collection name"):
        check_schema(make_schema(name))


def test_a_field_named_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="twice"):
        check_schema(make_schema("c", extra_fields=("drug", "drug")))


def test_a_reserved_field_name_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'kb_name'"):
        check_schema(make_schema("c", extra_fields=("kb_name",)))


def test_k4_the_error_names_every_part_that_differs() -> None:
    spec = make_schema("c").spec
    check_same_space("c", found=spec, wanted=spec)
    with pytest.raises(VectorSpaceMismatch) as caught:
        check_same_space("c", found=spec, wanted=replace(spec, encoder="bge", pooling="cls"))
    assert "encoder 'hash' against 'bge'; pooling 'mean' against 'cls'" in str(caught.value)


def test_rows_give_one_array_of_vectors() -> None:
    rows = [make_row("a", (1, 0, 0), "x"), make_row("b", (0, 2, 0), "y")]
    vectors = check_rows(rows, make_schema("c"))
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, [[1, 0, 0], [0, 2, 0]])


def test_one_row_twice_is_refused() -> None:
    row = make_row("a", (1, 0, 0), "x")
    with pytest.raises(InvalidInput, match="'a' is given twice"):
        check_rows([row, row], make_schema("c"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vector": np.ones((1, 3), np.float32)}, r"shape \(1, 3\).*\(3,\)"),
        ({"vector": np.array([1, math.nan, 0], np.float32)}, "not finite"),
        ({"vector": np.array([1e30, 0, 0], np.float32)}, "too long"),
        ({"vector": np.zeros(3, np.float32)}, "is zero"),
        ({"vector": np.full(3, 1e-30, np.float32)}, "is zero"),
        ({"start": 2**63}, "start of row 'a' is out of range"),
        ({"text": "\udc80"}, "text of row 'a' is not Unicode"),
        ({"extra": (("drug", "\udc80"),)}, "drug of row 'a' is not Unicode"),
        ({"extra": (("gene", None),)}, "'gene', which collection 'c' lacks; it has: drug"),
    ],
)
def test_h1_a_row_no_store_could_hold_is_refused(change: dict[str, object], message: str) -> None:
    row = replace(make_row("a", (1, 0, 0), "x"), **change)  # type: ignore[arg-type]  # parametrised
    with pytest.raises(InvalidInput, match=message):
        check_rows([row], make_schema("c", extra_fields=("drug",)))


def test_a_zero_vector_has_an_inner_product() -> None:
    spec = make_schema("c", metric="ip").spec
    assert check_query_vector(np.zeros(3, np.float32), spec).tolist() == [0, 0, 0]


def test_h1_a_limit_is_at_least_one() -> None:
    check_limit(1)
    with pytest.raises(InvalidInput, match="limit must be at least 1, got 0"):
        check_limit(0)


def test_lexemes_part_at_ascii_white_space_only() -> None:
    assert split_lexemes(" a  b\n\u00a0c\td ") == ("a", "b", "\u00a0c", "d")
    assert split_lexemes("") == ()


def test_c4_too_many_tokens_are_refused() -> None:
    assert len(check_tokens(["a"] * MAX_QUERY_TOKENS)) == MAX_QUERY_TOKENS
    with pytest.raises(InvalidInput, match="10001 tokens"):
        check_tokens(["a"] * (MAX_QUERY_TOKENS + 1))


def test_c4_a_token_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="query is not Unicode text"):
        check_tokens(["\ud800"])


@pytest.mark.parametrize(
    "where",
    [
        Compare("drug", "ne", "x"),
        OneOf("year", (1, 2.5)),
        AllOf((AnyOf(()), Compare("start", "lt", -(2**63)))),
    ],
)
def test_a_meaningful_filter_passes(where: Filter) -> None:
    check_filter(where, _FIELDS)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Compare("gene", "eq", "x"), "unknown filter field 'gene'; known: chunk_type"),
        (Compare("drug", "in", "x"), "unknown operator 'in'"),  # type: ignore[arg-type]  # a caller's mistake
        (Compare("drug", "eq", 1), "holds text, got 1"),
        (OneOf("year", (1, "x")), "holds whole numbers, got 'x'"),
        (OneOf("year", (True,)), "holds whole numbers, got True"),
        (Compare("year", "eq", math.inf), "out of range: inf"),
        (Compare("year", "eq", math.nan), "out of range: nan"),
        (AllOf((OneOf("drug", ("\ud800",)),)), "not Unicode text"),
        ("kb_name = 'x'", "not a filter: str"),
    ],
)
def test_i2_a_filter_without_meaning_is_refused(where: Filter, message: str) -> None:
    with pytest.raises(InvalidFilter, match=message):
        check_filter(where, _FIELDS)


def test_a_filter_may_be_nested_as_deep_as_documented() -> None:
    where: Filter = Compare("drug", "eq", "x")
    for _ in range(MAX_FILTER_DEPTH - 1):
        where = AllOf((where,))
    check_filter(where, _FIELDS)
    with pytest.raises(InvalidFilter, match="nested more than 32 deep"):
        check_filter(AllOf((where,)), _FIELDS)


def test_an_unknown_collection_lists_the_known_ones() -> None:
    error = unknown_collection("c", ("b", "a"))
    assert isinstance(error, UnknownName)
    assert "known: a, b" in str(error)
