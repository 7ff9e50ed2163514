"""DICOM bytes to a data set that holds nothing but allowed elements.

pydicom's warnings, log records and exceptions quote values; all three are kept from leaving here.
"""

import zlib
from io import BytesIO

from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.filereader import read_partial
from pydicom.tag import BaseTag, Tag
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
)

from eagle_biomed.formats.dicom_fields import CARD_FIELDS, CONTENT_KEYWORDS, PIXEL_KEYWORDS
from eagle_biomed.formats.dicom_signs import PREFIX_AT, is_dicom_file
from eagle_biomed.formats.dicom_values import DICOM_ERRORS, text_of
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source

__all__ = ["read_dicom"]

_MAX_INFLATED = 128 << 20
_MAX_ELEMENTS = 1_000_000
_LONG_LENGTHS = frozenset({b"OB", b"OW", b"UN", b"SQ", b"UT"})
_KEYWORDS = (*(card.keyword for card in CARD_FIELDS), *CONTENT_KEYWORDS, *PIXEL_KEYWORDS)


class _Counter:
    """Stops reading after more elements than any image has: each takes two microseconds."""

    def __init__(self) -> None:
        self._left = _MAX_ELEMENTS

    def __call__(self, tag: BaseTag, vr: str | None, length: int) -> bool:
        """Count an element; never stops at one."""
        del tag, vr, length
        self._left -= 1
        if self._left < 0:
            message = "too many elements"
            raise OverflowError(message)
        return False


def read_dicom(source: Source) -> Dataset:
    """Return the allowed elements of a file; everything else stays unread.

    A file without preamble is tried all the same. Call it within ``quiet("pydicom")``.

    Raises:
        UnreadableDocument: ``empty``, ``not-dicom``, ``too-large`` (unpacked), ``dicom-syntax``.
    """
    data = source.data
    if not data.strip(b"\0"):
        raise UnreadableDocument(
            source.uri, "empty", f"the file holds nothing ({len(data)} bytes)",
            remedy="fetch the file anew",
        )  # fmt: skip
    _check_inflated(source)
    failed = ""
    dataset = Dataset()
    try:
        dataset = read_partial(
            BytesIO(data), _Counter(), force=True, specific_tags=list(map(Tag, _KEYWORDS))
        )
        _complete(dataset)
    except DICOM_ERRORS as error:
        failed = type(error).__name__
    if failed:  # outside of the handler: the library's message must not hang on as context
        raise _unreadable(source, failed)
    return dataset


def _unreadable(source: Source, failed: str) -> UnreadableDocument:
    reason = "dicom-syntax" if is_dicom_file(source.data) else "not-dicom"
    return UnreadableDocument(
        source.uri, reason, f"this is not readable as DICOM ({failed})",
        remedy="export the file anew",
    )  # fmt: skip


def _complete(dataset: Dataset) -> None:
    """Give a file without a transfer syntax the one it was read by; the decoder asks for it."""
    meta = getattr(dataset, "file_meta", None)
    if meta is None:
        meta = FileMetaDataset()
        dataset.file_meta = meta
    if not text_of(meta, "TransferSyntaxUID"):
        implicit, little = dataset.original_encoding
        explicit = ExplicitVRLittleEndian if little in {True, None} else ExplicitVRBigEndian
        meta.TransferSyntaxUID = ImplicitVRLittleEndian if implicit else explicit


def _check_inflated(source: Source) -> None:
    """Refuse a deflated file that unpacks to too much: pydicom unpacks it whole.

    Raises:
        UnreadableDocument: ``too-large``.
    """
    data = source.data
    if DeflatedExplicitVRLittleEndian.encode() not in data:
        return
    syntax, start = _meta_syntax(data)
    if syntax and syntax != str(DeflatedExplicitVRLittleEndian):
        return
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    too_large = not syntax
    if not too_large:
        try:
            unpacker.decompress(data[start:], _MAX_INFLATED)
            too_large = bool(unpacker.unconsumed_tail)
        except zlib.error:
            return  # pydicom fails on it too, without taking memory
    if too_large:
        raise UnreadableDocument(
            source.uri, "too-large", f"the deflated file unpacks to more than {_MAX_INFLATED} bytes",
            remedy="export the file in another transfer syntax",
        )  # fmt: skip


def _meta_syntax(data: bytes) -> tuple[str, int]:
    """Return the transfer syntax that the file meta group names, and where the group ends.

    The group is always explicit VR little endian (PS3.10, 7.1). Both are empty when it is not.
    """
    at, syntax = PREFIX_AT + 4, ""
    while data[at : at + 2] == b"\x02\x00" and at + 12 <= len(data):
        long = data[at + 4 : at + 6] in _LONG_LENGTHS
        length = int.from_bytes(
            data[at + 8 : at + 12] if long else data[at + 6 : at + 8], "little"
        )
        value = at + (12 if long else 8)
        if data[at + 2 : at + 4] == b"\x10\x00":
            syntax = data[value : value + length].rstrip(b"\0 ").decode("ascii", "replace")
        at = value + length
    return syntax, at
