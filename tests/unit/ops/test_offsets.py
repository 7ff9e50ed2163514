"""Offsets in UTF-16 units and UTF-8 bytes."""

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.ops.offsets import utf8_spans, utf16_spans

TEXT = "a\U0001d6fc\u03b2\r\n\tc"


def test_d1_utf16_counts_two_units_beyond_the_basic_plane() -> None:
    assert utf16_spans(TEXT, [(0, 1), (1, 2), (2, 7), (1, 2)]) == ((0, 1), (1, 3), (3, 8), (1, 3))


def test_d1_utf8_counts_bytes() -> None:
    assert utf8_spans(TEXT, [(2, 3), (0, 7)]) == ((5, 7), (0, 11))


def test_d1_ascii_offsets_are_the_same_everywhere() -> None:
    assert utf8_spans("abc", [(1, 2)]) == utf16_spans("abc", [(1, 2)]) == ((1, 2),)


def test_no_spans_give_no_spans() -> None:
    assert utf16_spans(TEXT, []) == ()


def test_a_lone_surrogate_is_counted() -> None:
    assert utf16_spans("\ud800a", [(1, 2)]) == ((1, 2),)


@pytest.mark.parametrize("span", [(-1, 1), (2, 1), (0, 99)])
def test_a_span_outside_the_text_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(InvalidInput, match="does not lie in a text of 7 characters"):
        utf8_spans(TEXT, [span])
