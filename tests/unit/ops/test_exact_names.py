"""Which words of a query name one thing exactly."""

import pytest

from eagle_rag.ops.exact import exact_forms

_KEY = "KTUFNOKKBVMGRW-UHFFFAOYSA-N"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("resistance by T790M", ("t790m",)),
        ("resistance by mutation", ()),
        (f"which drug has the InChIKey {_KEY}?", ("ktufnokkbvmgrwuhfffaoysan",)),
        (f"{_KEY} and T790M", ("ktufnokkbvmgrwuhfffaoysan", "t790m")),
        # Of its shape alone: capitals are no names otherwise.
        ("IMMUNOTHERAPY-RELATED EVENTS", ()),
        (f"the formula of {_KEY}X", ()),
        (_KEY.lower() + " in prose", ()),
    ],
)
def test_names_are_told_from_words(query: str, found: tuple[str, ...]) -> None:
    assert exact_forms(query) == found
