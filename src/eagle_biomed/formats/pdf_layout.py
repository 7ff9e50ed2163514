"""Lines of a PDF to headings, paragraphs, list items and captions, by size, weight, gaps and words.

How lines become a paragraph: they are joined by a space; a hyphen at the end of a line goes when a
letter stands before it and a small letter begins the next line (``hetero-`` + ``geneous``), and stays
otherwise. A paragraph goes on over a column's or a page's end unless its last line ends a sentence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from eagle_biomed.formats.pdf_text import Line
from eagle_rag.model.document import SectionKind
from eagle_rag.ops.bibliography import is_reference_heading
from eagle_rag.ops.outline import kind_of_title

__all__ = ["Piece", "PieceKind", "pieces_of", "without_running_lines"]

_MAX_HEADING = 120
_MAX_HEADING_WORDS = 15
_MAX_HEADING_LINES = 3
_MAX_TITLE_LINES = 6
_LARGER = 1.12  # a heading's font against the text's
_MUCH_LARGER = 1.25
_GAP = 1.75  # of the font's height between baselines ends a paragraph; line spacing is 1 to 1.5
_SHORT_LINE = 0.85  # of the column's width: the last line of a paragraph
_COLUMN_POINTS = 20.0
_MIN_CAPITALS = 4
_MAX_CAPITAL_WORDS = 10
_MAX_KNOWN_WORDS = 6
_MAX_DEPTH = 6
_MAX_STEP = 3  # labels of drugs leave chapters out
_EDGE_LINES = 2
_MIN_PAGES = 3
_REPEATED_SHARE = 0.5
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+(?=[^\W\d_])")
_BULLET = re.compile(r"[\u2022\u25aa\u2023\u25cf\u25cb\u25e6\u2219\uf0b7\u2043\u2013*-]\s+(?=\S)")
_CAPTION = re.compile(
    r"((?:Supplementary |Extended Data )?(?:Figure|Fig\.?|Table|Scheme|Box)\s+[A-Z]?\d{1,3}[A-Za-z]?)"
    r"\s*[.:|\u2013\u2014]\s*(?=\S)",
    re.IGNORECASE,
)
_NAMED_FLOAT = re.compile(r"((?:Figure|Fig\.?|Table)\s+\d{1,3}[A-Za-z]?)\s+(?=\S)", re.IGNORECASE)
_TABLE_HEAD = re.compile(r"[=%\u00b1\u2265\u2264]")
_RULES = re.compile(r"^[\s\-_=*.\u2013\u2014]{3,}|[\s\-_=*.\u2013\u2014]{3,}$")
_SENTENCE_END = re.compile(r"[.!?:;][\"')\]\u201d\u2019]*$")
_COUNTED = re.compile(r"^#|#$")
_PAGE_NUMBER = re.compile(r"(?:page )?(?:#|[ivxlc]{1,7})(?: (?:of|/) #)?")
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")


class PieceKind(Enum):
    """What a piece of a PDF is."""

    TITLE = "title"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    CAPTION = "caption"


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading or block.

    Args:
        kind: What it is.
        text: Its text, lines joined.
        pages: ``(page, offset in text)`` of the first character of each page it has.
        level: Of a heading, from 1.
        label: Of a caption, such as ``Figure 1``.
    """

    kind: PieceKind
    text: str
    pages: tuple[tuple[int, int], ...]
    level: int = 0
    label: str = ""


@dataclass(slots=True)
class _Style:
    """What is usual in this document."""

    size: float
    bold: bool
    sizes: tuple[float, ...]  # of headings, the largest first
    widths: dict[tuple[int, int], float]  # of the widest line of each column


def without_running_lines(lines: Sequence[Line], pages: int) -> tuple[Line, ...]:
    """Return the lines without what is repeated at the top or bottom of most pages, and page numbers.

    Numbers count as equal. A line that begins or ends with one, as a chapter's name beside the page
    number does, needs three pages only.
    """
    if pages < _MIN_PAGES:
        return tuple(lines)
    by_page: dict[int, list[int]] = {}
    for at, line in enumerate(lines):
        by_page.setdefault(line.page, []).append(at)
    edges = {at for found in by_page.values() for at in _edges(lines, found)}
    seen: dict[str, set[int]] = {}
    for at in edges:
        seen.setdefault(_pattern(lines[at]), set()).add(lines[at].page)
    enough = max(_MIN_PAGES, _REPEATED_SHARE * len(by_page))
    running = {
        pattern
        for pattern, found in seen.items()
        if len(found) >= (_MIN_PAGES if _COUNTED.search(pattern) else enough)
        or _PAGE_NUMBER.fullmatch(pattern)
    }
    return tuple(
        line for at, line in enumerate(lines) if not (at in edges and _pattern(line) in running)
    )


