"""NIfTI volumes: the header as a card, and three middle slices as pictures.

Free text of the header (``descrip``, ``db_name``, ``aux_file``, ``intent_name``) is never shown: names are
typed there. Of the file's name only words of a closed list are used.
"""

import re
import zlib
from dataclasses import dataclass
from math import prod
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from nibabel.filebasedimages import ImageFileError
from nibabel.nifti1 import Nifti1Image
from nibabel.nifti2 import Nifti2Image
from nibabel.spatialimages import HeaderDataError, HeaderTypeError
from nibabel.wrapstruct import WrapStructError

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.images_signs import is_gzip, nifti_version
from eagle_biomed.formats.nifti_slices import SLICES, axis_codes, slice_picture
from eagle_biomed.formats.raster_quiet import quiet
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

_MAX_UNPACKED = 256 << 20
_MIN_SIDE = 2
_ERRORS = (
    ImageFileError, HeaderDataError, HeaderTypeError, WrapStructError, ValueError, TypeError, KeyError, IndexError,
    OSError, EOFError, OverflowError, MemoryError, ArithmeticError, AttributeError, RuntimeError,
    np.linalg.LinAlgError,
)  # fmt: skip
# Endings of the Brain Imaging Data Structure (BIDS), and words of common file names.
_WORDS = {
    "t1w": "T1-weighted MRI", "t1": "T1-weighted MRI", "t2w": "T2-weighted MRI",
    "t2": "T2-weighted MRI", "flair": "FLAIR MRI", "bold": "functional MRI (BOLD)",
    "fmri": "functional MRI", "functional": "functional MRI", "dwi": "diffusion-weighted MRI",
    "asl": "arterial spin labelling MRI", "pet": "positron emission tomography (PET)",
    "ct": "computed tomography (CT)", "mri": "MRI", "mr": "MRI", "anatomical": "anatomical",
    "anat": "anatomical", "seg": "segmentation", "dseg": "segmentation", "mask": "mask",
    "label": "segmentation", "labels": "segmentation", "brain": "brain", "head": "head",
    "liver": "liver", "lung": "lung", "heart": "heart", "kidney": "kidney", "spine": "spine",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Volume:
    image: Any  # nibabel leaves the type of its data open
    version: int
    whole: bool  # the voxels of the first volume are all there


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a volume.

    Raises:
        UnreadableDocument: ``not-nifti``, ``nifti-pair``, ``too-large``, ``nifti-header``,
            ``not-a-volume``.
    """
    del tools
    with quiet("nibabel"):
        volume = _read(source)
        found = _slices(volume)
    return ParseOutcome((_document(source, volume, found),))


def pictures(document: ParsedDocument, source: Source) -> tuple[VisualAsset, ...]:
    """Return the middle slices that ``parse`` found to be pictures."""
    if not document.figures:
        return ()
    with quiet("nibabel"):
        found = _slices(_read(source))
    captions = {
        figure.key: document.text[figure.caption.start : figure.caption.end]
        for figure in document.figures
        if figure.caption is not None
    }
    return tuple(
        VisualAsset(key, "image/png", data, captions[key])
        for key, data in found.items()
        if key in captions
    )


def _read(source: Source) -> _Volume:
    data = _unpacked(source)
    version = nifti_version(data)
    if not version:
        raise UnreadableDocument(
            source.uri, "not-nifti", "the file has no NIfTI header",
            remedy="export it as NIfTI-1 or NIfTI-2 in one file",
        )  # fmt: skip
    if (data[344:347] if version == 1 else data[4:7]).startswith(b"ni"):
        raise UnreadableDocument(
            source.uri, "nifti-pair", "this is the header of a pair: the pixels are in another file",
            remedy="export it as one .nii file",
        )  # fmt: skip
    failed = ""
    try:
        image: Any = (Nifti1Image if version == 1 else Nifti2Image).from_bytes(data)
        shape = tuple(int(side) for side in image.shape)
    except _ERRORS as error:
        failed = type(error).__name__
    if failed:
        raise UnreadableDocument(
            source.uri, "nifti-header", f"the header does not fit its fields ({failed})",
            remedy="export the file anew",
        )  # fmt: skip
    if sum(side >= _MIN_SIDE for side in shape[:3]) < _MIN_SIDE or min(shape, default=0) < 1:
        raise UnreadableDocument(
            source.uri, "not-a-volume", f"a file of the shape {shape} holds no image in space",
            remedy="leave connectivity matrices and surfaces out",
        )  # fmt: skip
    return _Volume(image, version, _is_whole(image, shape, len(data)))


def _is_whole(image: Any, shape: tuple[int, ...], size_bytes: int) -> bool:  # noqa: ANN401 - as above
    """Whether the first volume is there: nibabel makes room for a plane before it reads one."""
    voxel_bytes: int = np.dtype(image.get_data_dtype()).itemsize
    needed = int(image.dataobj.offset) + prod(shape[:3]) * voxel_bytes
    return 0 < needed <= size_bytes


def _unpacked(source: Source) -> bytes:
    """Return the bytes, unpacked when they are a member ``.nii.gz`` of an archive."""
    if not is_gzip(source.data):
        return source.data
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        data = unpacker.decompress(source.data, _MAX_UNPACKED)
    except zlib.error as error:
        raise UnreadableDocument(
            source.uri, "not-nifti", "the packed file is damaged", remedy="fetch it anew"
        ) from error
    if unpacker.unconsumed_tail:
        raise UnreadableDocument(
            source.uri, "too-large", f"the file unpacks to more than {_MAX_UNPACKED} bytes",
            remedy="split the series into volumes",
        )  # fmt: skip
    return data


def _slices(volume: _Volume) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in SLICES if volume.whole else ():
        try:
            data = slice_picture(volume.image, name)
        except _ERRORS:  # a type nobody shows, scaling that overflows
            data = b""
        if data:
            found[f"slice-{name}"] = data
    return found


def _document(source: Source, volume: _Volume, found: dict[str, bytes]) -> ParsedDocument:
    subject = _subject(source.uri)
    title = f"Image volume (NIfTI): {subject}" if subject else "Image volume (NIfTI)"
    properties = _properties(volume)
    text = CanonicalText()
    text.add(BlockKind.TITLE, title, text.open_section((), SectionKind.TITLE))
    figures = []
    for key in found:
        name = key.removeprefix("slice-")
        section = text.open_section(("Slices", name.capitalize()), SectionKind.CAPTION)
        caption = f"{name.capitalize()} middle slice, {subject or 'medical image'} volume."
        figures.append(Figure(key, "", text.add(BlockKind.CAPTION, caption, section), ()))
    section = text.open_section(("Volume",), SectionKind.BODY)
    text.add(BlockKind.HEADING, "Volume", section)
    for name, value in properties.items():
        label = name.replace("_", " ").capitalize().removesuffix(" mm")
        unit = " mm" if name.endswith("_mm") else ""
        text.add(BlockKind.LIST_ITEM, f"{label}: {value}{unit}", section)
    canonical, sections, blocks = text.finish()
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="nifti",
        metadata=DocumentMetadata(
            title=title,
            article_type="medical-image",
            properties=tuple(sorted(properties.items())),
        ),
        text=canonical,
        sections=sections,
        blocks=blocks,
        figures=tuple(figures),
        warnings=() if found else ("no slice can be shown: the pixels are missing or all equal",),
    )


def _subject(uri: str) -> str:
    words = re.split(r"[^a-z0-9]+", PurePosixPath(uri).name.lower())
    return " ".join(dict.fromkeys(_WORDS[word] for word in words if word in _WORDS))


def _properties(volume: _Volume) -> dict[str, str]:
    image = volume.image
    sizes = [float(size) for size in image.header.get_zooms()[:3]]
    codes = axis_codes(image)
    return {
        "file_format": f"NIfTI-{volume.version}",
        "dimensions": " x ".join(str(int(side)) for side in image.shape),
        "voxel_size_mm": " x ".join(f"{size:.4g}" for size in sizes),
        "data_type": str(np.dtype(image.get_data_dtype()).name),
        **({"orientation": codes} if codes else {}),
    }
