"""What office files hold, as values."""

from dataclasses import dataclass, field

__all__ = ["Grid", "Paragraph", "Slide", "WordFile", "WordTable"]

Grid = tuple[tuple[str, ...], ...]
"""Rows of cells, all equally long."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph.

    Args:
        text: Its text, spaces folded.
        style: ``title``, ``heading``, ``caption``, ``list``, or empty.
        level: Of a heading, from 1; else 0.
        bold: Whether all its text is bold.
    """

    text: str
    style: str = ""
    level: int = 0
    bold: bool = False


@dataclass(frozen=True, slots=True)
class WordTable:
    """A table: all rows equally long, and how many of them are its head."""

    grid: Grid
    heads: int


@dataclass(frozen=True, slots=True)
class WordFile:
    """What a Word document holds, in order, and the title among its properties."""

    parts: tuple[Paragraph | WordTable, ...]
    title: str


@dataclass(slots=True)
class Slide:
    """One slide.

    Args:
        number: From 1.
        title: Its title, or empty.
        texts: ``(text, is a list item)`` in reading order.
        tables: Its tables.
        notes: Paragraphs of the speaker's notes.
    """

    number: int
    title: str = ""
    texts: list[tuple[str, bool]] = field(default_factory=list)
    tables: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