def _edges(lines: Sequence[Line], found: Sequence[int]) -> set[int]:
    """Return the first and last lines of a page, in its order and from its top down."""
    downwards = sorted(found, key=lambda at: -lines[at].bottom)
    orders = (list(found), downwards)
    return {at for order in orders for at in (*order[:_EDGE_LINES], *order[-_EDGE_LINES:])}


def _pattern(line: Line) -> str:
    return _DIGITS.sub("#", line.text.casefold())


def pieces_of(lines: Sequence[Line]) -> Iterator[Piece]:
    """Yield the pieces of a document in reading order."""
    style = _style(lines)
    chapter = 0
    title = _title_lines(lines, style)
    at = 0
    while at < len(lines):
        if title and at == title[0]:
            yield _piece(PieceKind.TITLE, [lines[each] for each in title])
            at = title[-1] + 1
            continue
        group = _heading_group(lines, at, style)
        if group:
            piece, chapter = _heading(group, style, chapter)
            yield piece
            at += len(group)
            continue
        block = _block(lines, at, style)
        yield _block_piece(block, _label(block[0], style))
        at += len(block)


def _style(lines: Sequence[Line]) -> _Style:
    sizes: Counter[float] = Counter()
    bold: Counter[bool] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
        bold[line.bold] += len(line.text)
    size = max(sizes, key=lambda each: (sizes[each], -each), default=0.0)
    larger = sorted({each for each in sizes if each > _LARGER * size}, reverse=True)
    widths: dict[tuple[int, int], float] = {}
    for line in lines:
        column = _column(line)
        widths[column] = max(widths.get(column, 0.0), line.right - line.left)
    return _Style(size, bold[True] > bold[False], tuple(larger), widths)


def _column(line: Line) -> tuple[int, int]:
    """Return a name for the column a line stands in: lines that begin at about the same place."""
    return line.page, round(line.left / _COLUMN_POINTS)


def _title_lines(lines: Sequence[Line], style: _Style) -> list[int]:
    """Return the lines of the title: those of the largest font on the first page, if much larger."""
    first = [at for at, line in enumerate(lines) if line.page == 0]
    largest = max((lines[at].size for at in first if _has_words(lines[at].text)), default=0.0)
    if largest < _MUCH_LARGER * style.size:
        return []
    found: list[int] = []
    for at in first:
        if lines[at].size == largest and (not found or at == found[-1] + 1):
            found.append(at)
        elif found:
            break
    return found if len(found) <= _MAX_TITLE_LINES else []


def _has_words(text: str) -> bool:
    return len(_LETTER.findall(text)) >= _MIN_CAPITALS


def _heading_group(lines: Sequence[Line], at: int, style: _Style) -> list[Line]:
    """Return the lines of the heading that begins here; none when it is text."""
    first = lines[at]
    if not _may_head(first, style):
        return []
    group = [first]
    for line in lines[at + 1 :]:
        same = line.size == first.size and line.bold == first.bold and line.page == first.page
        same = same and line.text.isupper() == first.text.isupper()
        if not same or not _is_styled(line, style) or _NUMBERED.match(line.text):
            break
        if _gap(group[-1], line) > _GAP * max(line.size, 1.0):
            break
        group.append(line)
        if len(group) > _MAX_HEADING_LINES:
            return []  # a paragraph in bold
    joined = " ".join(line.text for line in group)
    return [] if len(joined) > _MAX_HEADING or _TABLE_HEAD.search(joined) else group


def _may_head(line: Line, style: _Style) -> bool:
    name = _name(line.text)
    words = name.split()
    if not _LETTER.search(name) or len(name) > _MAX_HEADING or len(words) > _MAX_HEADING_WORDS:
        return False
    if _BULLET.match(line.text) or _label(line, style) or _TABLE_HEAD.search(name):
        return False
    known = kind_of_title(name) is not SectionKind.BODY or is_reference_heading(name)
    if known and len(words) <= _MAX_KNOWN_WORDS and not _SENTENCE_END.search(name):
        return True
    asks = name.endswith("?") and _is_styled(line, style)
    ends = _SENTENCE_END.search(name) is not None and not asks
    if ends or not (name[0].isupper() or name[0].isdigit()):
        return False
    capitals = len(words) <= _MAX_CAPITAL_WORDS and name.isupper() and _has_words(name)
    return capitals or _is_styled(line, style)


