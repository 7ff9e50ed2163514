"""Which part of a paper, a drug label or a patent a passage is: one tag from eleven.

The titles of its section path decide, from the leaf to the root, and before each title the code that a label
gives it; a look at the text itself is for passages without any. The core's ``SectionKind`` is another thing: it knows papers alone, and trusts
the publisher's markup.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from eagle_biomed.section_codes import section_of_code
from eagle_rag.model.document import SectionKind
from eagle_rag.model.passage import Passage

__all__ = ["BODY", "CANONICAL_SECTIONS", "detect_section", "section_of_title"]

BODY = "body"

# The leaf decides first, so a title that stands in several parts of a paper ("Patients", "Outcomes") is not
# here: the title above it says which part it is in. So it is with "Highlights", which labels have below every
# section.
_ALIASES: Mapping[str, str] = {
    "abstract": (
        "abstract|summary|synopsis|structured abstract|graphical abstract|lay summary"
        "|plain language summary|lay abstract|short abstract|author summary|executive summary"
        "|brief summary|editor s summary|abstract text|abstract of the disclosure"
        "|key points|significance statement|summary of the invention|summary of invention"
        "|brief summary of the invention|summary of the disclosure|summary of the present invention"
    ),
    "introduction": (
        "introduction|intro|background|background and aims|background and objectives"
        "|background and purpose|background and objective|background and rationale|objective"
        "|objectives|aim|aims|aims and objectives|study aims|hypothesis|rationale|purpose"
        "|introduction and background|background of the invention|technical field"
        "|field of the invention|field|related art|description of the related art"
        "|description of related art|background art|context|importance"
    ),
    "methods": (
        "methods|method|materials|materials and methods|material and methods"
        "|methods and materials|materials methods|method and materials|methodology|methodologies"
        "|patients and methods|subjects and methods|participants and methods"
        "|animals and methods|patients materials and methods|experimental|experimental procedures"
        "|experimental procedure|experimental section|experimental methods|experimental design"
        "|methods design|methods and design|design and methods|study design|study design and methods"
        "|research design and methods|trial design|design|design setting and participants"
        "|main outcome measures|outcome measures|star methods|online methods"
        "|methods and analysis|statistical analysis|statistical analyses|statistical methods"
        "|data collection|data sources|data extraction|search strategy|methods summary"
        "|eligibility criteria|inclusion criteria|exclusion criteria|arms and interventions"
        "|clinical studies methods|measurements|main outcomes and measures"
    ),
    "results": (
        "results|result|findings|main findings|main results|results and discussion"
        "|results discussion|case report|case presentation"
        "|case description|experimental results|participant flow|outcome results"
        "|results section|data synthesis"
    ),
    "discussion": (
        "discussion|discussions|general discussion|comment|comments|discussion and conclusion"
        "|discussion and conclusions|discussion conclusions|discussion conclusion|limitations"
        "|strengths and limitations|study limitations|limitations and caveats"
        "|interpretation of results"
    ),
    "conclusion": (
        "conclusion|conclusions|concluding remarks|conclusions and discussion"
        "|conclusion and perspectives|conclusions and perspectives|conclusions and relevance"
        "|conclusions and future directions|conclusion and future directions"
        "|conclusion and future perspectives|summary and conclusion|summary and conclusions"
        "|interpretation|implications|future directions|perspectives|significance"
        "|take home message|clinical implications"
    ),
    "claims": (
        "claims|claim|patent claims|what is claimed|what is claimed is|what we claim"
        "|what we claim is|we claim|i claim|the invention claimed is|claims text|listing of claims"
        "|amended claims|independent claims|dependent claims"
    ),
    "indications_and_usage": (
        "indications and usage|indications usage|indication and usage|indications|indication"
        "|indications for use|uses|use|usage|therapeutic indications|indications and uses"
        "|approved indications|purpose and uses|limitations of use"
    ),
    "warnings": (
        "warnings|warning|warnings and precautions|warnings precautions|warning and precautions"
        "|boxed warning|boxed warnings|boxed warning section|black box warning|box warning"
        "|precautions|precaution|general precautions|warnings and cautions|cautions|caution"
        "|special warnings and precautions for use|special warnings|important safety information"
        "|safety warnings|do not use|ask a doctor before use|ask doctor before use"
        "|stop use|stop use and ask a doctor if|when using this product|when using"
        "|keep out of reach of children|pregnancy or breast feeding|user safety warnings"
    ),
    "dosage": (
        "dosage and administration|dosage administration|dosage|dosing"
        "|dosage forms and strengths|dosage forms strengths|dosage form|dosing and administration"
        "|dosing information|dosage information|recommended dosage|recommended dose|directions"
        "|directions for use|posology|posology and method of administration"
        "|method of administration|dose and administration|dosage and method of use"
        "|dose modifications|dosage modifications|dosage adjustment|dose adjustment"
    ),
}
# What is as clear where nothing stands above it: "Results > Patients" are results.
_ALONE = dict.fromkeys(
    (
        "arms",
        "interventions",
        "intervention",
        "primary outcomes",
        "secondary outcomes",
        "other outcomes",
        "primary outcome",
        "secondary outcome",
        "participants",
        "patients",
        "subjects",
        "study population",
        "setting",
        "settings",
    ),
    "methods",
)
CANONICAL_SECTIONS: tuple[str, ...] = tuple(_ALIASES)
"""The tags, ``body`` left out; "introduction", "methods", "results" and "discussion" are IMRaD."""

_BY_TITLE = {title: name for name, listed in _ALIASES.items() for title in listed.split("|")}
# Titles of labels and papers that go on ("WARNING: SUICIDAL THOUGHTS", "Methods: the TORCH trial").
_BY_OPENING = (
    ("boxed warning", "warnings"),
    ("warnings and precautions", "warnings"),
    ("indications and usage", "indications_and_usage"),
    ("dosage and administration", "dosage"),
    ("what is claimed", "claims"),
    ("materials and methods", "methods"),
    ("methods", "methods"),
    ("results", "results"),
    ("discussion", "discussion"),
    ("conclusion", "conclusion"),
)
_COLON = re.compile(r"\s*[:\u2014]\s*|\s+[-\u2013]\s+")
_NUMBERING = re.compile(
    r"^(?:(?:section|part|chapter)\s+)?"
    r"(?:\d+(?:\.\d+)*|[ivx]+(?=[.):\s])|[a-z](?=[.)]))\s*[.):\-\u2013\u2014]?\s*(?=[^\W\d_])"
)
_NOT_WORDS = re.compile(r"[^a-z0-9]+")
_LONGEST_TITLE = 200  # characters; what is longer is a sentence
# A first line that is a heading: "3.2 Statistical analysis".
_NUMBERED_HEADING = re.compile(
    r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5})[.)]?\s+([^\W\d_].{0,80})$"
)
_MOST_CAPITAL_WORDS = 6
_CLAIM = re.compile(
    r"^\s*(?:what\s+is\s+claimed|(?:we|i)\s+claim\b|the\s+invention\s+claimed\s+is"
    r"|\d{1,3}\s*[.)]\s+(?:an?|the)\s[^\n]{0,200}?\b(?:of|to|in|with|by)\s+(?:any\s+(?:one\s+)?of\s+)?"
    r"claims?\s+\d)",
    re.IGNORECASE,
)
_BY_KIND = {
    kind: kind.value
    for kind in (
        SectionKind.ABSTRACT,
        SectionKind.INTRODUCTION,
        SectionKind.METHODS,
        SectionKind.RESULTS,
        SectionKind.DISCUSSION,
        SectionKind.CONCLUSION,
    )
}


def detect_section(passage: Passage, codes: Sequence[str] = ()) -> str:
    """Return the tag of a passage: a canonical section, ``body``, or empty when nothing says.

    The path's titles decide, from the leaf to the root, the first that is known by its code or its words; a path
    of unknown titles is ``body``. Without a path the parser's own kind decides, then the text's first line: a numbered heading, a
    short heading in capitals, or the opening of a patent claim.

    Args:
        passage: The passage.
        codes: LOINC codes of the titles of its path, from the root; empty for a title without. The last titles
            may be left out.
    """
    titles = [title for title in passage.section_path if title.strip()]
    if titles:
        pairs = reversed([*zip_longest(passage.section_path, codes, fillvalue="")])
        found = (section_of_code(code) or section_of_title(title) for title, code in pairs)
        return next((section for section in found if section), "") or _alone(titles)
    return _BY_KIND.get(passage.section_kind, "") or _of_text(passage.text)


def _alone(titles: list[str]) -> str:
    return _ALONE.get(_words(titles[0].casefold()), BODY) if len(titles) == 1 else BODY


def section_of_title(title: str) -> str:
    """Return the canonical section a title names, or empty."""
    if len(title) > _LONGEST_TITLE:
        return ""
    lower = title.casefold().replace("&", " and ").strip()
    for candidate in (lower, _NUMBERING.sub("", lower)):
        known = _known(candidate)
        if known:
            return known
    return ""


def _known(title: str) -> str:
    words = _words(title)
    if words in _BY_TITLE:
        return _BY_TITLE[words]
    # "Background: what is known" names its section before the colon.
    head = _words(_COLON.split(title, maxsplit=1)[0])
    if head != words and head in _BY_TITLE:
        return _BY_TITLE[head]
    return _opening(words, _BY_OPENING)


def _opening(words: str, openings: Iterable[tuple[str, str]]) -> str:
    return next((name for start, name in openings if f"{words} ".startswith(f"{start} ")), "")


def _words(text: str) -> str:
    return _NOT_WORDS.sub(" ", text).strip()


def _of_text(text: str) -> str:
    if _CLAIM.match(text):
        return "claims"
    first = text.lstrip().partition("\n")[0].strip()
    numbered = _NUMBERED_HEADING.match(first)
    if numbered:
        return section_of_title(numbered.group(1))
    words = first.split()
    if words and len(words) <= _MOST_CAPITAL_WORDS and first.isupper():
        return section_of_title(first)
    return ""
