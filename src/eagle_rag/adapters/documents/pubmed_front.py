"""PubMed front matter: ids, dates, people, indexing, links. Takes elements, returns model values.

Ids are the article's own: those inside a ``ReferenceList`` belong to other works and are never read
here. Investigators, copyright notices and abstracts in other languages are left aside.
"""

import re
from collections.abc import Iterator

from lxml import etree

from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.model.document import Reference
from eagle_rag.model.metadata import (
    Author,
    Grant,
    Identifiers,
    MeshHeading,
    MeshQualifier,
    RelatedArticle,
)
from eagle_rag.ops.bibliography import read_entry
from eagle_rag.ops.identifiers import (
    normalize_doi,
    normalize_orcid,
    normalize_pmcid,
    normalize_pmid,
)
from eagle_rag.ops.markup import fold_space

__all__ = [
    "read_authors",
    "read_date",
    "read_grants",
    "read_identifiers",
    "read_keywords",
    "read_mesh",
    "read_references",
    "read_related",
    "render",
    "text_of",
]

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), 1
    )
}
_SHORT_NUMBER = re.compile(r"[0-9]{1,9}")
_MONTH_NUMBERS = range(1, 13)
_DAY_NUMBERS = range(1, 32)
_MEDLINE_DATE = re.compile(
    r"(?P<year>\d{4})(?:\s+(?P<month>[A-Za-z]{3})[a-z]*\.?(?:\s+(?P<day>\d{1,2})\b)?)?"
)
_DOI_IN_TEXT = re.compile(r"\b10\.\d{4,9}/\S+")

_RELATIONS = {
    "CommentIn": "comment_in",
    "CommentOn": "comment_on",
    "CorrectedandRepublishedFrom": "republished_from",
    "CorrectedandRepublishedIn": "republished_in",
    "ErratumFor": "erratum_of",
    "ErratumIn": "erratum_in",
    "ExpressionOfConcernFor": "expression_of_concern_for",
    "ExpressionOfConcernIn": "expression_of_concern_in",
    "ReprintIn": "republished_in",
    "ReprintOf": "republished_from",
    "RepublishedFrom": "republished_from",
    "RepublishedIn": "republished_in",
    "RetractedandRepublishedFrom": "republished_from",
    "RetractedandRepublishedIn": "republished_in",
    "RetractionIn": "retracted_by",
    "RetractionOf": "retraction_of",
    "UpdateIn": "update_in",
    "UpdateOf": "update_of",
}
_ID_TYPES = {"pubmed": "pmid", "pmc": "pmcid", "doi": "doi"}


def render(element: etree._Element) -> str:
    """Return the text of an element, inline markup by the rules of the JATS text."""
    return InlineText().text(element) if len(element) else fold_space(element.text or "")


def text_of(parent: etree._Element | None, path: str) -> str:
    """Return the text at a path, white space folded; empty when there is none."""
    found = parent.find(path) if parent is not None else None
    return render(found) if found is not None else ""


def read_identifiers(pmid: str, lists: Iterator[etree._Element]) -> Identifiers:
    """Return the ids of a record.

    Args:
        pmid: The record's own PMID.
        lists: ``ArticleId`` and ``ELocationID`` elements of the article itself, best first.
    """
    found = {"pmid": normalize_pmid(pmid)}
    other: set[tuple[str, str]] = set()
    for element in lists:
        scheme = (element.get("IdType") or element.get("EIdType") or "").lower()
        value = render(element)
        if not value or element.get("ValidYN") == "N":
            continue
        name = _ID_TYPES.get(scheme, "")
        if name:
            found[name] = found.get(name) or _normal(name, value)
        elif scheme:
            other.add((scheme, value))
    return Identifiers(**found, other=tuple(sorted(other)))


def _normal(name: str, value: str) -> str:
    if name == "doi":
        return normalize_doi(value)
    return normalize_pmcid(value) if name == "pmcid" else normalize_pmid(value)


def read_date(element: etree._Element | None) -> str:
    """Return an ISO date as precise as the element is; empty when it has no year.

    A ``MedlineDate`` such as ``1998 Dec-1999 Jan`` gives its first date, ``2000 Spring`` its year.
    """
    if element is None:
        return ""
    medline = text_of(element, "MedlineDate")
    if medline:
        match = _MEDLINE_DATE.search(medline)
        parts = (
            (match["year"], match["month"] or "", match["day"] or "") if match else ("", "", "")
        )
    else:
        parts = (text_of(element, "Year"), text_of(element, "Month"), text_of(element, "Day"))
    return _iso(*parts)


def _iso(year: str, month: str, day: str) -> str:
    if not re.fullmatch(r"[0-9]{4}", year):
        return ""
    number = int(month) if _SHORT_NUMBER.fullmatch(month) else _MONTHS.get(month[:3].lower(), 0)
    if number not in _MONTH_NUMBERS:
        return year
    if not (_SHORT_NUMBER.fullmatch(day) and int(day) in _DAY_NUMBERS):
        return f"{year}-{number:02d}"
    return f"{year}-{number:02d}-{int(day):02d}"


