"""The text of an HTML page: blocks, sections, figures and table grids, in reading order.

A block element ends the block before it; text that stands directly in a ``div`` is a paragraph.
Scripts, navigation, page footers, asides, forms and what is hidden are left out. Superscripts follow
the rule of the JATS text. Cells of data tables are in the grid, not in the text; a table that only
arranges the page is read like a ``div``.
"""

import re

from lxml import etree
from lxml import html as lxml_html

from eagle_rag.adapters.documents.jats_formulas import raise_number
from eagle_rag.adapters.documents.jats_tables import read_tables, unique_key
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, Figure, Source, Span, Table
from eagle_rag.ops.outline import Outline

__all__ = ["PageReader", "inline_text", "is_left_out", "no_text", "read_tree", "too_deep"]

_LEFT_OUT = frozenset(
    (
        "script",
        "style",
        "nav",
        "footer",
        "aside",
        "head",
        "template",
        "noscript",
        "iframe",
        "object",
        "svg",
        "canvas",
        "audio",
        "video",
        "button",
        "select",
        "textarea",
        "input",
        "option",
        "dialog",
        "annotation",
        "annotation-xml",
    )
)
_ROLES = frozenset(("navigation", "banner", "complementary", "contentinfo", "search", "dialog"))
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_KINDS = {
    "p": BlockKind.PARAGRAPH,
    "li": BlockKind.LIST_ITEM,
    "dt": BlockKind.LIST_ITEM,
    "dd": BlockKind.LIST_ITEM,
    "blockquote": BlockKind.QUOTE,
    "caption": BlockKind.CAPTION,
}
_BLOCKS = frozenset(
    (
        "address",
        "article",
        "body",
        "center",
        "details",
        "div",
        "dl",
        "fieldset",
        "figure",
        "form",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "main",
        "menu",
        "ol",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "figcaption",
    )
).union(_KINDS)
_SPACES = re.compile(r"[ \t\r\n\f]+")
_SPACES_BUT_BREAKS = re.compile(r"[ \t\r\f]+")
_AROUND_BREAK = re.compile(r" *\n *")
_PARAGRAPH_BREAK = re.compile(r"\n{2,}")
_LABEL = re.compile(
    r"(?:Supplementary )?(?:Figure|Fig\.?|Table|Box|Scheme)\s+[A-Z]?\d+[A-Za-z]?", re.IGNORECASE
)
_LAYOUT_CELL_CHARS = 400


def read_tree(source: Source, text: str) -> etree._Element:
    """Return the tree of a page; libxml2 repairs what is broken, but must not cut it off.

    Raises:
        UnreadableDocument: ``empty`` or ``nested-too-deep``.
    """
    parser = lxml_html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=False
    )
    try:
        root = lxml_html.document_fromstring(text.encode("utf-8"), parser=parser)
    except etree.ParserError as error:
        raise no_text(source) from error
    for entry in parser.error_log:
        if entry.level == etree.ErrorLevels.FATAL:
            raise too_deep(source, entry.message)
    return root


def too_deep(source: Source, message: str) -> UnreadableDocument:
    """Return the refusal of a page that the parser cannot read to its end."""
    return UnreadableDocument(
        source.uri,
        "nested-too-deep",
        f"the parser gave up: {' '.join(message.split())}",
        remedy="save the article's own part of the page",
    )


def no_text(source: Source) -> UnreadableDocument:
    """Return the refusal of a page without text."""
    message = "the page shows no text"
    remedy = "save the page as the browser shows it"
    return UnreadableDocument(source.uri, "empty", message, remedy=remedy)


def is_left_out(element: etree._Element) -> bool:
    """Whether an element shows nothing, or nothing of the document."""
    if element.tag in _LEFT_OUT or element.get("role") in _ROLES:
        return True
    hidden = element.get("hidden") is not None or element.get("aria-hidden") == "true"
    return hidden or _HIDING.search(element.get("style", "")) is not None


def inline_text(element: etree._Element) -> str:
    """Return all text of an element as running text, line breaks kept."""
    pieces: list[str] = []
    _collect(element, pieces)
    return _folded(pieces)


def _collect(element: etree._Element, pieces: list[str]) -> None:
    _add_text(pieces, element.text)
    for child in element:
        if child.tag == "br":
            pieces.append("\n")
        elif child.tag == "sup":
            pieces.append(raise_number(inline_text(child)))
        elif not is_left_out(child):
            apart = " " if child.tag in _BLOCKS else ""
            pieces.append(apart)
            _collect(child, pieces)
            pieces.append(apart)
        _add_text(pieces, child.tail)


def _add_text(pieces: list[str], text: str | None) -> None:
    if text:
        pieces.append(_SPACES.sub(" ", text))


def _folded(pieces: list[str]) -> str:
    return _AROUND_BREAK.sub("\n", _SPACES_BUT_BREAKS.sub(" ", "".join(pieces))).strip()


