"""The bibliography: one ``Reference`` a citation, and the ids that markers cite it by."""

import re
from dataclasses import dataclass

from lxml import etree

from eagle_rag.adapters.documents.jats_tables import unique_key
from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import all_text, fold_space
from eagle_rag.model.document import Reference
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid, normalize_pmid

__all__ = ["Bibliography", "read_bibliography"]

_CITATIONS = frozenset({"element-citation", "mixed-citation", "nlm-citation", "citation"})
# Where a cited work's own title stands, best first; a book has only a source.
_TITLES = ("article-title", "data-title", "chapter-title", "part-title", "source", "trans-title")
_TITLE_TAGS = frozenset(_TITLES)
_PEOPLE = frozenset({"person-group", "name", "string-name", "collab"})
_IDENTIFYING = ("pub-id", "ext-link", "uri")
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_YEAR = re.compile(r"(?<!\d)(1[5-9]|20)\d\d(?!\d)")
_WRITTEN_DOI = re.compile(r"(?:doi\.org/|\bdoi[:\s]\s*)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WRITTEN_PMID = re.compile(r"\bPMID:?\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bibliography:
    """Everything an article cites.

    Args:
        references: In order.
        cited: Keys of the references by every id a marker may name: a ``ref`` with several
            citations stands for all of them.
    """

    references: tuple[Reference, ...]
    cited: dict[str, tuple[str, ...]]


@dataclass(slots=True)
class _Fields:
    titles: dict[str, str]
    year: int | None = None
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""


def read_bibliography(article: etree._Element) -> Bibliography:
    """Return the references of all lists of an article, wherever they stand."""
    references: list[Reference] = []
    cited: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    inline = InlineText()
    for ref in article.iter("ref"):
        wanted = ref.get("id")
        label = ""
        found: list[etree._Element] = []
        for child in ref:
            if child.tag == "label":
                label = inline.text(child)
            elif child.tag in _CITATIONS:
                found.append(child)
            elif child.tag == "citation-alternatives":
                found.append(_best_alternative(child))
        keys: list[str] = []
        for citation in found or [ref]:
            own = citation.get("id")
            fallback = f"ref-{len(references) + 1}"
            key = unique_key(own if keys and own else wanted or own, fallback, taken)
            keys.append(key)
            references.append(_read(citation, key, label, inline))
            if own and own != wanted:
                cited.setdefault(own, (key,))
        if wanted:
            cited.setdefault(wanted, tuple(keys))
    return Bibliography(tuple(references), cited)


def _best_alternative(element: etree._Element) -> etree._Element:
    """Return the tagged rendering of one citation: it names its parts."""
    for tag in ("element-citation", "nlm-citation", "mixed-citation"):
        chosen = element.find(tag)
        if chosen is not None:
            return chosen
    return element


def _read(citation: etree._Element, key: str, label: str, inline: InlineText) -> Reference:
    fields = _Fields({})
    # Publishers who tag every part leave the punctuation to the reader: then spaces stand for it.
    punctuated = any(child.tail and not child.tail.isspace() for child in citation)
    parts = [citation.text or ""]
    for child in citation:
        tag = child.tag
        if tag == "label":
            continue
        if not len(child):
            parts.append(child.text or "")
        elif tag in _PEOPLE and not punctuated:
            parts.append(all_text(child, " "))
        else:
            parts.append(all_text(child))
        parts.append(child.tail or " ")
        _note(fields, child, inline)
    raw = fold_space("".join(parts))
    lower = raw.lower()
    if not fields.doi and "doi" in lower:
        written = _WRITTEN_DOI.search(raw)
        fields.doi = normalize_doi(written[1]) if written else ""
    if not fields.pmid and "pmid" in lower:
        written = _WRITTEN_PMID.search(raw)
        fields.pmid = normalize_pmid(written[1]) if written else ""
    titles = fields.titles
    title = next((titles[tag] for tag in _TITLES if tag in titles), "") if titles else ""
    return Reference(key, label, raw, title, fields.year, fields.pmid, fields.pmcid, fields.doi)


def _note(fields: _Fields, child: etree._Element, inline: InlineText) -> None:
    """Take what one part of a citation says into the fields; the first of a kind counts."""
    tag = child.tag
    if tag in _TITLE_TAGS:
        text = inline.text(child)
        if text:
            fields.titles.setdefault(tag, text)
    elif tag == "year":
        found = _YEAR.search(child.text or "")
        if found and fields.year is None:
            fields.year = int(found[0])
    elif tag in _IDENTIFYING:
        _identify(fields, child)
    elif len(child) and tag not in _PEOPLE:
        for inner in child.iter(*_IDENTIFYING):
            _identify(fields, inner)


def _identify(fields: _Fields, element: etree._Element) -> None:
    kind = (element.get("pub-id-type") or element.get("ext-link-type") or "").lower()
    text = all_text(element)
    href = element.get(_XLINK_HREF) or ""
    if kind in ("pmid", "pubmed"):
        fields.pmid = fields.pmid or normalize_pmid(text) or normalize_pmid(href)
    elif kind in ("pmcid", "pmc"):
        fields.pmcid = fields.pmcid or normalize_pmcid(text) or normalize_pmcid(href)
    elif not fields.doi and (kind == "doi" or "doi.org/" in href or "doi.org/" in text):
        fields.doi = normalize_doi(text) or normalize_doi(href)
