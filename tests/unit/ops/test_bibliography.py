"""The detector must find where references begin, and never give up prose to get rid of them."""

import pytest

from eagle_rag.ops.bibliography import (
    FEATURES,
    count_features,
    find_bibliography,
    is_reference_heading,
    read_entry,
    split_entries,
)

PROSE = (
    "We measured how the cells were changed by the drug, as has been shown in 23% of patients"
    " (Smith et al., 2010). These data are consistent with Figure 2 and with our hypothesis.\n\n"
) * 12
ENTRIES = tuple(
    f"{n}. Smith JA, Doe B, Lee KY. Inhibition of kinase {n} in lung cancer. J Clin Oncol."
    f" {1990 + n};{n + 4}({n}):{100 + n}-{108 + n}."
    for n in range(1, 15)
)
BY_AUTHOR = tuple(
    f"Smith{chr(96 + n)}, J. A., & Doe, B. ({1990 + n}). Inhibition of kinases in lung cancer."
    f" Journal of Oncology, {n}({n}), {100 + n}-{108 + n}."
    for n in range(1, 15)
)
LIST = "\n".join(ENTRIES)


@pytest.mark.parametrize("entries", [ENTRIES, BY_AUTHOR])
@pytest.mark.parametrize("separator", ["\n", "\n\n", "\r\n"])
def test_the_list_is_found_where_it_begins(entries: tuple[str, ...], separator: str) -> None:
    assert find_bibliography(PROSE + separator.join(entries)) == len(PROSE)


@pytest.mark.parametrize(
    "heading", ["References", "REFERENCES", "6. Bibliography", "Literature cited:"]
)
def test_a_heading_belongs_to_the_list(heading: str) -> None:
    assert find_bibliography(f"{PROSE}{heading}\n\n{LIST}") == len(PROSE)


def test_names_thanked_before_the_heading_are_prose() -> None:
    thanks = (
        "We thank A Meyer, B Schulz, C Weber, and D Becker, E Fischer, F Wagner, G Hoffmann.\n\n"
        * 10
    )
    assert find_bibliography(f"{PROSE}{thanks}References\n{LIST}") == len(PROSE + thanks)


def test_names_thanked_before_a_list_without_heading_are_prose() -> None:
    thanks = (
        "Trial centres: Meyer A, Schulz B, Weber C, Becker D, Fischer E, Wagner F, Hoffmann G.\n\n"
        * 15
    )
    cut = find_bibliography(PROSE + thanks + LIST)
    assert cut is not None
    assert abs(cut - len(PROSE + thanks)) < 700


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        PROSE,
        "A title",
        PROSE + ENTRIES[0],
        "Meyer A, Schulz B, Weber C, Becker D.\n" * 60,
    ],
)
def test_text_without_a_list_has_none(text: str) -> None:
    assert find_bibliography(text) is None


def test_prose_after_the_list_is_never_given_up() -> None:
    assert find_bibliography(f"{PROSE}References\n{LIST}\n\nAppendix\n\n{PROSE}") is None


def test_a_short_note_after_the_list_goes_with_it() -> None:
    note = "\n\nPublisher's note: we remain neutral with regard to jurisdictional claims."
    assert find_bibliography(f"{PROSE}References\n{LIST}{note}") == len(PROSE)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_list_run_together_after_prose_on_one_line_is_cut_inside_the_line(end: str) -> None:
    text = PROSE.replace("\n", " ") * 9 + " ".join(ENTRIES) + end
    cut = find_bibliography(text)
    assert cut is not None
    assert abs(cut - 9 * len(PROSE)) < 60


def test_a_last_sentence_that_looks_like_an_entry_is_prose() -> None:
    last = PROSE.rstrip() + " Smith JA, Doe B, J Clin Oncol 2001;3:4-5.\n\n"
    assert find_bibliography(last + LIST) == len(last)


