"""One frame of a DICOM file as an 8-bit picture: decoded, rescaled, windowed."""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydicom.dataset import Dataset
from pydicom.pixels.processing import apply_color_lut, apply_modality_lut, apply_voi
from pydicom.pixels.utils import pixel_array
from pydicom.uid import UID

from eagle_biomed.formats.dicom_codes import items_of
from eagle_biomed.formats.dicom_fields import modality_of, uid_name
from eagle_biomed.formats.dicom_terms import (
    MAY_SHOW_TEXT,
    SCREENS,
    SECONDARY_CAPTURES,
    ULTRASOUND,
)
from eagle_biomed.formats.dicom_values import (
    DICOM_ERRORS,
    element_of,
    integer_of,
    numbers_of,
    text_of,
    texts_of,
)
from eagle_biomed.formats.raster_png import (
    MAX_PIXELS,
    Pixels,
    percentile_window,
    png_of,
    scale_to_bytes,
)

__all__ = ["frame_picture"]

Grey = NDArray[np.uint8]

_PIXEL_KEYWORDS = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")
# What pydicom decodes itself or by Pillow. JPEG lossless, JPEG-LS and the rest need a library under the
# GPL or one that is not installed.
_NATIVE = frozenset({
    "1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2",
})  # fmt: skip
_DECODED = _NATIVE | {
    "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.90",
    "1.2.840.10008.1.2.4.91", "1.2.840.10008.1.2.5",
}  # fmt: skip
_RLE = "1.2.840.10008.1.2.5"
_MAX_RLE_BYTES = 16 << 20  # pydicom unpacks run lengths in Python, about 4 MB a second at worst
_MAX_FRAMES = 1 << 20
_COLOURS = 3
_MAX_SAMPLES = 4
_UNSURE = "the file does not say whether text is burned into its pixels: check its picture"
_UNTOLD = (
    "no picture is kept, because pictures of this kind ({kind}) commonly have the patient's name burned in"
    " and the file does not say: BurnedInAnnotation NO in the file brings it"
)
_CORNERS = (
    "RegionLocationMinX0", "RegionLocationMinY0", "RegionLocationMaxX1", "RegionLocationMaxY1",
)  # fmt: skip
_SIGMOID_SLOPE = 4.0  # PS3.3 C.11.2.1.3.1: 1 / (1 + exp(-4 (x - c) / w))


