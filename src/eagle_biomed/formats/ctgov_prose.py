"""Long texts of trials: paragraphs, list items, and the two halves of the eligibility criteria."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from eagle_rag.model.document import BlockKind
from eagle_rag.ops.markup import fold_space

__all__ = ["Piece", "criteria_heading", "pieces"]

_BULLET = re.compile(
    r"\s*(?:[-*\u2022\u2013\u00b7o]\s+|(?=(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]\s))"
)
_ADJECTIVES = (
    r"(?:(?:key|main|major|general|principal|additional|other|study|patient|subject)\s+)*"
)
_CRITERIA = re.compile(
    rf"\W*({_ADJECTIVES}(in|ex)clusion(?:\s+criteri(?:a|on)(?:\s+(?:for|in|of)\s[^.:]{{1,60}})?)?)"
    r"\s*(?::\s*(?P<rest>.*)|\W*$)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a long text."""

    kind: BlockKind
    text: str


def pieces(text: str, *, wrapped: bool) -> Iterator[Piece]:
    """Yield the blocks of a long text.

    Args:
        text: As the record has it.
        wrapped: Lines are wrapped, so only an empty line or a bullet begins a block; otherwise every
            line does.
    """
    kind, lines = BlockKind.PARAGRAPH, list[str]()
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        if not wrapped or bullet is not None or not line.strip():
            yield from _piece(kind, lines)
            lines = []
            kind = BlockKind.LIST_ITEM if bullet is not None else BlockKind.PARAGRAPH
        lines.append(line[bullet.end() :] if bullet is not None else line)
    yield from _piece(kind, lines)


def _piece(kind: BlockKind, lines: list[str]) -> Iterator[Piece]:
    text = fold_space("\n".join(lines))
    if text:
        yield Piece(kind, text)


def criteria_heading(text: str) -> tuple[str, str, str] | None:
    """Return what a block opens when it opens a half of the criteria, else ``None``.

    Returns:
        ``Inclusion Criteria`` or ``Exclusion Criteria``, the heading as written, and what follows it
        on the same line.
    """
    found = _CRITERIA.match(text)
    if found is None:
        return None
    half = "Inclusion" if found[2].lower() == "in" else "Exclusion"
    return f"{half} Criteria", found[1], found["rest"] or ""
