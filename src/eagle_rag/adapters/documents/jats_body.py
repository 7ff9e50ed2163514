"""The walk over an article's text: markup to blocks and sections, each prose paragraph once.

One dispatch table from tag to handler; an element nobody handles is transparent. A paragraph is
split around lists, quotes and display formulas. Floats (figures, tables, supplements, boxed text,
footnotes inside a paragraph) never split it: they wait until the text of their section is written.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from lxml import etree

from eagle_rag.adapters.documents.jats_blocks import BlockWriter, Frame
from eagle_rag.adapters.documents.jats_tables import (
    TABLE_TAGS,
    graphic_hrefs,
    read_tables,
    unique_key,
)
from eagle_rag.adapters.documents.jats_text import (
    INLINE_HANDLERS,
    MARKER_CLOSES,
    MARKER_OPENS,
    Handler,
    InlineText,
    captured,
    flow,
    formula,
    silent,
)
from eagle_rag.model.document import BlockKind, Figure, SectionKind, Span, Table
from eagle_rag.ops.section_kinds import section_kind

__all__ = ["BodyWalk"]

# Containers with a section of their own: the title they get when they bring none, their kind, and
# the kind of their blocks.
_CONTAINERS: dict[str, tuple[str, SectionKind, BlockKind]] = {
    "ack": ("Acknowledgements", SectionKind.ACKNOWLEDGEMENTS, BlockKind.PARAGRAPH),
    "app": ("Appendix", SectionKind.APPENDIX, BlockKind.PARAGRAPH),
    "bio": ("Biography", SectionKind.BACK, BlockKind.PARAGRAPH),
    "boxed-text": ("Box", SectionKind.BOXED_TEXT, BlockKind.PARAGRAPH),
    "fn-group": ("Footnotes", SectionKind.FOOTNOTE, BlockKind.FOOTNOTE),
    "glossary": ("Glossary", SectionKind.BACK, BlockKind.PARAGRAPH),
    "notes": ("Notes", SectionKind.BACK, BlockKind.PARAGRAPH),
}
_UNLOCKED = frozenset({"notes", "glossary", "bio", "ack"})
_FLOAT_NAMES = {
    "chem-struct-wrap": "Structure",
    "fig": "Figure",
    "fig-group": "Figures",
    "graphic": "Figure",
    "media": "Media",
    "supplementary-material": "Supplementary material",
    "table-wrap": "Table",
    "table-wrap-group": "Tables",
}
_GROUPS = frozenset({"fig-group", "table-wrap-group"})
_SILENT = ("front", "front-stub", "processing-meta", "ref-list")


class BodyWalk:
    """Writes one article's text; holds the figures and tables it met.

    ``unresolved`` counts the citation markers whose target is not in the bibliography.

    Args:
        writer: Where blocks go.
        cited: Reference keys by every id that a marker may use.
    """

    __slots__ = (
        "_cited", "_depth", "_kind", "_marked", "_plain", "_prefix", "_taken", "figures",
        "pieces", "tables", "unresolved", "warnings", "writer",
    )  # fmt: skip

    def __init__(self, writer: BlockWriter, cited: Mapping[str, tuple[str, ...]]) -> None:
        self.writer = writer
        self.figures: list[Figure] = []
        self.tables: list[Table] = []
        self.warnings: list[str] = []
        self.unresolved = 0
        self.pieces: list[str] = []
        self._cited = cited
        self._plain = InlineText()
        self._kind = BlockKind.PARAGRAPH
        self._prefix = ""
        self._depth = 0
        self._marked: list[tuple[str, ...]] = []
        self._taken: dict[str, int] = {}

    def part(
        self, element: etree._Element, frame: Frame, *, kind: BlockKind = BlockKind.PARAGRAPH
    ) -> None:
        """Write a whole part of the article, such as its body, as one section."""
        self._section(element, frame, kind)

    def abstract(self, element: etree._Element, path: tuple[str, ...] = ()) -> None:
        """Write an abstract; its subsections are abstract too."""
        title, _ = _heading_of(element)
        name = self._plain.text(title) or "Abstract"
        frame = Frame((*path, name), SectionKind.ABSTRACT, locked=True, title=title)
        self._section(element, frame, BlockKind.PARAGRAPH)

    def plain(self, kind: BlockKind, text: str) -> None:
        """Write one block of text that has no markup left, to the writer's current section."""
        self.writer.write(kind, text, [])

    # Blocks

    def _end(self) -> None:
        """Write what was collected as a block, if it is not blank."""
        pieces = self.pieces
        if pieces:
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            if self.writer.write(self._kind, text, self._marked, self._prefix):
                self._prefix = ""

    def _paragraph(self, element: etree._Element) -> None:
        if self.pieces:
            self._end()
        self._depth += 1
        flow(self, element)
        self._depth -= 1
        self._end()

    def _list(self, element: etree._Element) -> None:
        self._within(element, BlockKind.LIST_ITEM)

    def _quote(self, element: etree._Element) -> None:
        self._within(element, BlockKind.QUOTE)

    def _footnotes(self, element: etree._Element) -> None:
        self._within(element, BlockKind.FOOTNOTE)

    def _within(self, element: etree._Element, kind: BlockKind) -> None:
        """Write everything in an element as blocks of a kind."""
        self._end()
        outer, self._kind = self._kind, kind
        flow(self, element)
        self._end()
        self._kind = outer

    def _item(self, element: etree._Element) -> None:
        self._end()
        flow(self, element)
        self._end()
        self._prefix = ""

    def _definition(self, element: etree._Element) -> None:
        self._end()
        for child in element:
            if child.tag == "term":
                self._label(child)
            else:
                flow(self, child)
                self._end()
        if self._prefix:
            self.pieces.append(self._prefix)
            self._prefix = ""
            self._end()

    def _label(self, element: etree._Element) -> None:
        """Keep a label for the block that follows it."""
        if element is self.writer.frame.label or self._kind is BlockKind.FORMULA:
            return
        self._end()
        self._prefix = self._plain.text(element)

    def _stray_title(self, element: etree._Element) -> None:
        """Write a title that names no section: of a list, a caption, a statement."""
        frame = self.writer.frame
        if element is frame.title:
            return
        self._end()
        outer = self._kind
        if not frame.floating:
            self._kind = BlockKind.HEADING
        flow(self, element)
        self._end()
        self._kind = outer

    def _display_formula(self, element: etree._Element) -> None:
        self._end()
        outer, self._kind = self._kind, BlockKind.FORMULA
        formula(self, element)
        number = element.find("label")
        if number is not None and self.pieces:
            self.pieces.append(f" {self._plain.text(number)}")
        self._end()
        self._kind = outer

    def _marker(self, element: etree._Element) -> None:
        """Write a cross-reference; one to the bibliography is marked as a citation."""
        target = element.get("rid") or ""
        keys = self._cited.get(target)
        if keys is None and " " in target:
            found = (key for part in target.split() for key in self._cited.get(part, ()))
            keys = tuple(dict.fromkeys(found))
        text = captured(self, element) if len(element) else element.text
        if not text:
            return
        if keys:
            bare = text.strip()
            if bare:
                self._marked.append(keys)
                before, after = text.split(bare, 1) if bare is not text else ("", "")
                text = f"{before}{MARKER_OPENS}{bare}{MARKER_CLOSES}{after}"
        elif element.get("ref-type") == "bibr":
            self.unresolved += 1
        self.pieces.append(text)

    # Sections

    def _section(self, element: etree._Element, frame: Frame, kind: BlockKind) -> None:
        """Write an element as a section, then the floats that were met in it."""
        writer = self.writer
        outer = writer.frame, self._kind, self._prefix, self._depth
        writer.frame, self._kind, self._prefix, self._depth = frame, kind, "", 0
        if frame.title is not None or frame.label is not None:
            self._heading(frame)
        flow(self, element)
        self._end()
        self._prefix = ""
        if frame.waiting:
            self._release()
        writer.frame, self._kind, self._prefix, self._depth = outer

    def _heading(self, frame: Frame) -> None:
        title, label = frame.title, frame.label
        number = "" if label is None else self._plain.text(label)
        text = "" if title is None else captured(self, title)
        if not text or text.isspace():
            text, number = number, ""
        self.writer.write(BlockKind.HEADING, text, self._marked, number)

    def _release(self) -> None:
        frame = self.writer.frame
        while frame.waiting:
            waiting, frame.waiting = frame.waiting, []
            for element in waiting:
                self._floats[element.tag](self, element)

    def _subsection(self, element: etree._Element) -> None:
        self._end()
        self._release()
        outer = self.writer.frame
        title, label = _heading_of(element)
        words = "" if title is None else self._plain.text(title)
        name = words or self._plain.text(label)
        kind = outer.kind
        if not outer.locked:
            kind = section_kind(
                element.get("sec-type"), words, inherited=kind, top_level=outer.top
            )
        path = (*outer.path, name) if name else outer.path
        frame = Frame(path, kind, locked=outer.locked, title=title, label=label)
        self._section(element, frame, BlockKind.PARAGRAPH)

    def container(self, element: etree._Element) -> None:
        """Write a box, appendix, note or the like as a section under its own title."""
        self._end()
        outer = self.writer.frame
        default, kind, block_kind = _CONTAINERS[element.tag]
        title, label = _heading_of(element)
        name = self._plain.text(title) or self._plain.text(label) or default
        locked = outer.locked or element.tag not in _UNLOCKED
        if outer.locked and kind is not SectionKind.BOXED_TEXT:
            kind = outer.kind
        frame = Frame((*outer.path, name), kind, locked=locked, title=title, label=label)
        self._section(element, frame, block_kind)

    def sub_article(self, element: etree._Element) -> None:
        """Write a sub-article or response (peer review, reply, translation) under its title."""
        self._end()
        self._release()
        outer = self.writer.frame
        stub = element.find("front-stub")
        if stub is None:
            stub = element.find("front/article-meta")
        title = stub.find("title-group/article-title") if stub is not None else None
        name = self._plain.text(title) or element.get("article-type") or "Response"
        frame = Frame((*outer.path, name), SectionKind.BACK, top=True, title=title)
        self.writer.frame = frame
        self._heading(frame)
        self.writer.frame, frame.title = outer, None
        if stub is not None:
            for abstract in stub.iterchildren("abstract", "trans-abstract"):
                self.abstract(abstract, frame.path)
        self._section(element, frame, BlockKind.PARAGRAPH)

    # Floats

    def _wait(self, element: etree._Element) -> None:
        self.writer.frame.waiting.append(element)
        # A float between two words must not join them.
        self.pieces.append(" ")

    def _box(self, element: etree._Element) -> None:
        if self._depth:
            self._wait(element)
        else:
            self.container(element)

    def _note(self, element: etree._Element) -> None:
        if self._depth:
            self._wait(element)
        else:
            self._footnote(element)

    def _footnote(self, element: etree._Element) -> None:
        self._end()
        outer, self._kind = self._kind, BlockKind.FOOTNOTE
        flow(self, element)
        self._end()
        self._kind, self._prefix = outer, ""

    def _captioned_medium(self, element: etree._Element) -> None:
        """Leave a picture or film out of the text, but not its caption."""
        if element.find("caption") is None and (
            element.tag == "graphic" or element.find("label") is None
        ):
            return
        if self.writer.frame.floating:
            flow(self, element)
        else:
            self._wait(element)

    def _captioned(self, element: etree._Element) -> tuple[str, Span | None]:
        """Write the caption of a float as a section of its own; return label and place."""
        tag = element.tag
        label = caption = None
        for child in element:
            if child.tag == "label":
                label = child
            elif child.tag == "caption":
                caption = child
        if tag in _GROUPS and label is None and caption is None:
            flow(self, element)
            self._release()
            return "", None
        if label is None and tag == "supplementary-material":
            label = element.find("media/label")
        # The stop sets the label off from the caption; it is not part of the name.
        name = self._plain.text(label).rstrip(".: \u2002\u2003")
        path = (*self.writer.frame.path, name or _FLOAT_NAMES[tag])
        frame = Frame(path, SectionKind.CAPTION, locked=True, floating=tag)
        first = len(self.writer.blocks)
        self._section(element, frame, BlockKind.CAPTION)
        own = [
            block
            for block in self.writer.blocks[first:]
            if block.section == frame.ordinal and block.kind is not BlockKind.FOOTNOTE
        ]
        return name, Span(own[0].start, own[-1].end) if own else None

    def _figure(self, element: etree._Element) -> None:
        key = unique_key(element.get("id"), f"fig-{len(self.figures) + 1}", self._taken)
        place = len(self.figures)
        label, caption = self._captioned(element)
        self.figures.insert(place, Figure(key, label, caption, graphic_hrefs(element)))

    def _table(self, element: etree._Element) -> None:
        place = len(self.tables)
        label, caption = self._captioned(element)
        self._add_tables(self._read_tables(element, label, caption), place)

    def _stray_table(self, element: etree._Element) -> None:
        if self.writer.frame.floating != "table-wrap":
            self._wait(element)

    def _bare_table(self, element: etree._Element) -> None:
        self._add_tables(self._read_tables(element, "", None), len(self.tables))

    def _read_tables(
        self, element: etree._Element, label: str, caption: Span | None
    ) -> list[Table]:
        render = self._plain.text
        return read_tables(element, label, caption, text=render, warnings=self.warnings)

    def _add_tables(self, found: list[Table], place: int) -> None:
        for number, table in enumerate(found):
            key = unique_key(table.key, f"table-{len(self.tables) + 1}", self._taken)
            self.tables.insert(place + number, replace(table, key=key))

    # By tag. Plain functions, not bound methods: see ``TextSink``.
    handlers: ClassVar[Mapping[str, Handler]] = {
        **INLINE_HANDLERS,
        "p": _paragraph,
        "attrib": _paragraph,
        "code": _paragraph,
        "preformat": _paragraph,
        "verse-line": _paragraph,
        "xref": _marker,
        "sec": _subsection,
        "title": _stray_title,
        "label": _label,
        "speaker": _label,
        "list": _list,
        "list-item": _item,
        "def-list": _list,
        "def-item": _definition,
        "disp-quote": _quote,
        "verse-group": _quote,
        "disp-formula": _display_formula,
        **dict.fromkeys(_CONTAINERS, container),
        "boxed-text": _box,
        "fn": _note,
        "table-wrap-foot": _footnotes,
        **dict.fromkeys(_FLOAT_NAMES, _wait),
        "media": _captioned_medium,
        "graphic": _captioned_medium,
        **dict.fromkeys(TABLE_TAGS, _stray_table),
        "sub-article": sub_article,
        "response": sub_article,
        **dict.fromkeys(_SILENT, silent),
    }
    _floats: ClassVar[Mapping[str, Handler]] = {
        **dict.fromkeys(_FLOAT_NAMES, _captioned),
        **dict.fromkeys(TABLE_TAGS, _bare_table),
        "boxed-text": container,
        "fig": _figure,
        "fn": _footnote,
        "table-wrap": _table,
    }


def _heading_of(
    element: etree._Element,
) -> tuple[etree._Element | None, etree._Element | None]:
    """Return the title and label elements of a section-like element."""
    label = None
    for child in element:
        tag = child.tag
        if tag == "title":
            return child, label
        if tag == "label":
            label = child
        elif tag == "caption":
            return child.find("title"), label
        elif tag in ("p", "sec"):
            break
    return None, label
