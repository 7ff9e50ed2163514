"""Pictures (PNG, JPEG, TIFF, GIF, BMP, WebP) with what is known of them as text.

Of what cameras and programs write into a picture only its title and description are read: no place, no
owner, no serial number. The kept picture is encoded anew from its pixels.
"""

import struct
import zlib
from contextlib import nullcontext
from io import BytesIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.raster_captions import Caption, name_in_words, owner, sidecar
from eagle_biomed.formats.raster_png import (
    LONGEST_SIDE,
    MAX_PIXELS,
    percentile_window,
    png_of,
    scale_to_bytes,
)
from eagle_biomed.formats.raster_quiet import quiet, without_stderr
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    Figure,
    ParsedDocument,
    ParseOutcome,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import VisualAsset
from eagle_rag.ops.outline import CanonicalText

__all__ = ["parse", "pictures"]

_KEY = "picture"
_KINDS = ("PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP")
_ERRORS = (
    UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError,
    TypeError, KeyError, IndexError, AttributeError, EOFError, OverflowError, ArithmeticError,
    MemoryError, NotImplementedError, RuntimeError, AssertionError, struct.error, zlib.error,
)  # fmt: skip
_IMAGE_DESCRIPTION, _EXIF_TITLE = 270, 40091  # TIFF 6.0; Windows' XPTitle, UTF-16
_PNG_TEXTS = ("Title", "Description", "Caption")
_MAX_EMBEDDED = 4000
_DEEP_MODES = frozenset({"I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
_GREY_MODES = frozenset({"1", "L", "LA"})


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a picture.

    Raises:
        UnreadableDocument: ``part-of-document`` when a paper beside it names it as its figure;
            ``empty``, ``not-a-picture``, ``too-many-pixels``, ``damaged-picture``.
    """
    del tools
    paper = owner(source)
    if paper:
        raise UnreadableDocument(
            source.uri, "part-of-document", f"the picture is a figure of {paper} beside it",
            remedy=f"it is taken in with {paper}",
        )  # fmt: skip
    with quiet("PIL"):
        image = _open(source)
        size, kind = image.size, str(image.format or "")
        embedded = _embedded(image)
        several = _has_more(image)
        _decoded(source)
    return ParseOutcome((_document(source, embedded, size, kind, several=several),))


def pictures(document: ParsedDocument, source: Source) -> tuple[VisualAsset, ...]:
    """Return the picture, as PNG without metadata."""
    if not document.figures:
        return ()
    with quiet("PIL"):
        data = png_of(_decoded(source))
    span = document.figures[0].caption
    caption = "" if span is None else document.text[span.start : span.end]
    return (VisualAsset(_KEY, "image/png", data, caption),)


def _open(source: Source) -> Image.Image:
    if not source.data:
        raise UnreadableDocument(
            source.uri, "empty", "the file holds nothing", remedy="remove it or fetch it anew"
        )
    failed = ""
    try:
        image = Image.open(BytesIO(source.data), formats=_KINDS)
    except Image.DecompressionBombError:
        raise _too_many(source, "more than twice the limit of") from None
    except _ERRORS as error:
        failed = type(error).__name__
    if failed:
        raise UnreadableDocument(
            source.uri, "not-a-picture", f"this is not readable as a picture ({failed})",
            remedy="convert it to PNG, JPEG or TIFF",
        )  # fmt: skip
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise _too_many(source, f"{width} x {height} are more than")
    return image


def _too_many(source: Source, much: str) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri, "too-many-pixels", f"{much} {MAX_PIXELS} pixels",
        remedy="scale the picture down, or cut it into tiles",
    )  # fmt: skip


def _decoded(source: Source) -> Image.Image:
    """Return the first frame, 8 bits, grey or RGB, about as large as it is kept."""
    image = _open(source)
    failed = ""
    silence = without_stderr() if image.format == "TIFF" else nullcontext()
    try:
        image.draft(None, (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG is decoded smaller, and quicker
        with silence:
            return _eight_bits(image)
    except _ERRORS as error:
        failed = type(error).__name__
    raise UnreadableDocument(
        source.uri, "damaged-picture", f"its pixels cannot be decoded ({failed})",
        remedy="fetch the file anew",
    )  # fmt: skip


def _eight_bits(image: Image.Image) -> Image.Image:
    if image.mode in _DEEP_MODES:
        values = np.asarray(image)
        low, high = percentile_window(values)
        if not low < high or not np.isfinite(high - low):
            return Image.new("L", image.size)
        return Image.fromarray(scale_to_bytes(values, low, high))
    if image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info:
        # Drawings with a transparent ground are black on nothing: the ground is paper.
        layered = image.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        paper.alpha_composite(layered)
        return paper.convert("L" if image.mode in _GREY_MODES else "RGB")
    return image.convert("L" if image.mode in _GREY_MODES else "RGB")


def _has_more(image: Image.Image) -> bool:
    """Whether there is a second frame; the others are not counted, as a file can claim any number."""
    try:
        image.seek(1)
    except _ERRORS:
        return False
    return True


def _embedded(image: Image.Image) -> Caption:
    """Return the title and description written into a picture."""
    try:
        texts = {name: image.info.get(name) for name in _PNG_TEXTS}
        exif = image.getexif()
        described = exif.get(_IMAGE_DESCRIPTION)
        titled = exif.get(_EXIF_TITLE)
    except _ERRORS:
        return Caption()
    title = _line(texts["Title"]) or _line(titled)
    text = _line(texts["Description"]) or _line(texts["Caption"]) or _line(described)
    return Caption("" if title == text else title, text)


def _line(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-16-le", "ignore")
    if not isinstance(value, str):
        return ""
    line = " ".join(value.replace("\0", " ").split())[:_MAX_EMBEDDED]
    return line if line.isprintable() else ""


def _document(
    source: Source, embedded: Caption, size: tuple[int, int], kind: str, *, several: bool
) -> ParsedDocument:
    beside = sidecar(source)
    known = beside or embedded
    named = name_in_words(source.uri)
    title = known.title or embedded.title or named or "Picture"
    caption = known.text or embedded.text or title
    if known.modality and known.modality.casefold() not in caption.casefold():
        caption = f"{known.modality}. {caption}"
    text = CanonicalText()
    if title != caption:
        text.add(BlockKind.TITLE, title, text.open_section((), SectionKind.TITLE))
    section = text.open_section(("Picture",), SectionKind.CAPTION)
    span = text.add(BlockKind.CAPTION, caption, section)
    canonical, sections, blocks = text.finish()
    properties = {"file_format": kind, "height_px": str(size[1]), "width_px": str(size[0])}
    if known.modality:
        properties["modality"] = known.modality
    frames = "only the first of several frames is kept"
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="picture",
        metadata=DocumentMetadata(
            title=title,
            article_type="picture",
            properties=tuple(sorted(properties.items())),
        ),
        text=canonical,
        sections=sections,
        blocks=blocks,
        figures=(Figure(_KEY, "", span, ()),),
        warnings=(frames,) if several else (),
    )
