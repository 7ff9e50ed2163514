"""The JATS parser: one XML file to one document an article. The rules are in ``docs/jats.md``."""

import re
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from lxml import etree

from eagle_rag.adapters.documents.jats_blocks import BlockWriter, Frame
from eagle_rag.adapters.documents.jats_body import BodyWalk
from eagle_rag.adapters.documents.jats_front import article_meta, read_metadata
from eagle_rag.adapters.documents.jats_references import read_bibliography
from eagle_rag.adapters.documents.jats_tables import unique_key
from eagle_rag.adapters.documents.jats_text import InlineText
from eagle_rag.adapters.documents.xml import DEFAULT_SIZE_LIMIT_BYTES, head_text, read_xml
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    ParsedDocument,
    ParseOutcome,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.markup import is_prose_file, local_name

__all__ = ["JatsParser"]

_NAMES = (".nxml", ".jats", ".jats.xml")
_ROOT = re.compile(r"<(?:[\w.-]+:)?(?:article|pmc-articleset)[\s>]|<!DOCTYPE\s+(?:pmc-)?article")
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE})
# Notes on an article's front page that are statements about it, not addresses.
_STATEMENTS = frozenset(
    {"conflict", "coi-statement", "con", "financial-disclosure", "supported-by", "other"}
)


class JatsParser:
    """Parses JATS and NLM article XML, alone or many in one file (``pmc-articleset``).

    Args:
        size_limit_bytes: Larger files are refused unread.
    """

    __slots__ = ("_size_limit_bytes",)

    def __init__(self, *, size_limit_bytes: int = DEFAULT_SIZE_LIMIT_BYTES) -> None:
        self._size_limit_bytes = size_limit_bytes

    @property
    def format(self) -> str:
        """``jats``."""
        return "jats"

    def accepts(self, source: Source) -> bool:
        """Return whether the name or the first tags are those of an article.

        An HTML page named ``.xml`` is accepted too, to be refused with its reason by ``parse``.
        """
        name = source.uri.lower()
        if name.endswith(_NAMES):
            return True
        if is_prose_file(name, source.data):
            return False
        head = head_text(source.data)
        if _HTML.search(head):
            return name.endswith(".xml")
        return _ROOT.search(head) is not None

    def parse(self, source: Source) -> ParseOutcome:
        """Return one document for every article of the source.

        Raises:
            UnreadableDocument: See ``eagle_rag.adapters.documents.xml``; or ``not-jats``.
        """
        root = read_xml(source, size_limit_bytes=self._size_limit_bytes)
        if "}" in root.tag or root.tag not in ("article", "pmc-articleset"):
            _drop_namespace(root)
        articles = list(_articles(root))
        if not articles:
            raise UnreadableDocument(
                source.uri,
                "not-jats",
                f"<{local_name(root.tag)}> holds no <article> with a front, body or back",
                remedy="give JATS or NLM article XML, or choose the format of the file",
            )
        if len(articles) == 1:
            return ParseOutcome((_document(articles[0], source, digest=source.digest),))
        documents = []
        members: dict[str, int] = {}
        for number, article in enumerate(articles, 1):
            digest = sha256(etree.tostring(article, with_tail=False)).hexdigest()
            document = _document(article, source, digest=digest)
            member = _member(document.metadata, number, members)
            documents.append(replace(document, member=member))
        return ParseOutcome(tuple(documents))


_PARTS = frozenset({"front", "front-stub", "body", "back", "floats-group", "sub-article"})


def _drop_namespace(root: etree._Element) -> None:
    """Give the elements of a namespaced article their plain names; MathML keeps its own."""
    for element in root.iter("{*}article"):
        namespace = element.tag.rpartition("}")[0]
        if namespace:
            for inner in list(root.iter(f"{namespace}}}*")):
                inner.tag = local_name(inner.tag)
            return


