"""The lines of a PDF as values."""

from dataclasses import dataclass

__all__ = ["Line", "PdfText"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page.

    Args:
        text: Its characters, single spaces, trimmed; a hyphen at the end is ``-``.
        page: Page, from 0.
        size: Height of its font in points, rounded to halves; 0 when unknown.
        bold: Whether it is set in a bold face, at its first and its last letter.
        left, right, bottom: Where it stands, in points from the page's lower left corner.
    """

    text: str
    page: int
    size: float
    bold: bool
    left: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PdfText:
    """What a PDF says.

    Args:
        lines: All lines, in reading order.
        pages: How many pages it has.
        title: The title its producer wrote into it, or empty.
        unreadable: Pages that PDFium could not load, from 0.
    """

    lines: tuple[Line, ...]
    pages: int
    title: str
    unreadable: tuple[int, ...]
