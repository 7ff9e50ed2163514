"""LOINC codes of label sections: which say what a section is, and their way to the tagger."""

import pytest

from eagle_biomed.section_codes import (
    SECTION_CODES,
    read_codes,
    section_of_code,
    write_codes,
)
from eagle_biomed.sections import detect_section
from eagle_rag.model.document import ParsedDocument, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import Passage

CODED = {
    "indications_and_usage": "34067-9 54745-5 60560-0 55105-1",
    "warnings": (
        "34066-1 43685-7 34071-1 42232-9 34072-9 50570-1 50569-3 50568-5 50567-7 50566-9 50565-1 "
        "53414-9 54433-8 53412-3 54434-6 60564-2"
    ),
    "dosage": "34068-7 43678-2 60562-6",
    # Adverse reactions, contraindications, clinical studies, unclassified, no code, no such code.
    "": "34084-4 34070-3 34092-7 42229-5 0-0",
}


def document(written: str) -> ParsedDocument:
    metadata = DocumentMetadata(properties=((SECTION_CODES, written),) if written else ())
    return ParsedDocument("a.xml", "", "0" * 64, "spl", metadata, "Words")


def passage(*path: str, kind: SectionKind = SectionKind.BODY) -> Passage:
    return Passage("psg1_0", "doc1_0", 0, 0, path, kind, 0, 5, "Words")


@pytest.mark.parametrize(
    ("code", "section"), [(code, name) for name, codes in CODED.items() for code in codes.split()]
)
def test_o4_a_code_names_its_section(code: str, section: str) -> None:
    assert section_of_code(code) == section


def test_codes_come_back_as_they_were_written() -> None:
    codes = [(), ("34066-1",), ("42232-9", "", "34068-7"), ("", "")]
    written = write_codes(codes)
    assert written == "1:34066-1 2:42232-9//34068-7"
    assert read_codes(document(written)) == {1: codes[1], 2: codes[2]}


def test_codes_that_say_nothing_are_not_written() -> None:
    assert write_codes([("34084-4",), ("42229-5", "34071-1")]) == "1:/34071-1"
    assert write_codes([("34084-4",), ()]) == ""


@pytest.mark.parametrize("written", ["", "nonsense", ":", "9" * 40 + ":", "-1:x"])
def test_a_property_of_another_shape_gives_no_codes(written: str) -> None:
    assert read_codes(document(written)) == {}


@pytest.mark.parametrize(
    ("path", "codes", "section"),
    [
        (("SUICIDALITY AND ANTIDEPRESSANTS DRUGS",), ("34066-1",), "warnings"),
        (("What is Foo used for?",), ("34067-9",), "indications_and_usage"),
        (("HOW TO TAKE FOO",), ("34068-7",), "dosage"),
        (("HOW TO TAKE FOO", "Highlights"), ("34068-7",), "dosage"),
        (("HOW TO TAKE FOO", "In the morning", "Table 1"), ("34068-7", ""), "dosage"),
        (("Be careful", "HOW TO TAKE FOO"), ("34071-1", "34068-7"), "dosage"),
        (("Be careful", "Directions"), ("34071-1",), "dosage"),
        (("Purpose",), ("55105-1",), "indications_and_usage"),
        (("Results",), ("34066-1",), "warnings"),
        (("Side effects",), ("34084-4",), "body"),
        (("Warnings", "Side effects"), ("", "34084-4"), "warnings"),
    ],
)
def test_o4_the_code_of_a_title_decides_before_its_words(
    path: tuple[str, ...], codes: tuple[str, ...], section: str
) -> None:
    assert detect_section(passage(*path), codes) == section


def test_a_box_of_a_paper_is_no_boxed_warning() -> None:
    """The core's kind ``boxed_text`` is of papers too."""
    assert detect_section(passage("Box 1. Key facts", kind=SectionKind.BOXED_TEXT)) == "body"
