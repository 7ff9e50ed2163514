"""Tables: cell grids with spans resolved and header paths, from HTML-style and CALS markup.

A grid repeats a spanning cell's text in every cell it covers, so that each row can be read alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lxml import etree

from eagle_rag.model.document import Span, Table

__all__ = ["TABLE_TAGS", "graphic_hrefs", "read_tables", "unique_key"]

OASIS = "{http://www.niso.org/standards/z39-96/ns/oasis-exchange/table}"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
TABLE_TAGS = ("table", "array", f"{OASIS}table", "tgroup", f"{OASIS}tgroup")

# A span larger than any printed table is a typing error or an attack on memory.
_MAX_SPAN = 1000
_MAX_CELLS = 1_000_000

TextOf = Callable[[etree._Element], str]  # noqa: SLF001 - lxml has no public name for it
_Line = list[tuple[str, bool]]
_Hanging = dict[int, tuple[int, tuple[str, bool]]]
_BLANK = ("", False)


@dataclass(slots=True)
class _Cell:
    text: str
    header: bool
    columns: int
    rows: int


@dataclass(slots=True)
class _Grid:
    """Rows of ``(text, is header)``; the first ``head`` of them are the column headers."""

    rows: list[_Line]
    head: int


def read_tables(
    element: etree._Element, label: str, caption: Span | None, *, text: TextOf
) -> list[Table]:
    """Return every grid of a ``table-wrap`` or bare table, or one ``no_cells`` table.

    The key of each is the element's id or empty; the caller makes it unique.

    Args:
        element: The table's outermost element.
        label: ``Table 1``, or empty.
        caption: Where its caption stands.
        text: Renders one cell.
    """
    graphics = graphic_hrefs(element)
    key = element.get("id") or ""
    tables = []
    for found in _outermost(element):
        grid = _read_grid(found, text)
        if grid.rows:
            tables.append(_finish(grid, (key, label, caption, graphics)))
    return tables or [Table(key, label, caption, (), (), (), no_cells=True, graphics=graphics)]


def graphic_hrefs(element: etree._Element) -> tuple[str, ...]:
    """Return the picture files that a float names itself, not those of floats inside it."""
    hrefs = []
    for child in element:
        if child.tag in ("graphic", "media", "inline-graphic"):
            hrefs.append(child.get(XLINK_HREF) or child.get("href") or "")
        elif child.tag in ("alternatives", "p", "fig"):
            hrefs += graphic_hrefs(child)
    return tuple(dict.fromkeys(href for href in hrefs if href))


def unique_key(wanted: str | None, fallback: str, taken: set[str]) -> str:
    """Return the publisher's id or the fallback, with a number where it is taken; note it."""
    base = key = wanted or fallback
    number = 2
    while key in taken:
        key = f"{base}-{number}"
        number += 1
    taken.add(key)
    return key


