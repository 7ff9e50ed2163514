"""What kind of document it is: a compound, a drug label, a patent, research, or something else.

The parser's format decides where it is one of the plugin's own; else the words of the file's name, then
phrases of the text, then the sections found.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from eagle_rag.model.document import ParsedDocument

__all__ = ["DocType", "detect_doc_type", "file_name"]

DocType = Literal["compound", "drug_label", "patent", "research", "other"]

_BY_FORMAT: Mapping[str, DocType] = {
    "compound": "compound",
    "spl": "drug_label",
    "openfda-label": "drug_label",
    "patent": "patent",
    "ctgov": "research",
    "jats": "research",
    "pubmed": "research",
    "structure": "other",
    "dicom": "other",
    "nifti": "other",
    "picture": "other",
}
_BY_NAME: tuple[tuple[re.Pattern[str], DocType], ...] = (
    (re.compile(r"(?<![a-z])(?:compounds?|molecules?)(?![a-z])"), "compound"),
    (re.compile(r"(?<![a-z])(?:labels?|spl|package[ _-]?insert)(?![a-z])"), "drug_label"),
    (
        re.compile(
            r"(?<![a-z])(?:patents?|us\d{7,11}(?:[ab]\d)?|(?:ep|wo)\d{7,12}[ab]\d)(?![a-z])"
        ),
        "patent",
    ),
)
_BY_TEXT: tuple[tuple[re.Pattern[str], DocType], ...] = (
    (
        re.compile(
            r"prescribing\s+information|package\s+insert|highlights\s+of\s+prescribing"
            r"|see\s+full\s+prescribing|revised:\s*\d{1,2}/\d{4}",
            re.IGNORECASE,
        ),
        "drug_label",
    ),
    (
        re.compile(
            r"what\s+is\s+claimed|(?<!\w)(?:we|i)\s+claim:|the\s+invention\s+claimed\s+is"
            r"|embodiments?\s+of\s+the\s+(?:present\s+)?invention",
            re.IGNORECASE,
        ),
        "patent",
    ),
)
_LABEL_SECTIONS = frozenset({"indications_and_usage", "dosage", "warnings"})
_PAPER_SECTIONS = frozenset({"abstract", "introduction", "methods", "results", "discussion"})
_ENOUGH = 2  # one "Background" or "Warning" is in any report


def detect_doc_type(document: ParsedDocument, sections: Sequence[str]) -> DocType:
    """Return the type of a document.

    Args:
        document: The parsed document.
        sections: Section tags of its passages.
    """
    by_format = _BY_FORMAT.get(document.format)
    if by_format is not None:
        return by_format
    name = file_name(document.source_uri).casefold()
    rules = ((name, _BY_NAME), (document.text, _BY_TEXT))
    for text, patterns in rules:
        for pattern, kind in patterns:
            if pattern.search(text):
                return kind
    return _by_sections(frozenset(sections))


def file_name(uri: str) -> str:
    """Return the last part of a source's name; of an archive's member, the member's."""
    return re.split(r"[/\\!]", uri)[-1]


def _by_sections(found: frozenset[str]) -> DocType:
    if "claims" in found:
        return "patent"
    if len(found & _LABEL_SECTIONS) >= _ENOUGH:
        return "drug_label"
    if len(found & _PAPER_SECTIONS) >= _ENOUGH:
        return "research"
    return "other"
