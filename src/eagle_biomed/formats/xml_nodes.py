"""Reading XML trees by local names, and the running text of inline markup.

One rule for all text, the same as in JATS: superscripts get ``^`` before them when they start with a
number, subscripts and every other inline element are transparent, white space folds.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from eagle_rag.errors import UnreadableDocument
from eagle_rag.ops.markup import fold_space, local_name

if TYPE_CHECKING:
    from lxml import etree

__all__ = [
    "Special",
    "attribute",
    "children",
    "first",
    "inline_text",
    "iso_date",
    "name_of",
    "raise_number",
    "running_text",
    "text_at",
    "too_deep",
]

Special = Mapping[str, Callable[["etree._Element"], str]]  # noqa: SLF001 - lxml has no public name for it
"""By local name: what stands in the text for an element."""

_SIGNED_NUMBER = re.compile(r"[+\u2212\u2013-]?\s{0,9}\d")
_SUPERSCRIPTS = frozenset({"sup", "superscript", "sp"})
_COMPACT_DATE = re.compile(r"(\d{4})(\d{2})?(\d{2})?(?:\d{2}.*)?", re.ASCII)
_MONTHS, _DAYS = 12, 31


def name_of(element: "etree._Element") -> str:
    """Return an element's local name; empty for what is no element."""
    tag = cast("object", element.tag)  # a function for comments
    return local_name(tag) if isinstance(tag, str) else ""


def children(element: "etree._Element | None", *names: str) -> Iterator["etree._Element"]:
    """Yield the children with one of these local names, in order."""
    if element is not None:
        for child in element:
            if name_of(child) in names:
                yield child


def first(element: "etree._Element | None", *path: str) -> "etree._Element | None":
    """Return the element reached by taking the first child of each local name in turn."""
    for name in path:
        element = next(children(element, name), None)
    return element


def attribute(element: "etree._Element | None", path: tuple[str, ...], name: str) -> str:
    """Return an attribute of the element at a path, or an empty string."""
    found = first(element, *path)
    return "" if found is None else fold_space(found.get(name) or "")


def text_at(element: "etree._Element | None", *path: str) -> str:
    """Return the running text of the element at a path, or an empty string."""
    found = first(element, *path)
    return "" if found is None else inline_text(found)


def raise_number(text: str) -> str:
    """Return superscripted text by the rule: ``^`` before a number, else as it is."""
    bare = text.lstrip()
    if not _SIGNED_NUMBER.match(bare):
        return text
    return f"{text[: len(text) - len(bare)]}^{bare}"


def inline_text(
    element: "etree._Element",
    *,
    spaced: frozenset[str] = frozenset({"br"}),
    special: Special | None = None,
) -> str:
    """Return the folded text of an element and everything in it.

    Args:
        element: Its tail is not part of it.
        spaced: Local names of elements that a space separates from what is around them.
        special: What stands for elements whose content is not prose.

    Raises:
        RecursionError: The markup is nested deeper than the stack.
    """
    pieces: list[str] = []
    _flow(element, pieces, spaced, special or {})
    return fold_space("".join(pieces))


def running_text(
    element: "etree._Element",
    *,
    spaced: frozenset[str] = frozenset({"br"}),
    special: Special | None = None,
) -> str:
    """Return what stands for an element in the text around it: as ``inline_text``, but not folded."""
    pieces: list[str] = []
    _append(element, pieces, spaced, special or {})
    return "".join(pieces)


def _flow(
    element: "etree._Element", pieces: list[str], spaced: frozenset[str], special: Special
) -> None:
    pieces.append(element.text or "")
    for child in element:
        _append(child, pieces, spaced, special)
        pieces.append(child.tail or "")


def _append(
    element: "etree._Element", pieces: list[str], spaced: frozenset[str], special: Special
) -> None:
    name = name_of(element)
    if name in special:
        pieces.append(special[name](element))
    elif name.lower() in _SUPERSCRIPTS:
        raised: list[str] = []
        _flow(element, raised, spaced, special)
        pieces.append(raise_number("".join(raised)))
    elif name in spaced:
        pieces.append(" ")
        _flow(element, pieces, spaced, special)
        pieces.append(" ")
    elif name:
        _flow(element, pieces, spaced, special)


def iso_date(compact: str) -> str:
    """Return ``20110426`` as ``2011-04-26``, as precise as it is; empty for what is no date."""
    found = _COMPACT_DATE.fullmatch(compact.strip())
    if found is None or found[1] == "0000":
        return ""
    year, month, day = found[1], found[2] or "", found[3] or ""
    if not month or not 1 <= int(month) <= _MONTHS:
        return year
    if not day or not 1 <= int(day) <= _DAYS:
        return f"{year}-{month}"
    return f"{year}-{month}-{day}"


def too_deep(uri: str) -> UnreadableDocument:
    """Return the error for a file nested deeper than the stack."""
    return UnreadableDocument(
        uri,
        "nested-too-deep",
        "its elements are nested deeper than the stack",
        remedy="no document of this format is nested so deep: check where the file is from",
    )
