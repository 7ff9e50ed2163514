"""Pixels to the one form in which pictures are kept: 8-bit PNG without metadata, bounded in size."""

from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = ["LONGEST_SIDE", "MAX_PIXELS", "Pixels", "percentile_window", "png_of", "scale_to_bytes"]

Pixels = NDArray[Any]

LONGEST_SIDE = 1024
"""Pixels of the longest side of a kept picture; image encoders read 224 to 518."""

MAX_PIXELS = 1 << 26
"""Pixels of the largest picture that is decoded (8192 x 8192), so that memory stays bounded."""

_PERCENTILES = (0.5, 99.5)  # leaves out the hot and dead pixels that would flatten the contrast
_MAX_SAMPLES = 1 << 20  # percentiles of a million pixels are those of all to three digits


def percentile_window(values: Pixels) -> tuple[float, float]:
    """Return the values between which nearly all pixels lie; finite pixels only, (0, 0) without any."""
    flat = values.reshape(-1)
    flat = flat[:: max(1, flat.size // _MAX_SAMPLES)].astype(np.float64)
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return 0.0, 0.0
    low, high = np.percentile(flat, _PERCENTILES)
    if low >= high:  # a few bright pixels on nothing, such as a mask
        low, high = flat.min(), flat.max()
    return float(low), float(high)


def scale_to_bytes(values: Pixels, low: float, high: float) -> NDArray[np.uint8]:
    """Return values mapped so that ``low`` is 0 and ``high`` is 255; what is outside is clipped.

    ``high`` must be above ``low``. Not-a-number becomes 0.
    """
    scaled = (np.clip(values.astype(np.float32), low, high) - low) * (255.0 / (high - low))
    whole: NDArray[np.uint8] = np.nan_to_num(np.rint(scaled)).astype(np.uint8)
    return whole


def png_of(picture: Image.Image | NDArray[np.uint8]) -> bytes:
    """Return a grey or RGB picture as PNG, its longest side at most ``LONGEST_SIDE``.

    Args:
        picture: A Pillow image of mode ``L`` or ``RGB``, or an array ``(rows, columns)`` or
            ``(rows, columns, 3)``.
    """
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    if max(image.size) > LONGEST_SIDE:
        share = LONGEST_SIDE / max(image.size)
        width, height = (max(1, round(side * share)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)
    # A fresh image holds pixels and nothing else: no EXIF, no text, no colour profile.
    clean = Image.new(image.mode, image.size)
    clean.paste(image)
    stream = BytesIO()
    clean.save(stream, "PNG", compress_level=6)
    return stream.getvalue()
