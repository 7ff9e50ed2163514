"""The bibliography: one ``Reference`` a citation, and the ids that markers cite it by."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lxml import etree

from eagle_rag.adapters.documents.jats_tables import unique_key
from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import all_text
from eagle_rag.model.document import Reference
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid, normalize_pmid
from eagle_rag.ops.markup import fold_space

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Bibliography", "read_bibliography"]

_CITATIONS = frozenset({"element-citation", "mixed-citation", "nlm-citation", "citation"})
# Where a cited work's own title stands, best first; a book has only a source.
_TITLES = ("article-title", "data-title", "chapter-title", "part-title", "source", "trans-title")
# In one call, because names make up half of all elements of an article.
_texts = cast(
    "Callable[[etree._Element], list[str]]",  # noqa: SLF001 - lxml has no public name for it
    etree.XPath(".//text()", smart_strings=False),
)
_PEOPLE = frozenset({"person-group", "name", "string-name", "collab"})
_IDENTIFIERS = ("pub-id", "ext-link", "uri")
_MIXED = frozenset({"mixed-citation", "citation", "ref"})
# Roles of a citation's parts: the rank of a title, or one of these.
_OTHER, _SIMPLE, _YEARLY, _IDENTIFYING = 10, 11, 12, 13
_ROLES = {
    **{tag: rank for rank, tag in enumerate(_TITLES)},
    **dict.fromkeys(_PEOPLE, _SIMPLE),
    **dict.fromkeys(("volume", "issue", "fpage", "lpage", "etal"), _SIMPLE),
    **dict.fromkeys(_IDENTIFIERS, _IDENTIFYING),
    "year": _YEARLY,
}
_XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
_YEAR = re.compile(r"(?<!\d)(1[5-9]|20)\d\d(?!\d)")
_WRITTEN_DOI = re.compile(r"(?:doi\.org/|\bdoi[:\s]\s*)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_WRITTEN_PMID = re.compile(r"\b(?:PMID|PubMed)(?:\s+ID)?:?\s*(\d{4,8})\b", re.IGNORECASE)


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


class _Fields:
    """What a citation says about the cited work, while it is read."""

    __slots__ = ("doi", "pmcid", "pmid", "rank", "title", "year")

    def __init__(self) -> None:
        self.title = self.pmid = self.pmcid = self.doi = ""
        self.rank = len(_TITLES)
        self.year: int | None = None


def read_bibliography(article: etree._Element) -> Bibliography:
    """Return the references of all lists of an article, wherever they stand."""
    references: list[Reference] = []
    cited: dict[str, tuple[str, ...]] = {}
    taken: dict[str, int] = {}
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
        keys: tuple[str, ...] = ()
        for citation in found or (ref,):
            own = citation.get("id")
            key = (own or wanted) if keys else (wanted or own)
            if key is None or key in taken:
                key = unique_key(key, f"ref-{len(references) + 1}", taken)
            taken.setdefault(key, 1)
            keys += (key,)
            references.append(_read(citation, key, label, inline))
            if own and own != wanted:
                cited.setdefault(own, (key,))
        if wanted:
            cited.setdefault(wanted, keys)
    return Bibliography(tuple(references), cited)


def _best_alternative(element: etree._Element) -> etree._Element:
    """Return the tagged rendering of one citation: it names its parts."""
    for tag in ("element-citation", "nlm-citation", "mixed-citation"):
        chosen = element.find(tag)
        if chosen is not None:
            return chosen
    return element


def _read(citation: etree._Element, key: str, label: str, inline: InlineText) -> Reference:
    fields = _Fields()
    punctuated = nested = False
    mixed = citation.tag in _MIXED
    # Kept, because they are walked twice: an element's Python object is made anew each time.
    children = list(citation)
    for child in children:
        tag = child.tag
        role = _ROLES.get(tag, _OTHER)
        if role < fields.rank:
            text = inline.text(child)
            if text:
                fields.title, fields.rank = text, role
        if role == _IDENTIFYING:
            _identify(fields, child)
        elif role == _YEARLY:
            if fields.year is None:
                found = _YEAR.search(child.text or "")
                fields.year = int(found[0]) if found else None
        elif role != _SIMPLE and (len(child) or tag == "label"):
            nested = True
        if mixed and not punctuated:
            tail = child.tail
            punctuated = tail is not None and not tail.isspace()
    raw = _raw(citation, children, apart=not (punctuated or nested))
    if nested or mixed or not fields.doi:
        _search(fields, citation, raw, nested=nested)
    return Reference(
        key, label, raw, fields.title, fields.year, fields.pmid, fields.pmcid, fields.doi
    )


def _raw(citation: etree._Element, children: list[etree._Element], *, apart: bool) -> str:
    """Return all of a citation's text but its label.

    Publishers who tag every part leave the punctuation to the reader; then spaces stand for it.
    """
    if apart:
        return fold_space(" ".join(_texts(citation)))
    parts = [citation.text or ""]
    for child in children:
        tag = child.tag
        if tag == "label":
            continue
        if not len(child):
            # Ids are often set right after the last page.
            parts.append(f" {child.text}" if tag == "pub-id" else child.text or "")
        else:
            texts = _texts(child)
            together = tag not in _PEOPLE or not all(text[0].isalnum() for text in texts)
            parts.append(("" if together else " ").join(texts))
        parts.append(child.tail or " ")
    return fold_space("".join(parts))


def _search(fields: _Fields, citation: etree._Element, raw: str, *, nested: bool) -> None:
    """Take the ids that stand deeper in a citation, or are only written out in it."""
    if nested:
        for inner in citation.iter(*_IDENTIFIERS):
            _identify(fields, inner)
    lower = raw.lower()
    if not fields.doi and "doi" in lower:
        written = _WRITTEN_DOI.search(raw)
        fields.doi = normalize_doi(written[1]) if written else ""
    if not fields.pmid and ("pmid" in lower or "pubmed" in lower):
        written = _WRITTEN_PMID.search(raw)
        fields.pmid = normalize_pmid(written[1]) if written else ""


def _identify(fields: _Fields, element: etree._Element) -> None:
    kind = element.get("pub-id-type")
    text = (all_text(element) if len(element) else element.text) or ""
    if kind == "doi":
        fields.doi = fields.doi or normalize_doi(text)
    elif kind == "pmid":
        fields.pmid = fields.pmid or normalize_pmid(text)
    elif kind in ("pmcid", "pmc"):
        fields.pmcid = fields.pmcid or normalize_pmcid(text)
    elif kind is None:
        _follow(fields, element, text)


def _follow(fields: _Fields, element: etree._Element, text: str) -> None:
    """Take the id that a link leads to."""
    kind = (element.get("ext-link-type") or "").lower()
    href = element.get(_XLINK_HREF) or ""
    if kind in ("pmid", "pubmed") or "ncbi.nlm.nih.gov/pubmed/" in href:
        fields.pmid = fields.pmid or normalize_pmid(text) or normalize_pmid(href)
    elif kind in ("pmcid", "pmc"):
        fields.pmcid = fields.pmcid or normalize_pmcid(text) or normalize_pmcid(href)
    elif not fields.doi and (kind == "doi" or "doi.org/" in href or "doi.org/" in text):
        fields.doi = normalize_doi(text) or normalize_doi(href)
