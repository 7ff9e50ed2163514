"""Front matter of an HTML page: ``citation_*`` tags first, Dublin Core second, the page last."""

import re
from collections.abc import Iterable

from lxml import etree

from eagle_rag.model.metadata import Author, DocumentMetadata, Identifiers
from eagle_rag.ops.identifiers import (
    normalize_doi,
    normalize_orcid,
    normalize_pmcid,
    normalize_pmid,
)
from eagle_rag.ops.markup import fold_space

__all__ = ["read_metadata"]

_DATE = re.compile(r"\b(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?(?!\d)")
_MONTHS = range(1, 13)
_DAYS = range(1, 32)
_DATES = (
    "citation_publication_date",
    "citation_date",
    "citation_online_date",
    "dc.date",
    "dcterms.issued",
    "article:published_time",
)
_Tags = dict[str, list[str]]


def read_metadata(root: etree._Element, heading: str) -> DocumentMetadata:
    """Return what the page says about its document.

    Args:
        root: The whole page.
        heading: Text of its first ``h1``, or empty.
    """
    tags = _tags(root)
    page_title = root.find(".//title")
    shown = fold_space("".join(map(str, page_title.itertext()))) if page_title is not None else ""
    published = _first(map(_iso, _all(tags, *_DATES)))
    firsts = (_one(tags, "citation_firstpage"), _one(tags, "citation_lastpage"))
    titles = (_one(tags, "citation_title", "dc.title", "dcterms.title"), heading)
    return DocumentMetadata(
        ids=_identifiers(tags),
        title=_first((*titles, _one(tags, "og:title"), shown)),
        journal=_one(
            tags, "citation_journal_title", "prism.publicationname", "citation_journal_abbrev"
        ),
        published=published,
        year=int(published[:4]) if published else None,
        article_type=_one(tags, "citation_article_type", "dc.type"),
        licence=_one(tags, "dc.rights", "dcterms.license"),
        language=_one(tags, "citation_language", "dc.language") or root.get("lang", ""),
        volume=_one(tags, "citation_volume", "prism.volume"),
        issue=_one(tags, "citation_issue", "prism.number"),
        pages="-".join(filter(None, firsts)),
        authors=_authors(root, tags),
        keywords=_keywords(tags),
    )


def _tags(root: etree._Element) -> _Tags:
    tags: _Tags = {}
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        value = fold_space(meta.get("content", ""))
        if name and value:
            tags.setdefault(name, []).append(value)
    return tags


def _all(tags: _Tags, *names: str) -> list[str]:
    return [value for name in names for value in tags.get(name, ())]


def _one(tags: _Tags, *names: str) -> str:
    return next(iter(_all(tags, *names)), "")


def _identifiers(tags: _Tags) -> Identifiers:
    dois = map(normalize_doi, _all(tags, "citation_doi", "dc.identifier", "prism.doi"))
    pmids = map(normalize_pmid, _all(tags, "citation_pmid"))
    pmcids = map(normalize_pmcid, _all(tags, "citation_pmcid"))
    return Identifiers(_first(pmids), _first(pmcids), _first(dois))


def _first(values: Iterable[str]) -> str:
    return next(filter(None, values), "")


def _authors(root: etree._Element, tags: _Tags) -> tuple[Author, ...]:
    """Return authors; an institution or ORCID tag belongs to the author tag before it."""
    found: list[tuple[str, str, list[str]]] = []
    for meta in root.iter("meta"):
        name, value = (meta.get("name") or "").lower(), fold_space(meta.get("content", ""))
        if name == "citation_author" and value:
            found.append((value, "", []))
        elif name == "citation_author_institution" and found and value:
            found[-1][2].append(value)
        elif name == "citation_author_orcid" and found:
            found[-1] = (found[-1][0], normalize_orcid(value), found[-1][2])
    if not found:
        found = [(name, "", []) for name in _all(tags, "citation_authors", "dc.creator")]
        found = [
            (part, "", [])
            for name, _, _ in found
            for part in filter(None, map(str.strip, name.split(";")))
        ]
    return tuple(_author(name, orcid, places) for name, orcid, places in found)


def _author(name: str, orcid: str, places: list[str]) -> Author:
    family, comma, given = name.partition(",")
    if not comma:
        given, _, family = name.rpartition(" ")
    return Author(family.strip(), given.strip(), orcid=orcid, affiliations=tuple(places))


def _keywords(tags: _Tags) -> tuple[str, ...]:
    listed = _all(tags, "citation_keywords", "dc.subject") or _all(tags, "keywords")
    words = (word.strip() for value in listed for word in re.split(r"[;,]", value))
    return tuple(dict.fromkeys(filter(None, words)))


def _iso(written: str) -> str:
    match = _DATE.search(written)
    if match is None:
        return ""
    year, month, day = match[1], int(match[2] or 0), int(match[3] or 0)
    if month not in _MONTHS:
        return year
    return f"{year}-{month:02d}-{day:02d}" if day in _DAYS else f"{year}-{month:02d}"
