"""Pictures to numbers: decoding, resizing, cropping and scaling, with Pillow and numpy alone.

The steps are those of open_clip's evaluation transform (``open_clip/transform.py``) and of
torchvision's ``Resize`` and ``CenterCrop`` on Pillow images, so that an exported tower sees the pixels it
was trained on without torchvision being installed.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Interpolation", "PixelRecipe", "ResizeMode", "decode_picture", "picture_pixels"]

Interpolation = Literal["bicubic", "bilinear"]
ResizeMode = Literal["shortest", "squash", "longest"]
_WIDE = frozenset({"I", "F"})  # Pillow's modes of more than 8 bits; "I;16" and its kin as well


@dataclass(frozen=True, slots=True)
class PixelRecipe:
    """How a picture becomes pixels; the content of ``preprocess.json``.

    Args:
        size: Height and width of the result.
        mean, std: Of each colour, over values from 0 to 1; subtracted, divided by.
        interpolation: ``bicubic`` or ``bilinear``.
        resize_mode: ``shortest``: the shorter edge is fitted, the rest cropped; ``longest``: the longer
            edge is fitted, the rest filled; ``squash``: both edges are fitted, proportions are lost.
        fill_color: 0 to 255, of each colour, where ``longest`` leaves room.
        resize: Height and width resized to before the crop; ``None`` for ``size``.
    """

    size: tuple[int, int]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    interpolation: Interpolation = "bicubic"
    resize_mode: ResizeMode = "shortest"
    fill_color: int = 0
    resize: tuple[int, int] | None = None

    @classmethod
    def from_json(cls, values: Mapping[str, Any], *, name: str) -> "PixelRecipe":
        """Return the recipe a ``preprocess.json`` holds.

        Args:
            values: Its content.
            name: The file, for messages.

        Raises:
            EncoderLoadError: A value is missing or has no meaning.
        """
        try:
            recipe = cls(
                size=_pair(values["size"]),
                mean=_colours(values["mean"]),
                std=_colours(values["std"]),
                interpolation=cast("Interpolation", values.get("interpolation", "bicubic")),
                resize_mode=cast("ResizeMode", values.get("resize_mode", "shortest")),
                fill_color=int(values.get("fill_color", 0)),
                resize=None if values.get("resize") is None else _pair(values["resize"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            message = f"{name} lacks or garbles a value: {error!r}"
            raise EncoderLoadError(message, remedy="export the checkpoint again") from error
        recipe.check(name)
        return recipe

    def check(self, name: str) -> None:
        """Refuse what has no meaning.

        Raises:
            EncoderLoadError: A size or deviation is not positive, or a mode is unknown.
        """
        known = self.interpolation in get_args(Interpolation) and self.resize_mode in get_args(
            ResizeMode
        )
        if not known or min(*self.size, *(self.resize or self.size)) < 1 or min(self.std) <= 0:
            message = f"{name} describes pixels as {self}"
            remedy = f"use {get_args(Interpolation)}, {get_args(ResizeMode)} and positive sizes"
            raise EncoderLoadError(message, remedy=remedy)

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``preprocess.json``."""
        values: dict[str, Any] = {
            "size": list(self.size),
            "mean": list(self.mean),
            "std": list(self.std),
            "interpolation": self.interpolation,
            "resize_mode": self.resize_mode,
            "fill_color": self.fill_color,
        }
        return values if self.resize is None else values | {"resize": list(self.resize)}


def decode_picture(data: bytes, *, at: int) -> "Image":
    """Return a picture in RGB; of several frames the first.

    Greys of more than 8 bits are stretched from their own darkest to their own brightest: Pillow
    would cut them at 255, which makes most medical ones white.

    Args:
        data: A file in any format Pillow reads.
        at: Its position among those to encode, for the message.

    Raises:
        InvalidInput: Pillow cannot decode it.
    """
    from PIL import Image

    # What Pillow's decoders raise on damaged files, found by cutting and flipping bytes.
    failures = (
        OSError,
        SyntaxError,
        ValueError,
        EOFError,
        IndexError,
        KeyError,
        TypeError,
        ArithmeticError,
        AttributeError,
        NotImplementedError,
        MemoryError,
        struct.error,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    )
    try:
        with Image.open(BytesIO(data)) as picture:
            if picture.mode in _WIDE or picture.mode.startswith("I;"):
                return Image.fromarray(_stretched(np.asarray(picture))).convert("RGB")
            return picture.convert("RGB")
    except failures as error:
        message = f"picture {at} of the batch ({len(data)} bytes) cannot be decoded: {error}"
        raise InvalidInput(message, remedy="leave it out, or convert it to PNG") from error


def picture_pixels(picture: "Image", recipe: PixelRecipe) -> FloatArray:
    """Return the pixels of an RGB picture, shape ``(3, height, width)``."""
    fitted = _cropped(_resized(picture, recipe), recipe)
    values = np.asarray(fitted, np.float32) / np.float32(255)
    scaled = (values - np.array(recipe.mean, np.float32)) / np.array(recipe.std, np.float32)
    return np.ascontiguousarray(scaled.transpose(2, 0, 1), np.float32)


def _resized(picture: "Image", recipe: PixelRecipe) -> "Image":
    from PIL.Image import Resampling

    height, width = recipe.resize or recipe.size
    down, across = picture.height / height, picture.width / width
    if recipe.resize_mode == "squash":
        target = width, height
    elif recipe.resize_mode == "shortest" and height == width:
        # torchvision cuts the longer edge's length to a whole number, and leaves the shorter exact.
        short = min(picture.size)
        target = (
            int(height * picture.width / short),
            int(height * picture.height / short),
        )
    else:
        ratio = max(down, across) if recipe.resize_mode == "longest" else min(down, across)
        target = round(picture.width / ratio), round(picture.height / ratio)
    method = Resampling.BILINEAR if recipe.interpolation == "bilinear" else Resampling.BICUBIC
    target = max(target[0], 1), max(target[1], 1)
    return picture if target == picture.size else picture.resize(target, method)


def _cropped(picture: "Image", recipe: PixelRecipe) -> "Image":
    """Return the middle of a picture, filled up where it is smaller."""
    from PIL import Image

    height, width = recipe.size
    if picture.size == (width, height):
        return picture
    canvas = Image.new(
        "RGB",
        (max(width, picture.width), max(height, picture.height)),
        (recipe.fill_color,) * 3,
    )
    canvas.paste(
        picture, (max(width - picture.width, 0) // 2, max(height - picture.height, 0) // 2)
    )
    left, top = round((canvas.width - width) / 2), round((canvas.height - height) / 2)
    return canvas.crop((left, top, left + width, top + height))


def _stretched(values: "np.typing.NDArray[Any]") -> "np.typing.NDArray[np.uint8]":
    numbers = np.nan_to_num(values.astype(np.float64), posinf=0, neginf=0)
    low, high = float(numbers.min()), float(numbers.max())
    return ((numbers - low) * (255 / (high - low or 1))).round().astype(np.uint8)


def _pair(values: Any) -> tuple[int, int]:  # noqa: ANN401 - a value of a JSON file
    height, width = (values, values) if isinstance(values, int) else values
    return int(height), int(width)


def _colours(values: Any) -> tuple[float, float, float]:  # noqa: ANN401 - as above
    red, green, blue = values
    return float(red), float(green), float(blue)
