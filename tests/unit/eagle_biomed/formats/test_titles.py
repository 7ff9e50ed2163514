"""Which headings are no titles, and which line of a label names its product."""

import pytest

from eagle_biomed.formats.titles import is_generic_title, product_line

HEAD = "HIGHLIGHTS OF PRESCRIBING INFORMATION"


@pytest.mark.parametrize(
    "title",
    [HEAD, "Abstract:", "1. Introduction", "PowerPoint  Presentation", "ANNEX I", "Contents"],
)
def test_a_heading_of_many_documents_is_generic(title: str) -> None:
    assert is_generic_title(title)


@pytest.mark.parametrize(
    "title",
    [
        "Introduction to immunology",
        "Review of rest",
        "VULPEXA",
        "1",
        "",
        "D",
        "Case report of a fox",
    ],
)
def test_a_title_that_names_something_is_not(title: str) -> None:
    assert not is_generic_title(title)


@pytest.mark.parametrize(
    ("lines", "product"),
    [
        ((HEAD, "ZORB (zorbanib) tablets", "Initial U.S. Approval: 2020"), "ZORB (zorbanib) tablets"),
        (("1", HEAD, "", "ZORB (zorbanib) for", "intravenous use", "Initial"),
         "ZORB (zorbanib) for intravenous use"),
        ((HEAD, "These highlights do not include all", "the information needed. See", "more.", "ZORB"),
         "ZORB"),
        ((HEAD, "These highlights do not include all.", "See full prescribing information", "for Z.", "ZORB"),
         "ZORB"),
        (("ANNEX I", "SUMMARY OF PRODUCT CHARACTERISTICS", "1. NAME OF THE MEDICINAL PRODUCT", "Zorb 5 mg"),
         "Zorb 5 mg"),
    ],
)  # fmt: skip
def test_the_product_stands_below_what_all_labels_begin_with(
    lines: tuple[str, ...], product: str
) -> None:
    assert product_line(lines) == product


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (HEAD,),
        (HEAD, "These highlights do not include all"),
        ("Rest in foxes", HEAD, "ZORB"),
        ("Abstract", "Foxes rest."),
        (HEAD, "x" * 201),
    ],
)
def test_what_does_not_begin_like_a_label_has_no_product(lines: tuple[str, ...]) -> None:
    assert product_line(lines) == ""
