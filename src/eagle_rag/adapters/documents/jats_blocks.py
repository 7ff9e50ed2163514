"""The canonical text being written: blocks, sections and citation spans at their final offsets."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lxml import etree

from eagle_rag.adapters.documents.jats_text import MARKER_CLOSES, MARKER_OPENS
from eagle_rag.model.document import Block, BlockKind, Citation, Section, SectionKind
from eagle_rag.ops.markup import fold_space

__all__ = ["SEPARATOR", "BlockWriter", "Frame"]

SEPARATOR = "\n\n"

# The longest range a marker may stand for; a larger one is a typing error.
_MAX_RANGE = 100
_RANGE = re.compile(r"\W*(\d{1,4})\s*[-\u2010-\u2015\u2212]\s*(\d{1,4})\W*")
_LONGEST_DASH = len("] ^- ^[")
_ORDINARY = frozenset({";", "; ", ",", ", ", " "})
_NUMBER = re.compile(r"\W*\d{1,4}\W*")
_DASH = re.compile(r"[\])]?\s*\^?[-\u2010-\u2015\u2212]\s*\^?[\[(]?")


@dataclass(slots=True)
class Frame:
    """A section being filled. It gets its ordinal with its first block.

    Args:
        path: Titles from the outermost section inwards.
        kind: What its text is.
        locked: Sections inside it have its kind, whatever their titles say.
        top: Only the body, the back or a sub-article is around the sections inside it.
        floating: Tag of the float whose caption this is, or empty.
        title: The element that was used as its title, and ``label`` as its label, so that the walk
            does not write them again.
        waiting: Floating elements met inside, to be written after its own text.
    """

    path: tuple[str, ...]
    kind: SectionKind
    locked: bool = False
    top: bool = False
    floating: str = ""
    title: etree._Element | None = None
    label: etree._Element | None = None
    waiting: list[etree._Element] = field(default_factory=list)
    ordinal: int = -1
    start: int = 0
    end: int = 0


class BlockWriter:
    """Writes blocks one after the other and knows where everything stands."""

    __slots__ = ("_frames", "_keys", "_places", "_texts", "blocks", "citations", "frame", "length")

    def __init__(self, keys: Iterable[str]) -> None:
        """Start an empty text.

        Args:
            keys: Reference keys in bibliography order, to fill ranges of markers.
        """
        self.blocks: list[Block] = []
        self.citations: list[Citation] = []
        self.frame = Frame((), SectionKind.TITLE)
        self.length = 0
        self._texts: list[str] = []
        self._frames: list[Frame] = []
        self._keys = tuple(keys)
        self._places = {key: place for place, key in enumerate(self._keys)}

    def text(self) -> str:
        """Return the canonical text."""
        return SEPARATOR.join(self._texts)

    def has_block(self, text: str) -> bool:
        """Return whether a block of exactly this text was written."""
        return text in self._texts

    def sections(self) -> tuple[Section, ...]:
        """Return all sections that have a block of their own, in order of their first block."""
        return tuple(
            Section(frame.ordinal, frame.path, frame.kind, frame.start, frame.end)
            for frame in self._frames
        )

    def write(
        self, kind: BlockKind, text: str, cited: list[tuple[str, ...]], prefix: str = ""
    ) -> bool:
        """Append one block to the current section; return whether there was anything to write.

        Args:
            kind: Kind of the block.
            text: Its text, unfolded, with citation markers between control characters.
            cited: Reference keys of each marker, in order; emptied.
            prefix: A label to put before it.
        """
        text = fold_space(text)
        if not text:
            cited.clear()
            return False
        if prefix:
            text = f"{prefix} {text}"
        start = self.length + len(SEPARATOR) if self._texts else 0
        if MARKER_OPENS in text:
            text = self._cite(text, start, cited)
        end = start + len(text)
        frame = self.frame
        if frame.ordinal < 0:
            frame.ordinal = len(self._frames)
            frame.start = start
            self._frames.append(frame)
        frame.end = end
        self._texts.append(text)
        self.length = end
        self.blocks.append(Block(kind, start, end, frame.ordinal))
        return True

    def _cite(self, text: str, start: int, cited: list[tuple[str, ...]]) -> str:
        """Take the marks out of a block's text and note a citation for each marker."""
        first, *marked = text.split(MARKER_OPENS)
        plain = [first]
        position = start + len(first)
        between = ""
        for part, keys in zip(marked, cited, strict=True):
            marker, _, after = part.partition(MARKER_CLOSES)
            begin, end = position, position + len(marker)
            # Most markers are names or single numbers: look closer only where a dash may be.
            references = keys
            if "-" in marker or not marker.isascii():
                references = self._spread(keys, marker)
            if (
                0 < len(between) <= _LONGEST_DASH
                and between not in _ORDINARY
                and _DASH.fullmatch(between)
            ):
                begin, references = self._joined(begin, references, marker)
            self.citations.append(Citation(begin, end, references))
            plain += (marker, after)
            position = end + len(after)
            between = after
        cited.clear()
        return "".join(plain)

    def _spread(self, keys: tuple[str, ...], marker: str) -> tuple[str, ...]:
        """Return all keys of a marker such as ``10-12`` that names only its ends, or its first."""
        spread = _RANGE.fullmatch(marker)
        if not spread:
            return keys
        distance = int(spread[2]) - int(spread[1])
        if not 0 < distance <= _MAX_RANGE or len(keys) > distance:
            return keys
        low = self._places[keys[0]]
        whole = self._keys[low : low + distance + 1]
        return whole if len(whole) == distance + 1 and set(keys) <= set(whole) else keys

    def _joined(
        self, start: int, keys: tuple[str, ...], marker: str
    ) -> tuple[int, tuple[str, ...]]:
        """Return start and keys of a marker that ends a range which the one before it began."""
        before = self.citations[-1]
        low, high = self._places[before.references[-1]], self._places[keys[-1]]
        if not _NUMBER.fullmatch(marker) or not 0 < high - low <= _MAX_RANGE:
            return start, keys
        self.citations.pop()
        return before.start, before.references + self._keys[low + 1 : high + 1]