def _articles(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the JATS articles of a file; other vocabularies have an ``article`` too."""
    candidates = (root,) if root.tag == "article" else root.iter("article")
    for element in candidates:
        if any(child.tag in _PARTS for child in element):
            yield element


def _document(article: etree._Element, source: Source, *, digest: str) -> ParsedDocument:
    inline = InlineText()
    bibliography = read_bibliography(article)
    meta = article_meta(article)
    metadata = read_metadata(article, meta, inline)
    writer = BlockWriter([reference.key for reference in bibliography.references])
    walk = BodyWalk(writer, bibliography.cited)
    full_text = _write(article, meta, walk, inline)
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=digest,
        format="jats",
        metadata=metadata,
        text=writer.text(),
        sections=writer.sections(),
        blocks=tuple(writer.blocks),
        figures=tuple(walk.figures),
        tables=tuple(walk.tables),
        references=bibliography.references,
        citations=tuple(writer.citations),
        full_text=full_text,
        warnings=tuple(_warnings(walk, metadata, full_text=full_text)),
    )


def _write(
    article: etree._Element, meta: etree._Element | None, walk: BodyWalk, inline: InlineText
) -> bool:
    """Write the whole canonical text; return whether the body has any prose."""
    writer = walk.writer
    if meta is not None:
        writer.frame = Frame((), SectionKind.TITLE)
        for path in ("title-group/article-title", "title-group/subtitle"):
            walk.plain(BlockKind.TITLE, inline.text(meta.find(path)))
        for abstract in meta.iterchildren("abstract", "trans-abstract"):
            walk.abstract(abstract)
    first = len(writer.blocks)
    for body in article.iterchildren("body"):
        walk.part(body, Frame((), SectionKind.BODY, top=True))
    full_text = any(block.kind in _PROSE for block in writer.blocks[first:])
    for back in article.iterchildren("back"):
        walk.part(back, Frame((), SectionKind.BACK, top=True))
    if meta is not None:
        _write_statements(article, meta, walk, inline)
    for floats in article.iterchildren("floats-group", "floats-wrap"):
        walk.part(floats, Frame((), SectionKind.BACK, top=True))
    writer.frame = Frame((), SectionKind.BACK, top=True)
    for part in article.iterchildren("sub-article", "response"):
        walk.sub_article(part)
    return full_text


def _write_statements(
    article: etree._Element, meta: etree._Element, walk: BodyWalk, inline: InlineText
) -> None:
    """Write the front page's notes and statements, unless the back matter has said the same."""
    writer = walk.writer
    writer.frame = Frame((), SectionKind.BACK, top=True)
    for element in article.iterfind("front/notes"):
        walk.container(element)
    notes = Frame(("Author notes",), SectionKind.FOOTNOTE, locked=True)
    funding = Frame(("Funding",), SectionKind.BACK, locked=True)
    statements: list[tuple[etree._Element, etree._Element | None, Frame]] = [
        (note, note.find("p"), notes)
        for note in meta.iterfind("author-notes/fn")
        if (note.get("fn-type") or "").lower() in _STATEMENTS
    ]
    statements += [(one, one, funding) for one in meta.iterfind("funding-group/funding-statement")]
    for element, words, frame in statements:
        if words is not None and not writer.has_block(inline.text(words)):
            kind = BlockKind.FOOTNOTE if frame is notes else BlockKind.PARAGRAPH
            walk.part(element, frame, kind=kind)


def _member(metadata: DocumentMetadata, number: int, taken: dict[str, int]) -> str:
    """Return a name for one article of several: its first identifier, else its position."""
    ids = metadata.ids
    return unique_key(ids.pmcid or ids.pmid or ids.doi, f"article-{number}", taken)


def _warnings(walk: BodyWalk, metadata: DocumentMetadata, *, full_text: bool) -> Iterator[str]:
    if not metadata.title:
        yield "the article has no title"
    if not full_text:
        yield "the article has no text in its body"
    yield from walk.warnings
    if walk.unresolved:
        yield f"{walk.unresolved} citation markers name no entry of the bibliography"
