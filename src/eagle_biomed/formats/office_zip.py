"""Office files are zip archives: their members are counted and measured before a library opens them."""

import zipfile
import zlib
from io import BytesIO

from eagle_biomed.formats.layout_signs import OLE
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["OFFICE_ERRORS", "check_office", "damaged_office"]

_MAX_MEMBERS = 20_000
_MAX_BYTES = 512 << 20  # of all members; pictures are the most of it, and they are not read
_MAX_XML_BYTES = 64 << 20  # of one XML member: a thousand pages of text have 10 MB
_CHUNK = 1 << 20

OFFICE_ERRORS = (
    zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, OSError,
    EOFError, LookupError, NotImplementedError, RuntimeError, RecursionError, OverflowError,
    AssertionError, MemoryError, zlib.error, SyntaxError,
)  # fmt: skip
"""What the libraries, ``zipfile`` and lxml (whose syntax error is a ``SyntaxError``) were seen to raise."""


def check_office(source: Source) -> None:
    """Refuse what is no zip archive, is encrypted, or unpacks to too much.

    The declared sizes are what the archive's maker claims, so XML members are unpacked here in pieces.

    Raises:
        UnreadableDocument: ``encrypted``, ``office-syntax``, ``too-large``.
    """
    if source.data.startswith(OLE):
        raise UnreadableDocument(
            source.uri, "encrypted", "the file is encrypted, or in the format of before 2007",
            remedy="save it without a password as .docx or .pptx",
        )  # fmt: skip
    try:
        with zipfile.ZipFile(BytesIO(source.data)) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS or sum(m.file_size for m in members) > _MAX_BYTES:
                raise _too_large(source)
            if any(member.flag_bits & 1 for member in members):
                raise UnreadableDocument(
                    source.uri, "encrypted", "its members are encrypted",
                    remedy="save it without a password",
                )  # fmt: skip
            for member in members:
                _measure(source, archive, member)
    except OFFICE_ERRORS as error:
        if isinstance(error, UnreadableDocument):
            raise
        raise damaged_office(source, error) from error


def damaged_office(source: Source, error: Exception) -> UnreadableDocument:
    """Return the error for a file that a library cannot read."""
    return UnreadableDocument(
        source.uri, "office-syntax", f"the office file is damaged ({type(error).__name__})",
        remedy="open it in an office program and save it anew",
    )  # fmt: skip


def _measure(source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    if not member.filename.lower().endswith((".xml", ".rels")):
        if member.file_size > _MAX_BYTES:
            raise _too_large(source)
        return
    size = 0
    with archive.open(member) as stream:
        while piece := stream.read(_CHUNK):
            size += len(piece)
            if size > _MAX_XML_BYTES:
                raise _too_large(source)


def _too_large(source: Source) -> UnreadableDocument:
    return UnreadableDocument(
        source.uri, "too-large", "it unpacks to more than an office file has", remedy="split it"
    )
