"""Markdown (CommonMark with tables): the canonical text is what a reader of the page sees.

The file is rendered to HTML and read like a page: headings are sections, list items, quotations and
code blocks keep their text, cells of tables are in the grid. A YAML front matter gives the metadata.
"""

import hashlib
import re
from collections.abc import Mapping
from datetime import date

import yaml
from markdown_it import MarkdownIt

from eagle_rag.adapters.documents.html_blocks import (
    PageReader,
    inline_text,
    no_text,
    read_tree,
    too_deep,
)
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.metadata import Author, DocumentMetadata, Identifiers
from eagle_rag.ops.decoding import decode_text
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmcid, normalize_pmid
from eagle_rag.ops.outline import Outline

__all__ = ["MarkdownParser"]

_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_MAX_FRONT_MATTER = 65536
# Besides its own errors: what the constructors of ``!!int ""``, ``!!bool x``, ``!!timestamp x`` and of
# numbers too large for Python raise.
_BAD_YAML = (yaml.YAMLError, ValueError, LookupError, AttributeError, OverflowError)
_MAX_BITS = 1024  # of a number; Python refuses to write out huge ones
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
# The preset stops at 20 and drops what is nested deeper without a word. Beyond this limit libxml2,
# which reads 256 levels, refuses the page, so nothing is lost in silence.
_MAX_NESTING = 300
# The library takes a fifth of a millisecond for each bracket that nothing closes.
_MAX_OPEN_BRACKETS = 5000
# The library takes some ten microseconds a line; a book of 1,000 pages has 50,000.
_MAX_LINES = 400_000
_CLOSED_BRACKETS = re.compile(r"\[[^\[\]]*\]")


class MarkdownParser:
    """Parser of Markdown files."""

    @property
    def format(self) -> str:
        """``markdown``."""
        return "markdown"

    def accepts(self, source: Source) -> bool:
        """Whether the name ends like that of a Markdown file."""
        return source.uri.lower().endswith(_SUFFIXES)

    def parse(self, source: Source) -> ParseOutcome:
        """Return the one document of a Markdown file.

        Raises:
            UnreadableDocument: ``empty``, ``too-large``, ``binary``, or ``nested-too-deep``.
        """
        text, warnings = decode_text(source)
        front, body, complaints = _front_matter(text)
        document = _render(body, source)
        if not document.strip() and not front.get("title"):
            raise no_text(source)
        root = read_tree(source, f"<html><body>{document}</body></html>")
        heading = root.find(".//h1")
        shown = " ".join(inline_text(heading).split()) if heading is not None else ""
        metadata = _metadata(front, shown)
        outline = Outline()
        if metadata.title and metadata.title != shown:
            outline.title(metadata.title)
        reader = PageReader(outline, metadata.title)
        reader.read(root, source)
        if outline.empty:
            raise no_text(source)
        canonical, sections, blocks = outline.finish()
        return ParseOutcome(
            (
                ParsedDocument(
                    source_uri=source.uri,
                    member="",
                    digest=source.digest or hashlib.sha256(source.data).hexdigest(),
                    format="markdown",
                    metadata=metadata,
                    text=canonical,
                    sections=sections,
                    blocks=blocks,
                    figures=tuple(reader.figures),
                    tables=tuple(reader.tables),
                    references=outline.references,
                    warnings=(*warnings, *complaints, *reader.warnings),
                ),
            )
        )


def _render(body: str, source: Source) -> str:
    lines = body.count("\n")
    if lines > _MAX_LINES:
        raise UnreadableDocument(
            source.uri, "too-large", f"{lines} lines of Markdown are more than {_MAX_LINES}",
            remedy="split the file into documents, or name it .txt",
        )  # fmt: skip
    markdown = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    brackets = body.count("[")
    if brackets > _MAX_OPEN_BRACKETS < brackets - len(_CLOSED_BRACKETS.findall(body)):
        markdown.disable(["link", "image"])  # brackets then are characters, as in plain text
    try:
        return str(markdown.enable(["table", "strikethrough"]).render(body))
    except RecursionError as error:
        raise too_deep(source, "lists or quotations nested deeper than the stack") from error


def _front_matter(text: str) -> tuple[Mapping[str, object], str, tuple[str, ...]]:
    """Return the front matter's values, the text after it, and what was wrong with it."""
    match = _FRONT_MATTER.match(text)
    if match is None or match.end() > _MAX_FRONT_MATTER:
        return {}, text, ()
    rest = text[match.end() :]
    try:
        values = yaml.safe_load(match[1])
        if isinstance(values, dict):
            return {str(key).lower(): value for key, value in values.items()}, rest, ()
    except RecursionError:
        return {}, rest, ("the front matter is not read: it is nested deeper than the stack",)
    except _BAD_YAML as error:
        problem = " ".join(str(error).split())
        return {}, rest, (f"the front matter is not YAML: {problem}",)
    return {}, rest if values is None else text, ()


def _metadata(front: Mapping[str, object], heading: str) -> DocumentMetadata:
    published = _date(front.get("date") or front.get("published"))
    return DocumentMetadata(
        ids=Identifiers(
            pmid=normalize_pmid(_text(front.get("pmid"))),
            pmcid=normalize_pmcid(_text(front.get("pmcid"))),
            doi=normalize_doi(_text(front.get("doi"))),
        ),
        title=_text(front.get("title")) or heading,
        journal=_text(front.get("journal")),
        published=published,
        year=int(published[:4]) if published else None,
        licence=_text(front.get("license") or front.get("licence")),
        language=_text(front.get("lang") or front.get("language")),
        authors=tuple(map(_author, _texts(front.get("authors") or front.get("author")))),
        keywords=_texts(front.get("keywords") or front.get("tags")),
    )


def _text(value: object) -> str:
    """Return a scalar on one line; anything else says nothing."""
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return ""
    return " ".join(str(value).split()) if isinstance(value, (str, int, float, date)) else ""


def _texts(value: object) -> tuple[str, ...]:
    """Return a list of scalars or of mappings with a ``name``, or one scalar split at commas."""
    if isinstance(value, str):
        return tuple(filter(None, map(str.strip, re.split(r"[;,]", value))))
    items = value if isinstance(value, list) else []
    named = (item.get("name") if isinstance(item, dict) else item for item in items)
    return tuple(filter(None, map(_text, named)))


def _author(name: str) -> Author:
    given, _, family = name.rpartition(" ")
    return Author(family=family, given=given)


def _date(value: object) -> str:
    match = _ISO_DATE.match(_text(value))
    return match.group() if match else ""
