"""Tables: cell grids with spans resolved and header paths, from HTML-style and CALS markup.

A grid repeats a spanning cell's text in every cell it covers, so that each row can be read alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import cast

from lxml import etree

from eagle_rag.model.document import Span, Table
from eagle_rag.ops.markup import fold_space

__all__ = ["TABLE_TAGS", "graphic_hrefs", "read_tables", "unique_key"]

OASIS = "{http://www.niso.org/standards/z39-96/ns/oasis-exchange/table}"
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
TABLE_TAGS = ("table", "array", f"{OASIS}table", "tgroup", f"{OASIS}tgroup")

# A span larger than any printed table is a typing error or an attack on memory. So is a grid much
# larger than the cells it was made from: the limit grows with the file, whatever its spans claim.
_MAX_SPAN = 1000
_MAX_CELLS = 1_000_000
_FREE_CELLS = 2000
_CELLS_EACH = 20

TextOf = Callable[[etree._Element], str]  # noqa: SLF001 - lxml has no public name for it
_CALS_GROUPS = frozenset({"tgroup", f"{OASIS}tgroup"})
# Also true where a row holds anything but cells.
_has_spans = cast(
    "Callable[[etree._Element], bool]",  # noqa: SLF001 - lxml has no public name for it
    etree.XPath(
        'boolean(.//@colspan[. != "1"] or .//@rowspan[. != "1"] or .//tr/*[not(self::td or self::th)])'
    ),
)
_count_cells = cast(
    "Callable[[etree._Element], float]",  # noqa: SLF001 - lxml has no public name for it
    etree.XPath('count(.//*[self::td or self::th or local-name() = "entry"])'),
)
_PARTS = {"thead": 0, "tbody": 1, "tfoot": 2}


class _Grid:
    """Rows being read: texts, which of them are header cells, and what reaches down from above.

    Args:
        columns: Positions of the columns that CALS entries name.
        text: Renders one cell.
        limit: How many cells there may be, those that spanning cells cover included.
    """

    __slots__ = ("_columns", "_hanging", "_limit", "_room", "_text", "head", "headers", "lines")

    def __init__(self, columns: dict[str, int], text: TextOf, limit: int) -> None:
        self.lines: list[list[str]] = []
        self.headers: list[list[bool]] = []
        self.head = 0
        self._columns = columns
        self._text = text
        # By column: how many more rows the cell reaches, its text, and whether it is a header.
        self._hanging: dict[int, tuple[int, str, bool]] = {}
        self._limit = self._room = limit

    def add(self, row: etree._Element) -> None:
        """Read one row; spanning cells are spread over the columns and rows they cover.

        Once there are more cells than any table has, the rest is not read.
        """
        if self._room <= 0:
            return
        line: list[str] = []
        headers: list[bool] = []
        hanging, self._hanging = self._hanging, {}
        for cell in row:
            tag = cell.tag
            if hanging:
                self._reach_down(hanging, line, headers)
            header = tag == "th"
            if header or tag == "td":
                across, down = cell.get("colspan"), cell.get("rowspan")
                if (across is None or across == "1") and (down is None or down == "1"):
                    line.append(self._text(cell) if len(cell) else fold_space(cell.text or ""))
                    headers.append(header)
                else:
                    spans = _number(across), _number(down)
                    self._spread(self._text(cell), spans, line, headers, header=header)
            elif _name(cell) == "entry":
                self._spread(self._text(cell), self._entry_spans(cell), line, headers)
        for column in sorted(hanging):
            self._pad(line, headers, column)
            self._reach_down(hanging, line, headers)
        self._room -= len(line)
        self.lines.append(line)
        self.headers.append(headers)

    def add_plain(self, row: etree._Element) -> None:
        """Read one row of a table in which no cell spans."""
        render = self._text
        self.lines.append(
            [render(cell) if len(cell) else fold_space(cell.text or "") for cell in row]
        )
        self.headers.append([cell.tag == "th" for cell in row])

    def close(self, *, head: bool) -> None:
        """End a head or body: no cell reaches beyond it."""
        self._hanging.clear()
        if head:
            self.head = len(self.lines)

    def square(self) -> None:
        """Make all rows equally long."""
        width = max(map(len, self.lines), default=0)
        for line, headers in zip(self.lines, self.headers, strict=True):
            self._pad(line, headers, width)

    def is_usable(self) -> bool:
        """Return whether there are cells, and not too many."""
        return any(self.lines) and not self.is_too_large()

    def is_too_large(self) -> bool:
        """Return whether there are so many cells that only an attack has them."""
        size = len(self.lines) * max(map(len, self.lines), default=0)
        if self._room > 0 and size <= _FREE_CELLS:
            return False
        filled = sum(map(len, self.lines))  # the rest are short rows to be filled up
        return self._room <= 0 or size > min(self._limit, _FREE_CELLS + _CELLS_EACH * filled)

    def _entry_spans(self, entry: etree._Element) -> tuple[int, int]:
        first = self._columns.get(entry.get("namest") or "")
        last = self._columns.get(entry.get("nameend") or "")
        across = 1 if first is None or last is None else max(1, last - first + 1)
        return across, _number(entry.get("morerows"), extra=1)

    def _spread(
        self,
        text: str,
        spans: tuple[int, int],
        line: list[str],
        headers: list[bool],
        *,
        header: bool = False,
    ) -> None:
        across, down = spans
        if len(line) + across > self._limit:
            self._room, across = 0, 0
        if down > 1:
            for column in range(len(line), len(line) + across):
                self._hanging[column] = (down - 1, text, header)
        line += [text] * across
        headers += [header] * across

    def _reach_down(
        self, hanging: dict[int, tuple[int, str, bool]], line: list[str], headers: list[bool]
    ) -> None:
        """Fill the places that cells of earlier rows cover."""
        while len(line) in hanging:
            column = len(line)
            left, text, header = hanging.pop(column)
            if left > 1:
                self._hanging[column] = (left - 1, text, header)
            line.append(text)
            headers.append(header)

    def _pad(self, line: list[str], headers: list[bool], width: int) -> None:
        missing = width - len(line)
        if missing > 0:
            line += [""] * missing
            headers += [False] * missing


def read_tables(
    element: etree._Element,
    label: str,
    caption: Span | None,
    *,
    text: TextOf,
    warnings: list[str],
) -> list[Table]:
    """Return every grid of a ``table-wrap`` or bare table, or one ``no_cells`` table.

    A grid far larger than the cells in the file, which only spans can make, is left out with a
    warning. The key of each is the element's id or empty; the caller makes it unique.

    Args:
        element: The table's outermost element.
        label: ``Table 1``, or empty.
        caption: Where its caption stands.
        text: Renders one cell.
        warnings: Gets a sentence for each grid left out.
    """
    graphics = graphic_hrefs(element)
    key = element.get("id") or ""
    tables = []
    for found in _outermost(element):
        grid = _read_grid(found, text)
        if grid.is_usable():
            tables.append(_finish(grid, (key, label, caption, graphics)))
        elif grid.is_too_large():
            name = label or key or "a table without a label"
            warnings.append(f"{name} spans more cells than any table has: its cells are left out")
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


def unique_key(wanted: str | None, fallback: str, taken: dict[str, int]) -> str:
    """Return the publisher's id or the fallback, with a number where it is taken.

    Args:
        wanted: The publisher's id, if any.
        fallback: What to use without one.
        taken: Keys given so far, each with its last number; gets the new one.
    """
    base = key = wanted or fallback
    while key in taken:
        taken[base] += 1
        key = f"{base}-{taken[base]}"
    taken[key] = 1
    return key


def _outermost(element: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements that hold rows, without those nested in a cell."""
    if element.tag in _CALS_GROUPS:
        yield element
        return
    for child in element:
        if child.tag in ("thead", "tbody", "tr"):
            yield element
            return
        if child.tag not in ("caption", "table-wrap-foot", "label"):
            yield from _outermost(child)


