"""How the two pictures of the sample were made: a chest phantom in DICOM, and a figure of a paper.

To write both anew: ``python tests/golden/sample_pictures.py``. The pixels are drawn by formulas; no
person's image is in them, and the DICOM file has no element that could name one.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import UID, ExplicitVRLittleEndian

import eagle_rag.sample

__all__ = ["phantom_pixels", "write_figure", "write_phantom"]

_SIZE = 96
_COMPUTED_RADIOGRAPHY = "1.2.840.10008.5.1.4.1.1.1"
# Below the root that turns a UUID into a UID (DICOM PS3.5, B.2); zeros are nobody's UUID.
_UID = "2.25.99000000"


def _ellipse(x: float, y: float, width: float, height: float) -> NDArray[np.bool_]:
    rows, columns = np.mgrid[0:_SIZE, 0:_SIZE] / _SIZE
    inside: NDArray[np.bool_] = ((columns - x) / width) ** 2 + ((rows - y) / height) ** 2 <= 1
    return inside


def phantom_pixels() -> NDArray[np.uint8]:
    """Return the phantom: body, two lungs, spine, heart and ribs, 96 by 96, larger is brighter."""
    pixels = np.full((_SIZE, _SIZE), 12, np.uint8)
    pixels[_ellipse(0.5, 0.55, 0.46, 0.52)] = 150
    lungs = _ellipse(0.3, 0.5, 0.15, 0.33) | _ellipse(0.7, 0.5, 0.15, 0.33)
    pixels[lungs] = 60
    rows = np.arange(_SIZE)[:, None] + np.abs(np.arange(_SIZE)[None, :] - _SIZE // 2) // 3
    pixels[lungs & (rows % 12 < 3)] = 95
    pixels[_ellipse(0.57, 0.62, 0.13, 0.17)] = 175
    pixels[_ellipse(0.5, 0.5, 0.035, 0.5)] = 210
    return pixels


def write_phantom(path: Path) -> None:
    """Write the phantom as a computed radiograph of the chest, without any identifier."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UID(_COMPUTED_RADIOGRAPHY)
    meta.MediaStorageSOPInstanceUID = UID(f"{_UID}.1")
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    image = Dataset()
    image.file_meta = meta
    image.SOPClassUID = _COMPUTED_RADIOGRAPHY
    image.SOPInstanceUID = f"{_UID}.1"
    image.StudyInstanceUID, image.SeriesInstanceUID = f"{_UID}.2", f"{_UID}.3"
    image.Modality, image.BodyPartExamined, image.ViewPosition = "CR", "CHEST", "PA"
    image.ImageType = ["ORIGINAL", "PRIMARY"]
    image.BurnedInAnnotation = "NO"
    image.PhotometricInterpretation, image.SamplesPerPixel = "MONOCHROME2", 1
    image.Rows = image.Columns = _SIZE
    image.BitsAllocated, image.BitsStored, image.HighBit, image.PixelRepresentation = 8, 8, 7, 0
    image.PixelData = phantom_pixels().tobytes()
    image.save_as(path, enforce_file_format=True)


def write_figure(path: Path) -> None:
    """Write figure 1 of PMC99000001: nuclei with probes, ratios as bars, times as dots."""
    image = Image.new("P", (330, 120), 0)
    image.putpalette([255, 255, 255, 60, 70, 140, 210, 40, 40, 40, 160, 70, 40, 40, 40])
    draw = ImageDraw.Draw(image)
    for left, reds in ((8, 2), (60, 9)):
        draw.ellipse((left, 35, left + 46, 95), fill=1)
        for number in range(reds):
            x, y = left + 10 + number * 11 % 27, 45 + number * 17 % 38
            draw.ellipse((x, y, x + 3, y + 3), fill=2)
        for number in range(2):
            x, y = left + 14 + 16 * number, 62 + 9 * number
            draw.ellipse((x, y, x + 3, y + 3), fill=3)
    for number, height in enumerate((62, 41, 22, 14, 9)):
        draw.rectangle((125 + 16 * number, 100 - height, 136 + 16 * number, 100), fill=4)
    for number in range(24):
        x, y = 228 + number * 4, 30 + number * 29 % 67
        draw.ellipse((x, y, x + 2, y + 2), fill=4)
    for left, letter in ((4, "A"), (118, "B"), (220, "C")):
        draw.text((left, 6), letter, fill=4)
        draw.line((left, 102, left + 100, 102), fill=4)
    image.save(path, optimize=True)


if __name__ == "__main__":
    folder = Path(eagle_rag.sample.__file__).parent
    write_phantom(folder / "records" / "chest-phantom.dcm")
    write_figure(folder / "njto-2025-0114-f1.png")
