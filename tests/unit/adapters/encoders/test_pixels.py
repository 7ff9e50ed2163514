from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eagle_rag.adapters.encoders.pixels import PixelRecipe, decode_picture, picture_pixels
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.testing.visual_contract import sample_picture

PLAIN = PixelRecipe((4, 4), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
JSON = {"size": [4, 6], "mean": [0.1, 0.2, 0.3], "std": [1, 2, 3]}


def flat(width: int, height: int, colour: tuple[int, int, int] = (255, 0, 51)) -> Image.Image:
    return Image.new("RGB", (width, height), colour)


def test_pixels_are_scaled_by_mean_and_deviation_of_each_colour() -> None:
    recipe = PixelRecipe((2, 2), (0.5, 0.25, 0.0), (0.5, 0.5, 2.0))
    pixels = picture_pixels(flat(2, 2), recipe)
    assert pixels.dtype == np.float32
    assert pixels.shape == (3, 2, 2)
    np.testing.assert_allclose(pixels[:, 0, 0], [1.0, -0.5, 0.1], atol=1e-6)


@pytest.mark.parametrize("mode", ["shortest", "squash", "longest"])
@pytest.mark.parametrize("size", [(8, 4), (4, 9), (1, 50), (3, 3), (100, 70)])
def test_every_picture_gets_the_size_of_the_recipe(mode: Any, size: tuple[int, int]) -> None:
    recipe = PixelRecipe((4, 6), (0.0,) * 3, (1.0,) * 3, resize_mode=mode)
    assert picture_pixels(flat(*size), recipe).shape == (3, 4, 6)


def test_shortest_crops_the_middle_of_the_longer_edge() -> None:
    picture = flat(12, 4, (0, 0, 0))
    picture.paste((255, 255, 255), (4, 0, 8, 4))
    assert picture_pixels(picture, PLAIN).min() > 0.9


def test_longest_fills_what_is_left_with_its_colour() -> None:
    recipe = PixelRecipe((4, 4), (0.0,) * 3, (1.0,) * 3, resize_mode="longest", fill_color=51)
    pixels = picture_pixels(flat(8, 4, (255, 255, 255)), recipe)
    np.testing.assert_allclose(pixels[0, :, 0], [0.2, 1, 1, 0.2], atol=1e-6)


def test_resize_before_the_crop_cuts_the_rim_off() -> None:
    picture = flat(8, 8, (0, 0, 0))
    picture.paste((255, 255, 255), (1, 1, 7, 7))
    recipe = PixelRecipe((4, 4), (0.0,) * 3, (1.0,) * 3, resize=(8, 8))
    assert picture_pixels(picture, recipe).min() == 1


def test_recipe_survives_writing_and_reading() -> None:
    recipe = PixelRecipe((4, 6), (0.1,) * 3, (0.2,) * 3, "bilinear", "longest", 3, (5, 7))
    assert PixelRecipe.from_json(recipe.as_json(), name="preprocess.json") == recipe


def test_what_a_recipe_leaves_out_is_as_in_open_clip() -> None:
    recipe = PixelRecipe.from_json(JSON, name="preprocess.json")
    assert (recipe.interpolation, recipe.resize_mode, recipe.fill_color) == (
        "bicubic",
        "shortest",
        0,
    )
    assert PixelRecipe.from_json(JSON | {"size": 224}, name="x").size == (224, 224)


@pytest.mark.parametrize(
    "changes",
    [
        {"size": [4]},
        {"size": [0, 4]},
        {"mean": None},
        {"mean": [1, 2]},
        {"std": [1, 0, 1]},
        {"interpolation": "lanczos"},
        {"resize_mode": "none"},
        {"resize": [0, 1]},
    ],
)
def test_recipe_without_a_meaning_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(EncoderLoadError, match=r"preprocess\.json"):
        PixelRecipe.from_json(JSON | changes, name="preprocess.json")


def test_deep_greys_are_stretched_instead_of_cut_to_white() -> None:
    """Pillow's own conversion makes every value above 255 white: a radiograph would be a blank page."""
    file = BytesIO()
    Image.fromarray(np.array([[1000, 2000, 3000]], np.uint16)).save(file, "PNG")
    decoded = np.asarray(decode_picture(file.getvalue(), at=0))
    assert decoded[0, :, 0].tolist() == [0, 128, 255]


def test_floating_greys_with_holes_are_decoded() -> None:
    file = BytesIO()
    values = np.array([[np.nan, 0.0, 0.5, np.inf]], np.float32)
    Image.fromarray(values).save(file, "TIFF")
    decoded = np.asarray(decode_picture(file.getvalue(), at=0))
    assert decoded[0, :, 0].tolist() == [0, 0, 255, 0]


def test_of_several_frames_the_first_is_taken() -> None:
    file = BytesIO()
    flat(2, 2, (255, 0, 0)).save(
        file, "TIFF", save_all=True, append_images=[flat(2, 2, (0, 255, 0))]
    )
    assert decode_picture(file.getvalue(), at=0).getpixel((0, 0)) == (255, 0, 0)


# Pillow warns of some damage that it reads over.
@pytest.mark.filterwarnings("ignore::UserWarning:PIL.TiffImagePlugin")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP"])
def test_damaged_files_are_refused_or_decoded_never_something_else(kind: str) -> None:
    rng = np.random.default_rng(1)
    whole = sample_picture(20, 24, kind=kind)
    refused = []
    for _ in range(150):
        data = bytearray(whole[: rng.integers(len(whole)) + 1])
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(256)
        try:
            assert decode_picture(bytes(data), at=7).mode == "RGB"
        except InvalidInput as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all("picture 7 of the batch" in message for message in refused)
