"""From a card and a recipe to an encoder: which module runs which kind of checkpoint."""

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, onnx_encoder
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder

__all__ = ["open_pairs", "open_text", "open_visual"]


def open_text(card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
    """Return a text encoder; see ``EncoderRuntimes.text``."""
    if card.runtime == "hash":
        return HashEncoder(card.dim, card.label, max_tokens=card.max_tokens)
    if card.runtime == "onnx":
        onnx = OnnxRecipe(
            pooling=recipe.pooling,
            query_prefix=recipe.query_prefix,
            document_prefix=recipe.document_prefix,
            normalized=recipe.normalized,
        )
        return onnx_encoder(card, recipe=onnx)
    raise _unknown(card)


def open_visual(card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
    """Return a visual encoder; see ``EncoderRuntimes.visual``."""
    del recipe
    raise _unknown(card)


def open_pairs(card: EncoderCard, recipe: PairRecipe) -> PairScorer:
    """Return a cross-encoder; see ``EncoderRuntimes.pairs``."""
    del recipe
    raise _unknown(card)


def _unknown(card: EncoderCard) -> EncoderLoadError:
    message = f"encoder {card.label!r}: no runtime {card.runtime!r} for {card.modality} encoders"
    return EncoderLoadError(message, remedy="correct its card")
