"""The order of the identifiers of a record."""

from eagle_biomed.formats.external_ids import external_ids


def test_what_a_record_is_cited_by_comes_first_and_the_rest_sorted() -> None:
    ids = external_ids(
        (("patent", "US1"), ("number", "1")), [("b", "2"), ("a", "9"), ("a", "10"), ("b", "2")]
    )

    assert ids.other == (
        ("patent", "US1"), ("number", "1"), ("a", "10"), ("a", "9"), ("b", "2"),
    )  # fmt: skip


def test_an_id_without_a_value_is_left_out_and_none_stands_twice() -> None:
    ids = external_ids((("nct", ""), ("x", "1")), (("x", "1"), ("y", "")))

    assert ids.other == (("x", "1"),)
