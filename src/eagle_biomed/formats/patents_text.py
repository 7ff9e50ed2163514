"""The text of a patent in XML: abstract, description, claims, of any of the USPTO's dialects."""

from typing import TYPE_CHECKING

from eagle_biomed.formats.patents_math import greek, math_text
from eagle_biomed.formats.patents_tables import read_patent_table
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.xml_nodes import (
    attribute,
    children,
    first,
    inline_text,
    name_of,
    running_text,
)
from eagle_rag.model.document import BlockKind, SectionKind
from eagle_rag.ops.markup import fold_space
from eagle_rag.ops.outline import kind_of_title

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["CLAIMS", "PatentText"]

CLAIMS = "Claims"
_ABSTRACT = "Abstract"
_DESCRIPTION = "Description"
_ABSTRACTS = ("abstract", "subdoc-abstract", "SDOAB")
_DESCRIPTIONS = ("description", "subdoc-description", "SDODE")
_CLAIMS = ("claims", "subdoc-claims", "SDOCL", "us-claims")
_HEADINGS = frozenset({"heading", "H"})
_PARAGRAPHS = frozenset({"p", "paragraph", "PARA", "F"})
_LISTS = frozenset({"ul", "ol", "dl", "UL", "OL", "DL", "ordered-list", "unordered-list"})
_ITEMS = frozenset({"li", "dt", "dd", "LI", "DT", "DD", "list-item"})
_TABLES = frozenset({"tables", "table-cwu", "TABLE-US", "table"})
_CLAIM = frozenset({"claim", "CLM"})
_SPACED = frozenset(
    {"br", "claim-text", "CLMSTEP", "PARA", "p", "paragraph", "li", "LI", "F", "ul", "ol", "entry"}
)
# Titles of parts that may have no heading of their own.
_PARTS = {
    "cross-reference-to-related-applications": "Cross-Reference to Related Applications",
    "federal-research-statement": "Federal Research Statement",
    "background-of-invention": "Background of Invention",
    "summary-of-invention": "Summary of Invention",
    "brief-description-of-drawings": "Brief Description of Drawings",
    "description-of-drawings": "Description of Drawings",
    "brief-description-of-sequences": "Brief Description of Sequences",
    "detailed-description": "Detailed Description",
    "RELAPP": "Related Applications",
    "GOVINT": "Government Interest",
    "BRFSUM": "Brief Summary",
    "DRWDESC": "Description of Drawings",
    "DETDESC": "Detailed Description",
}


class PatentText:
    """Reads the parts of one patent into one text."""

    def __init__(self, text: SectionedText) -> None:
        """Start with the text everything goes to."""
        self.text = text
        self.claims = 0
        self._headings: list[tuple[int, str]] = []
        self._tables: list[etree._Element] = []
        self._special = {
            "math": math_text,
            **dict.fromkeys(_TABLES, self._later),
            **dict.fromkeys(("number", "image", "img", "EMI", "mathematica-file"), _nothing),
        }

    def read(self, root: "etree._Element") -> None:
        """Read abstract, description and claims, in this order."""
        for part in children(root, *_ABSTRACTS):
            self.text.open((_ABSTRACT,), SectionKind.ABSTRACT)
            self._walk(part)
        for part in children(root, *_DESCRIPTIONS):
            self._part(part, _DESCRIPTION)
        for part in children(root, *_CLAIMS):
            self._read_claims(root, part)

    def _part(self, element: "etree._Element", title: str) -> None:
        """Read a part; what stands before its first heading is in a section of the part's title."""
        self._headings = []
        self.text.open((title,), kind_of_title(title))
        self._walk(element)

    def _walk(self, element: "etree._Element") -> None:
        for child in element:
            name = name_of(child)
            if name in _PARTS:
                self._part(child, _PARTS[name])
            elif name in _HEADINGS:
                self._heading(child)
            elif name in _PARAGRAPHS:
                self._blocks(child, BlockKind.PARAGRAPH)
            elif name in _LISTS:
                self._list(child)
            elif name in _TABLES:
                self._table(child)
            elif name:
                self._walk(child)

    def _heading(self, element: "etree._Element") -> None:
        title = self._inline(element)
        level = attribute(element, (), "level") or attribute(element, (), "LVL")
        depth = int(level) if level in ("1", "2", "3", "4", "5", "6", "7", "8", "9") else 1
        if not title:
            return
        while self._headings and self._headings[-1][0] >= depth:
            self._headings.pop()
        self._headings.append((depth, title))
        path = tuple(one for _, one in self._headings)
        self.text.open(path, kind_of_title(title, top_level=len(path) == 1), heading=title)

    def _list(self, element: "etree._Element") -> None:
        for item in element:
            if name_of(item) in _ITEMS:
                self._blocks(item, BlockKind.LIST_ITEM)
            elif name_of(item):
                self._blocks(item, BlockKind.PARAGRAPH)

    def _blocks(self, element: "etree._Element", kind: BlockKind) -> None:
        """Add the text of a paragraph or item; lists inside it are blocks after what precedes them."""
        pieces = [element.text or ""]
        for child in element:
            name = name_of(child)
            if name in _LISTS:
                self._flush(pieces, kind)
                self._list(child)
            elif name in _PARAGRAPHS and name != "F":
                self._flush(pieces, kind)
                self._blocks(child, kind)
            else:
                pieces.append(running_text(child, spaced=_SPACED, special=self._special))
            pieces.append(child.tail or "")
        self._flush(pieces, kind)

    def _flush(self, pieces: list[str], kind: BlockKind) -> None:
        self.text.block(kind, greek(fold_space("".join(pieces))))
        pieces.clear()
        waiting, self._tables = self._tables, []
        for table in waiting:
            self._table(table)

    def _inline(self, element: "etree._Element") -> str:
        return greek(inline_text(element, spaced=_SPACED, special=self._special))

    def _later(self, element: "etree._Element") -> str:
        self._tables.append(element)
        return " "

    def _table(self, element: "etree._Element") -> None:
        for table in read_patent_table(element, self._inline):
            self.text.table(
                table.grid,
                key=attribute(element, (), "id") or attribute(element, (), "ID"),
                label=table.label,
                caption=table.caption,
                footnotes=table.notes,
            )

    def _read_claims(self, root: "etree._Element", part: "etree._Element") -> None:
        statement = first(root, "us-claim-statement")
        statement = first(part, "H") if statement is None else statement
        heading = "" if statement is None else self._inline(statement)
        self.text.open((CLAIMS,), SectionKind.BODY, heading=heading)
        for claim in part.iter():
            if name_of(claim) in _CLAIM:
                self.claims += 1
                self._flush([self._inline(claim)], BlockKind.PARAGRAPH)


def _nothing(element: "etree._Element") -> str:
    del element
    return ""
