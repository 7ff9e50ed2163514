"""A document under construction: sections by path, blocks, and tables with caption and footnotes."""

from collections.abc import Sequence

from eagle_biomed.formats.grids import Grid, build_table
from eagle_rag.model.document import Block, BlockKind, Section, SectionKind, Span, Table
from eagle_rag.ops.outline import CanonicalText

__all__ = ["SectionedText"]


class SectionedText:
    """Canonical text whose sections are opened by their whole path."""

    def __init__(self) -> None:
        self._text = CanonicalText()
        self._path: tuple[str, ...] = ()
        self._section = -1
        self._codes: tuple[str, ...] = ()
        self._codes_of: dict[int, tuple[str, ...]] = {}
        self._keys: dict[str, int] = {}
        self.tables: list[Table] = []
        self.warnings: list[str] = []

    @property
    def empty(self) -> bool:
        """Whether no block was added yet."""
        return self._text.empty

    @property
    def codes(self) -> tuple[tuple[str, ...], ...]:
        """Codes of each section that ``finish`` returns, by ordinal; a caption's are those around it."""
        return tuple(codes for _, codes in sorted(self._codes_of.items()))

    def title(self, text: str) -> None:
        """Add the document's title."""
        self._add(BlockKind.TITLE, text, self._text.open_section((), SectionKind.TITLE))

    def open(
        self,
        path: tuple[str, ...],
        kind: SectionKind,
        *,
        heading: str = "",
        codes: tuple[str, ...] = (),
    ) -> None:
        """Open a section; its heading is a block when the source has one.

        Args:
            path: Titles from the root.
            kind: What it is.
            heading: Its heading as written, or empty.
            codes: What the source's vocabulary calls the titles of the path, from the root.
        """
        self._path = path
        self._codes = codes
        self._section = self._text.open_section(path, kind)
        self._add(BlockKind.HEADING, heading, self._section)

    def block(self, kind: BlockKind, text: str) -> Span | None:
        """Add a block to the section in force; ``None`` when there is no text."""
        if self._section < 0:
            self.open((), SectionKind.BODY)
        return self._add(kind, text, self._section)

    def paragraph(self, text: str) -> None:
        """Add a paragraph to the section in force."""
        self.block(BlockKind.PARAGRAPH, text)

    def caption(self, name: str, text: str) -> Span | None:
        """Add a caption in a section of its own below the one in force."""
        section = self._text.open_section((*self._path, name), SectionKind.CAPTION)
        return self._add(BlockKind.CAPTION, text, section)

    def table(
        self,
        grid: Grid,
        *,
        key: str = "",
        label: str = "",
        caption: str = "",
        footnotes: Sequence[str] = (),
    ) -> None:
        """Add a table: cells beside the text; caption and footnotes in a section of their own."""
        span: Span | None = None
        if caption or footnotes:
            section = self._text.open_section((*self._path, label or "Table"), SectionKind.CAPTION)
            span = self._add(BlockKind.CAPTION, caption, section)
            for note in footnotes:
                self._add(BlockKind.FOOTNOTE, note, section)
        table = build_table(grid, key=self._unique(key), label=label, caption=span)
        if table is not None:
            self.tables.append(table)
        elif any(grid.rows):
            name = label or key or "a table without a label"
            self.warnings.append(
                f"{name} spans more cells than any table has: its cells are left out"
            )

    def finish(self) -> tuple[str, tuple[Section, ...], tuple[Block, ...]]:
        """Return the text, its sections and its blocks."""
        return self._text.finish()

    def _add(self, kind: BlockKind, text: str, section: int) -> Span | None:
        span = self._text.add(kind, text, section)
        if span is not None:  # a section without a block is not kept
            self._codes_of.setdefault(section, self._codes)
        return span

    def _unique(self, wanted: str) -> str:
        """Return the key, with a number where it is taken."""
        base = key = wanted or f"table-{len(self.tables) + 1}"
        while key in self._keys:
            self._keys[base] += 1
            key = f"{base}-{self._keys[base]}"
        self._keys[key] = 1
        return key
