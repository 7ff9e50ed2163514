"""PowerPoint presentations: slides with title, text, tables and notes, in reading order."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pptx
from pptx.exc import PythonPptxError

from eagle_biomed.formats.office_parts import Grid, Slide
from eagle_biomed.formats.office_zip import OFFICE_ERRORS, damaged_office
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["read_slides"]

Shape = Any
"""Anything on a slide; what python-pptx returns depends on what is there."""

_MAX_SLIDES = 5000
_MAX_PARAGRAPHS = 200_000
_MAX_DEPTH = 20  # of groups
_MAX_SIDE = 500  # cells of a table's side


def read_slides(source: Source) -> tuple[str, tuple[Slide, ...]]:
    """Return the title among the properties and the slides.

    Raises:
        UnreadableDocument: ``office-syntax``, ``too-large``.
    """
    slides: list[Slide] = []
    size = 0
    try:
        presentation = pptx.Presentation(BytesIO(source.data))
        title = presentation.core_properties.title or ""
        for number, slide in enumerate(presentation.slides, 1):
            slides.append(_slide(slide, number))
            size += len(slides[-1].texts) + len(slides[-1].notes)
            if len(slides) > _MAX_SLIDES or size > _MAX_PARAGRAPHS:
                break
    except (*OFFICE_ERRORS, PythonPptxError) as error:
        raise damaged_office(source, error) from error
    if len(slides) > _MAX_SLIDES or size > _MAX_PARAGRAPHS:
        raise UnreadableDocument(
            source.uri, "too-large", f"it has more than {_MAX_SLIDES} slides or {_MAX_PARAGRAPHS} paragraphs",
            remedy="split it",
        )  # fmt: skip
    return " ".join(title.split()), tuple(slides)


def _slide(slide: Shape, number: int) -> Slide:
    found = Slide(number)
    title = slide.shapes.title
    found.title = "" if title is None else _joined(title.text_frame)
    for shape in _shapes(slide.shapes, 0):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False):
            found.tables.append(_grid(shape.table))
        elif shape.has_text_frame:
            listed = shape.is_placeholder
            found.texts.extend((text, listed) for text in _paragraphs(shape.text_frame))
    if slide.has_notes_slide:
        frame = slide.notes_slide.notes_text_frame
        found.notes = [] if frame is None else list(_paragraphs(frame))
    return found


def _shapes(shapes: Shape, depth: int) -> Iterator[Shape]:
    """Yield the shapes of a slide, groups opened, from the top down and from the left."""
    placed = sorted(
        enumerate(shapes), key=lambda item: (item[1].top or 0, item[1].left or 0, item[0])
    )
    for _, shape in placed:
        inner = getattr(shape, "shapes", None)
        if inner is None:
            yield shape
        elif depth < _MAX_DEPTH:
            yield from _shapes(inner, depth + 1)


def _paragraphs(frame: Shape) -> Iterator[str]:
    for paragraph in frame.paragraphs:
        text = " ".join(paragraph.text.replace("\v", " ").split())
        if text:
            yield text


def _joined(frame: Shape) -> str:
    return " ".join(_paragraphs(frame))


def _grid(table: Shape) -> Grid:
    """Return a table's cells, a merged cell's text in all the places it covers."""
    height = min(len(table.rows), _MAX_SIDE)
    width = min(len(table.columns), _MAX_SIDE)
    texts = [["" for _ in range(width)] for _ in range(height)]
    for row in range(height):
        for column in range(width):
            cell = table.cell(row, column)
            if cell.is_spanned:
                continue
            text = _joined(cell.text_frame)
            below = cell.span_height if cell.is_merge_origin else 1
            beside = cell.span_width if cell.is_merge_origin else 1
            for down in range(row, min(height, row + below)):
                for right in range(column, min(width, column + beside)):
                    texts[down][right] = text
    return tuple(map(tuple, texts))
