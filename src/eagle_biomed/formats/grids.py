"""Tables from cells: spans resolved, header paths read. Knows no markup; the readers bring cells.

A spanning cell's text is repeated in every cell it covers, so that each row can be read alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eagle_rag.model.document import Span, Table

__all__ = ["Cell", "Grid", "build_table", "read_span"]

# A span larger than any printed table is a typing error or an attack on memory. So is a grid much
# larger than the cells it was made from: the limit grows with the file, whatever its spans claim.
_MAX_SPAN = 1000
_MAX_CELLS = 1_000_000
_FREE_CELLS = 2000
_CELLS_EACH = 20
_SPAN_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as written.

    Args:
        text: Its text, white space folded.
        across: How many columns it covers, at least 1.
        down: How many rows it covers, at least 1.
        header: Whether it is a header cell.
    """

    text: str
    across: int = 1
    down: int = 1
    header: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells; the first ``head`` of them are the table's head.

    Args:
        rows: Cells as written, row by row.
        head: How many rows are the head; 0 leaves it to leading rows of header cells only.
    """

    rows: Sequence[Sequence[Cell]]
    head: int = 0


def read_span(value: str | None, *, extra: int = 0) -> int:
    """Return a span attribute; what is no sensible number covers one cell.

    Args:
        value: The attribute, or ``None`` when it is absent.
        extra: Added to it: CALS counts the rows *more* than the first.
    """
    if value is None:
        return 1
    value = value.strip()
    if not value.isascii() or not value.isdigit():
        return 1
    return max(1, min(int(value[:_SPAN_DIGITS]) + extra, _MAX_SPAN))


def build_table(
    grid: Grid, *, key: str, label: str = "", caption: Span | None = None
) -> Table | None:
    """Return the table, or ``None`` when it has no cell or far more than the source wrote.

    Args:
        grid: The cells.
        key: Unique in the document.
        label: ``Table 1``, or empty.
        caption: Where its caption stands in the text.
    """
    written = sum(map(len, grid.rows))
    room = min(_MAX_CELLS, _FREE_CELLS + _CELLS_EACH * written)
    laid = _lay_out(grid, room)
    if laid is None:
        return None
    lines, headers = laid
    width = max(map(len, lines), default=0)
    if not width or width * len(lines) > room:
        return None
    for line, marks in zip(lines, headers, strict=True):
        missing = width - len(line)
        line.extend([""] * missing)
        marks.extend([False] * missing)
    head = min(grid.head, len(lines))
    if head == 0:
        while head < len(lines) - 1 and all(headers[head]):
            head += 1
    columns = zip(*lines[:head], strict=True) if head else ((),) * width
    return Table(
        key,
        label,
        caption,
        tuple(map(tuple, lines[head:])),
        tuple(map(_path, columns)),
        tuple(map(_row_path, lines[head:], headers[head:])),
        no_cells=False,
    )


def _lay_out(grid: Grid, room: int) -> tuple[list[list[str]], list[list[bool]]] | None:
    """Return texts and header marks, row by row, or ``None`` when there is no room for them."""
    lines: list[list[str]] = []
    headers: list[list[bool]] = []
    # By column: how many more rows the cell reaches, and the cell.
    hanging: dict[int, tuple[int, Cell]] = {}
    for number, row in enumerate(grid.rows):
        if number == grid.head:
            hanging = {}  # no cell of the head reaches into the body
        cells, hanging = _lay_row(row, hanging, room)
        room -= len(cells)
        if room < 0:
            return None
        lines.append([cell.text for cell in cells])
        headers.append([cell.header for cell in cells])
    return lines, headers


def _lay_row(
    row: Sequence[Cell], above: dict[int, tuple[int, Cell]], room: int
) -> tuple[list[Cell], dict[int, tuple[int, Cell]]]:
    """Return one row with the cells that reach down into it, and what reaches further down."""
    below: dict[int, tuple[int, Cell]] = {}
    cells: list[Cell] = []

    def reach_down() -> None:
        while len(cells) in above:
            left, cell = above.pop(len(cells))
            if left > 1:
                below[len(cells)] = (left - 1, cell)
            cells.append(cell)

    for cell in row:
        reach_down()
        if len(cells) > room:
            break
        if cell.down > 1:
            for column in range(len(cells), len(cells) + cell.across):
                below[column] = (cell.down - 1, cell)
        cells += [cell] * cell.across
    for column in sorted(above):
        cells += [Cell("")] * (column - len(cells))
        reach_down()
    return cells, below


def _row_path(line: list[str], headers: list[bool]) -> tuple[str, ...]:
    """Return the leading header cells of a row, or else its first cell."""
    if not headers[0]:
        return (line[0],) if line[0] else ()
    leading = headers.index(False) if False in headers else len(headers)
    return _path(line[:leading])


def _path(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts without blanks and repeats, in order."""
    return tuple(dict.fromkeys(filter(None, texts)))
