"""Document types: format first, then file name, text and sections."""

import pytest

from eagle_biomed.doc_types import detect_doc_type, file_name
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.metadata import DocumentMetadata


def document(uri: str = "a.txt", text: str = "Prose.", *, fmt: str = "text") -> ParsedDocument:
    return ParsedDocument(uri, "", "0" * 64, fmt, DocumentMetadata(), text)


@pytest.mark.parametrize(
    ("fmt", "kind"),
    [
        ("compound", "compound"),
        ("spl", "drug_label"),
        ("openfda-label", "drug_label"),
        ("patent", "patent"),
        ("ctgov", "research"),
        ("jats", "research"),
        ("pubmed", "research"),
        ("structure", "other"),
        ("dicom", "other"),
        ("nifti", "other"),
        ("picture", "other"),
    ],
)
def test_a_known_format_decides_whatever_name_and_text_say(fmt: str, kind: str) -> None:
    odd = document("label_compound_patent.x", "Full prescribing information", fmt=fmt)
    assert detect_doc_type(odd, ["claims"]) == kind


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("in/compound_aspirin.md", "compound"),
        ("molecule-12.txt", "compound"),
        ("label_osimertinib.pdf", "drug_label"),
        ("drug-labels.zip!/osimertinib.label.txt", "drug_label"),
        ("in\\package insert.docx", "drug_label"),
        ("patent_7.html", "patent"),
        ("US20190012345A1.pdf", "patent"),
        ("EP1234567B1.txt", "patent"),
        ("compounding.txt", "other"),
        ("labelling.txt", "other"),
        ("compound_folder/notes.txt", "other"),
        ("US2019.txt", "other"),
    ],
)
def test_words_of_the_file_name_decide_next(uri: str, kind: str) -> None:
    assert detect_doc_type(document(uri), []) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("HIGHLIGHTS OF PRESCRIBING INFORMATION", "drug_label"),
        ("See the prescribing\ninformation.", "drug_label"),
        ("What is claimed is: 1. A salt.", "patent"),
        ("in one embodiment of the present invention", "patent"),
        ("They claim that it works.", "other"),
    ],
)
def test_phrases_of_the_text_decide_then(text: str, kind: str) -> None:
    assert detect_doc_type(document(text=text), []) == kind


@pytest.mark.parametrize(
    ("sections", "kind"),
    [
        (["body", "claims"], "patent"),
        (["indications_and_usage", "dosage"], "drug_label"),
        (["abstract", "methods", "methods"], "research"),
        (["warnings"], "other"),
        (["introduction", "body"], "other"),
        ([], "other"),
    ],
)
def test_sections_decide_last(sections: list[str], kind: str) -> None:
    assert detect_doc_type(document(), sections) == kind


def test_the_file_name_of_a_member_is_the_members() -> None:
    assert file_name("a/b.tar.gz!/c/d.xml") == "d.xml"
