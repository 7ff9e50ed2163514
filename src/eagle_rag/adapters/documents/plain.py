"""Plain text: paragraphs by blank lines, sections by lines that look like headings.

The canonical text is the decoded file itself, from its first character to the end of its prose: a
byte order mark, trailing white space and the bibliography are cut off, nothing else changes. Line
ends (CRLF) and tabs stay, so an offset into the canonical text is an offset into the file's
characters.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    Block,
    BlockKind,
    ParsedDocument,
    ParseOutcome,
    Reference,
    Section,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.bibliography import find_bibliography, read_entry, split_entries
from eagle_rag.ops.decoding import decode_text
from eagle_rag.ops.outline import kind_of_title

__all__ = ["PlainParser"]

_SUFFIXES = (".txt", ".text")
_NEWLINE = r"(?:\r\n|\n|\r(?!\n))"
_GAP = re.compile(rf"{_NEWLINE}[^\S\r\n]*{_NEWLINE}\s*|\f\s*")
_LINE = re.compile(r"[^\r\n]+")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})\.?[ \t]+(?=[^\W\d_])(?P<name>.+)")
_SENTENCE_END = (".", ",", ";")
_MAX_HEADING = 90
_MAX_NUMBERED_WORDS = 12
_MAX_KNOWN_WORDS = 6
_MAX_KNOWN_WORDS_ATOP = 3
_MIN_CAPITALS = 4
_MAX_TITLE = 250
_MAX_TITLE_LINES = 3
_HEAD_BYTES = 2048
# Ten microseconds a paragraph; a book of 1,000 pages has 50,000 lines, and 3 million characters.
_MAX_LINES = 1_000_000
_MAX_LINE_CHARS = 4_000_000


@dataclass(slots=True)
class _Draft:
    path: tuple[str, ...]
    kind: SectionKind
    start: int = -1
    end: int = -1


@dataclass(slots=True)
class _Reading:
    """Sections and blocks found so far."""

    text: str
    title: str = ""
    sections: list[_Draft] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    open: list[tuple[int, str, SectionKind]] = field(default_factory=list)

    def add(self, kind: BlockKind, start: int, end: int) -> None:
        """Add a block to the section in force."""
        if not self.sections:
            self.sections.append(_Draft((), SectionKind.BODY))
        section = self.sections[-1]
        section.start = start if section.start < 0 else section.start
        section.end = end
        self.blocks.append(Block(kind, start, end, len(self.sections) - 1))

    def add_title(self, start: int, end: int) -> None:
        """Add the document's title."""
        self.title = " ".join(self.text[start:end].split())
        self.sections.append(_Draft((), SectionKind.TITLE))
        self.add(BlockKind.TITLE, start, end)
        self.sections.append(_Draft((), SectionKind.BODY))

    def add_heading(self, level: int, start: int, end: int) -> None:
        """Open a section."""
        while self.open and self.open[-1][0] >= level:
            self.open.pop()
        name = self.text[start:end]
        inherited = self.open[-1][2] if self.open else SectionKind.BODY
        kind = kind_of_title(name, inherited, top_level=not self.open)
        self.open.append((level, name, kind))
        self.sections.append(_Draft(tuple(title for _, title, _ in self.open), kind))
        self.add(BlockKind.HEADING, start, end)

    def finish(self) -> tuple[tuple[Section, ...], tuple[Block, ...]]:
        """Return the sections that have a block, and the blocks."""
        kept = [n for n, draft in enumerate(self.sections) if draft.start >= 0]
        ordinals = {number: ordinal for ordinal, number in enumerate(kept)}
        drafts = [(ordinals[n], self.sections[n]) for n in kept]
        sections = tuple(Section(n, d.path, d.kind, d.start, d.end) for n, d in drafts)
        blocks = tuple(Block(b.kind, b.start, b.end, ordinals[b.section]) for b in self.blocks)
        return sections, blocks


