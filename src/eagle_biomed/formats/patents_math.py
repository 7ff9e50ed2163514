"""Formulas and old entities of patents as plain characters."""

import re
from typing import TYPE_CHECKING

from eagle_biomed.formats.xml_nodes import name_of, raise_number
from eagle_rag.ops.markup import fold_space

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["greek", "math_text"]

_TOKENS = frozenset({"mi", "mn", "mo", "mtext", "ms"})
_CELLS = frozenset({"mtr", "mtd"})
_BASE_AND_SCRIPT = 2
# ISO 8879, ISOgrk1: Greek letters as the SGML of 2001 to 2004 names them, which HTML does not know.
_LETTERS = {
    "a": "\u03b1",
    "b": "\u03b2",
    "g": "\u03b3",
    "d": "\u03b4",
    "e": "\u03b5",
    "z": "\u03b6",
    "ee": "\u03b7",
    "th": "\u03b8",
    "i": "\u03b9",
    "k": "\u03ba",
    "l": "\u03bb",
    "m": "\u03bc",
    "n": "\u03bd",
    "x": "\u03be",
    "o": "\u03bf",
    "p": "\u03c0",
    "r": "\u03c1",
    "s": "\u03c3",
    "sf": "\u03c2",
    "t": "\u03c4",
    "u": "\u03c5",
    "ph": "\u03c6",
    "kh": "\u03c7",
    "ps": "\u03c8",
    "oh": "\u03c9",
}
_ENTITY = re.compile(r"&([A-Za-z]{1,2})gr;")


def greek(text: str) -> str:
    """Return text with the Greek letters that stand in it as ``&agr;``."""
    return _ENTITY.sub(_letter, text) if "gr;" in text else text


def _letter(found: re.Match[str]) -> str:
    letter = _LETTERS.get(found[1].lower())
    if letter is None:
        return found[0]
    return letter.upper() if found[1][0].isupper() else letter


def math_text(element: "etree._Element") -> str:
    """Return the characters of MathML in order, fractions as ``a/b``; set off by spaces."""
    return f" {greek(fold_space(_render(element)))} "


def _render(element: "etree._Element") -> str:
    name = name_of(element)
    if name in _TOKENS:
        return fold_space(element.text or "")
    parts = [_render(child) for child in element if name_of(child)]
    if name == "mfrac" and len(parts) == _BASE_AND_SCRIPT:
        return "/".join(
            part if len(part) == 1 or part.isalnum() else f"({part})" for part in parts
        )
    if name == "msup" and len(parts) == _BASE_AND_SCRIPT:
        return parts[0] + raise_number(parts[1])
    joined = "".join(parts)
    return f" {joined} " if name in _CELLS else joined
