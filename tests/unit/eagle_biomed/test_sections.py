"""The section tag: aliases from leaf to root, heuristics only without a path."""

import pytest

from eagle_biomed.sections import CANONICAL_SECTIONS, detect_section, section_of_title
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage


def passage(
    text: str = "Some prose.", *path: str, kind: SectionKind = SectionKind.BODY
) -> Passage:
    return Passage("psg1_0", "doc1_0", 0, 0, path, kind, 0, len(text), text)


def test_the_canonical_sections_are_those_of_the_specification() -> None:
    assert set(CANONICAL_SECTIONS) == {
        *("abstract", "introduction", "methods", "results", "discussion", "conclusion"),
        *("claims", "indications_and_usage", "warnings", "dosage"),
    }


@pytest.mark.parametrize(
    ("title", "section"),
    [
        ("Abstract", "abstract"),
        ("SUMMARY", "abstract"),
        ("Plain-language summary", "abstract"),
        ("SUMMARY OF THE INVENTION", "abstract"),
        ("Background", "introduction"),
        ("1. Introduction", "introduction"),
        ("I. INTRODUCTION", "introduction"),
        ("BACKGROUND OF THE INVENTION", "introduction"),
        ("Objective:", "introduction"),
        ("Materials & Methods", "methods"),
        ("Materials and methods of the second cohort", "methods"),
        ("STAR\u2605Methods", "methods"),
        ("2.1 Statistical analysis", "methods"),
        ("Methods/Design", "methods"),
        ("Eligibility Criteria", "methods"),
        ("Results", "results"),
        ("3 Results and discussion", "results"),
        ("Findings", "results"),
        ("Results: the TORCH trial", "results"),
        ("Discussion", "discussion"),
        ("Strengths and limitations", "discussion"),
        ("5.\u00a0Conclusions", "conclusion"),
        ("Conclusions and Relevance", "conclusion"),
        ("Interpretation", "conclusion"),
        ("Claims", "claims"),
        ("What is claimed is:", "claims"),
        ("1 INDICATIONS AND USAGE", "indications_and_usage"),
        ("1 INDICATIONS & USAGE", "indications_and_usage"),
        ("Uses", "indications_and_usage"),
        ("Therapeutic indications", "indications_and_usage"),
        ("5 WARNINGS AND PRECAUTIONS", "warnings"),
        ("BOXED WARNING", "warnings"),
        ("WARNING: SUICIDAL THOUGHTS AND BEHAVIORS", "warnings"),
        ("WARNING \u2013 RISK OF SERIOUS INFECTIONS", "warnings"),
        ("Precautions", "warnings"),
        ("Ask a doctor before use", "warnings"),
        ("2 DOSAGE AND ADMINISTRATION", "dosage"),
        ("3 DOSAGE FORMS AND STRENGTHS", "dosage"),
        ("Directions", "dosage"),
        ("Posology", "dosage"),
        ("", ""),
        ("17", ""),
        ("OVERDOSAGE", ""),
        ("Adverse reactions", ""),
        ("Acknowledgements", ""),
        ("Warning signs of stroke", ""),
        ("Abstract algebra", ""),
        ("Methodist Hospital", ""),
        ("Resulting compounds", ""),
        ("M" * 10_000, ""),
        ("1." * 5_000, ""),
    ],
)
def test_a_title_names_its_section(title: str, section: str) -> None:
    assert section_of_title(title) == section


@pytest.mark.parametrize(
    ("path", "section"),
    [
        (("Methods", "Cohort", "Sequencing"), "methods"),
        (("Abstract", "Results"), "results"),
        (("Abstract", "Trial registration"), "abstract"),
        (("Results", "Patients"), "results"),
        (("Methods", "Outcomes"), "methods"),
        (("Primary Outcomes",), "methods"),
        (("Interventions",), "methods"),
        (("Results", "Primary outcomes"), "results"),
        (("Funding", "Patients"), "body"),
        (("5 WARNINGS AND PRECAUTIONS", "5.1 Cardiovascular events"), "warnings"),
        (("2 DOSAGE AND ADMINISTRATION", "5 WARNINGS AND PRECAUTIONS"), "warnings"),
        (("Funding",), "body"),
        (("How supplied", "Storage"), "body"),
        (("Discussion", " "), "discussion"),
    ],
)
def test_the_path_decides_from_leaf_to_root_and_is_body_when_unknown(
    path: tuple[str, ...], section: str
) -> None:
    assert detect_section(passage("RESULTS\nText", *path)) == section


def test_a_path_silences_text_and_markup() -> None:
    assert detect_section(passage("METHODS\nx", "Funding", kind=SectionKind.METHODS)) == "body"


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("2. Methods\nWe did.", "methods"),
        ("IV. RESULTS\nWe saw.", "results"),
        ("3.1 Statistical analysis\nWe tested.", "methods"),
        ("MATERIALS AND METHODS\nWe did.", "methods"),
        ("BOXED WARNING\nDeath.", "warnings"),
        ("WARNINGS AND PRECAUTIONS", "warnings"),
        ("What is claimed is:\n1. A compound.", "claims"),
        ("2. The method of claim 1, wherein the salt is a chloride.", "claims"),
        ("3. A composition according to any one of claims 1 or 2, wherein", "claims"),
        ("We claim a kinase inhibitor.", "claims"),
        ("Methods that work are rare.", ""),
        ("METHODS OF TREATING A PATIENT WITH COLORECTAL CANCER BY DRUGS", ""),
        ("2. Storage\nKeep cool.", ""),
        ("OSIMERTINIB IN LUNG CANCER\nText", ""),
        ("1. A patient of 60 years came to the clinic.", ""),
        ("", ""),
        ("\n\n", ""),
    ],
)
def test_without_a_path_the_first_line_may_be_a_heading(text: str, section: str) -> None:
    assert detect_section(passage(text)) == section


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        (SectionKind.ABSTRACT, "abstract"),
        (SectionKind.METHODS, "methods"),
        (SectionKind.TITLE, ""),
        (SectionKind.CAPTION, ""),
    ],
)
def test_without_a_path_the_markup_decides_before_the_text(
    kind: SectionKind, section: str
) -> None:
    assert detect_section(passage(kind=kind)) == section


@pytest.mark.parametrize(
    "title", ["BOXED WARNING", "WARNING: FETAL TOXICITY", "Boxed Warning Section"]
)
def test_o4_a_boxed_warning_without_a_code_is_sectioned(title: str) -> None:
    """A label whose sections have no LOINC code is known by its titles."""
    assert detect_section(passage("Stop at once.", "Highlights of a label", title)) == "warnings"


def test_o4_a_subsection_of_an_unnumbered_label_is_sectioned() -> None:
    path = ("FULL PRESCRIBING INFORMATION", "Dosage & Administration", "Renal impairment")
    assert detect_section(passage("Halve it.", *path)) == "dosage"
