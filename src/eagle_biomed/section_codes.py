"""LOINC codes of label sections, and how they come from the parser to the tagger.

A label may call its boxed warning anything; its code says what it is. Titles stay as written, so the codes
travel beside them, in the document's properties: ``1:34066-1 4:42232-9/34068-7`` gives for section 1 the
code of its one title, and for section 4 those of both titles of its path, from the root.
"""

import re
from collections.abc import Mapping, Sequence

from eagle_rag.model.document import ParsedDocument

__all__ = ["SECTION_CODES", "read_codes", "section_of_code", "write_codes"]

SECTION_CODES = "section_codes"
"""Name of the property."""

# FDA, "Section headings (LOINC)", Structured Product Labeling resources. A code that is not here (adverse
# reactions, description, an unclassified section) says nothing: titles decide.
_BY_CODE: Mapping[str, str] = {
    "34067-9": "indications_and_usage",
    "54745-5": "indications_and_usage",  # of veterinary labels
    "60560-0": "indications_and_usage",  # intended use of the device
    # "Purpose" of an over-the-counter label names what the ingredient is for; in a paper it is its aim.
    "55105-1": "indications_and_usage",
    "34066-1": "warnings",  # boxed
    "43685-7": "warnings",  # and precautions
    "34071-1": "warnings",
    "42232-9": "warnings",  # precautions
    "34072-9": "warnings",  # general precautions
    "50570-1": "warnings",  # do not use
    "50569-3": "warnings",  # ask a doctor
    "50568-5": "warnings",  # ask a doctor or pharmacist
    "50567-7": "warnings",  # when using
    "50566-9": "warnings",  # stop use
    "50565-1": "warnings",  # keep out of reach of children
    "53414-9": "warnings",  # pregnancy or breast feeding
    "54433-8": "warnings",  # user safety
    "53412-3": "warnings",  # residues
    "54434-6": "warnings",  # environment
    "60564-2": "warnings",  # safe handling
    "34068-7": "dosage",
    "43678-2": "dosage",  # forms and strengths
    "60562-6": "dosage",  # route, method and frequency
}
_ENTRY = re.compile(r"(\d{1,9}):([\d/-]+)")


def section_of_code(code: str) -> str:
    """Return the canonical section a LOINC code names, or empty."""
    return _BY_CODE.get(code, "")


def write_codes(codes: Sequence[Sequence[str]]) -> str:
    """Return the property of a document; empty when no section has a code that says what it is.

    Args:
        codes: Of each section, by ordinal: the codes of its path from the root, empty for a title without.
    """
    telling = (
        (ordinal, [code if section_of_code(code) else "" for code in path])
        for ordinal, path in enumerate(codes)
    )
    return " ".join(f"{ordinal}:{'/'.join(path)}" for ordinal, path in telling if any(path))


def read_codes(document: ParsedDocument) -> Mapping[int, tuple[str, ...]]:
    """Return the codes of the path by ``Section.ordinal``; sections without any are left out."""
    written = dict(document.metadata.properties).get(SECTION_CODES, "")
    return {
        int(ordinal): tuple(path.split("/"))
        for ordinal, path in (entry.groups() for entry in _ENTRY.finditer(written))
    }
