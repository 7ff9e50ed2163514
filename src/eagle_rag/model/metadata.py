"""Front matter of a document: who, where, when, under which licence, indexed how."""

from dataclasses import dataclass, field

__all__ = [
    "Author",
    "DocumentMetadata",
    "Grant",
    "Identifiers",
    "MeshHeading",
    "MeshQualifier",
    "RelatedArticle",
]


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Ids of a work in their normal forms (``eagle_rag.ops.identifiers``); empty when unknown.

    Args:
        pmid: Digits only.
        pmcid: ``PMC`` and digits.
        doi: Lower case, no ``https://doi.org/`` or ``doi:`` prefix.
        other: Further ``(scheme, value)`` pairs, as written: what the work is cited by where its format
            has ids of its own, then the rest, sorted.
    """

    pmid: str = ""
    pmcid: str = ""
    doi: str = ""
    other: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Author:
    """An author: a person, or a group when ``group`` holds its name. Editors are not authors.

    Args:
        family: Family name; for a name written in one piece, that piece.
        given: Given names or initials.
        group: Name of a group author, else empty.
        orcid: ``0000-0002-1825-0097`` form, or empty.
        affiliations: Texts of all affiliations, in order.
    """

    family: str = ""
    given: str = ""
    group: str = ""
    orcid: str = ""
    affiliations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grant:
    """Funding: the award's number, its agency and the agency's country; each may be empty."""

    award: str = ""
    agency: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class MeshQualifier:
    """A MeSH qualifier of a heading; ``major`` is its own MajorTopicYN."""

    name: str
    ui: str = ""
    major: bool = False


@dataclass(frozen=True, slots=True)
class MeshHeading:
    """A MeSH descriptor; ``major`` is its own MajorTopicYN, qualifiers carry theirs."""

    descriptor: str
    ui: str = ""
    major: bool = False
    qualifiers: tuple[MeshQualifier, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedArticle:
    """A link to another article.

    Args:
        relation: Normalised: ``retraction_of``, ``retracted_by``, ``erratum_of``, ``erratum_in``,
            ``republished_in``, ``republished_from``, ``preprint_of``, ``has_preprint``,
            ``comment_on``, ``comment_in``, ``update_of``, ``update_in``,
            ``expression_of_concern_for``, ``expression_of_concern_in``, or ``related``.
        ids: What is known of the other article.
        source_type: The relation as the source wrote it.
        citation: The source's own text for it, or empty.
    """

    relation: str
    ids: Identifiers
    source_type: str = ""
    citation: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """Everything about a document that is not its text.

    Args:
        ids: Its own identifiers.
        title: Plain text, superscripts by the same rule as the text; empty when there is none.
        journal: Full title of the journal, or the abbreviation if that is all there is.
        published: ISO date as precise as known: ``2021``, ``2021-03`` or ``2021-03-09``; or empty.
        year: Year of ``published``, or ``None``.
        dates: Further ``(kind, ISO date)`` pairs, such as ``("received", "2020-11-01")``, sorted.
        article_type: The source's word, such as ``research-article`` or ``retraction``.
        publication_types: PubMed publication types, in order.
        licence: Licence URL or code if stated (``CC BY 4.0``), else its text, else empty.
        language: ISO code as written, or empty.
        volume, issue, pages: As written, or empty.
        retracted: The source itself says that this article is retracted.
        properties: What the format says besides, sorted ``(name, value)`` pairs, such as
            ``("phase", "PHASE3")``; names are unique.
    """

    ids: Identifiers = field(default_factory=Identifiers)
    title: str = ""
    journal: str = ""
    published: str = ""
    year: int | None = None
    dates: tuple[tuple[str, str], ...] = ()
    article_type: str = ""
    publication_types: tuple[str, ...] = ()
    licence: str = ""
    language: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    authors: tuple[Author, ...] = ()
    keywords: tuple[str, ...] = ()
    grants: tuple[Grant, ...] = ()
    mesh: tuple[MeshHeading, ...] = ()
    related: tuple[RelatedArticle, ...] = ()
    retracted: bool = False
    properties: tuple[tuple[str, str], ...] = ()
