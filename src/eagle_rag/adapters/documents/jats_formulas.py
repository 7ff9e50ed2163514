"""Formulas: the one rendering of an equation that goes into the text (CASES A11).

TeX is taken when the publisher gives it, because it keeps fractions and indices apart; else the
characters of the MathML in reading order.
"""

import re

from lxml import etree

from eagle_rag.adapters.documents.xml import all_text
from eagle_rag.ops.markup import fold_space

__all__ = ["MATH", "math_text", "raise_number", "tex_text"]

MATH = "{http://www.w3.org/1998/Math/MathML}"

_TEX_DOCUMENT = re.compile(r"\\begin\{document\}(.*?)\\end\{document\}", re.DOTALL)
_TEX_DELIMITERS = re.compile(r"^(\$\$?|\\\[|\\\()\s*(.*?)\s*(\$\$?|\\\]|\\\))$", re.DOTALL)
_SIGNED_NUMBER = re.compile(r"\s*[+\-\u2212\u2010-\u2014\u00b1]?\d")
# Roles of MathML elements; every other element is its children in a row.
_TOKEN, _WORDS, _SPACED, _RAISED, _RAISED_LAST, _FRACTION, _UNSEEN = range(7)
_ROLES = {
    **dict.fromkeys((f"{MATH}mi", f"{MATH}mn", f"{MATH}mo", f"{MATH}ms"), _TOKEN),
    **dict.fromkeys((f"{MATH}mspace", f"{MATH}mtr", f"{MATH}mlabeledtr", f"{MATH}mtd"), _SPACED),
    **dict.fromkeys((f"{MATH}annotation", f"{MATH}annotation-xml"), _UNSEEN),
    f"{MATH}mtext": _WORDS,
    f"{MATH}msup": _RAISED,
    f"{MATH}msubsup": _RAISED_LAST,
    f"{MATH}mfrac": _FRACTION,
}


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
    return fold_space(_part(element))


def raise_number(text: str) -> str:
    """Return superscripted text by the rule: ``^`` before a number, else as it is."""
    if text[:1].isalpha() or not _SIGNED_NUMBER.match(text):
        return text
    bare = text.lstrip()
    return f"{text[: len(text) - len(bare)]}^{bare}"


def _render(element: etree._Element, pieces: list[str]) -> None:
    """Append the characters of everything inside an element."""
    for child in element:
        role = _ROLES.get(child.tag)
        if role is None:
            _render(child, pieces)
        elif role == _TOKEN:
            pieces.append((all_text(child) if len(child) else child.text or "").strip(" \t\r\n"))
        elif role == _WORDS:
            pieces.append(all_text(child))
        elif role != _UNSEEN:
            pieces.append(_structure(child, role))


def _structure(element: etree._Element, role: int) -> str:
    """Return the characters of an element whose parts do not just follow each other."""
    if role == _SPACED:
        return f" {_part(element)}"
    texts = _parts(element)
    if role == _FRACTION:
        return "/".join(text if text.isalnum() else f"({text})" for text in texts)
    raised = 1 if role == _RAISED else 2
    return "".join(texts[:raised] + [raise_number(text) for text in texts[raised:]])


def _part(element: etree._Element) -> str:
    pieces: list[str] = []
    _render(element, pieces)
    return "".join(pieces)


def _parts(element: etree._Element) -> list[str]:
    """Return the characters of each child: of a base, an index, a numerator."""
    texts: list[str] = []
    for child in element:
        role = _ROLES.get(child.tag)
        if role == _TOKEN and not len(child):
            texts.append((child.text or "").strip(" \t\r\n"))
        elif role is None:
            texts.append(_part(child))
        elif role in (_TOKEN, _WORDS):
            texts.append(all_text(child).strip(" \t\r\n"))
        else:
            texts.append("" if role == _UNSEEN else _structure(child, role))
    return texts
