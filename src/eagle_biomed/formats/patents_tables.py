"""Tables of patents: CALS groups of different columns, laid on one grid by their widths.

The USPTO sets head and body of a table as groups of their own, each with columns of its own. Where
all groups are equally wide, their column edges together are the columns of the table, and a cell
covers as many as it is wide. Rules are empty rows; what stands above the second is the head.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_biomed.formats.grids import Cell, Grid, read_span
from eagle_biomed.formats.xml_nodes import children, name_of

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["PatentTable", "read_patent_table"]

TextOf = Callable[["etree._Element"], str]  # noqa: SLF001 - lxml has no public name for it

_WIDTH = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)\s*(?:pt|PT)?\s*")
_LABEL = re.compile(r"TABLE[-\s]+([A-Z]?\d+[A-Za-z]?|[IVXLC]+)\b", re.IGNORECASE)
_CONTINUED = re.compile(r"-?\s*continued", re.IGNORECASE)
_SAME_EDGE_PT = 8.0  # edges nearer than this are one; the narrowest columns of text are 14 pt wide
_MAX_COLUMNS = 400
_MAX_HEAD = 12  # rows; more above the second rule are the first part of the body


@dataclass(frozen=True, slots=True)
class PatentTable:
    """A table's cells, its label and caption or empty, and its footnotes."""

    grid: Grid
    label: str = ""
    caption: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Group:
    """A ``tgroup``: the edges of its columns in points (empty when unknown), their names, its rows."""

    edges: tuple[float, ...]
    names: dict[str, int]
    rows: tuple["etree._Element", ...]


def read_patent_table(element: "etree._Element", text: TextOf) -> Iterator[PatentTable]:
    """Yield the table of an element, or one a group where the groups do not fit together.

    Args:
        element: Whatever holds the ``tgroup`` elements.
        text: Renders one cell.
    """
    groups = [_group(one) for one in element.iter() if name_of(one) == "tgroup"]
    edges = _common_edges(groups)
    for together in [groups] if edges else [[group] for group in groups]:
        rows = [_row(row, group, edges, text) for group in together for row in group.rows]
        table = _table(rows)
        if table is not None:
            yield table


def _group(element: "etree._Element") -> _Group:
    specs = list(children(element, "colspec"))
    widths = [_WIDTH.fullmatch(spec.get("colwidth") or "") for spec in specs]
    edges, place = [0.0], 0.0
    for width in widths:
        if width is None:
            edges = []
            break
        place += float(width[1])
        edges.append(place)
    rows = tuple(
        row
        for part in children(element, "thead", "tbody", "tfoot")
        for row in children(part, "row")
    )
    names = {spec.get("colname") or str(number): number for number, spec in enumerate(specs)}
    return _Group(tuple(edges) if len(edges) > 1 else (), names, rows)


def _common_edges(groups: Sequence[_Group]) -> tuple[float, ...]:
    """Return the column edges of all groups, or none when the groups are not equally wide."""
    if not groups or not all(group.edges for group in groups):
        return ()
    widths = [group.edges[-1] for group in groups]
    if max(widths) - min(widths) > _SAME_EDGE_PT:
        return ()
    edges: list[float] = []
    for edge in sorted(edge for group in groups for edge in group.edges):
        if not edges or edge - edges[-1] >= _SAME_EDGE_PT:
            edges.append(edge)
    return tuple(edges) if len(edges) <= _MAX_COLUMNS else ()


def _row(
    row: "etree._Element", group: _Group, edges: tuple[float, ...], text: TextOf
) -> list[Cell]:
    cells: list[Cell] = []
    column = 0
    for entry in children(row, "entry"):
        first = group.names.get(entry.get("namest") or "", column)
        last = group.names.get(entry.get("nameend") or "", first)
        if first != column and cells and first > column:
            cells.append(Cell("", _across(group, edges, column, first)))
        column = max(first, last) + 1
        words = text(entry)
        across = _across(group, edges, first, column)
        if across or words:
            down = read_span(entry.get("morerows"), extra=1)
            cells.append(Cell(words, max(1, across), down))
    return cells


def _across(group: _Group, edges: tuple[float, ...], first: int, after: int) -> int:
    """Return how many columns of the whole table the columns of a group cover."""
    if not edges or after >= len(group.edges):
        return max(1, after - first)
    return _place(edges, group.edges[after]) - _place(edges, group.edges[first])


def _place(edges: tuple[float, ...], edge: float) -> int:
    """Return the place of the edge that stands for this one: the last not to the right of it."""
    place = bisect_left(edges, edge)
    return place if place < len(edges) and edges[place] == edge else place - 1


def _table(rows: list[list[Cell]]) -> PatentTable | None:
    """Return the table without its rules, or ``None`` when nothing is left."""
    caption = label = ""
    kept: list[list[Cell]] = []
    rules: list[int] = []  # how many kept rows stand above each rule
    for row in rows:
        words = [cell.text for cell in row if cell.text]
        named = _LABEL.match(words[0]) if len(words) == 1 else None
        if named is not None and (not kept or _CONTINUED.search(words[0])):
            if not caption:
                caption, label = words[0], f"Table {named[1]}"
        elif words:
            kept.append(row)
        else:
            rules.append(len(kept))
    if not kept:
        return PatentTable(Grid([]), label, caption) if caption else None
    width = max(sum(cell.across for cell in row) for row in kept)
    notes: list[str] = []
    while len(kept) > 1 and _is_note(kept[-1], width) and len(kept) - 1 in rules:
        notes.append(next(cell.text for cell in kept.pop() if cell.text))
    head = _head(kept, [above for above in rules if 0 < above < len(kept)])
    return PatentTable(Grid(kept, head), label, caption, tuple(reversed(notes)))


def _head(rows: Sequence[Sequence[Cell]], rules: Sequence[int]) -> int:
    """Return how many rows are the head: down to the first rule below a row of several cells.

    A rule may also stand below a line that all columns share, such as the number of a formula.
    """
    for above in rules:
        if above <= _MAX_HEAD and any(
            sum(1 for cell in row if cell.text) > 1 for row in rows[:above]
        ):
            return above
    return rules[0] if rules and rules[0] <= _MAX_HEAD else 0


def _is_note(row: Sequence[Cell], width: int) -> bool:
    said = [cell for cell in row if cell.text]
    return width > 1 and len(said) == 1 and said[0].across >= width - 1
