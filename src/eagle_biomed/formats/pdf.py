"""PDF: the text of every page in reading order, sections by the look of headings.

The canonical text is built from the extracted lines (``pdf_layout`` says how they are joined); where each
page begins in it is kept among the properties. Pictures and cells of tables are not read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.layout_extra import load_reader
from eagle_biomed.formats.pdf_layout import Piece, PieceKind, pieces_of, without_running_lines
from eagle_biomed.formats.pdf_text import PdfText
from eagle_biomed.formats.raster_captions import name_in_words
from eagle_biomed.formats.titles import is_generic_title, product_line
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    Block,
    BlockKind,
    Figure,
    ParsedDocument,
    ParseOutcome,
    Source,
    Span,
    Table,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.bibliography import is_reference_heading
from eagle_rag.ops.outline import Outline

__all__ = ["parse"]

_LINES = "eagle_biomed.formats.pdf_lines"
_MIN_LETTERS = 20  # fewer on all pages: a scan with a stamp on it
_FILE_NAME = re.compile(
    r"\.(?:docx?|pptx?|pdf|indd|tex|dvi|rtf|qxd)$|^(?:untitled|microsoft word)", re.I
)
_MAX_TITLE = 300


@dataclass(slots=True)
class _Draft:
    """The document as far as it is read."""

    outline: Outline = field(default_factory=Outline)
    standing: list[Piece] = field(default_factory=list)  # those that became blocks, in order
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    reference_level: int = 0


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a PDF.

    Raises:
        UnreadableDocument: ``extra-missing``, ``encrypted``, ``pdf-syntax``, ``too-large``, and
            ``no-text`` for scans.
    """
    del tools
    found = load_reader(source, _LINES).read_lines(source)
    letters = sum(1 for line in found.lines for letter in line.text if letter.isalnum())
    if letters < _MIN_LETTERS:
        raise UnreadableDocument(
            source.uri, "no-text", f"its {found.pages} pages hold {letters} letters: this is a scan",
            remedy="run it through text recognition (OCR) first",
        )  # fmt: skip
    return ParseOutcome((_document(source, found),))


def _document(source: Source, found: PdfText) -> ParsedDocument:
    lines = without_running_lines(found.lines, found.pages)
    pieces = tuple(pieces_of(lines))
    shown = next((piece.text for piece in pieces if piece.kind is PieceKind.TITLE), "")
    own = _own_title(found.title)
    candidates = (shown, own, product_line(line.text for line in lines), _first_heading(pieces))
    named = (each for each in candidates if each and not is_generic_title(each))
    title = next(named, "") or name_in_words(source.uri)
    draft = _Draft()
    if not shown and title == own:
        draft.outline.title(title)
        draft.standing.append(Piece(PieceKind.TITLE, title, ()))
    for piece in pieces:
        if _add(draft, piece):
            draft.standing.append(piece)
    text, sections, blocks = draft.outline.finish()
    starts = _page_starts(draft.standing, blocks, found.pages)
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="pdf",
        metadata=DocumentMetadata(
            title=title[:_MAX_TITLE],
            properties=(
                ("page_starts", starts),
                ("pages", str(found.pages)),
            ),
        ),
        text=text,
        sections=sections,
        blocks=blocks,
        figures=tuple(draft.figures),
        tables=tuple(draft.tables),
        references=draft.outline.references,
        warnings=_warnings(found),
    )


def _own_title(title: str) -> str:
    """Return the title of the file's properties, unless it is a file name or one word."""
    plain = " ".join(title.split())
    return "" if " " not in plain or _FILE_NAME.search(plain) else plain[:_MAX_TITLE]


def _first_heading(pieces: Sequence[Piece]) -> str:
    """Return the heading a document begins with; a later one is of a section."""
    return next((piece.text for piece in pieces[:1] if piece.kind is PieceKind.HEADING), "")


def _add(draft: _Draft, piece: Piece) -> bool:
    """Add a piece; return whether it became a block, as references do not."""
    outline = draft.outline
    if piece.kind is PieceKind.TITLE:
        outline.title(piece.text)
        return True
    if piece.kind is PieceKind.HEADING:
        outline.heading(piece.level, piece.text)
        if draft.reference_level and piece.level > draft.reference_level:
            return False
        draft.reference_level = piece.level if is_reference_heading(piece.text) else 0
        return not draft.reference_level
    if piece.kind is PieceKind.CAPTION:
        span = outline.caption(piece.label, piece.text)
        _add_float(draft, piece.label, span)
        return span is not None
    kind = BlockKind.LIST_ITEM if piece.kind is PieceKind.LIST_ITEM else BlockKind.PARAGRAPH
    return outline.block(kind, piece.text) is not None


def _add_float(draft: _Draft, label: str, span: Span | None) -> None:
    if "table" in label.lower():
        key = f"table-{len(draft.tables) + 1}"
        draft.tables.append(Table(key, label, span, (), (), (), no_cells=True))
    else:
        draft.figures.append(Figure(f"fig-{len(draft.figures) + 1}", label, span, ()))


def _page_starts(standing: Sequence[Piece], blocks: Sequence[Block], pages: int) -> str:
    """Return where each page begins in the text, joined by commas.

    A page without text, or with nothing but references, begins where the next one does.
    """
    known: dict[int, int] = {}
    for piece, block in zip(standing, blocks, strict=True):
        for page, offset in piece.pages:
            known.setdefault(page, block.start + offset)
    starts: list[int] = []
    following = blocks[-1].end if blocks else 0
    for page in reversed(range(pages)):
        following = min(following, known.get(page, following))
        starts.append(following)
    return ",".join(map(str, reversed(starts)))


def _warnings(found: PdfText) -> tuple[str, ...]:
    with_text = {line.page for line in found.lines}
    warnings = []
    if found.unreadable:
        warnings.append(f"{len(found.unreadable)} of {found.pages} pages could not be loaded")
    empty = found.pages - len(with_text) - len(found.unreadable)
    if empty > 0:
        warnings.append(f"{empty} of {found.pages} pages hold no text: they may be pictures")
    return tuple(warnings)
