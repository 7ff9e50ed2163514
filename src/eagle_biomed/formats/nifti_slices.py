"""Middle slices of a volume as pictures, turned the way radiologists look at them."""

from typing import Any

import numpy as np
from nibabel.orientations import aff2axcodes, io_orientation
from numpy.typing import NDArray
from PIL import Image

from eagle_biomed.formats.raster_png import (
    LONGEST_SIDE,
    MAX_PIXELS,
    Pixels,
    percentile_window,
    png_of,
    scale_to_bytes,
)

__all__ = ["SLICES", "axis_codes", "slice_picture"]

Volume = Any
"""A nibabel image; its stubs leave the type of its data open."""

SLICES = ("axial", "coronal", "sagittal")
"""Planes across the axes that point to the head, to the front and to the right."""

_ACROSS = {
    "axial": 2,
    "coronal": 1,
    "sagittal": 0,
}  # world axes of RAS+: right, anterior, superior
_MIN_SIDE = 2
_MAX_STRETCH = 20.0  # of thick slices; more is a damaged header


def axis_codes(image: Volume) -> str:
    """Return where the voxel axes point, such as ``LAS``, or nothing when the header does not say."""
    affine = np.asarray(image.affine, dtype=np.float64)
    if affine.shape != (4, 4) or not np.isfinite(affine).all():
        return ""
    return "".join(code or "?" for code in aff2axcodes(affine))  # type: ignore[no-untyped-call]  # nibabel leaves it so


def slice_picture(image: Volume, name: str) -> bytes:
    """Return the middle slice of the first volume as PNG, or nothing when it shows nothing.

    The front or the head is up; as if seen from the feet, the patient's right is at the left.

    Args:
        image: The nibabel image; only the slice's voxels are scaled.
        name: One of ``SLICES``.
    """
    world, flips = _orientation(image)
    voxel_axis = world.index(_ACROSS[name])
    plane, rest = _plane(image, voxel_axis)
    if plane.shape[0] * plane.shape[1] > MAX_PIXELS or min(plane.shape[:2]) < _MIN_SIDE:
        return b""
    # Columns run along the lower world axis, rows along the higher, both against it: RAS+ grows to the
    # right, the front and the head, which belong at the left, at the top (and the left), at the top.
    if world[rest[0]] < world[rest[1]]:
        plane, rest = np.swapaxes(plane, 0, 1), (rest[1], rest[0])
    for axis, voxel in enumerate(rest):
        if flips[voxel] > 0:
            plane = np.flip(plane, axis)
    shown = _bytes_of(plane)
    if shown is None:
        return b""
    return png_of(_stretched(shown, _size(image, rest[0]), _size(image, rest[1])))


def _orientation(image: Volume) -> tuple[list[int], list[int]]:
    """Return for each voxel axis its world axis and 1 or -1; the axes as they are without an affine."""
    affine = np.asarray(image.affine, dtype=np.float64)
    if affine.shape == (4, 4) and np.isfinite(affine).all():
        found = io_orientation(affine)  # type: ignore[no-untyped-call]  # nibabel leaves it so
        if np.isfinite(found).all():
            return [int(axis) for axis in found[:, 0]], [int(sign) for sign in found[:, 1]]
    return [0, 1, 2], [1, 1, 1]


def _plane(image: Volume, voxel_axis: int) -> tuple[Pixels, tuple[int, int]]:
    """Return the middle slice across a voxel axis, and the voxel axes of its rows and columns."""
    index: list[Any] = [slice(None)] * min(3, len(image.shape)) + [0] * max(
        0, len(image.shape) - 3
    )
    if voxel_axis < len(image.shape):
        index[voxel_axis] = image.shape[voxel_axis] // 2
    plane = np.asarray(image.dataobj[tuple(index)])
    first, second = (axis for axis in range(3) if axis != voxel_axis)
    return plane, (first, second)


def _size(image: Volume, axis: int) -> float:
    sizes = image.header.get_zooms()
    size = float(sizes[axis]) if axis < len(sizes) else 1.0
    return size if np.isfinite(size) and size > 0 else 1.0


def _bytes_of(plane: Pixels) -> NDArray[np.uint8] | None:
    """Return a plane of numbers, complex numbers or RGB triples as 8 bits; ``None`` when it is blank."""
    if plane.dtype.names:
        channels = [plane[name] for name in ("R", "G", "B") if name in plane.dtype.names]
        colours = np.stack(channels, axis=-1).astype(np.uint8)
        return colours if colours.min() < colours.max() else None
    values = np.abs(plane) if np.iscomplexobj(plane) else plane
    low, high = percentile_window(values)
    if not low < high or not np.isfinite(high - low):
        return None
    return scale_to_bytes(values, low, high)


def _stretched(shown: NDArray[np.uint8], row_mm: float, column_mm: float) -> Image.Image:
    """Return the picture with square pixels."""
    image = Image.fromarray(np.ascontiguousarray(shown))
    stretch = min(max(row_mm / column_mm, 1 / _MAX_STRETCH), _MAX_STRETCH)
    width, height = image.size
    if stretch >= 1:
        height = round(height * stretch)
    else:
        width = round(width / stretch)
    share = min(1.0, LONGEST_SIDE / max(width, height))
    size = (max(1, round(width * share)), max(1, round(height * share)))
    return image if size == image.size else image.resize(size, Image.Resampling.BILINEAR)