class PlainParser:
    """Parser of text without markup."""

    @property
    def format(self) -> str:
        """``text``."""
        return "text"

    def accepts(self, source: Source) -> bool:
        """Whether the name ends in ``.txt`` or ``.text``, or has no ending and begins like text.

        Files of other names (tables, programs, settings) are text too, but not documents.
        """
        suffix = PurePosixPath(source.uri).suffix.lower()
        if suffix in _SUFFIXES:
            return True
        head = source.data[:_HEAD_BYTES]
        if suffix or b"\0" in head or not head.strip():
            return False
        return not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"{", b"%PDF"))

    def parse(self, source: Source) -> ParseOutcome:
        """Return the one document of a text file.

        Raises:
            UnreadableDocument: ``empty``, ``too-large`` or ``binary``.
        """
        decoded, warnings = decode_text(source)
        _refuse_odd_size(source, decoded)
        cut = find_bibliography(decoded)
        if not decoded[:cut].strip():
            cut = None
            warnings = (*warnings, "the whole text looks like a bibliography, so it was kept")
        text = decoded[:cut].rstrip()
        reading = _Reading(text)
        _read(reading)
        sections, blocks = reading.finish()
        document = ParsedDocument(
            source_uri=source.uri,
            member="",
            digest=source.digest or hashlib.sha256(source.data).hexdigest(),
            format="text",
            metadata=DocumentMetadata(title=reading.title),
            text=text,
            sections=sections,
            blocks=blocks,
            references=_references("" if cut is None else decoded[cut:]),
            warnings=warnings,
        )
        return ParseOutcome((document,))


def _refuse_odd_size(source: Source, text: str) -> None:
    lines = text.count("\n") + 1
    # A text that is shorter than the limit has no longer line.
    longest = max(map(len, text.split("\n"))) if len(text) > _MAX_LINE_CHARS else 0
    for size, limit, what in (
        (lines, _MAX_LINES, "lines of text"),
        (longest, _MAX_LINE_CHARS, "characters in one line"),
    ):
        if size > limit:
            message = f"{size} {what} are more than {limit}"
            remedy = "split the file into documents"
            raise UnreadableDocument(source.uri, "too-large", message, remedy=remedy)


def _references(suffix: str) -> tuple[Reference, ...]:
    entries = split_entries(suffix)
    return tuple(read_entry(raw, key=f"ref-{n}") for n, raw in enumerate(entries, 1))


def _read(reading: _Reading) -> None:
    """Add every paragraph; a heading line on top of one is a block of its own."""
    for position, (start, end) in enumerate(_paragraphs(reading.text)):
        if position == 0 and _is_title(reading.text[start:end]):
            reading.add_title(start, end)
            continue
        prose = _add_heading(reading, start, end)
        if prose < end:
            reading.add(BlockKind.PARAGRAPH, prose, end)


def _add_heading(reading: _Reading, start: int, end: int) -> int:
    """Add the heading a paragraph begins with, if any; return where its prose begins."""
    line = _LINE.match(reading.text, start, end)
    first = reading.text[start : line.end() if line else end].rstrip()
    level = _heading_level(first, alone=start + len(first) == end)
    if not level:
        return start
    reading.add_heading(level, start, start + len(first))
    rest = reading.text[start + len(first) : end]
    return end - len(rest.lstrip())


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield ``(start, end)`` of each stretch between blank lines, without white space around it."""
    start = len(text) - len(text.lstrip())
    for gap in _GAP.finditer(text, start):
        end = start + len(text[start : gap.start()].rstrip())
        if end > start:
            yield start, end
        start = gap.end()
    if start < len(text):
        yield start, start + len(text[start:].rstrip())


def _is_title(block: str) -> bool:
    """Whether the first block of a file is its title: short, not a sentence, not a heading."""
    if len(block) > _MAX_TITLE or len(block.splitlines()) > _MAX_TITLE_LINES:
        return False
    if kind_of_title(block) is not SectionKind.BODY or _NUMBERED.fullmatch(block):
        return False
    return not block.endswith((".", ",", ";", ":")) and any(c.isalpha() for c in block)


def _heading_level(line: str, *, alone: bool) -> int:
    """Return the level of a heading line, from 1, or 0 for running text.

    A line of its own may be numbered, in capitals or a known section name; the first line of a
    paragraph counts only in capitals or with a known name.
    """
    if len(line) > _MAX_HEADING or line.endswith(_SENTENCE_END):
        return 0
    numbered = _NUMBERED.fullmatch(line)
    name = numbered["name"] if numbered else line
    words = len(name.split())
    # A hard-wrapped paragraph may begin with "Results of the trial were": a short name is a heading.
    longest = _MAX_KNOWN_WORDS if alone else _MAX_KNOWN_WORDS_ATOP
    known = words <= longest and kind_of_title(name) is not SectionKind.BODY
    level = numbered["number"].count(".") + 1 if numbered else 1
    if (known and name[0].isupper()) or _in_capitals(name):
        return level
    if numbered and alone and words <= _MAX_NUMBERED_WORDS and name[0].isupper():
        return level
    return 0


def _in_capitals(line: str) -> bool:
    letters = [c for c in line if c.isalpha()]
    return len(letters) >= _MIN_CAPITALS and not any(c.islower() for c in letters)
