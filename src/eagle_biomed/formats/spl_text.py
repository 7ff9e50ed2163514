"""The text of a drug label: sections with their whole path, tables, lists, footnotes, pictures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.spl_codes import REFERENCES_CODE, is_boxed, section_title
from eagle_biomed.formats.spl_tables import NOTE_MARKS, float_label, read_label_table
from eagle_biomed.formats.xml_nodes import (
    attribute,
    children,
    first,
    inline_text,
    name_of,
    running_text,
)
from eagle_rag.model.document import BlockKind, Figure, Reference, SectionKind
from eagle_rag.ops.bibliography import read_entry
from eagle_rag.ops.markup import fold_space
from eagle_rag.ops.outline import kind_of_title

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["LabelText"]

_SPACED = frozenset({"br", "paragraph", "item", "list", "table", "caption", "tr", "td", "th"})
_HIGHLIGHTS = "Highlights"


@dataclass(frozen=True, slots=True)
class _Frame:
    """A section's place: titles from the root, their LOINC codes one for one, and its kind."""

    path: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    kind: SectionKind = SectionKind.BODY

    def below(self, title: str, code: str, kind: SectionKind) -> "_Frame":
        """Return the place of a section inside this one; without a title it adds nothing to the path."""
        if not title:
            return _Frame(self.path, self.codes, kind)
        return _Frame((*self.path, title), (*self.codes, code), kind)


class LabelText:
    """Reads the sections of one label into one text."""

    def __init__(self, text: SectionedText, media: dict[str, str]) -> None:
        """Start with an empty text.

        Args:
            text: Where everything goes.
            media: Picture files by the id they are referred to.
        """
        self.text = text
        self.figures: list[Figure] = []
        self.references: list[Reference] = []
        self._media = media
        self._waiting: list[etree._Element] = []
        self._figure_keys: set[str] = set()
        self._notes: list[str] = []
        self._marks: dict[str, str] = {}
        self._special = {
            "footnote": self._footnote,
            "footnoteRef": self._footnote_mark,
            "renderMultiMedia": self._picture,
        }

    def section(self, element: "etree._Element", around: _Frame | None = None) -> None:
        """Read a section and the sections inside it.

        Args:
            element: The section.
            around: Where it stands; ``None`` for the body of the label.
        """
        outer = around or _Frame()
        code = attribute(element, ("code",), "code")
        written = first(element, "title")
        heading = "" if written is None else self._inline(written)
        title = heading or section_title(code, attribute(element, ("code",), "displayName"))
        kind = kind_of_title(title, outer.kind, top_level=not outer.path)
        if is_boxed(code):
            kind = SectionKind.BOXED_TEXT
        frame = outer.below(title, code, kind)
        if code != REFERENCES_CODE or not self._bibliography(element):
            self.text.open(frame.path, kind, heading=heading, codes=frame.codes)
            for body in children(element, "text"):
                self._body(body)
        for excerpt in children(element, "excerpt"):
            self._excerpt(excerpt, frame)
        for component in children(element, "component"):
            for inner in children(component, "section"):
                self.section(inner, frame)

    def _excerpt(self, excerpt: "etree._Element", frame: _Frame) -> None:
        """Read what the highlights page says about a section, in a section of its own."""
        bodies = [
            body
            for highlight in children(excerpt, "highlight")
            for body in children(highlight, "text")
        ]
        if bodies:
            self.text.open((*frame.path, _HIGHLIGHTS), frame.kind, codes=frame.codes)
        for body in bodies:
            self._body(body)

    def _bibliography(self, element: "etree._Element") -> bool:
        """Read the entries of the section of references, which are not part of the text.

        Returns:
            Whether there were any.
        """
        entries = [
            one
            for body in children(element, "text")
            for one in body.iter()
            if name_of(one) in ("item", "paragraph")
            and not any(name_of(inner) in ("item", "paragraph") for inner in one)
        ]
        for entry in entries:
            raw = self._inline(entry)
            if raw:
                key = f"ref-{len(self.references) + 1}"
                self.references.append(read_entry(raw, key=key))
        return bool(entries)

    def _body(self, body: "etree._Element") -> None:
        self._blocks(body, BlockKind.PARAGRAPH)
        notes, self._notes = self._notes, []
        self._marks.clear()
        for note in notes:
            self.text.block(BlockKind.FOOTNOTE, note)

    def _blocks(self, element: "etree._Element", kind: BlockKind) -> None:
        """Add the blocks of a container; text directly in it is a block of the given kind."""
        pieces = [element.text or ""]
        for child in element:
            name = name_of(child)
            if name in ("paragraph", "list", "table"):
                self._flush(pieces, kind)
                self._child(child, name, kind)
            else:
                pieces.append(running_text(child, spaced=_SPACED, special=self._special))
            pieces.append(child.tail or "")
        self._flush(pieces, kind)

    def _child(self, child: "etree._Element", name: str, kind: BlockKind) -> None:
        if name == "paragraph":
            self._blocks(child, kind)
        elif name == "table":
            self._table(child)
        else:
            caption = first(child, "caption")
            if caption is not None:
                self.text.paragraph(self._inline(caption))
            for item in children(child, "item"):
                self._blocks(item, BlockKind.LIST_ITEM)

    def _flush(self, pieces: list[str], kind: BlockKind) -> None:
        self.text.block(kind, fold_space("".join(pieces)))
        pieces.clear()
        waiting, self._waiting = self._waiting, []
        for picture in waiting:
            self._figure(picture)

    def _inline(self, element: "etree._Element") -> str:
        return inline_text(element, spaced=_SPACED, special=self._special)

    def _footnote(self, element: "etree._Element") -> str:
        place = len(self._notes)
        mark = NOTE_MARKS[place % len(NOTE_MARKS)] * (place // len(NOTE_MARKS) + 1)
        self._marks[element.get("ID") or ""] = mark
        self._notes.append("")  # its place, before a note inside it takes one
        self._notes[place] = f"{mark} {self._inline(element)}"
        return mark

    def _footnote_mark(self, element: "etree._Element") -> str:
        return self._marks.get(element.get("IDREF") or "", "")

    def _picture(self, element: "etree._Element") -> str:
        self._waiting.append(element)
        return ""

    def _figure(self, element: "etree._Element") -> None:
        target = element.get("referencedObject") or ""
        caption = first(element, "caption")
        words = "" if caption is None else self._inline(caption)
        label = float_label(words)
        span = self.text.caption(label or "Figure", words) if words else None
        key = target
        while not key or key in self._figure_keys:
            key = f"fig-{len(self._figure_keys) + 1}" if key == target else f"{key}-2"
        self._figure_keys.add(key)
        file = self._media.get(target, "")
        self.figures.append(Figure(key, label, span, (file,) if file else ()))

    def _table(self, element: "etree._Element") -> None:
        outer_notes, self._notes = self._notes, []
        outer_marks, self._marks = self._marks, {}
        caption = first(element, "caption")
        words = "" if caption is None else self._inline(caption)
        table = read_label_table(element, self._inline)
        words = " ".join(filter(None, (words, table.caption)))
        self.text.table(
            table.grid,
            key=element.get("ID") or "",
            label=float_label(words),
            caption=words,
            footnotes=(*table.notes, *self._notes),
        )
        self._notes, self._marks = outer_notes, outer_marks
        self._flush([], BlockKind.PARAGRAPH)
