"""Formulas: the one rendering of an equation that goes into the text (CASES A11).

TeX is taken when the publisher gives it, because it keeps fractions and indices apart; else the
characters of the MathML in reading order.
"""

import re

from lxml import etree

from eagle_rag.adapters.documents.xml import all_text, fold_space

__all__ = ["MATH", "math_text", "raise_number", "tex_text"]

MATH = "{http://www.w3.org/1998/Math/MathML}"

_TEX_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_TEX_DELIMITERS = re.compile(r"^(\$\$?|\\\[|\\\()\s*(.*?)\s*(\$\$?|\\\]|\\\))$", re.DOTALL)
_STARTS_WITH_NUMBER = re.compile(r"\s*[+\-\u2212\u2010-\u2014\u00b1]?\d")
_ANNOTATIONS = frozenset({f"{MATH}annotation", f"{MATH}annotation-xml"})
_RAISING = {f"{MATH}msup": 1, f"{MATH}msubsup": 2}
_FRACTION = f"{MATH}mfrac"
_TOKENS = frozenset(f"{MATH}{name}" for name in ("mi", "mn", "mo", "mtext", "ms"))
_SPACERS = frozenset(f"{MATH}{name}" for name in ("mspace", "mtr", "mlabeledtr", "mtd"))


def tex_text(element: etree._Element) -> str:
    """Return the TeX of a ``tex-math`` element or annotation, without preamble and delimiters."""
    text = all_text(element)
    document = _TEX_DOCUMENT.search(text)
    text = fold_space(document[1] if document else text)
    delimited = _TEX_DELIMITERS.match(text)
    return delimited[2] if delimited else text


def math_text(element: etree._Element) -> str:
    """Return the one rendering of a MathML ``math`` element: its TeX annotation, or its characters.

    A superscript follows the rule of the whole text (``raise_number``); a fraction is written with
    a slash.
    """
    for annotation in element.iter(f"{MATH}annotation"):
        if "tex" in (annotation.get("encoding") or "").lower():
            tex = tex_text(annotation)
            if tex:
                return tex
    pieces: list[str] = []
    _render(element, pieces)
    return fold_space("".join(pieces))


def raise_number(text: str) -> str:
    """Return superscripted text by the rule: ``^`` before a number, else as it is."""
    if _STARTS_WITH_NUMBER.match(text):
        bare = text.lstrip()
        return f"{text[: len(text) - len(bare)]}^{bare}"
    return text


def _render(element: etree._Element, pieces: list[str]) -> None:
    tag = element.tag
    if tag in _ANNOTATIONS:
        return
    if tag in _TOKENS:
        pieces.append(_token(element))
        return
    raised = _RAISING.get(tag)
    if tag in _SPACERS:
        pieces.append(" ")
    for position, child in enumerate(element):
        if position == raised:
            pieces.append(raise_number(_part(child)))
        elif tag == _FRACTION:
            pieces.append(_bracketed(_part(child), after_slash=position > 0))
        else:
            _render(child, pieces)
        if child.tail:
            pieces.append(child.tail.strip("\n\t "))


def _token(element: etree._Element) -> str:
    text = all_text(element)
    return text if element.tag == f"{MATH}mtext" else text.strip(" \t\r\n")


def _part(element: etree._Element) -> str:
    pieces: list[str] = []
    _render(element, pieces)
    return "".join(pieces)


def _bracketed(text: str, *, after_slash: bool) -> str:
    """Return one side of a fraction, in brackets where the slash would be read otherwise."""
    side = text if text.isalnum() else f"({text})"
    return f"/{side}" if after_slash else side
