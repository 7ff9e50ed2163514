"""Running text: the characters of JATS inline markup, by the one rule for all text.

Superscripts get ``^`` before them when they start with a number; subscripts, italics and every
other inline element are transparent; formulas have one rendering. Used for the body's paragraphs,
and for titles, cells and labels by ``InlineText.text``.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from lxml import etree

from eagle_rag.adapters.documents.jats_formulas import MATH, math_text, raise_number, tex_text
from eagle_rag.ops.markup import fold_space

__all__ = [
    "INLINE_HANDLERS",
    "MARKER_CLOSES",
    "MARKER_OPENS",
    "Handler",
    "InlineText",
    "TextSink",
    "captured",
    "flow",
    "formula",
    "silent",
]

# Stand around a citation marker until its block is complete; XML allows neither in a document.
MARKER_OPENS = "\x01"
MARKER_CLOSES = "\x02"

# What happens at one tag: called with the sink the text goes to, and the element.
Handler = Callable[[Any, etree._Element], object]  # noqa: SLF001 - lxml has no public name for it

# Elements whose content is not prose: addresses of pictures, ids, descriptions read aloud, licences.
_SILENT = (
    "alt-text",
    "counts",
    "graphic",
    "hr",
    "index-term",
    "inline-graphic",
    "inline-media",
    "long-desc",
    "object-id",
    "permissions",
    "private-char",
    "sec-meta",
)
_RENDERINGS = ("tex-math", f"{MATH}math", "textual-form", "table", "preformat", "code")


class TextSink(Protocol):
    """Where running text goes: its pieces so far, and what to do at which tag.

    Handlers are looked up in a table of plain functions that get the sink: bound methods in the
    sink's own table would tie every parsed document into a reference cycle.
    """

    @property
    def pieces(self) -> list[str]:
        """The text so far."""
        ...

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """By tag; an unknown tag is transparent."""
        ...


def flow(sink: TextSink, element: etree._Element) -> None:
    """Append the text of an element and of everything in it; its tail is not part of it."""
    add = sink.pieces.append
    handlers = sink.handlers
    text = element.text
    if text:
        add(text)
    for child in element:
        handler = handlers.get(child.tag)
        if handler is not None:
            handler(sink, child)
        elif len(child):
            flow(sink, child)
        else:
            text = child.text
            if text:
                add(text)
        text = child.tail
        if text:
            add(text)


def captured(sink: TextSink, element: etree._Element) -> str:
    """Return the unfolded text of an element without leaving it among the sink's pieces."""
    if not len(element):
        return element.text or ""
    pieces = sink.pieces
    before = len(pieces)
    flow(sink, element)
    text = "".join(pieces[before:])
    del pieces[before:]
    return text


def formula(sink: TextSink, element: etree._Element) -> None:
    """Append a formula: TeX where it stands beside MathML without ``alternatives``."""
    if element.find("tex-math") is not None and element.find(f"{MATH}math") is not None:
        _alternatives(sink, element)
    else:
        flow(sink, element)


def silent(sink: TextSink, element: etree._Element) -> None:
    """Append nothing."""


def _superscript(sink: TextSink, element: etree._Element) -> None:
    if len(element):
        before = len(sink.pieces)
        flow(sink, element)
        sink.pieces[before:] = _raise_pieces(sink.pieces[before:])
    elif element.text:
        sink.pieces.append(raise_number(element.text))


def _space(sink: TextSink, element: etree._Element) -> None:  # noqa: ARG001 - a handler's signature
    sink.pieces.append(" ")


def _tex(sink: TextSink, element: etree._Element) -> None:
    sink.pieces.append(tex_text(element))


def _math(sink: TextSink, element: etree._Element) -> None:
    sink.pieces.append(math_text(element))


def _alternatives(sink: TextSink, element: etree._Element) -> None:
    """Append one of several renderings: TeX, MathML, else the first that has text."""
    for tag in _RENDERINGS:
        chosen = element.find(tag)
        if chosen is not None:
            _one(sink, chosen)
            return
    for child in element:
        before = len(sink.pieces)
        _one(sink, child)
        if any(piece.strip() for piece in sink.pieces[before:]):
            return


def _aside(sink: TextSink, element: etree._Element) -> None:
    """Append a definition inside running text, set off by spaces."""
    sink.pieces.append(" ")
    flow(sink, element)
    sink.pieces.append(" ")


def _one(sink: TextSink, element: etree._Element) -> None:
    """Append one element as ``flow`` would if it stood in running text."""
    handler = sink.handlers.get(element.tag)
    if handler is not None:
        handler(sink, element)
    else:
        flow(sink, element)


INLINE_HANDLERS: Mapping[str, Handler] = {
    "sup": _superscript,
    "break": _space,
    "tex-math": _tex,
    f"{MATH}math": _math,
    "alternatives": _alternatives,
    "inline-formula": formula,
    "def": _aside,
    **dict.fromkeys(_SILENT, silent),
}


class InlineText:
    """Running text of single elements: titles, cells, labels. Not to be shared between threads."""

    __slots__ = ("pieces",)
    handlers: ClassVar[Mapping[str, Handler]] = INLINE_HANDLERS

    def __init__(self) -> None:
        self.pieces: list[str] = []

    def text(self, element: etree._Element | None) -> str:
        """Return the folded text of one element, or an empty string for ``None``."""
        if element is None:
            return ""
        if len(element):
            return fold_space(captured(self, element))
        text = element.text
        return fold_space(text) if text else ""


def _raise_pieces(pieces: list[str]) -> list[str]:
    """Return the pieces of a superscript with ``^`` where the rule wants it.

    The number may hide behind the control character that opens a citation marker.
    """
    text = "".join(pieces)
    lead, mark, rest = text.partition(MARKER_OPENS)
    if not mark or lead.strip():
        return [raise_number(text)]
    return [lead, "^", mark, rest] if raise_number(rest) != rest else [text]
