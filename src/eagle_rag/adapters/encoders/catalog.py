"""The encoders the composition root registers: cards now, factories for later."""

from functools import partial

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import minilm_encoder
from eagle_rag.model.collection import EncoderCard
from eagle_rag.ports.plugins import EncoderFactory

__all__ = ["default_encoders"]


def default_encoders(*, threads: int = 0) -> tuple[tuple[EncoderCard, EncoderFactory], ...]:
    """Return the encoders of the default install, by label.

    Args:
        threads: Texts the ONNX encoders run at a time; see ``OnnxRecipe.threads``.
    """
    return (
        (HashEncoder().card, HashEncoder),
        (MINILM_CARD, partial(minilm_encoder, threads=threads)),
    )
