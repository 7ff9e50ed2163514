"""Cross-encoders run by onnxruntime on the CPU."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eagle_rag.adapters.encoders.folder import FolderCheckpoint
from eagle_rag.adapters.encoders.pairs import CheckpointPairScorer, PairRow, shortened
from eagle_rag.adapters.encoders.session import (
    TEXT_INPUTS,
    OnnxModel,
    is_quantized,
    usual_threads,
)
from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["OnnxPairModel", "OnnxPairSource", "onnx_pairs"]


def onnx_pairs(card: EncoderCard, recipe: PairRecipe) -> CheckpointPairScorer:
    """Return a cross-encoder from the exported folder ``card.checkpoint``."""
    source = OnnxPairSource(card, Path(card.checkpoint).expanduser())
    return CheckpointPairScorer(card, source, recipe=recipe)


class OnnxPairSource:
    """A cross-encoder's exported folder.

    Args:
        card: What it is.
        folder: ``model.onnx`` with ``tokenizer.json`` or ``vocab.txt``; nothing is read before first use.
    """

    def __init__(self, card: EncoderCard, folder: Path) -> None:
        self._card = card
        self._checkpoint = FolderCheckpoint(folder, "pair")

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of its files."""
        return self._checkpoint.digest()

    def load(self) -> "OnnxPairModel":
        """Load it.

        Raises:
            EncoderLoadError: A file is missing, was changed after the export, or does not load.
        """
        self._checkpoint.digest()  # refuses files that are not those of the card
        path = self._checkpoint.model()
        model = OnnxModel(path, self._card.label, threads=usual_threads())
        return OnnxPairModel(
            model, self._checkpoint.tokenizer(), self._card, quantized=is_quantized(path)
        )


class OnnxPairModel:
    """A loaded cross-encoder: a run holds pairs of one length, because padding costs time on a CPU.

    Args:
        model: Gives ``logits``, or has one output.
        tokenizer: Without truncation and padding; truncation is set here.
        card: What it is.
        quantized: Activations are quantised at run time by their extremes, so a run holds one pair:
            what shares it would change the score.

    Raises:
        EncoderLoadError: The model takes something else than a text.
    """

    padded = False

    def __init__(
        self, model: OnnxModel, tokenizer: "Tokenizer", card: EncoderCard, *, quantized: bool
    ) -> None:
        model.takes(*TEXT_INPUTS)
        if card.max_tokens <= tokenizer.num_special_tokens_to_add(is_pair=True):
            message = f"encoder {card.label!r}: a window of {card.max_tokens} tokens holds no pair"
            raise EncoderLoadError(message, remedy="raise max_tokens in the encoder's settings")
        self._model = model
        self._window = card.max_tokens
        self._whole = deepcopy(tokenizer)
        self._tokenizer = tokenizer
        self._tokenizer.enable_truncation(card.max_tokens, strategy="longest_first")
        self._output = "logits" if "logits" in model.outputs else next(iter(model.outputs))
        self.most_rows = 1 if quantized else 0

    def rows(self, query: str, texts: Sequence[str]) -> list[PairRow]:
        """Return the ids of each pair; the longer side is cut first, as transformers does."""
        query, *others = [
            shortened(without_surrogates(side), self._whole, self._window)
            for side in (query, *texts)
        ]
        pairs = [(query, text) for text in others]
        return [
            PairRow(tuple(encoding.ids), tuple(encoding.type_ids))
            for encoding in self._tokenizer.encode_batch(pairs)
        ]

    def logits(self, rows: Sequence[PairRow]) -> NDArray[Any]:
        """Return the logits of rows of one length."""
        ids = np.array([row.ids for row in rows], np.int64)
        types = np.array([row.types for row in rows], np.int64)
        feeds = dict(zip(TEXT_INPUTS, (ids, np.ones_like(ids), types), strict=True))
        what = f"{ids.shape[0]} pairs of {ids.shape[1]} tokens"
        return self._model.run(self._output, feeds, what=what)
