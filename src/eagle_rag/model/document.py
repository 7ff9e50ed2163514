"""What a parser yields: one canonical text per document, and spans into it.

Offsets are Unicode code points, half-open, into ``ParsedDocument.text``. Nothing here parses.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.slots import quick_init

__all__ = [
    "Block",
    "BlockKind",
    "Citation",
    "Companions",
    "Figure",
    "Identity",
    "ParseOutcome",
    "ParsedDocument",
    "Reference",
    "Refusal",
    "Section",
    "SectionKind",
    "Source",
    "Span",
    "Table",
]


class SectionKind(StrEnum):
    """What a section is, by the publisher's markup first and its title second."""

    TITLE = "title"
    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    METHODS = "methods"
    RESULTS = "results"
    DISCUSSION = "discussion"
    CONCLUSION = "conclusion"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    BOXED_TEXT = "boxed_text"
    ACKNOWLEDGEMENTS = "acknowledgements"
    APPENDIX = "appendix"
    BACK = "back"
    BODY = "body"


class BlockKind(StrEnum):
    """What one block of text is in the source's markup."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    CAPTION = "caption"
    FOOTNOTE = "footnote"
    FORMULA = "formula"
    QUOTE = "quote"


class Companions(Protocol):
    """The files beside a source: of its folder, or of its folder inside the archive. It pickles."""

    def names(self) -> tuple[str, ...]:
        """Return their names relative to the source's folder, sorted, without the source's own."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the bytes of one of them, or ``None`` when it is absent, too large or unreadable."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes to be parsed and where they came from.

    Args:
        uri: Name shown to people and kept in the registry: the path as the user named it, and inside
            a folder from there on, ``papers/a.xml``; or ``archive.tar.xz!/member.xml``.
        data: The raw bytes.
        digest: ``sha256`` of ``data``, hexadecimal.
        pipeline: The format chosen for it, such as ``jats``; empty until routed.
        companions: The files beside it; ``None`` when there is no place to look.
    """

    uri: str
    data: bytes = field(repr=False)
    digest: str
    pipeline: str = ""
    companions: Companions | None = field(default=None, repr=False, compare=False)


@quick_init
@dataclass(frozen=True, slots=True)
class Span:
    """Half-open character range ``[start, end)`` of the canonical text."""

    start: int
    end: int


@quick_init
@dataclass(frozen=True, slots=True)
class Section:
    """One section: a title path and the kind of text below it.

    Args:
        ordinal: Position in ``ParsedDocument.sections``; blocks point here.
        path: Titles from the outermost section inwards, ``("Methods", "Cohort", "Sequencing")``.
            Captions have a section of their own: the path of where they stand, plus their label.
        kind: What the section is.
        start: First character of its first own block.
        end: One past the last character of its last own block.
    """

    ordinal: int
    path: tuple[str, ...]
    kind: SectionKind
    start: int
    end: int


@quick_init
@dataclass(frozen=True, slots=True)
class Block:
    """One block of text: a paragraph, a heading, a list item, a caption.

    Blocks are ordered by ``start``, do not overlap, are not empty, neither start nor end with white
    space, and together hold every character of the text but the white space between them.
    """

    kind: BlockKind
    start: int
    end: int
    section: int


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as the publisher describes it; its pixels are not read.

    Args:
        key: The publisher's id, or ``fig-N`` by position where there is none; unique in the document.
        label: ``Figure 1``, or empty.
        caption: Where the caption stands in the text; ``None`` when there is none.
        graphics: The files it names, as written.
    """

    key: str
    label: str
    caption: Span | None
    graphics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a rectangle of cells, spans resolved by repeating the spanning cell's text.

    Args:
        key: The publisher's id, or ``table-N`` by position; unique in the document.
        label: ``Table 1``, or empty.
        caption: Where the caption stands in the text; ``None`` when there is none.
        rows: Body cells, every row equally long.
        column_paths: For each column, its header texts from the top down, repeats removed.
        row_paths: For each row, its stub texts (header cells, or the first column) from the left.
        no_cells: The source has only a picture of the table.
        graphics: Picture files the table names.
    """

    key: str
    label: str
    caption: Span | None
    rows: tuple[tuple[str, ...], ...]
    column_paths: tuple[tuple[str, ...], ...]
    row_paths: tuple[tuple[str, ...], ...]
    no_cells: bool
    graphics: tuple[str, ...] = ()


@quick_init
@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the bibliography, which is not part of the text.

    Args:
        key: The publisher's id, or ``ref-N`` by position; unique in the document.
        label: ``12``, or empty.
        raw: The entry's text, white space folded.
        title: Title of the cited work, or empty.
        year: Four digits, or ``None``.
        pmid: Digits only, or empty.
        pmcid: ``PMC`` and digits, or empty.
        doi: Normal form (lower case, no prefix), or empty.
    """

    key: str
    label: str
    raw: str
    title: str = ""
    year: int | None = None
    pmid: str = ""
    pmcid: str = ""
    doi: str = ""


