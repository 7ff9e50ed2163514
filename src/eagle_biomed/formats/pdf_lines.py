"""PDF bytes to lines of text with their size, weight and place; all that touches PDFium.

Lines come in the order of the page's content stream, which is the order that programs write them in:
column after column. PDFium is not safe in threads, so one lock guards it.
"""

import ctypes
from threading import Lock

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]  # it ships no py.typed
from pypdfium2 import (
    PdfDocument,
    PdfiumError,
    PdfTextPage,
)

from eagle_biomed.formats.pdf_text import Line, PdfText
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["read_lines"]

_MAX_PAGES = 3000
_MAX_CHARACTERS = 8_000_000
_BOLD = 600  # of 900; PDFium guesses 400 and 700 from the font's name where it is not said
_NEWLINES = frozenset({10, 13})
_BROKEN = frozenset({0x02, 0xFFFE})  # what PDFium puts for a hyphen and the line's end behind it
_HYPHENS = _BROKEN | {0xAD}
_LIGATURES = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st",
    0xFB06: "st",
}  # fmt: skip
_SPACES = frozenset({0x09, 0x20, 0xA0})
_LOCK = Lock()


def read_lines(source: Source) -> PdfText:
    """Return the lines of a PDF.

    Raises:
        UnreadableDocument: ``encrypted``, ``pdf-syntax``, ``too-large`` (pages or characters).
    """
    with _LOCK:
        document = _open(source)
        try:
            return _read(source, document)
        finally:
            document.close()


def _open(source: Source) -> PdfDocument:
    code = 0
    try:
        return PdfDocument(source.data)
    except PdfiumError as error:
        code = error.err_code or 0
    except (ValueError, TypeError, OSError):
        code = 0
    if code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
        raise UnreadableDocument(
            source.uri, "encrypted", "the PDF asks for a password",
            remedy="save it without a password",
        )  # fmt: skip
    raise UnreadableDocument(
        source.uri,
        "pdf-syntax",
        "the PDF is damaged or has no page",
        remedy="fetch it anew, or print it to a new PDF",
    )


def _read(source: Source, document: PdfDocument) -> PdfText:
    pages = len(document)
    if pages > _MAX_PAGES:
        raise _too_large(source, f"{pages} pages are more than {_MAX_PAGES}")
    lines: list[Line] = []
    unreadable = []
    left = _MAX_CHARACTERS
    for number in range(pages):
        try:
            page = document[number]
            text = page.get_textpage()
        except PdfiumError:
            unreadable.append(number)
            continue
        left -= text.count_chars()
        if left < 0:
            raise _too_large(source, f"it has more than {_MAX_CHARACTERS} characters")
        lines.extend(_page_lines(text, number))
        text.close()
        page.close()
    return PdfText(tuple(lines), pages, _title(document), tuple(unreadable))


def _too_large(source: Source, message: str) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri, "too-large", message, remedy="split the PDF into its chapters"
    )


def _title(document: PdfDocument) -> str:
    try:
        value = document.get_metadata_value("Title")
    except (PdfiumError, ValueError):
        return ""
    return " ".join(value.split()) if value.isprintable() else ""


def _page_lines(text: PdfTextPage, page: int) -> list[Line]:
    codes = [pdfium.FPDFText_GetUnicode(text, at) for at in range(text.count_chars())]
    lines: list[Line] = []
    start = 0
    for at in range(len(codes) + 1):
        broken = (
            at < len(codes) and codes[at] in _BROKEN
        )  # the hyphen is the line's last character
        if at == len(codes) or codes[at] in _NEWLINES or broken:
            line = _line(text, codes, start, at + broken, page=page)
            if line is not None:
                lines.append(line)
            start = at + 1
    return lines


def _line(text: PdfTextPage, codes: list[int], start: int, end: int, *, page: int) -> Line | None:
    while start < end and codes[start] in _SPACES:
        start += 1
    while end > start and codes[end - 1] in _SPACES:
        end -= 1
    shown = _characters(codes[start:end])
    if not shown:
        return None
    left, bottom, _, top = text.get_charbox(start, loose=True)
    right = text.get_charbox(end - 1, loose=True)[2]
    return Line(
        text=shown,
        page=page,
        size=round(2 * abs(top - bottom)) / 2,
        bold=_is_bold(text, start) and _is_bold(text, end - 1),
        left=left,
        right=right,
        bottom=bottom,
    )


def _is_bold(text: PdfTextPage, at: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(text, at) >= _BOLD:
        return True
    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text, at, name, len(name), flags)
    return b"bold" in name.value.lower()


def _characters(codes: list[int]) -> str:
    """Return code units as text: surrogates joined, ligatures undone, controls left out."""
    parts = []
    high = 0
    for code in codes:
        if 0xD800 <= code < 0xDC00:  # noqa: PLR2004 - UTF-16 high surrogates
            high = code
            continue
        if 0xDC00 <= code < 0xE000:  # noqa: PLR2004 - UTF-16 low surrogates
            if high:
                parts.append(chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00))
        elif code in _HYPHENS:
            parts.append("-")
        elif code in _LIGATURES:
            parts.append(_LIGATURES[code])
        else:
            parts.append(chr(code) if code >= 0x20 and code != 0x7F else " ")  # noqa: PLR2004 - controls
        high = 0
    return " ".join("".join(parts).split())