def _outermost(element: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements that hold rows, without those nested in a cell."""
    if element.tag in ("tgroup", f"{OASIS}tgroup", "array"):
        yield element
        return
    groups = list(element.iter("tgroup", f"{OASIS}tgroup"))
    if groups:
        yield from groups
        return
    if element.tag == "table":
        yield element
        return
    for child in element:
        if child.tag in ("table", "array"):
            yield child
        elif child.tag not in ("caption", "table-wrap-foot", "label"):
            yield from _outermost(child)


def _read_grid(table: etree._Element, text: TextOf) -> _Grid:
    columns = _column_names(table)
    sections = [child for child in table if _name(child) in ("thead", "tbody", "tfoot")]
    # A footer is the last rows, wherever the markup puts it.
    sections.sort(key=lambda part: {"thead": 0, "tbody": 1, "tfoot": 2}[_name(part)])
    rows: list[list[_Cell]] = []
    head = 0
    for part in sections or [table]:
        found = [_read_row(row, columns, text) for row in part if _name(row) in ("tr", "row")]
        rows += found
        if _name(part) == "thead":
            head += len(found)
    return _resolve(rows, head)


def _name(element: etree._Element) -> str:
    tag = element.tag
    return tag[len(OASIS) :] if tag.startswith(OASIS) else tag


def _column_names(table: etree._Element) -> dict[str, int]:
    specs = [child for child in table if _name(child) == "colspec"]
    return {spec.get("colname") or str(place): place for place, spec in enumerate(specs)}


def _read_row(row: etree._Element, columns: dict[str, int], text: TextOf) -> list[_Cell]:
    cells = []
    for child in row:
        tag = child.tag
        if tag in ("td", "th"):
            across, down = _number(child.get("colspan")), _number(child.get("rowspan"))
        elif _name(child) == "entry":
            first = columns.get(child.get("namest") or "")
            last = columns.get(child.get("nameend") or "")
            across = last - first + 1 if first is not None and last is not None else 1
            down = _number(child.get("morerows"), extra=1)
        else:
            continue
        content = text(child) if len(child) else (child.text or "").strip()
        cells.append(_Cell(content, tag == "th", max(1, across), down))
    return cells


def _number(value: str | None, *, extra: int = 0) -> int:
    """Return a span attribute; what is no sensible number spans one cell."""
    if value is None:
        return 1
    value = value.strip()
    if not value.isascii() or not value.isdigit():
        return 1
    return max(1, min(int(value[:6]) + extra, _MAX_SPAN))


def _resolve(rows: list[list[_Cell]], head: int) -> _Grid:
    """Spread spanning cells over the grid and make every row equally long."""
    grid: list[_Line] = []
    hanging: _Hanging = {}
    room = _MAX_CELLS
    for cells in rows:
        line: _Line = []
        below: _Hanging = {}
        for cell in cells:
            _take_hanging(line, hanging, below)
            value = (cell.text, cell.header)
            across = min(cell.columns, room)
            room -= across
            if cell.rows > 1:
                start = len(line)
                below.update((start + step, (cell.rows - 1, value)) for step in range(across))
            line += [value] * across
        for column in sorted(hanging):
            line += [_BLANK] * (column - len(line))
            _take_hanging(line, hanging, below)
        hanging = below
        grid.append(line)
    width = max(map(len, grid), default=0)
    if width * len(grid) > _MAX_CELLS:
        return _Grid([], 0)
    for line in grid:
        line.extend([_BLANK] * (width - len(line)))
    return _Grid(grid if width else [], head)


def _take_hanging(line: _Line, hanging: _Hanging, below: _Hanging) -> None:
    """Fill the places that cells of earlier rows reach down to."""
    while hanging and len(line) in hanging:
        left, value = hanging.pop(len(line))
        if left > 1:
            below[len(line)] = (left - 1, value)
        line.append(value)


def _finish(grid: _Grid, about: tuple[str, str, Span | None, tuple[str, ...]]) -> Table:
    head = grid.head
    if head == 0:
        # Without a thead the leading rows of header cells only are the column headers.
        while head < len(grid.rows) - 1 and all(header for _, header in grid.rows[head]):
            head += 1
    body = grid.rows[head:]
    columns = zip(*grid.rows[:head], strict=True) if head else ()
    column_paths = tuple(_path(text for text, _ in column) for column in columns)
    if not column_paths:
        column_paths = ((),) * len(grid.rows[0])
    key, label, caption, graphics = about
    return Table(
        key,
        label,
        caption,
        tuple(tuple(text for text, _ in row) for row in body),
        column_paths,
        tuple(_row_path(row) for row in body),
        no_cells=False,
        graphics=graphics,
    )


def _row_path(row: _Line) -> tuple[str, ...]:
    """Return the leading header cells of a row, or else its first cell."""
    leading = 0
    while leading < len(row) and row[leading][1]:
        leading += 1
    return _path(text for text, _ in row[: max(1, leading)])


def _path(texts: Iterator[str]) -> tuple[str, ...]:
    """Return the texts without blanks and repeats, in order."""
    return tuple(dict.fromkeys(text for text in texts if text))