@quick_init
@dataclass(frozen=True, slots=True)
class Citation:
    """One citation marker and the references it cites.

    Args:
        start: First character of the marker in the text.
        end: One past its last character.
        references: ``Reference.key`` of each cited entry; a range ``[2-4]`` gives all three.
    """

    start: int
    end: int
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """What a document is called where PMID, PMCID and DOI do not say.

    Args:
        key: Names the document in its format, such as ``setid/4`` or an InChIKey; two sources with one
            key are versions of one document. Empty leaves it to the source's name and member.
        work: Names the work, with its scheme, such as ``spl-set:<set id>``: documents of one work
            are one to a reader. Empty when there is none.
        edition: Of several documents of one work with an edition above 0, search serves the highest;
            the others stay readable. 0 when the format has no editions.
    """

    key: str = ""
    work: str = ""
    edition: int = 0


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """One document: metadata, canonical text, and everything that points into it.

    Args:
        source_uri: ``Source.uri`` it came from.
        member: Which record of the source, when one file holds several (a PMID); else empty.
        digest: ``sha256`` of this record's own bytes, hexadecimal; decides "unchanged".
        format: ``jats``, ``pubmed``, ``html``, ``markdown``, ``text``, or a plugin's.
        metadata: Ids, title, authors and the rest.
        text: The canonical text. Never changed after parsing.
        full_text: ``False`` for a record that has only a title or an abstract.
        warnings: What the parser could not use, one sentence each.
        identity: Its key, work and edition when the format has its own.
    """

    source_uri: str
    member: str
    digest: str
    format: str
    metadata: DocumentMetadata
    text: str = field(repr=False)
    sections: tuple[Section, ...] = ()
    blocks: tuple[Block, ...] = field(default=(), repr=False)
    figures: tuple[Figure, ...] = field(default=(), repr=False)
    tables: tuple[Table, ...] = field(default=(), repr=False)
    references: tuple[Reference, ...] = field(default=(), repr=False)
    citations: tuple[Citation, ...] = field(default=(), repr=False)
    full_text: bool = True
    warnings: tuple[str, ...] = ()
    identity: Identity | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """One file or record that gave no document, and why.

    Args:
        source_uri: The file, as the user named it.
        member: The record inside it, or empty.
        reason: Short and machine-readable, such as ``abstract-only`` or ``entity-declaration``.
        message: One sentence for a person.
        remedy: What to do, one sentence, or empty.
    """

    source_uri: str
    member: str
    reason: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ParseOutcome:
    """Everything one source held.

    Args:
        documents: Parsed records, in source order.
        refusals: Records of the source that gave no document; the rest goes on.
        deleted_pmids: Records the source says to delete (MEDLINE ``DeleteCitation``).
    """

    documents: tuple[ParsedDocument, ...]
    refusals: tuple[Refusal, ...] = ()
    deleted_pmids: tuple[str, ...] = ()
