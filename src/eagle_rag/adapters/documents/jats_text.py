"""Running text: the characters of JATS inline markup, by the one rule for all text.

Superscripts get ``^`` before them when they start with a number; subscripts, italics and every
other inline element are transparent; formulas have one rendering. Used for the body's paragraphs,
and for titles, cells and labels by ``InlineText.text``.
"""

from collections.abc import Callable

from lxml import etree

from eagle_rag.adapters.documents.jats_formulas import MATH, math_text, raise_number, tex_text
from eagle_rag.adapters.documents.xml import fold_space

__all__ = ["MARKER_CLOSES", "MARKER_OPENS", "SILENT", "Handler", "InlineText"]

# Stand around a citation marker until its block is complete; XML allows neither in a document.
MARKER_OPENS = "\x01"
MARKER_CLOSES = "\x02"

Handler = Callable[[etree._Element], object]  # noqa: SLF001 - lxml has no public name for it

# Elements whose content is not prose: addresses of pictures, ids, descriptions read aloud, licences.
SILENT = (
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


class InlineText:
    """Collects the pieces of running text of one document; not to be shared between threads.

    ``handlers`` maps a tag to what happens there; an unknown tag is transparent. The body's walk
    adds its own handlers for blocks.
    """

    __slots__ = ("handlers", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.handlers: dict[str, Handler] = {
            "sup": self.superscript,
            "break": self.space,
            "tex-math": self.tex,
            f"{MATH}math": self.math,
            "alternatives": self.alternatives,
            "inline-formula": self.formula,
            "def": self.aside,
        }
        for tag in SILENT:
            self.handlers[tag] = self.silent

    def flow(self, element: etree._Element) -> None:
        """Append the text of an element and of everything in it; its tail is not part of it."""
        add = self.pieces.append
        handlers = self.handlers
        text = element.text
        if text:
            add(text)
        for child in element:
            handler = handlers.get(child.tag)
            if handler is not None:
                handler(child)
            elif len(child):
                self.flow(child)
            else:
                text = child.text
                if text:
                    add(text)
            text = child.tail
            if text:
                add(text)

    def text(self, element: etree._Element | None) -> str:
        """Return the folded text of one element on its own, or an empty string for ``None``."""
        if element is None:
            return ""
        if not len(element):
            text = element.text
            return fold_space(text) if text else ""
        return fold_space(self.captured(element))

    def captured(self, element: etree._Element) -> str:
        """Return the unfolded text of an element without leaving it among the pieces."""
        pieces = self.pieces
        before = len(pieces)
        self.flow(element)
        text = "".join(pieces[before:])
        del pieces[before:]
        return text

    def superscript(self, element: etree._Element) -> None:
        """Append a superscript by the rule."""
        if len(element):
            before = len(self.pieces)
            self.flow(element)
            added = self.pieces[before:]
            self.pieces[before:] = _raise_pieces(added)
        elif element.text:
            self.pieces.append(raise_number(element.text))

    def space(self, element: etree._Element) -> None:  # noqa: ARG002 - every handler takes the element
        """Append a space, for a line break."""
        self.pieces.append(" ")

    def silent(self, element: etree._Element) -> None:
        """Append nothing."""

    def tex(self, element: etree._Element) -> None:
        """Append TeX without its preamble."""
        self.pieces.append(tex_text(element))

    def math(self, element: etree._Element) -> None:
        """Append the text of MathML."""
        self.pieces.append(math_text(element))

    def alternatives(self, element: etree._Element) -> None:
        """Append one of several renderings: TeX, MathML, else the first that has text."""
        for tag in _RENDERINGS:
            chosen = element.find(tag)
            if chosen is not None:
                self.one(chosen)
                return
        for child in element:
            before = len(self.pieces)
            self.one(child)
            if any(piece.strip() for piece in self.pieces[before:]):
                return

    def formula(self, element: etree._Element) -> None:
        """Append a formula: TeX where it stands beside MathML without ``alternatives``."""
        if element.find("tex-math") is not None and element.find(f"{MATH}math") is not None:
            self.alternatives(element)
        else:
            self.flow(element)

    def aside(self, element: etree._Element) -> None:
        """Append a definition inside running text, set off by spaces."""
        self.pieces.append(" ")
        self.flow(element)
        self.pieces.append(" ")

    def one(self, element: etree._Element) -> None:
        """Append one element as ``flow`` would if it stood in running text."""
        handler = self.handlers.get(element.tag)
        if handler is not None:
            handler(element)
        else:
            self.flow(element)


def _raise_pieces(pieces: list[str]) -> list[str]:
    """Return the pieces of a superscript with ``^`` where the rule wants it.

    The number may hide behind the control character that opens a citation marker.
    """
    text = "".join(pieces)
    lead, mark, rest = text.partition(MARKER_OPENS)
    if not mark or lead.strip():
        return [raise_number(text)]
    return [lead, "^", mark, rest] if raise_number(rest) != rest else [text]
