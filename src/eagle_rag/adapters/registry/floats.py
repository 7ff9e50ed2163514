"""Rows of figures and tables to values."""

from eagle_rag.adapters.registry.dynamic import AnyRow
from eagle_rag.model.document import Figure, Span, Table

__all__ = ["figure_of", "table_of"]


def figure_of(row: AnyRow) -> Figure:
    """Return the figure of a row of ``figures``."""
    return Figure(row.key, row.label, _span_of(row), tuple(row.graphics))


def table_of(row: AnyRow) -> Table:
    """Return the table of a row of ``data_tables``."""
    return Table(
        key=row.key,
        label=row.label,
        caption=_span_of(row),
        rows=_nested(row.rows),
        column_paths=_nested(row.column_paths),
        row_paths=_nested(row.row_paths),
        no_cells=row.no_cells,
        graphics=tuple(row.graphics),
    )


def _span_of(row: AnyRow) -> Span | None:
    if row.caption_start is None:
        return None
    return Span(row.caption_start, row.caption_end)


def _nested(rows: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, rows))
