"""Long texts are cut in messages, and it is seen that they were."""

import pytest

from eagle_rag.ops.excerpts import excerpt


@pytest.mark.parametrize("text", ["", "HER2", "x" * 80])
def test_a_text_that_fits_is_left_as_it_is(text: str) -> None:
    assert excerpt(text) == text


def test_a_longer_text_ends_in_an_ellipsis_within_the_limit() -> None:
    assert excerpt("x" * 81) == "x" * 79 + "\u2026"
    assert excerpt("abcdef", 4) == "abc\u2026"
