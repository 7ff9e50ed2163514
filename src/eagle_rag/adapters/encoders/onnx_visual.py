"""Exported visual encoders run by onnxruntime on the CPU, with pixels made by Pillow and numpy."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eagle_rag.adapters.encoders.checkpoint import combined_digest, file_digest
from eagle_rag.adapters.encoders.folder import (
    PREPROCESS,
    TEXT_TOWER,
    TOKENIZER,
    VISUAL_TOWER,
    check_kind,
    exported_digest,
    read_card,
    read_json,
)
from eagle_rag.adapters.encoders.pixels import PixelRecipe, picture_pixels
from eagle_rag.adapters.encoders.session import OnnxModel, usual_threads
from eagle_rag.adapters.encoders.visual import CheckpointVisualEncoder
from eagle_rag.adapters.encoders.wordpiece import TokenWindow, folder_tokenizer
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import VisualRecipe
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from PIL.Image import Image
    from tokenizers import Tokenizer

__all__ = ["OnnxTextTower", "OnnxTowers", "OnnxVisualSource", "onnx_visual"]


def onnx_visual(card: EncoderCard, recipe: VisualRecipe) -> CheckpointVisualEncoder:
    """Return a visual encoder from the exported folder ``card.checkpoint``."""
    source = OnnxVisualSource(card, Path(card.checkpoint).expanduser(), backend=recipe.backend)
    return CheckpointVisualEncoder(card, source, fit_dim=recipe.fit_dim)


class OnnxVisualSource:
    """An exported folder of kind ``open_clip`` or ``vision``.

    Args:
        card: What it is.
        folder: The folder; nothing is read before first use.
        backend: Which of the two kinds.
    """

    def __init__(self, card: EncoderCard, folder: Path, *, backend: str) -> None:
        self._card = card
        self._folder = folder
        self._names = [VISUAL_TOWER, PREPROCESS]
        if backend == "open_clip":
            self._names += [TEXT_TOWER, TOKENIZER]

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of its files.

        Raises:
            EncoderLoadError: A file is missing, was changed after the export, or the kind is another.
        """
        card = read_card(self._folder)
        if card is not None:
            check_kind(self._folder, card, "open_clip" if TEXT_TOWER in self._names else "vision")
            return exported_digest(self._folder, card)
        return combined_digest(
            part
            for name in sorted(self._names)
            for part in (name, file_digest(self._folder / name))
        )

    def load(self) -> "OnnxTowers":
        """Load both towers, or the one there is.

        Raises:
            EncoderLoadError: A file is missing, was changed after the export, or does not load.
        """
        self.digest()  # refuses files that are not those of the card
        path = self._folder / PREPROCESS
        recipe = PixelRecipe.from_json(read_json(path), name=str(path))
        threads = usual_threads()
        visual = OnnxModel(self._folder / VISUAL_TOWER, self._card.label, threads=threads)
        if TEXT_TOWER not in self._names:
            return OnnxTowers(visual, recipe, self._card)
        card = read_card(self._folder)
        text = OnnxTextTower(
            OnnxModel(self._folder / TEXT_TOWER, self._card.label, threads=threads),
            folder_tokenizer(self._folder),
            padding=_padding(self._folder / TOKENIZER),
            size=card.max_tokens if card is not None else self._card.max_tokens,
        )
        return OnnxTowers(visual, recipe, self._card, text=text)


class OnnxTextTower:
    """The text side of an exported CLIP model, which takes ids of one fixed length.

    Args:
        model: Takes ``input_ids``.
        tokenizer: Without truncation and padding.
        padding: Id that fills up.
        size: The length.

    Raises:
        EncoderLoadError: The model takes something else, or the length holds no text.
    """

    def __init__(
        self, model: OnnxModel, tokenizer: "Tokenizer", *, padding: int, size: int
    ) -> None:
        model.takes("input_ids")
        self._model = model
        self._window = TokenWindow(tokenizer, size)
        self._padding = padding
        self._size = size

    def embed(self, text: str) -> tuple[FloatArray, bool]:
        """Return a text's vector, shape ``(1, d)``, and whether the text was cut."""
        ids, cut = self._window.cut(text)
        row = np.full((1, self._size), self._padding, np.int64)
        row[0, : len(ids)] = ids
        output = next(iter(self._model.outputs))
        vector: FloatArray = self._model.run(output, {"input_ids": row}, what=f"{len(ids)} tokens")
        return vector, cut


class OnnxTowers:
    """Loaded exported towers.

    One picture is one run: quantised exports would else let pictures change each other's vectors, and
    on a CPU a batch saves nothing.

    Args:
        model: Takes ``pixel_values``.
        recipe: How a picture becomes pixels.
        card: What it is.
        text: The text tower, if there is one.

    Raises:
        EncoderLoadError: The model takes something else.
    """

    most_pictures = 1

    def __init__(
        self,
        model: OnnxModel,
        recipe: PixelRecipe,
        card: EncoderCard,
        *,
        text: OnnxTextTower | None = None,
    ) -> None:
        model.takes("pixel_values")
        self._model = model
        self._recipe = recipe
        self._card = card
        self._text = text

    def pixels(self, picture: "Image") -> FloatArray:
        """Return what the visual tower sees of an RGB picture, shape ``(3, height, width)``."""
        return picture_pixels(picture, self._recipe)

    def embed_pixels(self, pixels: FloatArray) -> FloatArray:
        """Return one vector a picture, shape ``(n, d)``."""
        output = next(iter(self._model.outputs))
        height, width = pixels.shape[2:]
        vectors: FloatArray = self._model.run(
            output, {"pixel_values": pixels}, what=f"a picture of {height} x {width} pixels"
        )
        if vectors.ndim != 2:  # noqa: PLR2004 - pictures and dimensions
            message = f"encoder {self._card.label!r} gave {vectors.ndim} axes, expected 2"
            raise EncoderLoadError(message, remedy="export it with its pooling")
        return vectors

    def embed_text(self, text: str) -> tuple[FloatArray, bool]:
        """Return a text's vector and whether the text was cut."""
        if self._text is None:
            message = f"the checkpoint of encoder {self._card.label!r} has no text tower"
            raise InvalidInput(message, remedy="search its collection with a picture")
        return self._text.embed(text)


def _padding(tokenizer: Path) -> int:
    entry = read_json(tokenizer).get("padding")
    return int(entry.get("pad_id", 0)) if isinstance(entry, dict) else 0