def test_a_first_entry_that_begins_like_prose_is_an_entry() -> None:
    first = (
        "This is what we have shown to be. Smith JA, Doe B, Lee KY, Meyer A. J Clin Oncol."
        " 2001;3(2):4-5. Proc Natl Acad Sci. 2002;4(3):6-7.\n"
    )
    assert find_bibliography(PROSE + first + LIST) == len(PROSE)


def test_a_text_that_is_only_a_list_begins_with_it() -> None:
    assert find_bibliography(LIST) == 0


def test_a_heading_in_the_middle_of_prose_is_no_list() -> None:
    assert find_bibliography(f"References\n\n{PROSE}") is None


def test_every_feature_tells_prose_from_references() -> None:
    prose, listed = count_features(PROSE), count_features(LIST)
    for feature, in_prose, in_list in zip(FEATURES, prose, listed, strict=True):
        rarer, other = (in_prose / len(PROSE), in_list / len(LIST))
        if feature.weight < 0:
            rarer, other = other, rarer
        assert rarer <= other, feature.name


@pytest.mark.parametrize("separator", ["\n", "\n\n", " \n"])
def test_entries_are_split_at_their_numbers(separator: str) -> None:
    assert split_entries("References\n" + separator.join(ENTRIES)) == ENTRIES


def test_wrapped_entries_are_joined() -> None:
    wrapped = "\n".join(entry.replace(" in lung", "\n   in lung") for entry in ENTRIES)
    assert split_entries(wrapped) == ENTRIES


@pytest.mark.parametrize("separator", ["\n", "\n\n"])
def test_entries_without_numbers_are_split_at_lines_or_gaps(separator: str) -> None:
    assert split_entries(separator.join(BY_AUTHOR)) == BY_AUTHOR


@pytest.mark.parametrize(
    ("text", "entries"), [("", ()), ("References\n", ()), ("One entry.", ("One entry.",))]
)
def test_nothing_is_invented_when_splitting(text: str, entries: tuple[str, ...]) -> None:
    assert split_entries(text) == entries


@pytest.mark.parametrize(
    ("raw", "label", "year"),
    [
        ("12. Smith J. Lung. 2004;3:1-2.", "12", 2004),
        ("[7] Smith J. In 1999 patients (2011). Lung.", "7", 2011),
        ("Smith J. (2010a) Lung.", "", 2010),
        ("Smith J. Lung, pages 1901-2.", "", None),
        ("3 Smith J. Lung 1998", "3", 1998),
    ],
)
def test_label_and_year_are_read(raw: str, label: str, year: int | None) -> None:
    entry = read_entry(raw, key="ref-1")
    assert (entry.label, entry.year) == (label, year)


def test_a13_ids_are_read_in_their_normal_form() -> None:
    entry = read_entry(
        "Doe J.  Lung.\n2001. https://doi.org/10.1000/ABC(1)2. PMID: 123 pmc456789", key="ref-3"
    )
    assert (entry.doi, entry.pmid, entry.pmcid) == ("10.1000/abc(1)2", "123", "PMC456789")
    assert entry.raw.startswith("Doe J. Lung. 2001.")


@pytest.mark.parametrize("title", ["References", "5. LITERATURE CITED", "Reference list"])
def test_headings_of_bibliographies_are_known(title: str) -> None:
    assert is_reference_heading(title)


@pytest.mark.parametrize(
    "title", ["Reference ranges", "References were checked by two of us", "Results"]
)
def test_other_headings_are_not(title: str) -> None:
    assert not is_reference_heading(title)


@pytest.mark.parametrize("unit", ["C", "C'", "Ab-", "9", "(", "a ", "1:", "10.1"])
def test_one_long_line_is_read_in_linear_time(unit: str) -> None:
    # Quadratic, this takes minutes; the suite's time limit would end it.
    line = unit * 200_000
    assert find_bibliography(f"Methods\n\n{line}\n") in {None, len("Methods\n\n")}