def read_authors(lists: list[etree._Element]) -> tuple[Author, ...]:
    """Return the authors of ``AuthorList`` elements; lists of editors are left out."""
    authors: list[Author] = []
    for element in lists:
        if element.get("Type", "authors") != "authors":
            continue
        listed = element.iterfind("Author")
        authors.extend(_author(author) for author in listed if author.get("ValidYN") != "N")
    return tuple(author for author in authors if author.family or author.given or author.group)


def _author(element: etree._Element) -> Author:
    places = [*element.iterfind("AffiliationInfo/Affiliation"), *element.iterfind("Affiliation")]
    affiliations = tuple(filter(None, map(render, places)))
    given = text_of(element, "ForeName") or text_of(element, "FirstName")
    names = (given or text_of(element, "Initials"), text_of(element, "Suffix"))
    return Author(
        family=text_of(element, "LastName"),
        given=" ".join(filter(None, names)),
        group=text_of(element, "CollectiveName"),
        orcid=_orcid(element),
        affiliations=affiliations,
    )


def _orcid(element: etree._Element) -> str:
    for identifier in element.iterfind("Identifier"):
        if identifier.get("Source", "").upper() == "ORCID":
            return normalize_orcid(render(identifier))
    return ""


def read_mesh(citation: etree._Element) -> tuple[MeshHeading, ...]:
    """Return MeSH headings; a descriptor and each of its qualifiers carry their own major flag."""
    headings = []
    for heading in citation.iterfind("MeshHeadingList/MeshHeading"):
        descriptor = heading.find("DescriptorName")
        if descriptor is None:
            continue
        qualifiers = tuple(
            MeshQualifier(render(q), q.get("UI", ""), major=q.get("MajorTopicYN") == "Y")
            for q in heading.iterfind("QualifierName")
        )
        major = descriptor.get("MajorTopicYN") == "Y"
        name, ui = render(descriptor), descriptor.get("UI", "")
        headings.append(MeshHeading(name, ui, major=major, qualifiers=qualifiers))
    return tuple(headings)


def read_grants(article: etree._Element) -> tuple[Grant, ...]:
    """Return grants that name an award, an agency or both."""
    grants = (
        Grant(text_of(g, "GrantID"), text_of(g, "Agency"), text_of(g, "Country"))
        for g in article.iterfind("GrantList/Grant")
    )
    return tuple(grant for grant in grants if grant.award or grant.agency)


def read_keywords(record: etree._Element) -> tuple[str, ...]:
    """Return keywords in order, repeats removed."""
    words = (render(word) for word in record.iterfind("KeywordList/Keyword"))
    return tuple(dict.fromkeys(filter(None, words)))


def read_related(citation: etree._Element) -> tuple[RelatedArticle, ...]:
    """Return retraction, erratum, comment and republication links; citations are references."""
    related = []
    for link in citation.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        kind = link.get("RefType", "")
        if kind == "Cites":
            continue
        source = text_of(link, "RefSource")
        doi = _DOI_IN_TEXT.search(source)
        ids = Identifiers(
            pmid=normalize_pmid(text_of(link, "PMID")),
            doi=normalize_doi(doi.group().rstrip(".,;")) if doi else "",
        )
        related.append(RelatedArticle(_RELATIONS.get(kind, "related"), ids, kind, source))
    return tuple(related)


def read_references(
    citation: etree._Element | None, data: etree._Element | None
) -> tuple[Reference, ...]:
    """Return the bibliography: ``ReferenceList`` entries, else MEDLINE's ``Cites`` links."""
    references: list[Reference] = []
    entries = data.iterfind("ReferenceList//Reference") if data is not None else iter(())
    for entry in entries:
        references.append(_reference(entry, len(references) + 1))
    if references or citation is None:
        return tuple(references)
    for link in citation.iterfind("CommentsCorrectionsList/CommentsCorrections[@RefType='Cites']"):
        base = read_entry(text_of(link, "RefSource"), key=f"ref-{len(references) + 1}")
        references.append(_with_ids(base, {"pmid": normalize_pmid(text_of(link, "PMID"))}))
    return tuple(references)


def _reference(entry: etree._Element, position: int) -> Reference:
    found: dict[str, str] = {}
    for element in entry.iterfind("ArticleIdList/ArticleId"):
        name = _ID_TYPES.get(element.get("IdType", ""), "")
        if name:
            found[name] = found.get(name) or _normal(name, render(element))
    return _with_ids(read_entry(text_of(entry, "Citation"), key=f"ref-{position}"), found)


def _with_ids(base: Reference, found: dict[str, str]) -> Reference:
    """Return a reference whose stated ids win over those read from its text."""
    return Reference(
        key=base.key,
        label=base.label,
        raw=base.raw,
        year=base.year,
        pmid=found.get("pmid") or base.pmid,
        pmcid=found.get("pmcid") or base.pmcid,
        doi=found.get("doi") or base.doi,
    )
