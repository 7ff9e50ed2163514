"""Normal forms of identifiers (CASES A8, A13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.model.metadata import Identifiers
from eagle_rag.ops.identifiers import (
    normalize_doi,
    normalize_orcid,
    normalize_pmcid,
    normalize_pmid,
    parse_identifier,
)

SICI = "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2"


@pytest.mark.parametrize(
    "text",
    [
        "31452104", " 31452104 ", "PMID: 31452104", "pmid31452104", "PMID:31452104", "031452104",
        "PubMed ID 31452104", "https://pubmed.ncbi.nlm.nih.gov/31452104/", "info:pmid/31452104",
        "http://www.ncbi.nlm.nih.gov/pubmed/31452104",
    ],
)  # fmt: skip
def test_a13_a_pmid_has_one_normal_form(text: str) -> None:
    assert normalize_pmid(text) == "31452104"


@pytest.mark.parametrize("text", ["", "0", "PMC123", "12a", "1234567890", "10.1/2", "\u0661"])
def test_a13_what_is_no_pmid_gives_nothing(text: str) -> None:
    assert normalize_pmid(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "PMC3531190", "pmc3531190", "3531190", "PMCID: PMC3531190", "PMC 3531190", "PMC3531190.2",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC3531190/", "PMC-3531190",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC3531190",
    ],
)  # fmt: skip
def test_a13_a_pmcid_has_one_normal_form(text: str) -> None:
    assert normalize_pmcid(text) == "PMC3531190"


@pytest.mark.parametrize("text", ["", "PMC", "PMC0", "PMCX1", "10.1000/PMC1"])
def test_a13_what_is_no_pmcid_gives_nothing(text: str) -> None:
    assert normalize_pmcid(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "10.1371/journal.pone.0012345", "10.1371/JOURNAL.PONE.0012345",
        "doi:10.1371/journal.pone.0012345", "DOI: 10.1371/journal.pone.0012345",
        "https://doi.org/10.1371/journal.pone.0012345", "doi: https://doi.org/10.1371/journal.pone.0012345",
        "http://dx.doi.org/10.1371%2Fjournal.pone.0012345", "info:doi/10.1371/journal.pone.0012345",
        "doi.org/10.1371/journal.pone.0012345.", "10.1371/journal.pone.0012345);",
        "10.1371/journal.pone.\n0012345", "10.1371/ journal.pone.0012345",
    ],
)  # fmt: skip
def test_a13_a_doi_has_one_normal_form(text: str) -> None:
    assert normalize_doi(text) == "10.1371/journal.pone.0012345"


@pytest.mark.parametrize(
    "doi",
    [
        SICI,
        "10.1016/S0140-6736(05)66783-0",
        "10.1000/a;b",
        "10.1000/x[1]",
        "10.1000/a{b}",
        "10.1000/(x)",
    ],
)
def test_a8_signs_inside_a_doi_are_part_of_it(doi: str) -> None:
    assert normalize_doi(doi) == doi.lower()
    assert normalize_doi(f"https://doi.org/{doi}") == doi.lower()


def test_a8_escaped_signs_of_a_doi_are_undone() -> None:
    assert normalize_doi(SICI.replace("<", "&lt;").replace(">", "&gt;")) == SICI.lower()


@pytest.mark.parametrize(
    "text", ["", "10.12/short", "doi", "10.1000", "11.1000/x", "see 10.1000/x"]
)
def test_a13_what_is_no_doi_gives_nothing(text: str) -> None:
    assert normalize_doi(text) == ""


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("10.3892/or.2012.1631. Epub 2012 Jan 12", "10.3892/or.2012.1631"),
        ("10.1000/abc. 2012", "10.1000/abc"),
        ("10.1000/abc 123456", "10.1000/abc"),
    ],
)
def test_a_doi_ends_where_something_else_begins(text: str, doi: str) -> None:
    assert normalize_doi(text) == doi


@pytest.mark.parametrize("text", ["10.1000/)", "10.1000/.", "10.1000/ ;"])
def test_a_prefix_without_a_suffix_is_no_doi(text: str) -> None:
    assert normalize_doi(text) == ""


def test_a_doubly_escaped_doi_and_one_with_an_ampersand_are_whole() -> None:
    assert normalize_doi("10.1000/a&amp;lt;b") == "10.1000/a<b"
    assert normalize_doi("10.1000/a&part=1") == "10.1000/a&part=1"


@pytest.mark.parametrize(
    ("text", "orcid"),
    [
        ("https://orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("0000000218250097", "0000-0002-1825-0097"),
        ("0000-0002-1694-233x", "0000-0002-1694-233X"),
        ("0000-0002-1825-0098", ""),
        ("Jane Doe", ""),
    ],
)
def test_an_orcid_has_one_normal_form_and_a_right_check_digit(text: str, orcid: str) -> None:
    assert normalize_orcid(text) == orcid


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("31452104", Identifiers(pmid="31452104")),
        ("PMID: 31452104", Identifiers(pmid="31452104")),
        ("pmc3531190", Identifiers(pmcid="PMC3531190")),
        ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC3531190/", Identifiers(pmcid="PMC3531190")),
        ("doi:10.1000/ABC", Identifiers(doi="10.1000/abc")),
        (SICI, Identifiers(doi=SICI.lower())),
        ("10.1000/abc resistance", Identifiers()),
        ("EGFR T790M", Identifiers()),
        ("12 months", Identifiers()),
        ("", Identifiers()),
    ],
)
def test_a13_a_typed_identifier_is_told_from_a_query(text: str, found: Identifiers) -> None:
    assert parse_identifier(text) == found


@given(st.text(max_size=60))
def test_normal_forms_are_stable(text: str) -> None:
    for normalize in (normalize_pmid, normalize_pmcid, normalize_doi, normalize_orcid):
        once = normalize(text)
        assert normalize(once) == once


@given(st.from_regex(r"10\.[0-9]{4,6}/[a-z0-9<>;().\-\[\]{}&% ]{1,30}", fullmatch=True))
def test_a_normal_doi_stays_as_it_is(text: str) -> None:
    once = normalize_doi(text)
    assert normalize_doi(once) == once
