"""Native and exported visual encoders: open_clip, transformers and timm."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eagle_rag.adapters.encoders.pixels import PixelRecipe, picture_pixels
from eagle_rag.adapters.encoders.runtimes import open_visual
from eagle_rag.adapters.encoders.torch_vision import processor_recipe, timm_recipe
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import VisualRecipe
from eagle_rag.ports.encoders import VisualEncoder
from eagle_rag.testing.tiny_checkpoints import (
    TINY_DIM,
    TINY_UNI_ARGS,
    TINY_WINDOW,
    tiny_clip_weights,
)
from eagle_rag.testing.visual_contract import VisualEncoderContract, sample_picture

pytestmark = pytest.mark.torch
CLIP = EncoderCard(
    "tiny-clip",
    "visual",
    TINY_DIM,
    "torch",
    max_tokens=TINY_WINDOW,
    metric="ip",
    queries_text=True,
)
VISION = EncoderCard("tiny-vision", "visual", TINY_DIM, "torch")
PICTURES = [sample_picture(*size, seed=seed) for seed, size in enumerate([(40, 56), (90, 31)])]
Find = Callable[[str], Path]


def open_clip_at(folder: Path, *, runtime: str = "torch") -> VisualEncoder:
    card = replace(CLIP, runtime=runtime, checkpoint=str(folder))
    return open_visual(card, VisualRecipe(backend="open_clip"))


def open_vision_at(folder: Path, *, runtime: str = "torch", **recipe: Any) -> VisualEncoder:
    card = replace(VISION, runtime=runtime, checkpoint=str(folder))
    return open_visual(card, VisualRecipe(**recipe))


shared_clip_at = cache(open_clip_at)  # loading takes longer than a test
shared_vision_at = cache(open_vision_at)  # loading takes longer than a test


class TestBiomedClip(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint("biomed_clip")

    def make_encoder(self) -> VisualEncoder:
        return shared_clip_at(self.folder)


class TestOpenClip(TestBiomedClip):
    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint("clip")


class TestExportedBiomedClip(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, exported: Callable[..., Path]) -> None:
        self.folder = exported("biomed_clip", "open_clip")

    def make_encoder(self) -> VisualEncoder:
        return shared_clip_at(self.folder, runtime="onnx")


class TestTransformersVision(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint("vit")

    def make_encoder(self) -> VisualEncoder:
        return shared_vision_at(self.folder)


class TestUni(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint("uni")

    def make_encoder(self) -> VisualEncoder:
        return shared_vision_at(self.folder, model_args=TINY_UNI_ARGS)


class TestExportedVision(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, exported: Callable[..., Path]) -> None:
        self.folder = exported("vit", "vision")

    def make_encoder(self) -> VisualEncoder:
        return shared_vision_at(self.folder, runtime="onnx")


def _unit(tensor: Any) -> Any:
    import torch

    return torch.nn.functional.normalize(tensor).detach().numpy()


def _decoded(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data)).convert("RGB")


def test_clip_vectors_are_those_of_open_clip(checkpoint: Find) -> None:
    import open_clip
    import torch

    name = f"local-dir:{checkpoint('clip')}"
    model, preprocess = open_clip.create_model_from_pretrained(name)
    pixels = torch.stack([preprocess(_decoded(data)) for data in PICTURES])
    words = open_clip.get_tokenizer(name)(["chest radiograph"])
    encoder = open_clip_at(checkpoint("clip"))
    got = encoder.encode_images(PICTURES).vectors
    np.testing.assert_allclose(got, _unit(model.encode_image(pixels)), atol=1e-5)
    got = encoder.encode_query("chest radiograph").vectors
    np.testing.assert_allclose(got, _unit(model.encode_text(words)), atol=1e-5)


def test_clip_export_agrees_with_the_native_checkpoint(
    checkpoint: Find, exported: Callable[..., Path]
) -> None:
    native = open_clip_at(checkpoint("biomed_clip"))
    onnx = open_clip_at(exported("biomed_clip", "open_clip"), runtime="onnx")
    first, second = native.encode_images(PICTURES).vectors, onnx.encode_images(PICTURES).vectors
    np.testing.assert_allclose(first, second, atol=1e-4)
    for text in ("chest radiograph", "", "word " * 60):
        query, other = native.encode_query(text), onnx.encode_query(text)
        np.testing.assert_allclose(query.vectors, other.vectors, atol=1e-4)
        assert query.truncated == other.truncated


def test_vision_export_agrees_with_the_native_checkpoint(
    checkpoint: Find, exported: Callable[..., Path]
) -> None:
    native = open_vision_at(checkpoint("vit")).encode_images(PICTURES).vectors
    onnx = open_vision_at(exported("vit", "vision"), runtime="onnx").encode_images(PICTURES)
    np.testing.assert_allclose(native, onnx.vectors, atol=1e-3 / 10)


@pytest.mark.parametrize("mode", ["shortest", "squash", "longest"])
@pytest.mark.parametrize("interpolation", ["bicubic", "bilinear"])
@pytest.mark.parametrize("size", [(40, 56), (90, 31), (32, 32), (9, 17), (301, 200)])
def test_own_pixels_are_those_of_open_clip(
    mode: Any, interpolation: Any, size: tuple[int, int]
) -> None:
    from open_clip.transform import image_transform

    mean, std = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    recipe = PixelRecipe((32, 32), mean, std, interpolation, mode, fill_color=7)
    picture = _decoded(sample_picture(*size))
    transform = image_transform(
        32,
        is_train=False,
        mean=mean,
        std=std,
        resize_mode=mode,
        interpolation=interpolation,
        fill_color=7,
    )
    np.testing.assert_allclose(
        picture_pixels(picture, recipe), transform(picture).numpy(), atol=1e-2
    )


def test_picture_vectors_are_those_of_transformers(checkpoint: Find) -> None:
    import transformers

    processor = transformers.ViTImageProcessorPil.from_pretrained(checkpoint("vit"))
    model = transformers.AutoModel.from_pretrained(checkpoint("vit"))
    given = processor([_decoded(data) for data in PICTURES], return_tensors="pt")
    expected = _unit(model(**given).last_hidden_state.mean(1))
    got = open_vision_at(checkpoint("vit")).encode_images(PICTURES).vectors
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_picture_vectors_are_those_of_timm(checkpoint: Find) -> None:
    import timm
    import torch

    args = dict(TINY_UNI_ARGS) | {"mlp_layer": timm.layers.SwiGLUPacked}
    model = timm.create_model(f"local-dir:{checkpoint('uni')}", pretrained=True, **args).eval()
    config = timm.data.resolve_data_config(model.pretrained_cfg, model=model)
    transform = timm.data.create_transform(**config)
    pixels = torch.stack([transform(_decoded(data)) for data in PICTURES])
    encoder = open_vision_at(checkpoint("uni"), model_args=TINY_UNI_ARGS)
    got = encoder.encode_images(PICTURES).vectors
    np.testing.assert_allclose(got, _unit(model(pixels)), atol=1e-4)


@pytest.mark.parametrize("share", [0.875, 0.9, 1.0])
@pytest.mark.parametrize("mode", ["center", "squash"])
def test_own_pixels_are_those_of_timm(share: float, mode: str) -> None:
    import timm

    values = {"input_size": (3, 32, 32), "crop_pct": share, "crop_mode": mode}
    transform = timm.data.create_transform(
        **timm.data.resolve_data_config(values, pretrained_cfg=values)
    )
    picture = _decoded(sample_picture(70, 51))
    got = picture_pixels(picture, timm_recipe(values, name="values"))
    np.testing.assert_allclose(got, transform(picture).numpy(), atol=1e-2)


@pytest.mark.parametrize(
    "values",
    [
        {"size": {"height": 24, "width": 32}, "resample": 2},
        {"size": {"height": 24, "width": 24}, "resample": 3, "do_normalize": False},
    ],
)
def test_own_pixels_are_those_of_transformers_vit(values: dict[str, Any]) -> None:
    import transformers

    picture = _decoded(sample_picture(70, 51))
    given = transformers.ViTImageProcessorPil(**values)(picture, return_tensors="np")
    got = picture_pixels(picture, processor_recipe(values, name="values"))
    np.testing.assert_allclose(got, np.asarray(given["pixel_values"])[0], atol=1e-2)


def test_own_pixels_are_those_of_transformers_clip() -> None:
    import transformers

    values = {
        "size": {"shortest_edge": 40},
        "crop_size": {"height": 32, "width": 32},
        "do_center_crop": True,
        "resample": 3,
        "image_mean": [0.4, 0.5, 0.6],
        "image_std": [0.2, 0.3, 0.4],
    }
    picture = _decoded(sample_picture(70, 52))
    given = transformers.CLIPImageProcessorPil(**values)(picture, return_tensors="np")
    got = picture_pixels(picture, processor_recipe(values, name="values"))
    np.testing.assert_allclose(got, np.asarray(given["pixel_values"])[0], atol=1e-2)


@pytest.fixture
def tiny_architecture(tmp_path: Path) -> str:
    """Register a small architecture with open_clip."""
    import json

    import open_clip

    config = {
        "embed_dim": TINY_DIM,
        "vision_cfg": {
            "image_size": 32,
            "layers": 1,
            "width": 32,
            "head_width": 16,
            "patch_size": 16,
        },
        "text_cfg": {
            "context_length": 77,
            "vocab_size": 49408,
            "width": 8,
            "heads": 1,
            "layers": 1,
        },
    }
    (tmp_path / "eagle-tiny.json").write_text(json.dumps(config), "utf-8")
    open_clip.add_model_config(tmp_path)
    return "eagle-tiny"


def test_bare_weights_take_the_recipes_architecture(
    tmp_path: Path, tiny_architecture: str
) -> None:
    file = tiny_clip_weights(tmp_path / "weights", tiny_architecture)
    card = replace(CLIP, checkpoint=str(file))
    recipe = VisualRecipe(backend="open_clip", architecture=tiny_architecture)
    encoder = open_visual(card, recipe)
    assert encoder.encode_images(PICTURES).vectors.shape == (2, TINY_DIM)
    assert encoder.encode_query("chest").vectors.shape == (1, TINY_DIM)
    other = open_visual(card, replace(recipe, architecture="ViT-B-16"))
    assert encoder.spec.digest != other.spec.digest


def test_bare_weights_of_another_architecture_are_refused(
    tmp_path: Path, tiny_architecture: str
) -> None:
    file = tiny_clip_weights(tmp_path / "weights", tiny_architecture)
    recipe = VisualRecipe(backend="open_clip", architecture="RN50-quickgelu-none")
    with pytest.raises(EncoderLoadError, match="does not load"):
        open_visual(replace(CLIP, checkpoint=str(file)), recipe).encode_query("a")


def test_missing_bare_weights_are_named(tmp_path: Path) -> None:
    card = replace(CLIP, checkpoint=str(tmp_path / "absent.bin"))
    encoder = open_visual(card, VisualRecipe(backend="open_clip"))
    with pytest.raises(EncoderLoadError, match=r"cannot read .*absent\.bin"):
        encoder.encode_query("a")


def test_text_checkpoint_is_no_clip(checkpoint: Find) -> None:
    with pytest.raises(EncoderLoadError, match=r"no open_clip_config\.json"):
        open_clip_at(checkpoint("bert")).encode_query("a")


def test_timm_model_needs_its_arguments(checkpoint: Find) -> None:
    """Built by its configuration alone, it has other weights than those saved."""
    with pytest.raises(EncoderLoadError, match="does not load"):
        open_vision_at(checkpoint("uni"), model_args=(("embed_dim", 16),)).encode_images(PICTURES)


@pytest.mark.parametrize("dim", [TINY_DIM - 8, TINY_DIM + 8])
def test_other_dimensions_are_fitted_when_the_recipe_says_so(checkpoint: Find, dim: int) -> None:
    folder = checkpoint("vit")
    whole = open_vision_at(folder).encode_images(PICTURES).vectors
    card = replace(VISION, dim=dim, checkpoint=str(folder))
    got = open_visual(card, VisualRecipe(fit_dim=True)).encode_images(PICTURES).vectors
    expected = np.zeros((2, dim), np.float32)
    expected[:, : min(dim, TINY_DIM)] = whole[:, :dim]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    with pytest.raises(EncoderLoadError, match="32 dimensions"):
        open_visual(card, VisualRecipe()).encode_images(PICTURES)


def test_picture_changed_after_export_is_refused(
    exported: Callable[..., Path], tmp_path: Path
) -> None:
    for path in exported("vit", "vision").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "visual.onnx").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(EncoderLoadError, match="its card says"):
        open_vision_at(tmp_path, runtime="onnx").encode_images(PICTURES)
