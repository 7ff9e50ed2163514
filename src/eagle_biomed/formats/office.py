"""Word and PowerPoint files as documents: sections, paragraphs, lists, tables, captions, notes."""

from collections.abc import Iterator

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.layout_extra import load_reader
from eagle_biomed.formats.office_captions import Floats, caption_label
from eagle_biomed.formats.office_parts import Paragraph, WordFile, WordTable
from eagle_biomed.formats.office_zip import check_office
from eagle_biomed.formats.raster_captions import name_in_words
from eagle_biomed.formats.titles import is_generic_title, product_line
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    ParsedDocument,
    ParseOutcome,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.bibliography import is_reference_heading
from eagle_rag.ops.outline import Outline, kind_of_title

__all__ = ["parse_docx", "parse_pptx"]

_WORD = "eagle_biomed.formats.office_word"
_SLIDES = "eagle_biomed.formats.office_slides"
_MAX_HEADING = 120
_MAX_KNOWN_WORDS = 6
_BOLD_LEVEL = 2  # a line in bold stands below what has a heading's style
_SENTENCE_END = (".", ",", ";", ":", "?", "!")


def parse_docx(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a Word file.

    Raises:
        UnreadableDocument: ``extra-missing``, ``encrypted``, ``office-syntax``, ``too-large``,
            ``no-text``.
    """
    del tools
    reader = load_reader(source, _WORD)
    check_office(source)
    found = reader.read_word(source)
    outline, floats = Outline(), Floats()
    shown = next((part.text for part in found.parts if getattr(part, "style", "") == "title"), "")
    own = "" if is_generic_title(found.title) else found.title
    if not shown and own:
        outline.title(own)
    for part in found.parts:
        if isinstance(part, WordTable):
            floats.table(part.grid, heads=part.heads)
        else:
            _add_paragraph(outline, floats, part)
    title = "" if is_generic_title(shown) else shown
    title = title or own or product_line(_paragraphs(found))
    return _outcome(source, "docx", outline, floats, title=title)


def parse_pptx(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a presentation: a section ``Slide N: title`` for each slide.

    Raises:
        UnreadableDocument: As ``parse_docx``.
    """
    del tools
    reader = load_reader(source, _SLIDES)
    check_office(source)
    own, slides = reader.read_slides(source)
    title = "" if is_generic_title(own) else own
    outline, floats = Outline(), Floats()
    if title:
        outline.title(title)
    for slide in slides:
        if not (slide.title or slide.texts or slide.notes or slide.tables):
            continue
        name = f"Slide {slide.number}: {slide.title}" if slide.title else f"Slide {slide.number}"
        outline.heading(1, name)
        for text, listed in slide.texts:
            outline.block(BlockKind.LIST_ITEM if listed else BlockKind.PARAGRAPH, text)
        for grid in slide.tables:
            floats.table(grid, heads=1)
        if slide.notes:
            outline.heading(2, "Notes")
        for text in slide.notes:
            outline.block(BlockKind.PARAGRAPH, text)
    titles = (slide.title for slide in slides)
    first = next((each for each in titles if each and not is_generic_title(each)), "")
    return _outcome(source, "pptx", outline, floats, title=title or first)


def _paragraphs(found: WordFile) -> Iterator[str]:
    return (part.text for part in found.parts if isinstance(part, Paragraph))


def _add_paragraph(outline: Outline, floats: Floats, part: Paragraph) -> None:
    label = caption_label(part.text)
    if part.style == "title" and not outline.has_title:
        outline.title(part.text)
    elif part.style == "heading":
        outline.heading(part.level, part.text)
    elif part.style == "caption":
        span = outline.caption(label or part.text[:40], part.text)
        if span is not None and label:
            floats.caption(label, span)
        return
    elif part.style == "list":
        outline.block(BlockKind.LIST_ITEM, part.text)
    elif _is_heading(part):
        outline.heading(_BOLD_LEVEL, part.text)
    else:
        outline.block(BlockKind.PARAGRAPH, part.text)
    floats.text()


def _is_heading(part: Paragraph) -> bool:
    """Whether a paragraph without a heading's style is one: known words, or short and in bold."""
    text = part.text
    if len(text) > _MAX_HEADING or text.endswith(_SENTENCE_END):
        return False
    known = kind_of_title(text) is not SectionKind.BODY or is_reference_heading(text)
    return part.bold or (known and len(text.split()) <= _MAX_KNOWN_WORDS)


def _outcome(
    source: Source, kind: str, outline: Outline, floats: Floats, *, title: str
) -> ParseOutcome:
    text, sections, blocks = outline.finish()
    if not blocks and not floats.tables:
        raise UnreadableDocument(
            source.uri, "no-text", "the file holds no text", remedy="leave it out, or fill it"
        )
    return ParseOutcome(
        (
            ParsedDocument(
                source_uri=source.uri,
                member="",
                digest=source.digest,
                format=kind,
                metadata=DocumentMetadata(title=title or name_in_words(source.uri)),
                text=text,
                sections=sections,
                blocks=blocks,
                figures=tuple(floats.figures),
                tables=tuple(floats.tables),
                references=outline.references,
            ),
        )
    )
