"""Which headings are no titles, because a thousand documents begin with them, and what to take instead."""

import re
from collections.abc import Iterable

__all__ = ["is_generic_title", "product_line"]

_LABEL = frozenset({
    "highlights of prescribing information", "full prescribing information",
    "prescribing information", "package insert", "package leaflet", "annex i",
    "summary of product characteristics", "name of the medicinal product",
})  # fmt: skip
"""What drug labels begin with (21 CFR 201.57; the EMA's product information); the product follows."""

_OTHER = frozenset({
    "abstract", "accepted manuscript", "article", "author manuscript", "case report", "confidential",
    "contents", "document", "draft", "editorial", "introduction", "letter", "medication guide",
    "open access", "original article", "original paper", "original research", "patient information",
    "powerpoint presentation", "presentation", "research article", "review", "review article",
    "short communication", "slide 1", "summary", "table of contents", "title", "untitled",
    "untitled document", "word document",
})  # fmt: skip
"""Kinds of article, parts that every article has, and what office programs write by themselves."""

_SENTENCES = (
    "these highlights do not include", "see full prescribing information",
    "this medicinal product is subject to additional monitoring",
)  # fmt: skip
"""What stands between the heading of a label and its product."""

_NUMBER = re.compile(r"^[\divx]{1,4}[.)]?\s+", re.IGNORECASE)
_EDGES = " \t*:.-\u2013\u2014"
_SENTENCE_END = (".", ":")
_LOOKED_AT = 30  # lines: what names the product stands on top
_MAX_LINES = 3
_MAX_CHARS = 200
_MIN_LETTERS = 3


def is_generic_title(title: str) -> bool:
    """Whether a title or heading says what kind of text follows, and not which one."""
    return _folded(title) in _LABEL | _OTHER


def product_line(lines: Iterable[str]) -> str:
    """Return the line of a drug label that names its product; empty when these do not begin a label.

    It is the first below the heading and the sentences that all labels share, with the lines that go
    on with a small letter: ``XYZ (xyzinib) capsules, for oral use``.

    Args:
        lines: The document's lines or paragraphs from the top.
    """
    found: list[str] = []
    label = within = False
    for line in [text for each in lines if (text := each.strip())][:_LOOKED_AT]:
        if found:
            if not line[0].islower() or len(found) == _MAX_LINES:
                break
            found.append(line)
        elif within or line.lower().startswith(_SENTENCES):
            within = not line.endswith(_SENTENCE_END)
        elif is_generic_title(line):
            label = label or _folded(line) in _LABEL
        elif sum(map(str.isalpha, line)) >= _MIN_LETTERS:
            if not label:
                return ""
            found.append(line)
    joined = " ".join(found)
    return joined if len(joined) <= _MAX_CHARS else ""


def _folded(title: str) -> str:
    return _NUMBER.sub("", " ".join(title.split()).strip(_EDGES).lower())
