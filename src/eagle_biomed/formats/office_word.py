"""Word documents: paragraphs by their styles, tables as grids, in the order of the file.

The body's XML is walked here; python-docx opens the package and its styles. Deleted text of tracked
changes, text boxes, headers, footers, footnotes and comments are left out.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

import docx

from eagle_biomed.formats.office_parts import Paragraph, WordFile, WordTable
from eagle_biomed.formats.office_zip import OFFICE_ERRORS, damaged_office
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["read_word"]

Element = Any
"""An lxml element; the stubs of python-docx do not name its own classes."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SKIPPED = frozenset({
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent",
    f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr", f"{_W}drawing", f"{_W}pict", f"{_W}object",
    f"{_W}instrText",
})  # fmt: skip
_SPACES = frozenset({f"{_W}tab", f"{_W}br", f"{_W}cr"})
_WRAPPERS = frozenset({f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}moveTo", f"{_W}smartTag",
                       f"{_W}customXml"})  # fmt: skip
_HEADING = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_MAX_BLOCKS = 200_000
_MAX_CELLS = 200_000
_MAX_COLUMNS = 256
_MAX_DEPTH = 60
_MAX_BASES = 12
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    level: int
    listed: bool
    bold: bool


def read_word(source: Source) -> WordFile:
    """Return the paragraphs and tables of a Word document.

    Raises:
        UnreadableDocument: ``office-syntax``, ``too-large``.
    """
    try:
        document = docx.Document(BytesIO(source.data))
        title = document.core_properties.title or ""
        styles = _styles(document.styles.element)
        parts: list[Paragraph | WordTable] = []
        parts.extend(islice(_parts(document.element.body, styles, 0), _MAX_BLOCKS + 1))
    except OFFICE_ERRORS as error:
        raise damaged_office(source, error) from error
    if len(parts) > _MAX_BLOCKS:
        raise UnreadableDocument(
            source.uri, "too-large", f"it has more than {_MAX_BLOCKS} paragraphs",
            remedy="split it into chapters",
        )  # fmt: skip
    return WordFile(tuple(parts), " ".join(title.split()))


def _parts(
    parent: Element,
    styles: Mapping[str, _Style],
    depth: int,
) -> Iterator[Paragraph | WordTable]:
    if depth > _MAX_DEPTH:
        return
    for element in parent:
        if element.tag == f"{_W}p":
            paragraph = _paragraph(element, styles)
            if paragraph.text:
                yield paragraph
        elif element.tag == f"{_W}tbl":
            table = _table(element)
            if table is not None:
                yield table
        elif element.tag in _WRAPPERS:
            yield from _parts(element, styles, depth + 1)


def _styles(root: Element) -> Mapping[str, _Style]:
    """Return every paragraph style by its id, with what it inherits."""
    elements = {each.get(f"{_W}styleId"): each for each in root.iterchildren(f"{_W}style")}
    return {key: _style(each, elements) for key, each in elements.items() if key}


def _style(element: Element, elements: Mapping[str, Element]) -> _Style:
    name, level, listed, bold = "", 0, False, False
    for _ in range(_MAX_BASES):
        own = _value(element, "name")
        heading = _HEADING.fullmatch(own)
        name = name or (own if own.lower() in {"title", "caption"} else "")
        outline = _value(element, "pPr/outlineLvl")
        level = level or (int(heading[1]) if heading else _outline_level(outline))
        listed = listed or own.lower().startswith("list") or _has(element, "pPr/numPr")
        bold = bold or _is_on(element, "rPr/b")
        element = elements.get(_value(element, "basedOn"))
        if element is None:
            break
    return _Style(name.lower(), level, listed, bold)


def _outline_level(value: str) -> int:
    return int(value) + 1 if value.isdecimal() and len(value) == 1 and int(value) < _LEVELS else 0


def _path(path: str) -> str:
    return "/".join(f"{_W}{name}" for name in path.split("/"))


def _value(element: Element, path: str) -> str:
    found = element.find(_path(path))
    return "" if found is None else str(found.get(f"{_W}val") or "")


def _has(element: Element, path: str) -> bool:
    return element.find(_path(path)) is not None


def _is_on(element: Element, path: str) -> bool:
    return _has(element, path) and _value(element, path).lower() not in {"0", "false", "off"}


def _paragraph(element: Element, styles: Mapping[str, _Style]) -> Paragraph:
    text = _text(element)
    style = styles.get(_value(element, "pPr/pStyle"), _Style("", 0, listed=False, bold=False))
    level = style.level or _outline_level(_value(element, "pPr/outlineLvl"))
    if style.name:
        return Paragraph(text, style.name)
    if level:
        return Paragraph(text, "heading", level)
    if style.listed or _has(element, "pPr/numPr"):
        return Paragraph(text, "list")
    return Paragraph(text, bold=_all_bold(element, style))


def _all_bold(element: Element, style: _Style) -> bool:
    runs = [run for run in element.iterchildren(f"{_W}r") if _text(run)]
    return bool(runs) and all(
        _is_on(run, "rPr/b") if _has(run, "rPr/b") else style.bold for run in runs
    )


def _text(element: Element) -> str:
    """Return the text below an element, without what is deleted or drawn."""
    parts: list[str] = []
    waiting = [element]
    while waiting:  # without recursion: the file may nest deeper than the stack
        each = waiting.pop()
        if each.tag in _SKIPPED or not isinstance(each.tag, str):
            continue
        if each.tag == f"{_W}t":
            parts.append(each.text or "")
        elif each.tag in _SPACES:
            parts.append(" ")
        elif each.tag == f"{_W}noBreakHyphen":
            parts.append("-")
        elif each.tag == f"{_W}p" and parts:
            parts.append(" ")
        waiting.extend(reversed(each))
    return " ".join("".join(parts).split())


def _table(element: Element) -> WordTable | None:
    """Return a table with merged cells repeated, or ``None`` when it has no text."""
    rows: list[list[str]] = []
    heads = cells = 0
    for row in element.iterchildren(f"{_W}tr"):
        texts: list[str] = []
        for cell in row.iterchildren(f"{_W}tc"):
            above = rows[-1][len(texts)] if rows and len(texts) < len(rows[-1]) else ""
            merged = _has(cell, "tcPr/vMerge") and _value(cell, "tcPr/vMerge") != "restart"
            span = _value(cell, "tcPr/gridSpan")
            repeat = min(int(span), _MAX_COLUMNS) if span.isdecimal() and len(span) < 5 else 1  # noqa: PLR2004 - digits
            texts.extend([above if merged else _text(cell)] * max(1, repeat))
            if len(texts) > _MAX_COLUMNS:
                texts = texts[:_MAX_COLUMNS]
                break
        cells += len(texts)
        if cells > _MAX_CELLS:
            break
        heads += _has(row, "trPr/tblHeader") and heads == len(rows)
        rows.append(texts)
    if not any(text for row in rows for text in row):
        return None
    width = max(map(len, rows))
    grid = tuple(tuple(row + [""] * (width - len(row))) for row in rows)
    return WordTable(grid, heads or 1)
