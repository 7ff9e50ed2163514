"""Bibliographies of text without markup: where they begin, and what their entries say."""

import re

from eagle_rag.model.document import Reference

__all__ = ["is_reference_heading", "read_entry"]

_HEADING = re.compile(
    r"(?:\d+(?:\.\d+)*\.?|[IVX]+\.)?\s*"
    r"(?:references?(?: cited| list)?|list of references|bibliography|literature(?: cited)?"
    r"|works cited|cited literature|references? and (?:notes|recommended reading)"
    r"|notes and references|selected references)\s*[.:]?",
    re.IGNORECASE,
)
_MAX_HEADING = 60
_LABEL = re.compile(r"\[(\w{1,6})\]\s*|\((\d{1,4})\)\s+|(\d{1,4})[.)\]]\s+|(\d{1,4})\s+(?=[A-Z])")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+")
_PMID = re.compile(
    r"\bPMID\b:?\s*(\d{1,8})\b|pubmed(?:\.ncbi\.nlm\.nih\.gov|/pubmed)?/(\d{1,8})\b"
)
_PMCID = re.compile(r"\bPMC\d{4,9}\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d/.-])(?:1[89]|20)\d\d(?![\d/-])")
_YEAR_IN_PLACE = re.compile(r"\(((?:1[89]|20)\d\d)[a-z]?\)|\b((?:1[89]|20)\d\d)[a-z]?\s*[;.:,]")


def is_reference_heading(title: str) -> bool:
    """Whether a heading announces a bibliography, such as ``References`` or ``5. Literature cited``."""
    return len(title) <= _MAX_HEADING and _HEADING.fullmatch(title.strip()) is not None


def read_entry(raw: str, *, key: str) -> Reference:
    """Return one entry of a bibliography with the label, year and ids that its text shows.

    Args:
        raw: The entry, white space as it comes.
        key: ``Reference.key`` to give it.
    """
    text = " ".join(raw.split())
    label = ""
    match = _LABEL.match(text)
    if match is not None:
        label = next(group for group in match.groups() if group)
        text = text[match.end() :]
    doi = _DOI.search(text)
    pmid = _PMID.search(text)
    pmcid = _PMCID.search(text)
    return Reference(
        key=key,
        label=label,
        raw=text,
        year=_year(text),
        pmid=next((group for group in pmid.groups() if group), "") if pmid else "",
        pmcid=pmcid.group().upper() if pmcid else "",
        doi=_trim_doi(doi.group()) if doi else "",
    )


def _year(text: str) -> int | None:
    """Return the year in its usual place (``(2016)``, ``2016;``), else the first one anywhere."""
    placed = _YEAR_IN_PLACE.search(text)
    if placed is not None:
        return int(placed.group(1) or placed.group(2))
    anywhere = _YEAR.search(text)
    return int(anywhere.group()) if anywhere else None


def _trim_doi(doi: str) -> str:
    """Return a DOI without the punctuation of the sentence it stands in."""
    trimmed = doi.rstrip(".,;:'\"]}>")
    while trimmed.endswith(")") and trimmed.count(")") > trimmed.count("("):
        trimmed = trimmed[:-1].rstrip(".,;:")
    return trimmed.lower()
