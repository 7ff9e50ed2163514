"""Picture models without a text tower: Hugging Face vision models and timm models."""

import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle_rag.adapters.encoders.folder import read_json
from eagle_rag.adapters.encoders.hub import NativeCheckpoint
from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.adapters.encoders.pixels import PixelRecipe, picture_pixels
from eagle_rag.adapters.encoders.torch_runtime import TorchRuntime, floats
from eagle_rag.adapters.encoders.visual import CheckpointVisualEncoder
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import VisualRecipe
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["VisionSource", "VisionTower", "processor_recipe", "timm_recipe", "torch_vision"]

_LOG = logging.getLogger(__name__)
_CPU_PICTURES, _GPU_PICTURES = 4, 32  # pictures a run
_PROCESSOR = "preprocessor_config.json"
# Steps of a Hugging Face image processor that a PixelRecipe cannot express.
_OTHER_STEPS = (
    "do_pad",
    "do_thumbnail",
    "do_align_long_axis",
    "do_flip_channel_order",
    "crop_pct",
)
_INTERPOLATIONS = {2: "bilinear", 3: "bicubic"}  # Pillow's numbers
# Mean and deviation of ImageNet's colours, timm's default (timm/data/constants.py).
_IMAGENET = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}
_CROP_SHARE = 0.875  # timm's default, likewise


def torch_vision(card: EncoderCard, recipe: VisualRecipe) -> CheckpointVisualEncoder:
    """Return a visual encoder from ``card.checkpoint``, a folder or hub id of transformers or timm."""
    return CheckpointVisualEncoder(card, VisionSource(card, recipe), fit_dim=recipe.fit_dim)


