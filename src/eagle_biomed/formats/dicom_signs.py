"""How a DICOM file is told: by the letters behind its preamble, or by its name."""

from pathlib import PurePosixPath

from eagle_rag.model.document import Source

__all__ = ["PREFIX_AT", "accepts_dicom", "is_dicom_file"]

PREFIX_AT = 128
"""Where the prefix ``DICM`` stands (DICOM PS3.10, section 7.1)."""

_PREFIX = b"DICM"
_SUFFIXES = frozenset({".dcm", ".dicom", ".ima"})


def is_dicom_file(data: bytes) -> bool:
    """Whether the bytes have the preamble and prefix of DICOM part 10."""
    return data[PREFIX_AT : PREFIX_AT + len(_PREFIX)] == _PREFIX


def accepts_dicom(source: Source) -> bool:
    """Whether the bytes say DICOM, or the name does: old files have no preamble."""
    path = PurePosixPath(source.uri)
    return (
        is_dicom_file(source.data)
        or path.suffix.lower() in _SUFFIXES
        or path.name.upper() == "DICOMDIR"
    )
