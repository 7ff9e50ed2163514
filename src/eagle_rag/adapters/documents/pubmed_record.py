"""One PubMed record as a whole: metadata, abstracts and references of an article or a book."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from lxml import etree

from eagle_rag.adapters.documents.pubmed_front import (
    read_authors,
    read_date,
    read_grants,
    read_identifiers,
    read_keywords,
    read_mesh,
    read_references,
    read_related,
    render,
    text_of,
)
from eagle_rag.model.document import Reference
from eagle_rag.model.metadata import Author, DocumentMetadata

__all__ = ["Record", "read_article", "read_book"]

_RETRACTED = frozenset({"RetractionIn", "RetractedandRepublishedIn"})
_RETRACTED_TYPE = "Retracted Publication"
# The types that say what a record is for; PubMed lists them among others, in no order.
_TELLING = (
    "Retraction of Publication",
    "Retraction Notice",
    "Expression of Concern",
    "Published Erratum",
    _RETRACTED_TYPE,
)
_ENGLISH = ("", "eng", "en")


@dataclass(frozen=True, slots=True)
class Record:
    """What one record says.

    Args:
        metadata: Its front matter.
        abstracts: ``(name, element)`` of each abstract in English, the main one first.
        references: Its bibliography.
    """

    metadata: DocumentMetadata
    abstracts: tuple[tuple[str, etree._Element], ...]
    references: tuple[Reference, ...]


def read_article(element: etree._Element) -> Record:
    """Return a ``PubmedArticle``, or a ``MedlineCitation`` that stands alone."""
    alone = element.tag == "MedlineCitation"
    citation = element if alone else element.find("MedlineCitation")
    data = None if alone else element.find("PubmedData")
    if citation is None:
        citation = etree.Element("MedlineCitation")
    article = citation.find("Article")
    if article is None:
        article = etree.SubElement(citation, "Article")
    return Record(
        _article_metadata(citation, article, data),
        tuple(_abstracts(article, citation)),
        read_references(citation, data),
    )


def _article_metadata(
    citation: etree._Element, article: etree._Element, data: etree._Element | None
) -> DocumentMetadata:
    issue = article.find("Journal/JournalIssue")
    types = _texts(article, "PublicationTypeList/PublicationType")
    related = read_related(citation)
    dates = dict(_history(data))
    electronic = read_date(article.find("ArticleDate"))
    if electronic:
        dates["electronic"] = electronic
    printed = read_date(issue.find("PubDate")) if issue is not None else ""
    published = printed or electronic or dates.get("pubmed", "")
    ids = () if data is None else data.iterfind("ArticleIdList/ArticleId")
    return DocumentMetadata(
        ids=read_identifiers(
            text_of(citation, "PMID"), chain(ids, article.iterfind("ELocationID"))
        ),
        title=text_of(article, "ArticleTitle") or text_of(article, "VernacularTitle"),
        journal=_first(
            text_of(article, "Journal/Title"),
            text_of(article, "Journal/ISOAbbreviation"),
            text_of(citation, "MedlineJournalInfo/MedlineTA"),
        ),
        published=published,
        year=int(published[:4]) if published else None,
        dates=tuple(sorted(dates.items())),
        article_type=_article_type(types),
        publication_types=types,
        language=text_of(article, "Language"),
        volume=text_of(issue, "Volume"),
        issue=text_of(issue, "Issue"),
        pages=_pages(article),
        authors=_authors(article),
        keywords=read_keywords(citation),
        grants=read_grants(article),
        mesh=read_mesh(citation),
        related=related,
        retracted=_RETRACTED_TYPE in types or any(r.source_type in _RETRACTED for r in related),
    )


def read_book(element: etree._Element) -> Record:
    """Return a ``PubmedBookArticle``: a chapter, or a book where no chapter is named."""
    found = element.find("BookDocument")
    book = found if found is not None else etree.Element("BookDocument")
    data = element.find("PubmedBookData")
    in_data = () if data is None else data.iterfind("ArticleIdList/ArticleId")
    ids = chain(book.iterfind("ArticleIdList/ArticleId"), in_data)
    dates = dict(_history(data))
    contributed = read_date(book.find("ContributionDate"))
    if contributed:
        dates["contributed"] = contributed
    published = read_date(book.find("Book/PubDate")) or contributed
    types = _texts(book, "PublicationType")
    title = text_of(book, "Book/BookTitle")
    authors = book.findall("AuthorList") or book.findall("Book/AuthorList")
    metadata = DocumentMetadata(
        ids=read_identifiers(text_of(book, "PMID"), ids),
        title=_first(text_of(book, "ArticleTitle"), text_of(book, "VernacularTitle"), title),
        journal=title,
        published=published,
        year=int(published[:4]) if published else None,
        dates=tuple(sorted(dates.items())),
        article_type=_article_type(types),
        publication_types=types,
        language=text_of(book, "Language"),
        volume=text_of(book, "Book/Volume"),
        pages=_pages(book),
        authors=read_authors(authors),
        keywords=read_keywords(book),
        grants=read_grants(book),
    )
    return Record(metadata, tuple(_abstracts(book, book)), read_references(None, book))


def _abstracts(
    article: etree._Element, citation: etree._Element
) -> Iterator[tuple[str, etree._Element]]:
    for abstract in article.iterfind("Abstract"):
        yield "Abstract", abstract
    for abstract in citation.iterfind("OtherAbstract"):
        if abstract.get("Language", "").lower() in _ENGLISH:
            kind = abstract.get("Type", "").replace("-", " ").strip()
            yield f"Abstract ({kind})" if kind else "Abstract", abstract


def _history(data: etree._Element | None) -> Iterator[tuple[str, str]]:
    if data is None:
        return
    for date in data.iterfind("History/PubMedPubDate"):
        kind, value = date.get("PubStatus", ""), read_date(date)
        if kind and value:
            yield kind, value


def _authors(article: etree._Element) -> tuple[Author, ...]:
    """Return the authors; until 2013 one ``Affiliation`` of the article was the first author's."""
    authors = read_authors(article.findall("AuthorList"))
    shared = text_of(article, "Affiliation")
    if not (shared and authors) or authors[0].affiliations:
        return authors
    first = authors[0]
    return (Author(first.family, first.given, first.group, first.orcid, (shared,)), *authors[1:])


def _article_type(types: tuple[str, ...]) -> str:
    return next((kind for kind in _TELLING if kind in types), types[0] if types else "")


def _pages(element: etree._Element) -> str:
    pages = text_of(element, "Pagination/MedlinePgn")
    start, end = text_of(element, "Pagination/StartPage"), text_of(element, "Pagination/EndPage")
    return pages or "-".join(filter(None, (start, end)))


def _texts(element: etree._Element, path: str) -> tuple[str, ...]:
    return tuple(filter(None, map(render, element.iterfind(path))))


def _first(*values: str) -> str:
    return next(filter(None, values), "")
