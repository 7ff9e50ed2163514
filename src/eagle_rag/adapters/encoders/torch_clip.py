"""CLIP-like checkpoints with two towers in one space, run by open_clip."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle_rag.adapters.encoders.checkpoint import combined_digest, file_digest
from eagle_rag.adapters.encoders.folder import read_json
from eagle_rag.adapters.encoders.hub import CLIP_WEIGHTS, NativeCheckpoint
from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.adapters.encoders.torch_runtime import TorchRuntime, floats
from eagle_rag.adapters.encoders.visual import CheckpointVisualEncoder
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import VisualRecipe
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["OpenClipSource", "OpenClipTowers", "torch_clip"]

_CONFIG = "open_clip_config.json"
_BARE = frozenset({".bin", ".pt", ".pth", ".safetensors"})
_CPU_PICTURES, _GPU_PICTURES = 4, 32  # pictures a run


def torch_clip(card: EncoderCard, recipe: VisualRecipe) -> CheckpointVisualEncoder:
    """Return a visual encoder of two towers from ``card.checkpoint``.

    That is a hub id, a folder with ``open_clip_config.json``, a bare weights file of
    ``recipe.architecture``, or empty for that architecture with the weights of ``recipe.pretrained``.
    """
    return CheckpointVisualEncoder(card, OpenClipSource(card, recipe), fit_dim=recipe.fit_dim)


class OpenClipSource:
    """A checkpoint open_clip can load; nothing is read before first use.

    Args:
        card: What it is.
        recipe: Architecture and weights of what is no folder and no hub id.
    """

    def __init__(self, card: EncoderCard, recipe: VisualRecipe) -> None:
        self._card = card
        self._recipe = recipe
        self._file = Path(card.checkpoint).expanduser()
        self._bare = self._file.suffix in _BARE

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of its files.

        Raises:
            EncoderLoadError: A file is missing, or a hub id was not downloaded yet.
        """
        if self._bare:
            parts = ("open_clip", self._recipe.architecture, file_digest(self._file))
            return combined_digest(parts)
        return self._checkpoint().digest()

    def load(self) -> "OpenClipTowers":
        """Load both towers, downloading a hub id when that is allowed.

        Raises:
            EncoderLoadError: A file is missing or does not load.
        """
        if self._bare:
            file_digest(self._file)  # names the file when it is missing; open_clip would go online
            return OpenClipTowers(self._card, self._recipe.architecture, pretrained=self._file)
        checkpoint = self._checkpoint()
        folder = checkpoint.folder()
        if (folder / _CONFIG).is_file():
            return OpenClipTowers(self._card, f"local-dir:{folder}", folder=folder)
        if self._card.checkpoint in {"", self._recipe.architecture}:
            # The repository of a tag holds weights of a built-in architecture.
            weights = next(folder / name for name in CLIP_WEIGHTS if (folder / name).is_file())
            return OpenClipTowers(self._card, self._recipe.architecture, pretrained=weights)
        message = f"encoder {self._card.label!r}: no {_CONFIG} in {folder}"
        raise EncoderLoadError(message, remedy="name an open_clip checkpoint, or one weights file")

    def _checkpoint(self) -> NativeCheckpoint:
        label, recipe = self._card.label, self._recipe
        if self._card.checkpoint not in {"", recipe.architecture}:
            return NativeCheckpoint(self._card.checkpoint, label, weights=CLIP_WEIGHTS)
        open_clip = needed("open_clip", label)
        known = open_clip.get_pretrained_cfg(recipe.architecture, recipe.pretrained)
        repository = str((known or {}).get("hf_hub", "")).rstrip("/")
        if not repository:
            message = f"encoder {label!r}: open_clip knows no weights {recipe.pretrained!r} of {recipe.architecture!r} on a hub"
            raise EncoderLoadError(message, remedy="name a hub id, a folder or a weights file")
        return NativeCheckpoint(repository, label, weights=CLIP_WEIGHTS)


class OpenClipTowers:
    """Both towers of a loaded open_clip model, with its own preprocessing and tokenizer.

    Args:
        card: What it is.
        name: open_clip's name of the model.
        pretrained: Weights of a built-in architecture.
        folder: The checkpoint's folder, when the name is one.

    Raises:
        EncoderLoadError: open_clip is not installed, or the checkpoint does not load.
    """

    def __init__(
        self,
        card: EncoderCard,
        name: str,
        *,
        pretrained: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        self._runtime = TorchRuntime(card.label)
        open_clip = needed("open_clip", card.label)
        self.most_pictures = _GPU_PICTURES if self._runtime.on_gpu else _CPU_PICTURES
        self._lock = threading.Lock()  # the tokenizer's truncation is a setting, not of a call
        transforms: list[Any] = []

        def make() -> Any:  # noqa: ANN401 - a torch module
            model, transform = open_clip.create_model_from_pretrained(
                name,
                pretrained=None if pretrained is None else str(pretrained),
                **_own_text_tower(open_clip, folder),
            )
            transforms.extend((transform, open_clip.get_tokenizer(name)))
            return model

        self._model = self._runtime.load(make, card.checkpoint or name)
        self._transform, self._tokenizer = transforms
        self._context = int(self._tokenizer.context_length)

    def pixels(self, picture: "Image") -> FloatArray:
        """Return what the visual tower sees of an RGB picture, shape ``(3, height, width)``."""
        return floats(self._transform(picture))

    def embed_pixels(self, pixels: FloatArray) -> FloatArray:
        """Return one vector a picture, shape ``(n, d)``."""
        batch = self._runtime.torch.from_numpy(pixels).to(self._runtime.device)
        with self._runtime.running(f"{len(pixels)} pictures"):
            return floats(self._model.encode_image(batch))

    def embed_text(self, text: str) -> tuple[FloatArray, bool]:
        """Return a text's vector, shape ``(1, d)``, and whether the text was cut."""
        clean = without_surrogates(text)
        with self._lock:
            ids = self._tokenizer([clean])
            longer = self._tokenizer([clean], context_length=self._context + 1)
        # With room for one token more, the last place is filled only if the text is longer.
        cut = int(longer[0, -1]) != self._filler()
        with self._runtime.running(f"{self._context} tokens"):
            return floats(self._model.encode_text(ids.to(self._runtime.device))), cut

    def _filler(self) -> int:
        inner = getattr(self._tokenizer, "tokenizer", None)
        return int(getattr(inner, "pad_token_id", None) or 0)


def _own_text_tower(open_clip: Any, folder: Path | None) -> dict[str, Any]:  # noqa: ANN401 - the module
    """Return options that take a Hugging Face text tower's configuration from the checkpoint's folder.

    open_clip would ask the hub for the configuration of the model that the tower was started from. It
    is used when the folder's own ``config.json`` describes such a tower.
    """
    if folder is None or not (folder / "config.json").is_file():
        return {}
    text = read_json(folder / _CONFIG).get("model_cfg", {}).get("text_cfg", {})
    kind = read_json(folder / "config.json").get("model_type")
    if "hf_model_name" not in text or kind not in open_clip.hf_configs.arch_dict:
        return {}
    return {"text_cfg": text | {"hf_model_name": str(folder), "hf_model_pretrained": False}}
