"""What image processors' configurations mean; that the pixels agree is tested where torch is installed."""

from typing import Any

import pytest

from eagle_rag.adapters.encoders.torch_vision import processor_recipe, timm_recipe
from eagle_rag.errors import EncoderLoadError


@pytest.mark.parametrize(
    ("values", "size", "resize", "mode"),
    [
        ({"size": {"height": 24, "width": 32}}, (24, 32), None, "squash"),
        ({"size": 24}, (24, 24), None, "squash"),
        ({"size": {"shortest_edge": 24}}, (24, 24), None, "shortest"),
        ({"size": {"shortest_edge": 40}, "crop_size": 32}, (32, 32), (40, 40), "shortest"),
        (
            {"size": {"shortest_edge": 40}, "crop_size": 32, "do_center_crop": False},
            (40, 40),
            None,
            "shortest",
        ),
        (
            {"size": 40, "crop_size": {"height": 32, "width": 30}, "do_center_crop": True},
            (32, 30),
            (40, 40),
            "shortest",
        ),
    ],
)
def test_sizes_of_an_image_processor(
    values: dict[str, Any], size: object, resize: object, mode: str
) -> None:
    recipe = processor_recipe(values, name="preprocessor_config.json")
    assert (recipe.size, recipe.resize, recipe.resize_mode) == (size, resize, mode)


@pytest.mark.parametrize(
    "values",
    [
        {"size": 24, "do_pad": True},
        {"size": 24, "do_flip_channel_order": True},
        {"size": {"shortest_edge": 24}, "crop_pct": 0.9},
        {"size": 24, "resample": 1},
        {"size": 24, "do_rescale": False},
        {"size": {"longest_edge": 24}},
    ],
)
def test_steps_that_are_not_known_are_refused(values: dict[str, Any]) -> None:
    """An approximation would move every vector a little, and nobody would know."""
    with pytest.raises(EncoderLoadError, match=r"preprocessor_config\.json"):
        processor_recipe(values, name="preprocessor_config.json")


def test_timm_defaults_are_timms() -> None:
    recipe = timm_recipe({}, name="x")
    assert (recipe.size, recipe.resize) == ((224, 224), (256, 256))
    assert (recipe.interpolation, recipe.resize_mode) == ("bicubic", "shortest")
    assert recipe.mean == (0.485, 0.456, 0.406)


def test_crop_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(EncoderLoadError, match="crops by 'border'"):
        timm_recipe({"crop_mode": "border"}, name="x")
