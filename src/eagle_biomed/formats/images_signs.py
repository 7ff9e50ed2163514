"""How image volumes and pictures are told: by their first bytes, else by their name."""

from pathlib import PurePosixPath

from eagle_rag.model.document import Source
from eagle_rag.ops.pictures import picture_type

__all__ = ["PICTURE_ENDINGS", "accepts_nifti", "accepts_picture", "is_gzip", "nifti_version"]

PICTURE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp")

_NIFTI1_HEADER, _NIFTI2_HEADER = 348, 540
_GZIP = b"\x1f\x8b"


def nifti_version(data: bytes) -> int:
    """Return 1 or 2 for a NIfTI file by the size and the magic of its header, else 0.

    Headers of pairs (``ni1``, ``ni2``: the pixels are in another file) count too.
    """
    for order in ("little", "big"):
        size = int.from_bytes(data[:4], order)
        if size == _NIFTI1_HEADER and data[344:347] in {b"n+1", b"ni1"}:
            return 1
        if size == _NIFTI2_HEADER and data[4:7] in {b"n+2", b"ni2"}:
            return 2
    return 0


def is_gzip(data: bytes) -> bool:
    """Whether the bytes are packed by gzip."""
    return data.startswith(_GZIP)


def accepts_nifti(source: Source) -> bool:
    """Whether the bytes have a NIfTI header, or the name ends like that of a volume."""
    name = source.uri.lower()
    return name.endswith((".nii", ".nii.gz")) or nifti_version(source.data) > 0


def accepts_picture(source: Source) -> bool:
    """Whether the bytes are a picture, or the name says so and the bytes are not markup."""
    if picture_type(source.data):
        return True
    suffix = PurePosixPath(source.uri).suffix.lower()
    return suffix in PICTURE_ENDINGS and not source.data[:64].lstrip().startswith(b"<")
