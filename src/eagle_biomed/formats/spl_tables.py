"""Tables of drug labels: which rows are the head, and which are footnotes.

Many labels mark neither. Then leading rows of bold cells, or with nothing in the first column, are
taken for the head, trailing rows of one cell for footnotes, and a first row "Table 3 ..." for the
caption.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_biomed.formats.grids import Cell, Grid, read_span
from eagle_biomed.formats.xml_nodes import children, name_of

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["NOTE_MARKS", "LabelTable", "float_label", "read_label_table"]

NOTE_MARKS = "*\u2020\u2021\u00a7\u00b6#"
"""Footnote marks, in the order in which DailyMed's style sheet uses them."""

_LABEL = re.compile(r"(?:table|figure)\s+[A-Z]?\d+[A-Z]?\b", re.IGNORECASE)

TextOf = Callable[["etree._Element"], str]  # noqa: SLF001 - lxml has no public name for it


@dataclass(frozen=True, slots=True)
class LabelTable:
    """A table's cells, the caption among them or empty, and the footnotes among them."""

    grid: Grid
    caption: str
    notes: tuple[str, ...]


def float_label(caption: str) -> str:
    """Return ``Table 3`` or ``Figure 1`` when a caption begins so, else an empty string."""
    found = _LABEL.match(caption)
    return " ".join(found[0].split()) if found else ""


def read_label_table(table: "etree._Element", text: TextOf) -> LabelTable:
    """Return the cells of a table without the rows that are its caption or footnotes.

    Args:
        table: The ``table`` element.
        text: Renders one cell.
    """
    rows: list[list[Cell]] = []
    bold: list[bool] = []
    head = 0
    for part, row in _rows(table):
        cells = [_cell(cell, text) for cell in children(row, "td", "th")]
        if not cells:
            continue
        rows.append(cells)
        bold.append(all(_is_bold(cell) for cell in children(row, "td", "th")))
        if part == "thead":
            head = len(rows)
    width = _width(rows)
    notes = _pop_notes(rows, width)
    caption = ""
    if len(rows) > 1 < width and len(rows[0]) == 1 and float_label(rows[0][0].text):
        caption = rows.pop(0)[0].text
        bold.pop(0)
        head = max(0, head - 1)
    if not head and not any(cell.header for row in rows[:1] for cell in row):
        head = _guess_head(rows, bold)
    return LabelTable(Grid(rows, head), caption, notes)


def _rows(table: "etree._Element") -> Iterator[tuple[str, "etree._Element"]]:
    """Yield the part's name and each row: head, bodies, foot."""
    for name in ("thead", "tbody"):
        for part in children(table, name):
            for row in children(part, "tr"):
                yield name, row
    for row in children(table, "tr"):
        yield "tbody", row
    for part in children(table, "tfoot"):
        for row in children(part, "tr"):
            yield "tfoot", row


def _cell(cell: "etree._Element", text: TextOf) -> Cell:
    return Cell(
        text(cell),
        across=read_span(cell.get("colspan")),
        down=read_span(cell.get("rowspan")),
        header=name_of(cell) == "th",
    )


def _is_bold(cell: "etree._Element") -> bool:
    """Return whether all that a cell says is bold; an empty cell is."""
    if (cell.text or "").strip():
        return False
    return all(
        not (child.tail or "").strip()
        and (name_of(child) == "br" or "bold" in (child.get("styleCode") or "").lower())
        for child in cell
    )


def _width(rows: Sequence[Sequence[Cell]]) -> int:
    return max((sum(cell.across for cell in row) for row in rows), default=0)


def _pop_notes(rows: list[list[Cell]], width: int) -> tuple[str, ...]:
    """Take the trailing rows off that are one cell: as wide as the table, or beginning like a note."""
    notes: list[str] = []
    while len(rows) > 1 and width > 1 and len(rows[-1]) == 1:
        cell = rows[-1][0]
        if cell.across < width and cell.text and not cell.text.startswith((*NOTE_MARKS, "^")):
            break
        rows.pop()
        notes.append(cell.text)
    return tuple(filter(None, reversed(notes)))


def _guess_head(rows: Sequence[Sequence[Cell]], bold: Sequence[bool]) -> int:
    """Return how many leading rows look like a head: 0 when all do, or none."""
    head = 0
    for row, is_bold in zip(rows, bold, strict=False):
        texts = {cell.text for cell in row if cell.text}
        blank_corner = len(row) > 1 and not row[0].text and bool(texts)
        if not (blank_corner or (is_bold and len(texts) > 1)):
            break
        head += 1
    return head if head < len(rows) else 0