class VisionSource:
    """A vision checkpoint in its native format; nothing is read before first use.

    Args:
        card: What it is.
        recipe: ``model_args`` of a timm model.
    """

    def __init__(self, card: EncoderCard, recipe: VisualRecipe) -> None:
        self._card = card
        self._recipe = recipe
        self._checkpoint = NativeCheckpoint(card.checkpoint, card.label)

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of its files."""
        return self._checkpoint.digest()

    def load(self) -> "VisionTower":
        """Load it, downloading a hub id when that is allowed.

        Raises:
            EncoderLoadError: A file is missing or does not load.
        """
        folder = self._checkpoint.folder()
        config = read_json(folder / "config.json")
        runtime = TorchRuntime(self._card.label)
        if "model_type" in config or "architecture" not in config:
            model = runtime.pretrained("AutoModel", folder, unused="pooler.")
            return VisionTower(runtime, model, _transformers_recipe(folder, config))
        timm = needed("timm", self._card.label)
        args = {name: _argument(timm, value) for name, value in self._recipe.model_args}

        def make() -> Any:  # noqa: ANN401 - a torch module
            return timm.create_model(
                f"local-dir:{folder}", pretrained=True, **{"num_classes": 0} | args
            )

        model = runtime.load(make, str(folder))
        own = config.get("pretrained_cfg", config)
        return VisionTower(runtime, model, timm_recipe(own, name=str(folder)))


class VisionTower:
    """A loaded picture model.

    Of what it gives, ``image_embeds`` is taken if there is one, else ``last_hidden_state`` averaged over
    its tokens; a timm model pools by itself.

    Args:
        runtime: Where it runs.
        model: A torch module that takes pixels.
        recipe: How a picture becomes pixels.
    """

    def __init__(self, runtime: TorchRuntime, model: Any, recipe: PixelRecipe) -> None:  # noqa: ANN401 - a torch module
        self._runtime = runtime
        self._model = model
        self._recipe = recipe
        self.most_pictures = _GPU_PICTURES if runtime.on_gpu else _CPU_PICTURES

    def pixels(self, picture: "Image") -> FloatArray:
        """Return what the model sees of an RGB picture, shape ``(3, height, width)``."""
        return picture_pixels(picture, self._recipe)

    def embed_pixels(self, pixels: FloatArray) -> FloatArray:
        """Return one vector a picture, shape ``(n, d)``."""
        batch = self._runtime.torch.from_numpy(pixels).to(self._runtime.device)
        with self._runtime.running(f"{len(pixels)} pictures"):
            return floats(self._pooled(self._model(batch)))

    def embed_text(self, text: str) -> tuple[FloatArray, bool]:
        """Refuse: there is no text tower."""
        message = f"encoder {self._runtime.label!r} encodes pictures only, not {text[:60]!r}"
        raise InvalidInput(message, remedy="search its collection with a picture")

    def _pooled(self, output: Any) -> Any:  # noqa: ANN401 - torch tensors
        if isinstance(output, self._runtime.torch.Tensor):
            return output
        embeds = getattr(output, "image_embeds", None)
        if embeds is not None:
            return embeds
        hidden = getattr(output, "last_hidden_state", None)
        if hidden is None:
            message = f"the model of encoder {self._runtime.label!r} gives {type(output).__name__}"
            raise EncoderLoadError(
                message, remedy="use a model with image_embeds or hidden states"
            )
        # Tokens (n, tokens, d), or a convolution's map (n, d, height, width).
        return hidden.mean(1) if hidden.ndim == 3 else hidden.flatten(2).mean(2)  # noqa: PLR2004 - axes


def processor_recipe(values: Mapping[str, Any], *, name: str) -> PixelRecipe:
    """Return what a Hugging Face ``preprocessor_config.json`` does to a picture.

    Args:
        values: Its content.
        name: The file, for messages.

    Raises:
        EncoderLoadError: It has a step that a ``PixelRecipe`` cannot express.
    """
    odd = [step for step in _OTHER_STEPS if values.get(step)]
    resample = values.get("resample", 2)
    known = values.get("do_rescale", True) and values.get("do_resize", True)
    if odd or not known or resample not in _INTERPOLATIONS:
        message = f"{name} has steps that are not known here: {', '.join(odd) or dict(values)}"
        raise EncoderLoadError(message, remedy="export the checkpoint with a preprocess.json")
    size = values.get("size", 224)
    if isinstance(size, Mapping) and "shortest_edge" not in size:
        resize, mode = [size.get("height"), size.get("width")], "squash"
    else:
        edge = size["shortest_edge"] if isinstance(size, Mapping) else size
        # Older files give one number, for both edges unless a crop follows.
        resize, mode = [edge, edge], "shortest" if _crops(values) else "squash"
        if isinstance(size, Mapping):
            mode = "shortest"
    crop = _sides(values.get("crop_size"), resize) if _crops(values) else resize
    normal = values.get("do_normalize", True)
    return PixelRecipe.from_json(
        {
            "size": crop,
            "resize": None if crop == resize else resize,
            "mean": values.get("image_mean", (0.5,) * 3) if normal else (0.0,) * 3,
            "std": values.get("image_std", (0.5,) * 3) if normal else (1.0,) * 3,
            "interpolation": _INTERPOLATIONS[resample],
            "resize_mode": mode,
        },
        name=name,
    )


def timm_recipe(values: Mapping[str, Any], *, name: str) -> PixelRecipe:
    """Return what timm's evaluation transform does, from a ``pretrained_cfg``.

    Defaults and rounding are those of ``timm.data`` (``resolve_data_config``, ``transforms_imagenet_eval``).

    Args:
        values: Its content.
        name: The checkpoint, for messages.

    Raises:
        EncoderLoadError: A value has no meaning, or the crop is of a kind that is not known here.
    """
    height, width = (values.get("input_size") or (3, 224, 224))[-2:]
    mode = values.get("crop_mode") or "center"
    if mode not in {"center", "squash"}:
        message = f"{name} crops by {mode!r}"
        raise EncoderLoadError(message, remedy="use center or squash, or export it")
    share = values.get("crop_pct") or _CROP_SHARE
    resize = [math.floor(height / share), math.floor(width / share)]
    return PixelRecipe.from_json(
        {
            "size": (height, width),
            "resize": None if resize == [height, width] else resize,
            "mean": values.get("mean") or _IMAGENET["mean"],
            "std": values.get("std") or _IMAGENET["std"],
            "interpolation": values.get("interpolation") or "bicubic",
            "resize_mode": "shortest" if mode == "center" else "squash",
        },
        name=name,
    )


def _transformers_recipe(folder: Path, config: Mapping[str, Any]) -> PixelRecipe:
    path = folder / _PROCESSOR
    if path.is_file():
        return processor_recipe(read_json(path), name=str(path))
    size = config.get("image_size", 224)
    _LOG.warning("no %s in %s: pictures are scaled as ImageNet's, to %s", _PROCESSOR, folder, size)
    return PixelRecipe.from_json({"size": size, **_IMAGENET}, name=str(folder / "config.json"))


def _crops(values: Mapping[str, Any]) -> bool:
    return bool(values.get("do_center_crop", "crop_size" in values))


def _sides(size: Any, default: list[Any]) -> list[Any]:  # noqa: ANN401 - a value of a JSON file
    if isinstance(size, Mapping):
        return [size.get("height"), size.get("width")]
    return default if size is None else [size, size]


def _argument(timm: Any, value: str | float | bool) -> Any:  # noqa: ANN401, FBT001 - the module; a value of a recipe
    """Return a layer class for its name; other values, and names timm resolves itself, as they are."""
    layer = getattr(timm.layers, value, None) if isinstance(value, str) else None
    return value if layer is None else layer
