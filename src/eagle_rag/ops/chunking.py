"""Cut a document's text into passages.

A passage is a stretch of one section: whole sentences, about ``target_chars`` long, never across a
section, a heading or a caption. Offsets are into the canonical text, and the text is never changed.
Sentence ends are looked for around the cuts only: a paper has five sentences a passage, and nothing
but the cuts depends on where they end.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil
from typing import Final

from eagle_rag.errors import InvalidInput
from eagle_rag.model.document import Block, BlockKind, ParsedDocument
from eagle_rag.model.passage import Passage
from eagle_rag.ops.ids import passage_id
from eagle_rag.ops.sentences import nearest_boundary

__all__ = ["TARGET_CHARS", "cut_passages"]

TARGET_CHARS: Final = 900
"""About 200 word pieces: fills the windows of common encoders (256 to 512) without overrunning."""

_LONGEST: Final = 1.25  # of the target: above it a stretch is cut in two halves rather than kept
_LONGEST_SENTENCE: Final = 1.5  # of the target: above it a sentence is cut too
_WINDOW: Final = 0.2  # of the target: how far around the ideal cut is looked first
_BLOCK_BONUS: Final = 0.5  # a paragraph's end counts as half as far from the ideal as it is
_HEADINGS: Final = frozenset({BlockKind.TITLE, BlockKind.HEADING})
# Where a sentence is cut when it must be, the best place first.
_INSIDE: Final = (
    re.compile(r"(?<=[;:])\s"),
    re.compile(r"(?<=,)\s|\s(?=[\u2013\u2014]\s)"),
    re.compile(r"\s"),
)
_SPACE: Final = re.compile(r"\s+")
_JOINER: Final = "\u200d"

Cut = tuple[int, int]  # two offsets: of a passage, of the gap between two


def cut_passages(
    document: ParsedDocument, document_id: str, *, target_chars: int = TARGET_CHARS
) -> tuple[Passage, ...]:
    """Return the passages of a document, in order; together they hold all its prose exactly once.

    Headings and the title are in no passage, unless the document has nothing else.

    Args:
        document: The parsed document.
        document_id: Its id; goes into the passages' ids.
        target_chars: Length aimed at. A passage is longer than 1.5 times that only when the text
            gives no place to cut.

    Raises:
        InvalidInput: ``target_chars`` is below 50.
    """
    if target_chars < 50:  # noqa: PLR2004 - half a sentence
        msg = f"target_chars must be at least 50, got {target_chars}"
        raise InvalidInput(msg)
    text = document.text
    passages: list[Passage] = []
    for group in _groups(document.blocks):
        section = document.sections[group[0].section]
        for start, end in _cut_group(text, group, target_chars):
            piece = text[start:end]
            passages.append(
                Passage(
                    passage_id(document_id, start, end, piece),
                    document_id,
                    len(passages),
                    section.ordinal,
                    section.path,
                    section.kind,
                    start,
                    end,
                    piece,
                )
            )
    return tuple(passages)


def _groups(blocks: tuple[Block, ...]) -> list[list[Block]]:
    """Group neighbouring blocks of prose of one section; a heading between them parts them."""
    prose = any(block.kind not in _HEADINGS for block in blocks)
    groups: list[list[Block]] = []
    previous = -1
    for block in blocks:
        if prose and block.kind in _HEADINGS:
            previous = -1
        elif block.section == previous:
            groups[-1].append(block)
        else:
            groups.append([block])
            previous = block.section
    return groups


def _cut_group(text: str, group: list[Block], target: int) -> Iterator[Cut]:
    """Yield the passages of one group as offsets, as even in length as its sentences allow."""
    start, stop = group[0].start, group[-1].end
    if stop - start <= target:  # most groups: one short paragraph
        yield start, stop
        return
    gaps = [(left.end, right.start) for left, right in pairwise(group)]
    while True:
        remaining = stop - start
        pieces = max(ceil(remaining / (target * _LONGEST)), round(remaining / target))
        if pieces <= 1:
            break
        cut = _best_cut(text, (start, stop), start + remaining // pieces, gaps=gaps, target=target)
        if cut is None:
            break
        yield start, cut[0]
        start = cut[1]
    yield start, stop


def _best_cut(text: str, span: Cut, ideal: int, *, gaps: Sequence[Cut], target: int) -> Cut | None:
    """Return the sentence end nearest to ``ideal``, else a place inside the long sentence.

    ``None`` when what is left is one sentence that need not be cut.
    """
    start, stop = span
    limit = min(stop, start + int(target * _LONGEST_SENTENCE))
    reach = int(target * _WINDOW)
    near = text.find(" ", max(start, ideal - reach), ideal)
    for low, high in ((near, min(limit, ideal + reach)), (start, limit)):
        if low < 0:
            continue
        cut = _nearest(text, (low, high), ideal, gaps=gaps)
        if cut is not None:
            return cut
    return _cut_inside(text, start, limit, ideal=ideal) if limit < stop else None


def _nearest(text: str, window: Cut, ideal: int, *, gaps: Sequence[Cut]) -> Cut | None:
    """Return the boundary of sentence or block in the window that costs least; ties to the first."""
    low, high = window
    best: Cut | None = None
    least = float("inf")
    for number in range(bisect_right(gaps, (low, high)), len(gaps)):
        if gaps[number][1] >= high:
            break
        cost = abs(gaps[number][0] - ideal) * _BLOCK_BONUS
        if cost < least:
            best, least = gaps[number], cost
    cut = nearest_boundary(text, low, high, ideal=ideal)
    return cut if cut is not None and abs(cut[0] - ideal) < least else best


def _cut_inside(text: str, start: int, limit: int, *, ideal: int) -> Cut:
    """Return where to cut a sentence that is too long: at a clause, a space, or anywhere."""
    low = start + (ideal - start) // 2
    for pattern in _INSIDE:
        places = [match.start() for match in pattern.finditer(text, low, limit)]
        if places:
            position = min(places, key=lambda place: abs(place - ideal))
            break
    else:
        free = (place for place in range(ideal, limit) if not _clings(text, place))
        position = next(free, ideal)
    end = start + len(text[start:position].rstrip())
    space = _SPACE.match(text, position)
    return end, space.end() if space is not None else position


def _clings(text: str, place: int) -> bool:
    """Return whether the character at ``place`` belongs to the one before it."""
    return _JOINER in text[place - 1 : place + 1] or unicodedata.combining(text[place]) > 0