def _read_grid(table: etree._Element, text: TextOf) -> _Grid:
    plain = not _has_spans(table)
    limit = _MAX_CELLS if plain else _FREE_CELLS + _CELLS_EACH * int(_count_cells(table))
    grid = _Grid(_column_names(table), text, min(limit, _MAX_CELLS))
    parts: list[list[etree._Element]] = [[], [], []]
    for child in table:
        place = _PARTS.get(_name(child))
        if place is not None:
            parts[place].append(child)
    ordered = [part for placed in parts for part in placed]
    for part in ordered or [table]:
        for row in part:
            if plain and row.tag == "tr":
                grid.add_plain(row)
            elif row.tag == "tr" or _name(row) == "row":
                grid.add(row)
        grid.close(head=_name(part) == "thead")
    return grid


def _name(element: etree._Element) -> str:
    tag = element.tag
    return tag[len(OASIS) :] if tag.startswith(OASIS) else tag


def _column_names(table: etree._Element) -> dict[str, int]:
    specs = [child for child in table if _name(child) == "colspec"]
    return {spec.get("colname") or str(place): place for place, spec in enumerate(specs)}


def _number(value: str | None, *, extra: int = 0) -> int:
    """Return a span attribute; what is no sensible number spans one cell."""
    if value is None:
        return 1
    value = value.strip()
    if not value.isascii() or not value.isdigit():
        return 1
    return max(1, min(int(value[:6]) + extra, _MAX_SPAN))


def _finish(grid: _Grid, about: tuple[str, str, Span | None, tuple[str, ...]]) -> Table:
    grid.square()
    lines, headers, head = grid.lines, grid.headers, grid.head
    if head == 0:
        # Without a thead the leading rows of header cells only are the column headers.
        while head < len(lines) - 1 and all(headers[head]):
            head += 1
    columns = zip(*lines[:head], strict=True) if head else ((),) * len(lines[0])
    key, label, caption, graphics = about
    return Table(
        key,
        label,
        caption,
        tuple(map(tuple, lines[head:])),
        tuple(map(_path, columns)),
        tuple(map(_row_path, lines[head:], headers[head:])),
        no_cells=False,
        graphics=graphics,
    )


def _row_path(line: list[str], headers: list[bool]) -> tuple[str, ...]:
    """Return the leading header cells of a row, or else its first cell."""
    if not headers[0]:
        return (line[0],) if line[0] else ()
    leading = headers.index(False) if False in headers else len(headers)
    return _path(line[:leading])


def _path(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without blanks and repeats, in order."""
    return tuple(dict.fromkeys(filter(None, texts)))