class PageReader:
    """Reads one page into an outline.

    Args:
        outline: Where the blocks go.
        title: The document's title; the heading that repeats it is not a section.
    """

    def __init__(self, outline: Outline, title: str) -> None:
        self.figures: list[Figure] = []
        self.tables: list[Table] = []
        self.warnings: list[str] = []
        self._outline = outline
        self._title = " ".join(title.split())
        self._pieces: list[str] = []
        self._kind = BlockKind.PARAGRAPH
        self._keys: dict[str, int] = {}
        self._captions: list[tuple[str, Span | None]] = []

    def read(self, body: etree._Element, source: Source) -> None:
        """Read an element and everything in it.

        Raises:
            UnreadableDocument: ``nested-too-deep``.
        """
        try:
            self._flow(body)
        except RecursionError as error:
            raise too_deep(source, "elements nested deeper than the stack") from error
        self._flush()

    def _flow(self, element: etree._Element) -> None:
        _add_text(self._pieces, element.text)
        for child in element:
            if not is_left_out(child):
                self._element(child)
            _add_text(self._pieces, child.tail)

    def _element(self, element: etree._Element) -> None:
        tag = element.tag
        if tag == "br":
            self._pieces.append("\n")
        elif tag == "sup":
            self._pieces.append(raise_number(inline_text(element)))
        elif tag in _HEADINGS:
            self._flush()
            self._heading(_HEADINGS[tag], inline_text(element))
        elif tag == "pre":
            self._flush()
            self._outline.block(self._kind, "".join(map(str, element.itertext())).strip("\r\n"))
        elif tag == "figure":
            self._figure(element)
        elif tag == "figcaption":
            self._flush()
            self._captions.append(self._caption(element, f"Figure {len(self.figures) + 1}"))
        elif tag == "table" and not _is_layout(element):
            self._table(element)
        elif tag in _BLOCKS:
            self._block(element)
        else:
            self._flow(element)

    def _block(self, element: etree._Element) -> None:
        self._flush()
        before = self._kind
        # A paragraph inside a list item or quotation is one of its kind.
        if element.tag != "p" or before is BlockKind.PARAGRAPH:
            self._kind = _KINDS.get(element.tag, before)
        self._flow(element)
        self._flush()
        self._kind = before

    def _flush(self) -> None:
        text = _folded(self._pieces)
        self._pieces.clear()
        for paragraph in _PARAGRAPH_BREAK.split(text):
            if paragraph:
                self._outline.block(self._kind, paragraph)

    def _heading(self, level: int, text: str) -> None:
        if " ".join(text.split()) == self._title and self._title:
            if self._outline.has_title:
                return
            self._outline.title(text)
            return
        self._outline.heading(level, text)

    def _caption(self, element: etree._Element | None, fallback: str) -> tuple[str, Span | None]:
        text = inline_text(element) if element is not None else ""
        label = _LABEL.match(text)
        named = label.group() if label else ""
        return named, self._outline.caption(named or fallback, text) if text else None

    def _figure(self, element: etree._Element) -> None:
        """Read what stands in a figure; its first caption is the figure's."""
        around, self._captions = self._captions, []
        self._block(element)
        sources = [image.get("src", "") for image in element.iter("img")]
        label, caption = self._captions[0] if self._captions else ("", None)
        self._captions = around
        if caption is None and not sources:
            return
        key = unique_key(element.get("id"), f"fig-{len(self.figures) + 1}", self._keys)
        graphics = tuple(dict.fromkeys(filter(None, sources)))
        self.figures.append(Figure(key, label, caption, graphics))

    def _table(self, element: etree._Element) -> None:
        self._flush()
        fallback = f"Table {len(self.tables) + 1}"
        label, caption = self._caption(element.find("caption"), fallback)
        found = read_tables(element, label, caption, text=inline_text, warnings=self.warnings)
        for table in found:
            key = unique_key(table.key, f"table-{len(self.tables) + 1}", self._keys)
            self.tables.append(
                Table(
                    key=key,
                    label=table.label,
                    caption=table.caption,
                    rows=table.rows,
                    column_paths=table.column_paths,
                    row_paths=table.row_paths,
                    no_cells=table.no_cells,
                    graphics=tuple(image.get("src", "") for image in element.iter("img")),
                )
            )


def _is_layout(table: etree._Element) -> bool:
    """Whether a table only arranges the page: its cells are then prose."""
    if table.get("role") in ("presentation", "none"):
        return True
    if any(True for _ in table.iterdescendants("table", *_HEADINGS)):
        return True
    if any(True for _ in table.iterdescendants("th", "thead", "caption")):
        return False
    return any(len(inline_text(cell)) > _LAYOUT_CELL_CHARS for cell in table.iter("td"))
