"""Normal forms of PMID, PMCID, DOI and ORCID, and which of them a typed text is.

A function returns an empty string for what is no such identifier; nothing here raises.
"""

import re
from html import unescape
from urllib.parse import unquote

from eagle_rag.model.metadata import Identifiers

__all__ = [
    "normalize_doi",
    "normalize_orcid",
    "normalize_pmcid",
    "normalize_pmid",
    "parse_identifier",
]

_WEB = r"(?:https?://)?(?:www\.)?"
_PMID = re.compile(
    rf"(?:{_WEB}(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:m/)?pubmed)/"
    r"|(?:info:pmid/|pmid|pubmed(?:\s+id)?)?\s*[:#]?\s*)"
    r"0*(?P<id>[1-9]\d{0,8})(?:\.0)?/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID = re.compile(
    rf"(?:{_WEB}(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc)/articles/|pmcid\s*[:#]?\s*)?"
    r"(?P<prefix>pmc\s*[:#-]?\s*)?0*(?P<id>[1-9]\d{0,9})(?:\.\d+)?/?",
    re.IGNORECASE | re.ASCII,
)
_DOI_URL = re.compile(r"(?:https?://)?(?:[a-z0-9-]+\.)*doi\.org/", re.IGNORECASE)
_DOI_LABEL = re.compile(r"(?:(?:info|urn)\s*[:/]\s*)?doi\s*[:/]?\s*", re.IGNORECASE)
# ISO 26324: directory indicator 10, a registrant of digits and dots, then any printable characters.
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+", re.ASCII)
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])", re.IGNORECASE | re.ASCII)


def normalize_pmid(text: str) -> str:
    """Return the digits of a PubMed id written in any usual way, or an empty string."""
    found = _PMID.fullmatch(text.strip())
    return found["id"] if found else ""


def normalize_pmcid(text: str) -> str:
    """Return ``PMC`` and digits, or an empty string.

    Digits alone count, because JATS writes them so where the id's type is stated beside it. The
    version of an author manuscript or revision (``PMC123.2``) is left out.
    """
    found = _PMCID.fullmatch(text.strip())
    return f"PMC{found['id']}" if found else ""


def normalize_doi(text: str) -> str:
    """Return a DOI in lower case without prefix, or an empty string.

    ``<``, ``;``, ``(`` and whatever else a registrant put into it stay (CASES A8). White space ends
    it, but for a line break set inside a DOI that is otherwise alone, which is removed.
    """
    text = text.strip()
    link = _DOI_URL.match(text)
    if link:
        text = unquote(text[link.end() :])
    else:
        label = _DOI_LABEL.match(text)
        text = text[label.end() :] if label else text
    if "&" in text:
        text = unescape(text)
    parts = text.split()
    if len(parts) == 2 and not re.match(r"[A-Za-z]+\b|\d{4}$", parts[1]):  # noqa: PLR2004 - two parts: one break inside
        parts = ["".join(parts)]
    found = _DOI.match(parts[0]) if parts else None
    return _without_trailing_punctuation(found[0]).lower() if found else ""


def normalize_orcid(text: str) -> str:
    """Return the ``0000-0002-1825-0097`` form of an ORCID iD, or an empty string.

    The check digit (ISO 7064 MOD 11-2) must be right.
    """
    found = _ORCID.search(text)
    if not found:
        return ""
    digits = "".join(found.groups()).upper()
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    if digits[-1] != ("X" if check == 10 else str(check)):  # noqa: PLR2004 - ISO 7064: ten is written X
        return ""
    return "-".join(found.groups()).upper()


def parse_identifier(text: str) -> Identifiers:
    """Return what a person typed as exactly one identifier, or an empty ``Identifiers``.

    Digits alone are a PMID. Text around an identifier makes it a query, not an identifier.
    """
    text = text.strip()
    if len(text.split()) <= 3:  # noqa: PLR2004 - "pubmed id 123" is the longest form
        bare = _DOI_LABEL.sub("", _DOI_URL.sub("", text, count=1), count=1)
        if bare.startswith("10.") and len(bare.split()) == 1:
            return Identifiers(doi=normalize_doi(text))
        found = _PMCID.fullmatch(text)
        if found and (found["prefix"] or "pmc" in text.lower()):
            return Identifiers(pmcid=normalize_pmcid(text))
        return Identifiers(pmid=normalize_pmid(text))
    return Identifiers()


def _without_trailing_punctuation(doi: str) -> str:
    """Drop what a sentence or a list put after a DOI; a closing bracket stays if it was opened."""
    while doi:
        last = doi[-1]
        if last in ".,;:\"'" or (last in ")]}>" and doi.count(last) > doi.count(_OPENING[last])):
            doi = doi[:-1]
        else:
            break
    return doi


_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
