"""From a card and a recipe to an encoder: which module runs which kind of checkpoint.

The torch runtime's modules are imported when a card asks for them; they import torch when an encoder
is used.
"""

from pathlib import Path

from eagle_rag.adapters.encoders.folder import is_exported
from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.hashed import HashPairScorer, HashVisualEncoder
from eagle_rag.adapters.encoders.libraries import require_installed
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, onnx_encoder
from eagle_rag.adapters.encoders.onnx_pairs import onnx_pairs
from eagle_rag.adapters.encoders.onnx_visual import onnx_visual
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder

__all__ = ["open_pairs", "open_text", "open_visual"]


def open_text(card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
    """Return a text encoder; see ``EncoderRuntimes.text``."""
    runtime = _runtime(card, "transformers")
    if runtime == "hash":
        return HashEncoder.of_card(card)
    if runtime == "torch":
        from eagle_rag.adapters.encoders.torch_text import TorchTextEncoder

        return TorchTextEncoder(card, recipe)
    onnx = OnnxRecipe(
        pooling=recipe.pooling,
        query_prefix=recipe.query_prefix,
        document_prefix=recipe.document_prefix,
        normalized=recipe.normalized,
        fit_dim=recipe.fit_dim,
    )
    return onnx_encoder(card, recipe=onnx, query_checkpoint=recipe.query_checkpoint)


def open_visual(card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
    """Return a visual encoder; see ``EncoderRuntimes.visual``."""
    clip = recipe.backend == "open_clip"
    runtime = _runtime(card, "open_clip" if clip else "transformers")
    if runtime == "hash":
        return HashVisualEncoder(card)
    if runtime == "onnx":
        return onnx_visual(card, recipe)
    if clip:
        from eagle_rag.adapters.encoders.torch_clip import torch_clip

        return torch_clip(card, recipe)
    from eagle_rag.adapters.encoders.torch_vision import torch_vision

    return torch_vision(card, recipe)


def open_pairs(card: EncoderCard, recipe: PairRecipe) -> PairScorer:
    """Return a cross-encoder; see ``EncoderRuntimes.pairs``."""
    runtime = _runtime(card, "transformers")
    if runtime == "hash":
        return HashPairScorer(card)
    if runtime == "onnx":
        return onnx_pairs(card, recipe)
    from eagle_rag.adapters.encoders.torch_text import torch_pairs

    return torch_pairs(card, recipe)


def _runtime(card: EncoderCard, library: str) -> str:
    """Return ``hash``, ``onnx`` or ``torch``, the last with its libraries installed."""
    runtime = card.runtime
    if runtime == "auto":
        exported = card.checkpoint == MINILM_CARD.checkpoint or (
            bool(card.checkpoint) and is_exported(Path(card.checkpoint).expanduser())
        )
        runtime = "onnx" if exported else "torch"
    if runtime not in {"hash", "onnx", "torch"}:
        message = (
            f"encoder {card.label!r}: no runtime {card.runtime!r} for {card.modality} encoders"
        )
        raise EncoderLoadError(message, remedy="correct its card: onnx, torch, auto or hash")
    if runtime == "torch":
        for module in ("torch", library):
            require_installed(module, card.label)
    return runtime
