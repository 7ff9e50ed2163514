"""The encoders the composition root registers: cards now, factories for later."""

from collections.abc import Sequence
from functools import partial

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.http import HttpRecipe, HttpTextEncoder
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, minilm_encoder, onnx_encoder
from eagle_rag.model.collection import EncoderCard
from eagle_rag.ports.plugins import EncoderFactory

__all__ = ["default_encoders"]


def default_encoders(
    *,
    threads: int = 0,
    onnx: Sequence[tuple[EncoderCard, OnnxRecipe]] = (),
    remotes: Sequence[HttpRecipe] = (),
) -> tuple[tuple[EncoderCard, EncoderFactory], ...]:
    """Return ``hash``, ``minilm`` and the encoders of the settings, by label; nothing is loaded.

    Args:
        threads: Texts the default encoder runs at a time; see ``OnnxRecipe.threads``.
        onnx: Further checkpoints; see ``onnx_encoder``.
        remotes: Models behind an OpenAI-compatible address.
    """
    encoders: list[tuple[EncoderCard, EncoderFactory]] = [
        (HashEncoder().card, HashEncoder),
        (MINILM_CARD, partial(minilm_encoder, threads=threads)),
    ]
    encoders += [(card, partial(onnx_encoder, card, recipe=recipe)) for card, recipe in onnx]
    encoders += [(remote.card(), partial(HttpTextEncoder, remote)) for remote in remotes]
    return tuple(sorted(encoders, key=lambda entry: entry[0].label))