def frame_picture(dataset: Dataset) -> tuple[bytes, str]:
    """Return the picture of a data set as PNG, and what a reader should be warned of, in one sentence.

    The middle frame is taken; where it is blank, as in sparse segmentations, one of three others. A
    data set without pixels gives neither picture nor warning. Call it within ``quiet``.
    """
    if not any(keyword in dataset for keyword in _PIXEL_KEYWORDS):
        return b"", ""
    refused = _refused(dataset)
    if refused:
        return b"", refused
    frames = max(1, integer_of(dataset, "NumberOfFrames"))
    shown: Grey | None = None
    try:
        for number in dict.fromkeys((frames // 2, frames // 4, 3 * frames // 4, 0)):
            shown = _frame(dataset, number)
            if shown is not None:
                break
    except (*DICOM_ERRORS, Image.DecompressionBombError) as error:
        # The library's message can quote values, its type cannot.
        return b"", f"the pixels cannot be decoded ({type(error).__name__}): no picture is kept"
    if shown is None:
        return b"", "every pixel of the frame has one value: no picture is kept"
    unsure = modality_of(dataset) in MAY_SHOW_TEXT and not text_of(dataset, "BurnedInAnnotation")
    return png_of(shown), _UNSURE if unsure else ""


def _refused(dataset: Dataset) -> str:
    """Return why the pixels are not to be decoded, or nothing."""
    if text_of(dataset, "BurnedInAnnotation").upper() == "YES":
        return "the file says that text is burned into its pixels: no picture is kept"
    if text_of(dataset, "RecognizableVisualFeatures").upper() == "YES":
        return "the file says that its pixels show who it is: no picture is kept"
    kind = "" if text_of(dataset, "BurnedInAnnotation").upper() == "NO" else _named_kind(dataset)
    if kind:
        return _UNTOLD.format(kind=kind)
    syntax = UID(text_of(dataset.file_meta, "TransferSyntaxUID"), validation_mode=0)
    if syntax not in _DECODED:
        named = uid_name(str(syntax)) or "unknown to the standard"
        return f"the transfer syntax ({named}) is not decoded here: no picture is kept"
    return _refused_size(dataset, run_lengths=syntax == _RLE)


def _named_kind(dataset: Dataset) -> str:
    """Return what kind of picture it is when such pictures commonly show names; empty for others."""
    modality = text_of(dataset, "Modality").upper()
    if modality in ULTRASOUND:
        # Around declared regions all becomes black.
        return "" if _regions(dataset) else "ultrasound without declared regions"
    classes = {
        text_of(dataset, "SOPClassUID"),
        text_of(dataset.file_meta, "MediaStorageSOPClassUID"),
    }
    if classes & SECONDARY_CAPTURES:
        return "secondary capture"
    if any("SCREEN" in value.upper() for value in texts_of(dataset, "ImageType")):
        return "a saved screen"
    return f"modality {modality}" if modality in SCREENS else ""


def _refused_size(dataset: Dataset, *, run_lengths: bool) -> str:
    rows, columns = integer_of(dataset, "Rows"), integer_of(dataset, "Columns")
    frames = max(1, integer_of(dataset, "NumberOfFrames"))
    samples = integer_of(dataset, "SamplesPerPixel")
    if rows < 1 or columns < 1:
        return "the file declares no rows or columns: no picture is kept"
    if rows * columns > MAX_PIXELS or frames > _MAX_FRAMES or samples > _MAX_SAMPLES:
        return f"{frames} frames of {rows} x {columns} pixels are too many: no picture is kept"
    encoded = element_of(dataset, "PixelData")
    encoded_bytes = len(encoded) if isinstance(encoded, bytes) else 0
    if run_lengths and encoded_bytes // frames > _MAX_RLE_BYTES:
        return "the run-length coded frame is too large to unpack: no picture is kept"
    return ""


def _frame(dataset: Dataset, number: int) -> Grey | None:
    """Return the shown frame as 8-bit grey or RGB, or ``None`` when all its pixels are equal."""
    pixels = pixel_array(dataset, index=number)
    pixels = _inside_regions(pixels, dataset)
    kind = text_of(dataset, "PhotometricInterpretation").upper()
    if kind == "PALETTE COLOR" and "RedPaletteColorLookupTableDescriptor" in dataset:
        pixels = apply_color_lut(pixels, dataset)
    if pixels.ndim == _COLOURS and pixels.shape[-1] >= _COLOURS:
        return _colour(pixels[..., :_COLOURS])
    return _grey(pixels.squeeze(), dataset, inverted=kind == "MONOCHROME1")


def _inside_regions(pixels: Pixels, dataset: Dataset) -> Pixels:
    """Return the pixels with all that is outside of the ultrasound regions black, if there are any.

    Scanners write names and dates around the regions.
    """
    boxes = _regions(dataset)
    if not boxes:
        return pixels
    inside = np.zeros(pixels.shape[:2], dtype=bool)
    for left, top, right, bottom in boxes:
        inside[max(0, top) : max(0, bottom) + 1, max(0, left) : max(0, right) + 1] = True
    kept = pixels.copy()
    kept[~inside] = 0
    return kept


def _regions(dataset: Dataset) -> list[tuple[int, ...]]:
    """Return left, top, right and bottom of each declared region."""
    return [
        tuple(integer_of(item, corner) for corner in _CORNERS)
        for item in items_of(dataset, "SequenceOfUltrasoundRegions")
    ]


def _colour(pixels: Pixels) -> Grey | None:
    if pixels.min() == pixels.max():
        return None
    if pixels.dtype == np.uint8:
        return np.ascontiguousarray(pixels)
    return scale_to_bytes(pixels, 0.0, max(1.0, float(pixels.max())))


def _grey(pixels: Pixels, dataset: Dataset, *, inverted: bool) -> Grey | None:
    if pixels.ndim != _COLOURS - 1:
        message = "the frame is not a plane"
        raise ValueError(message)
    values = apply_modality_lut(pixels, dataset)
    shown = _windowed(values, dataset)
    if shown is None:
        return None
    return 255 - shown if inverted else shown


def _windowed(values: Pixels, dataset: Dataset) -> Grey | None:
    """Return values through the file's own window where that shows something, else by percentiles."""
    if "VOILUTSequence" in dataset:
        try:
            mapped = apply_voi(values, dataset)
        except DICOM_ERRORS:
            mapped = values
        if mapped is not values and mapped.min() < mapped.max():
            return scale_to_bytes(mapped, float(mapped.min()), float(mapped.max()))
    own = _own_window(values, dataset)
    if own is not None and own.min() < own.max():
        return own
    padding = numbers_of(dataset, "PixelPaddingValue")
    inside = values[values != padding[0]] if padding else values
    low, high = percentile_window(inside if inside.size else values)
    if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
        return None
    return scale_to_bytes(values, low, high)


def _own_window(values: Pixels, dataset: Dataset) -> Grey | None:
    """Return values through window centre and width (PS3.3 C.11.2.1.2), or ``None`` without them."""
    centres, widths = numbers_of(dataset, "WindowCenter"), numbers_of(dataset, "WindowWidth")
    if not centres or not widths or widths[0] < 1:
        return None
    centre, width = centres[0], widths[0]
    if text_of(dataset, "VOILUTFunction").upper() == "SIGMOID":
        exponent = np.clip(-_SIGMOID_SLOPE * (values.astype(np.float64) - centre) / width, -60, 60)
        return scale_to_bytes(1.0 / (1.0 + np.exp(exponent)), 0.0, 1.0)
    half = max(width - 1.0, 1e-6) / 2.0
    return scale_to_bytes(values, centre - 0.5 - half, centre - 0.5 + half)
