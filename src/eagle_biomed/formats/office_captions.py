"""Captions in office files: their label, and the figure or table they belong to."""

import re
from dataclasses import dataclass, field

from eagle_biomed.formats.office_parts import Grid
from eagle_rag.model.document import Figure, Span, Table

__all__ = ["Floats", "caption_label", "grid_table"]

_CAPTION = re.compile(
    r"((?:Supplementary )?(?:Figure|Fig\.?|Table|Scheme|Box)\s+[A-Z]?\d{1,3}[A-Za-z]?)\s*[.:|\u2013\u2014-]?\s*",
    re.IGNORECASE,
)


def caption_label(text: str) -> str:
    """Return ``Table 1`` for a caption that begins so, or nothing."""
    found = _CAPTION.match(text)
    return " ".join(found[1].split()) if found else ""


def grid_table(key: str, grid: Grid, *, heads: int, label: str = "") -> Table:
    """Return a table of a grid whose rows are equally long.

    Args:
        key: Its key.
        grid: All rows, those of the head first.
        heads: How many rows are its head; one that leaves no row below it is none.
        label: ``Table 1``, or empty.
    """
    heads = heads if heads < len(grid) else 0
    body = grid[heads:]
    width = len(grid[0]) if grid else 0
    columns = tuple(
        tuple(dict.fromkeys(filter(None, (row[at] for row in grid[:heads]))))
        for at in range(width)
    )
    stubs = tuple((row[0],) if row and row[0] else () for row in body)
    return Table(key, label, None, body, columns, stubs, no_cells=False)


@dataclass(slots=True)
class Floats:
    """Figures and tables found so far, and the caption that waits for its table.

    A caption of a table stands before it or after it; what stands nearer in the text wins.
    """

    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    _waiting: tuple[str, Span] | None = None
    _open: bool = False

    def caption(self, label: str, span: Span) -> None:
        """Take a caption."""
        if "table" not in label.lower():
            key = f"fig-{len(self.figures) + 1}"
            self.figures.append(Figure(key, label, span, ()))
        elif self._open and self.tables[-1].caption is None:
            self._attach(label, span)
        else:
            self._waiting = (label, span)
        self._open = False

    def table(self, grid: Grid, *, heads: int) -> None:
        """Take a table."""
        self.tables.append(grid_table(f"table-{len(self.tables) + 1}", grid, heads=heads))
        self._open = True
        if self._waiting is not None:
            self._attach(*self._waiting)
            self._waiting = None

    def text(self) -> None:
        """Note that text stands between what was and what comes."""
        self._open = False
        self._waiting = None

    def _attach(self, label: str, span: Span) -> None:
        last = self.tables[-1]
        self.tables[-1] = Table(
            last.key, label, span, last.rows, last.column_paths, last.row_paths, no_cells=False
        )
        self._open = False
