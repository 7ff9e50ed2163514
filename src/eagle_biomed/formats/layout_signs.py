"""How PDF, Word and PowerPoint files are told: by their first bytes, else by their name."""

from eagle_rag.model.document import Source

__all__ = ["OLE", "ZIP", "accepts_docx", "accepts_pdf", "accepts_pptx"]

ZIP = b"PK\x03\x04"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of the old office formats, and of new ones that are encrypted."""

_PDF = b"%PDF-"
_PDF_WITHIN = 1024  # readers look for the header there, though the standard wants it first
_DIRECTORY_BYTES = 1 << 16  # the list of a zip file's members is at its end


def accepts_pdf(source: Source) -> bool:
    """Whether the bytes begin like a PDF, or the name says PDF and the bytes are not markup."""
    head = source.data[:_PDF_WITHIN]
    if head.startswith(_PDF):
        return True
    named = source.uri.lower().endswith(".pdf")
    return named and (_PDF in head or not head.lstrip().startswith(b"<"))


def accepts_docx(source: Source) -> bool:
    """Whether it is a Word document (``.docx``, ``.docm``) by its members or its name."""
    return _is_office(source, (".docx", ".docm"), b"word/document.xml")


def accepts_pptx(source: Source) -> bool:
    """Whether it is a PowerPoint presentation (``.pptx``, ``.pptm``) by its members or its name."""
    return _is_office(source, (".pptx", ".pptm"), b"ppt/presentation.xml")


def _is_office(source: Source, endings: tuple[str, ...], member: bytes) -> bool:
    if source.uri.lower().endswith(endings):
        return True
    return source.data.startswith(ZIP) and member in source.data[-_DIRECTORY_BYTES:]
