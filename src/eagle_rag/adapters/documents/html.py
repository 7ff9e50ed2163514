"""HTML pages: headings are sections, tables are grids, ``citation_*`` tags are the front matter."""

import hashlib
import re

from eagle_rag.adapters.documents.html_blocks import (
    PageReader,
    inline_text,
    is_left_out,
    no_text,
    read_tree,
)
from eagle_rag.adapters.documents.html_meta import read_metadata
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.ops.decoding import decode_text
from eagle_rag.ops.markup import is_prose_file
from eagle_rag.ops.outline import Outline

__all__ = ["HtmlParser"]

_SUFFIXES = (".html", ".htm", ".xhtml")
_HEAD_BYTES = 4096
_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
# Each costs some ten microseconds; the largest pages of encyclopaedias have 50,000.
_MAX_TAGS = 1_000_000
# What browsers do with these names (WHATWG Encoding, section 4.2; HTML, 13.2.3.2).
_BROWSER_NAMES = {
    "iso-8859-1": "windows-1252",
    "latin1": "windows-1252",
    "us-ascii": "windows-1252",
    "ascii": "windows-1252",
    "utf-16": "utf-8",
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
}


class HtmlParser:
    """Parser of HTML and XHTML pages."""

    @property
    def format(self) -> str:
        """``html``."""
        return "html"

    def accepts(self, source: Source) -> bool:
        """Whether the name or the first bytes say HTML."""
        if source.uri.lower().endswith(_SUFFIXES):
            return True
        if is_prose_file(source.uri, source.data):
            return False
        return _HTML.search(source.data[:_HEAD_BYTES]) is not None

    def parse(self, source: Source) -> ParseOutcome:
        """Return the one document of a page.

        Raises:
            UnreadableDocument: ``empty``, ``too-large``, ``binary``, or ``nested-too-deep``.
        """
        text, warnings = decode_text(source, declared=_declared(source.data))
        tags = text.count("<")
        if tags > _MAX_TAGS:
            raise UnreadableDocument(
                source.uri, "too-large", f"{tags} tags are more than {_MAX_TAGS}",
                remedy="split the page into documents",
            )  # fmt: skip
        root = read_tree(source, text)
        headings = (e for e in root.iter("h1") if not is_left_out(e))
        first = next(headings, None)
        heading = " ".join(inline_text(first).split()) if first is not None else ""
        metadata = read_metadata(root, heading)
        outline = Outline()
        if metadata.title and metadata.title != heading:
            outline.title(metadata.title)
        reader = PageReader(outline, metadata.title)
        body = root.find("body")
        reader.read(body if body is not None else root, source)
        if outline.empty:
            raise no_text(source)
        canonical, sections, blocks = outline.finish()
        document = ParsedDocument(
            source_uri=source.uri,
            member="",
            digest=source.digest or hashlib.sha256(source.data).hexdigest(),
            format="html",
            metadata=metadata,
            text=canonical,
            sections=sections,
            blocks=blocks,
            figures=tuple(reader.figures),
            tables=tuple(reader.tables),
            references=outline.references,
            warnings=(*warnings, *reader.warnings),
        )
        return ParseOutcome((document,))


def _declared(data: bytes) -> str:
    head = data[:_HEAD_BYTES]
    match = _XML_ENCODING.search(head) or _CHARSET.search(head)
    name = match[1].decode("ascii", errors="replace").lower() if match else ""
    return _BROWSER_NAMES.get(name, name)
