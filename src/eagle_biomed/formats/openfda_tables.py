"""One HTML table written in a string, as openFDA gives tables of labels.

``html.parser`` needs time in the square of the length for some broken inputs, and what stands in
these strings is regular: tags are found by one pattern that never looks past the next ``<``.
"""

import re
from dataclasses import dataclass, field
from html import unescape

from eagle_biomed.formats.grids import Cell, Grid, read_span
from eagle_rag.ops.markup import fold_space

__all__ = ["HtmlTable", "read_html_table"]

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,20})\b([^<>]*)>|<![^<>]*>")
_SPAN = re.compile(r"\b(colspan|rowspan)\s{0,9}=\s{0,9}[\"']?(\d{1,9})", re.IGNORECASE)
_SPACES = frozenset({"br", "p", "paragraph", "li", "item", "list", "div"})
_TEXTS = frozenset({"td", "th", "caption"})
_STRUCTURE = _TEXTS | {"table", "thead", "tbody", "tfoot", "tr"}


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table's cells and its caption, or an empty one."""

    grid: Grid
    caption: str


@dataclass(slots=True)
class _Reading:
    """A table being read: what is complete, and the cell or caption that is open."""

    rows: list[list[Cell]] = field(default_factory=list)
    filled: int = 0
    caption: str = ""
    head: int = 0
    tables: int = 0
    tag: str = ""
    attributes: str = ""
    pieces: list[str] = field(default_factory=list)

    def begin(self, tag: str, attributes: str) -> None:
        """Open a table, a row, a cell or the caption."""
        if tag == "table":
            self.tables += 1
        elif tag == "tr":
            self.rows.append([])
        elif tag in _TEXTS:
            self.tag, self.attributes = tag, attributes

    def end(self) -> None:
        """Close the cell or caption that is open, if one is."""
        text = fold_space(unescape("".join(self.pieces)))
        if self.tag == "caption":
            self.caption = text
        elif self.tag:
            if not self.rows:
                self.rows.append([])
            self.filled += not self.rows[-1]
            self.rows[-1].append(_cell(self.tag, self.attributes, text))
        self.tag = ""
        self.pieces.clear()


def read_html_table(markup: str) -> HtmlTable | None:
    """Return the table, or ``None`` when there is none, or one inside another."""
    reading = _Reading()
    place = 0
    for found in _TAG.finditer(markup):
        if reading.tag:
            reading.pieces.append(markup[place : found.start()])
        place = found.end()
        tag, closing = (found[2] or "").lower(), bool(found[1])
        if tag in _STRUCTURE:
            reading.end()
            if not closing:
                reading.begin(tag, found[3])
            elif tag == "thead":
                reading.head = reading.filled
        elif tag in _SPACES and reading.tag:
            reading.pieces.append(" ")
    reading.end()
    rows = [row for row in reading.rows if row]
    if reading.tables != 1 or not rows:
        return None
    return HtmlTable(Grid(rows, reading.head), reading.caption)


def _cell(tag: str, attributes: str, text: str) -> Cell:
    spans = {name.lower(): value for name, value in _SPAN.findall(attributes)}
    return Cell(
        text,
        across=read_span(spans.get("colspan")),
        down=read_span(spans.get("rowspan")),
        header=tag == "th",
    )
