"""Canonical text under construction, for the formats whose structure is headings and blocks.

Blocks are separated by an empty line. A heading opens a section below the last heading of a higher
rank. What stands below a heading such as "References" is collected as bibliography entries and is
not part of the text.
"""

import re
from dataclasses import dataclass

from eagle_rag.model.document import Block, BlockKind, Reference, Section, SectionKind, Span
from eagle_rag.ops.bibliography import is_reference_heading, read_entry
from eagle_rag.ops.section_kinds import section_kind

__all__ = ["CanonicalText", "Outline", "kind_of_title"]

_ABSTRACT = re.compile(r"(?:(?:structured|graphical|lay|short) )?abstract|synopsis", re.IGNORECASE)
_NUMBERING = re.compile(r"^(?:\d+(?:\.\d+)*|[IVX]+)[.):]?\s+")


def kind_of_title(
    title: str, inherited: SectionKind = SectionKind.BODY, *, top_level: bool = True
) -> SectionKind:
    """Return what a section of this title is; ``inherited`` when the title does not say.

    JATS marks abstracts by an element; here the title must tell.
    """
    if _ABSTRACT.fullmatch(_NUMBERING.sub("", title.strip()).rstrip(" .:")):
        return SectionKind.ABSTRACT
    return section_kind(None, title, inherited=inherited, top_level=top_level)


@dataclass(slots=True)
class _Draft:
    path: tuple[str, ...]
    kind: SectionKind
    start: int = -1
    end: int = -1


class CanonicalText:
    """Text, blocks and sections that grow together."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._sections: list[_Draft] = []

    @property
    def empty(self) -> bool:
        """Whether no block was added yet."""
        return not self._blocks

    def open_section(self, path: tuple[str, ...], kind: SectionKind) -> int:
        """Add a section and return its ordinal."""
        self._sections.append(_Draft(path, kind))
        return len(self._sections) - 1

    def add(self, kind: BlockKind, text: str, section: int) -> Span | None:
        """Append a block, stripped; return where it stands, or ``None`` when nothing is left."""
        stripped = text.strip()
        if not stripped:
            return None
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start, end = self._length, self._length + len(stripped)
        self._parts.append(stripped)
        self._length = end
        self._blocks.append(Block(kind, start, end, section))
        draft = self._sections[section]
        draft.start = start if draft.start < 0 else draft.start
        draft.end = end
        return Span(start, end)

    def finish(self) -> tuple[str, tuple[Section, ...], tuple[Block, ...]]:
        """Return the text, its sections (those that have a block) and its blocks."""
        kept = [number for number, draft in enumerate(self._sections) if draft.start >= 0]
        ordinals = {number: ordinal for ordinal, number in enumerate(kept)}
        sections = tuple(
            Section(ordinals[n], d.path, d.kind, d.start, d.end)
            for n, d in enumerate(self._sections)
            if n in ordinals
        )
        blocks = tuple(Block(b.kind, b.start, b.end, ordinals[b.section]) for b in self._blocks)
        return "".join(self._parts), sections, blocks


class Outline:
    """Headings and blocks in reading order; knows the section the next block belongs to."""

    def __init__(self) -> None:
        self._text = CanonicalText()
        self._open: list[tuple[int, str, SectionKind]] = []
        self._has_title = False
        self._section = -1
        self._reference_level = 0
        self._references: list[Reference] = []

    @property
    def empty(self) -> bool:
        """Whether no block was added yet."""
        return self._text.empty

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the section in force."""
        return tuple(title for _, title, _ in self._open)

    @property
    def references(self) -> tuple[Reference, ...]:
        """The bibliography entries collected so far."""
        return tuple(self._references)

    @property
    def has_title(self) -> bool:
        """Whether the title was added."""
        return self._has_title

    def title(self, text: str) -> None:
        """Add the document's title."""
        self._has_title = True
        section = self._text.open_section((), SectionKind.TITLE)
        self._text.add(BlockKind.TITLE, text, section)

    def heading(self, level: int, text: str) -> None:
        """Open a section; ``level`` 1 is the outermost."""
        name = " ".join(text.split())
        if not name or (self._reference_level and level > self._reference_level):
            return
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._reference_level = level if is_reference_heading(name) else 0
        if self._reference_level:
            return
        inherited = self._open[-1][2] if self._open else SectionKind.BODY
        kind = kind_of_title(name, inherited, top_level=not self._open)
        self._open.append((level, name, kind))
        self._section = self._text.open_section(self.path, kind)
        self._text.add(BlockKind.HEADING, text, self._section)

    def block(self, kind: BlockKind, text: str) -> Span | None:
        """Add a block to the section in force, or an entry to the bibliography."""
        if self._reference_level:
            self._add_reference(text)
            return None
        if self._section < 0:
            self._section = self._text.open_section((), SectionKind.BODY)
        return self._text.add(kind, text, self._section)

    def caption(self, label: str, text: str) -> Span | None:
        """Add a caption, in a section of its own below the one in force."""
        section = self._text.open_section((*self.path, label), SectionKind.CAPTION)
        return self._text.add(BlockKind.CAPTION, text, section)

    def _add_reference(self, text: str) -> None:
        if text.strip():
            self._references.append(read_entry(text, key=f"ref-{len(self._references) + 1}"))

    def finish(self) -> tuple[str, tuple[Section, ...], tuple[Block, ...]]:
        """Return the text, its sections and its blocks."""
        return self._text.finish()