def _is_styled(line: Line, style: _Style) -> bool:
    """Whether a line stands out by its font."""
    return line.size > _LARGER * style.size or (line.bold and not style.bold)


def _name(text: str) -> str:
    """Return a heading without the rules drawn around it by hyphens."""
    return _RULES.sub("", text).strip()


def _heading(group: Sequence[Line], style: _Style, chapter: int) -> tuple[Piece, int]:
    """Return a heading and the chapter it opens or stands in.

    "5 Days" in the head of a table is no chapter 5: numbers of chapters go up in small steps, or begin
    anew.
    """
    piece = _piece(PieceKind.HEADING, group)
    name = _name(piece.text)
    number = _NUMBERED.match(name)
    first = group[0]
    digits = number[1].split(".") if number else []
    if len(digits) > 1 or (digits and _follows(int(digits[0]), chapter)):
        level, chapter = len(digits), int(digits[0])
    elif first.size in style.sizes:
        level = 1 + style.sizes.index(first.size)
    else:
        level = len(style.sizes) + (1 if name.isupper() or not first.bold else 2)
    return Piece(PieceKind.HEADING, name, piece.pages, min(level, _MAX_DEPTH)), chapter


def _follows(number: int, chapter: int) -> bool:
    return number == 1 or chapter < number <= chapter + _MAX_STEP


def _block(lines: Sequence[Line], at: int, style: _Style) -> list[Line]:
    """Return the lines of the paragraph, list item or caption that begins here."""
    block = [lines[at]]
    for line in lines[at + 1 :]:
        if _starts_block(block[-1], line, style):
            break
        block.append(line)
    return block


def _starts_block(before: Line, line: Line, style: _Style) -> bool:
    if _BULLET.match(line.text) or _label(line, style):
        return True
    ends = _SENTENCE_END.search(before.text) is not None
    jumps = line.page != before.page or line.bottom > before.bottom + before.size
    if jumps:  # to the next column or page: only a sentence's end can end the paragraph
        return ends or _may_head(line, style)
    if _gap(before, line) > _GAP * max(line.size, before.size, 1.0):
        return True
    if _may_head(line, style) and (ends or _is_styled(line, style) != _is_styled(before, style)):
        return True
    return ends and before.right - before.left < _SHORT_LINE * style.widths[_column(before)]


def _gap(before: Line, line: Line) -> float:
    return abs(before.bottom - line.bottom)


def _label(line: Line, style: _Style) -> str:
    """Return ``Table 2`` for a line that begins a caption, or nothing.

    A dot, colon or bar must follow, as "Table 2 shows" is text, unless the line is set like a heading.
    """
    found = _CAPTION.match(line.text)
    if found is None and _is_styled(line, style):
        found = _NAMED_FLOAT.match(line.text)
    return "" if found is None else " ".join(found[1].split())


def _block_piece(block: Sequence[Line], label: str) -> Piece:
    piece = _piece(PieceKind.PARAGRAPH, block)
    if label:
        return Piece(PieceKind.CAPTION, piece.text, piece.pages, label=label)
    if _BULLET.match(piece.text):
        return Piece(PieceKind.LIST_ITEM, piece.text, piece.pages)
    return piece


def _piece(kind: PieceKind, lines: Sequence[Line]) -> Piece:
    parts: list[str] = []
    length = 0
    pages: list[tuple[int, int]] = []
    for line in lines:
        text = line.text
        if parts:
            joined = _without_hyphen(parts[-1], text)
            length += len(joined) - len(parts[-1])
            parts[-1] = joined
        if not pages or pages[-1][0] != line.page:
            pages.append((line.page, length))
        parts.append(text)
        length += len(text)
    return Piece(kind, "".join(parts), tuple(pages))


def _without_hyphen(before: str, after: str) -> str:
    """Return a line as it stands before the next one: with a space, or without its hyphen."""
    if before.endswith("-") and len(before) > 1 and before[-2].isalpha():
        return before[:-1] if after[:1].islower() else before
    return f"{before} "
