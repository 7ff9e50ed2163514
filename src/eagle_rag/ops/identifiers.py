"""Normal forms of PMID, PMCID, DOI and ORCID, and which of them a typed text is.

A function returns an empty string for what is no such identifier; nothing here raises.
"""

import re
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
_PMID_DIGITS = 9
_PMID = re.compile(
    rf"(?:{_WEB}(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:m/)?pubmed)/"
    r"|(?:info:pmid/|pmid|pubmed(?:\s+id)?)?\s*[:#]?\s*)"
    r"0*(?P<id>[1-9]\d{0,8})(?:\.0)?/?",
    re.IGNORECASE | re.ASCII,
)
_PMCID = re.compile(
    rf"(?:{_WEB}(?:pmc\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pmc)/articles/|pmcid\s*[:#]?\s*)?"
    r"(?:pmc\s*[:#-]?\s*)?0*(?P<id>[1-9]\d{0,9})(?:\.\d+)?/?",
    re.IGNORECASE | re.ASCII,
)
_DOI_URL = re.compile(r"(?:https?://)?(?:[a-z0-9-]+\.)*doi\.org/", re.IGNORECASE)
_DOI_LABEL = re.compile(r"(?:(?:info|urn)\s*[:/]\s*)?doi\s*[:/]?\s*", re.IGNORECASE)
# ISO 26324: directory indicator 10, a registrant of digits and dots, then any printable characters.
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\s?\S+")
# What may follow a line break set inside a DOI: no word, and no year that begins something else.
_BROKEN_OFF = re.compile(r"(?![A-Za-z]+\b|\d{4}$)\S+")
_BREAKS_AFTER = frozenset("./-_(:")
# Only the escapes of mark-up: a DOI may hold "&" followed by letters.
_ESCAPED = re.compile(r"&(amp|lt|gt);", re.IGNORECASE)
_UNESCAPED = {"amp": "&", "lt": "<", "gt": ">"}
_OPENING = {")": "(", "]": "[", "}": "{", ">": "<"}
_TRAILING = frozenset(".,;:\"'") | frozenset(_OPENING)
_ORCID = re.compile(r"(\d{4})-?(\d{4})-?(\d{4})-?(\d{3}[\dX])", re.IGNORECASE | re.ASCII)


def normalize_pmid(text: str) -> str:
    """Return the digits of a PubMed id written in any usual way, or an empty string."""
    if text.isascii() and text.isdigit() and text[0] != "0" and len(text) <= _PMID_DIGITS:
        return text
    found = _PMID.fullmatch(text.strip())
    return found["id"] if found else ""


def normalize_pmcid(text: str) -> str:
    """Return ``PMC`` and digits, or an empty string.

    Digits alone count, because JATS writes them so where the id's type is stated beside it. The
    version of a revision (``PMC123.2``) is left out.
    """
    found = _PMCID.fullmatch(text.strip())
    return f"PMC{found['id']}" if found else ""


def normalize_doi(text: str) -> str:
    """Return a DOI in lower case without prefix, or an empty string.

    ``<``, ``;``, ``(`` and whatever else a registrant put into it stay (CASES A8). White space ends
    it, but for a line break inside a DOI that is otherwise alone, which is removed.
    """
    text = text.strip()
    if not text.startswith("10."):
        text = _without_prefix(text)
    while "&" in text and _ESCAPED.search(text):
        text = _ESCAPED.sub(lambda found: _UNESCAPED[found[1].lower()], text)
    found = _DOI.match(text)
    if not found:
        return ""
    doi = found[0]
    rest = text[found.end() :].lstrip()
    if rest and doi[-1] in _BREAKS_AFTER and _BROKEN_OFF.fullmatch(rest):
        doi += rest
    doi = "".join(doi.split()).lower()
    if doi[-1] in _TRAILING:
        doi = _without_trailing_punctuation(doi)
    return "" if doi.endswith("/") and doi.count("/") == 1 else doi


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
    return "-".join(found.groups()).upper() if digits[-1] == "0123456789X"[check] else ""


def parse_identifier(text: str) -> Identifiers:
    """Return what a person typed as exactly one identifier, or an empty ``Identifiers``.

    Digits alone are a PMID. Text around an identifier makes it a query, not an identifier.
    """
    text = text.strip()
    bare = _without_prefix(text)
    if bare.startswith("10."):
        alone = len(bare.split()) == 1
        return Identifiers(doi=normalize_doi(text)) if alone else Identifiers()
    if "pmc" in text.lower():
        return Identifiers(pmcid=normalize_pmcid(text))
    return Identifiers(pmid=normalize_pmid(text))


def _without_prefix(text: str) -> str:
    """Return a DOI without ``https://doi.org/`` or ``doi:``; an address's escapes are undone."""
    link = _DOI_URL.match(text)
    if link:
        return unquote(text[link.end() :])
    label = _DOI_LABEL.match(text)
    if not label:
        return text
    bare = text[label.end() :]
    link = _DOI_URL.match(bare)
    return unquote(bare[link.end() :]) if link else bare


def _without_trailing_punctuation(doi: str) -> str:
    """Drop what a sentence or a list put after a DOI; a closing bracket stays if it was opened."""
    while doi:
        last = doi[-1]
        opening = _OPENING.get(last)
        if last not in _TRAILING or (opening and doi.count(last) <= doi.count(opening)):
            break
        doi = doi[:-1]
    return doi
