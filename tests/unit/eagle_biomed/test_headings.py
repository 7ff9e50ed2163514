"""A query that holds the words of a heading names that section."""

import pytest

from eagle_biomed.evidence import evidence_of
from eagle_biomed.headings import heading_match_score
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage
from eagle_rag.ops.tokens import tokenize
from eagle_rag.testing.query_side import candidate


def score(path: tuple[str, ...], query: str, drugs: tuple[str, ...] = ()) -> float:
    return heading_match_score(path, tokenize(query), drugs)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (("4 CONTRAINDICATIONS",), "contraindications of Lipitor"),
        (("5 WARNINGS AND PRECAUTIONS", "5.2 QTc prolongation"), "QTc prolongation by foxerinib"),
        (("Eligibility Criteria", "Exclusion Criteria"), "exclusion criteria of the trial"),
        (("Primary Outcomes",), "what was the primary outcome?"),
        (("Arms",), "arms of the savolitinib trial"),
        (("12 CLINICAL PHARMACOLOGY", "12.1 Mechanism of Action"), "mechanism of action"),
        (("4.1 Nitrates",), "taking it with nitrates"),
    ],
)
def test_a_query_with_all_words_of_a_heading_names_it(path: tuple[str, ...], query: str) -> None:
    assert score(path, query) == 1.0


@pytest.mark.parametrize(
    ("path", "query"),
    [
        (("Frequency of MET amplification",), "what is known about MET amplification"),
        (("Exclusion Criteria",), "exclusion of the drug"),
        (("8.6 Hepatic Impairment",), "contraindications of Lipitor"),
        ((), "contraindications"),
        (("4 CONTRAINDICATIONS",), ""),
        (("5.2",), "version 5.2"),
    ],
)
def test_a_query_with_a_part_of_its_words_does_not(path: tuple[str, ...], query: str) -> None:
    assert score(path, query) == 0.0


@pytest.mark.parametrize(
    "title",
    ["Results", "Patients and methods", "3. Study design", "Discussion", "Background", "Claims"],
)
def test_headings_that_every_paper_has_point_nowhere(title: str) -> None:
    assert score((title,), f"{title} of patients") == 0.0


def test_the_name_of_a_drug_alone_names_no_section() -> None:
    drugs = ("atorvastatin", "Lipitor")
    assert score(("Lipitor tablets", "Atorvastatin"), "atorvastatin in children", drugs) == 0.0
    assert score(("Doses of Lipitor",), "doses of atorvastatin", drugs) == 1.0


@pytest.mark.parametrize(
    ("kind", "section"),
    [(SectionKind.BOXED_TEXT, "warnings boxed_warning"), (SectionKind.BODY, "warnings")],
)
def test_a_passage_in_a_box_says_so(kind: SectionKind, section: str) -> None:
    tags = (("biomed_section", "warnings"),)
    passage = Passage("p", "doc-p", 0, 0, ("WARNING: DEATH",), kind, 0, 1, "x", tags)
    assert evidence_of(candidate("p"), passage, None).section == section
