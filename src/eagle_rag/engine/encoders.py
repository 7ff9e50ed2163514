"""Configured encoders to cards and factories; nothing is loaded here."""

from collections.abc import Mapping
from functools import partial

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.http import HttpRecipe, HttpTextEncoder
from eagle_rag.adapters.encoders.http_client import RetryPolicy
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, onnx_encoder
from eagle_rag.adapters.encoders.runtimes import open_pairs
from eagle_rag.errors import ConfigurationError
from eagle_rag.kernel.sections import EncoderSettings
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe
from eagle_rag.ports.plugins import EncoderFactory

__all__ = ["configured_encoders"]


def configured_encoders(
    settings: Mapping[str, EncoderSettings],
) -> tuple[tuple[EncoderCard, EncoderFactory], ...]:
    """Return the card and the factory of each configured encoder, by label.

    Raises:
        ConfigurationError: Settings of an encoder that cannot be built.
    """
    return tuple(_configured(label, entry) for label, entry in sorted(settings.items()))


def _configured(label: str, entry: EncoderSettings) -> tuple[EncoderCard, EncoderFactory]:
    if entry.modality == "rerank":
        return _pair_scorer(label, entry)
    if entry.runtime == "hash":
        make = partial(HashEncoder, entry.dim or 384, label, max_tokens=entry.max_tokens)
        return make().card, make
    if entry.runtime == "http":
        recipe = _http_recipe(label, entry)
        return recipe.card(), partial(HttpTextEncoder, recipe)
    if entry.checkpoint == MINILM_CARD.checkpoint and entry.dim != MINILM_CARD.dim:
        message = f"encoder {label!r}: {entry.checkpoint} has {MINILM_CARD.dim} dimensions, not {entry.dim}"
        raise ConfigurationError(message, remedy=f"set encoders.{label}.dim to {MINILM_CARD.dim}")
    card = EncoderCard(
        label=label,
        modality="text",
        dim=entry.dim or 0,
        runtime=entry.runtime,
        checkpoint=entry.checkpoint,
        max_tokens=entry.max_tokens,
        metric=entry.metric,
        licence=entry.licence,
    )
    return card, partial(onnx_encoder, card, recipe=_onnx_recipe(entry))


def _pair_scorer(label: str, entry: EncoderSettings) -> tuple[EncoderCard, EncoderFactory]:
    card = EncoderCard(
        label=label,
        modality="rerank",
        dim=1,
        runtime=entry.runtime,
        checkpoint=entry.checkpoint,
        max_tokens=entry.max_tokens,
        licence=entry.licence,
        extra="" if entry.runtime in {"onnx", "hash"} else "torch",
    )
    return card, partial(open_pairs, card, PairRecipe(batch_size=entry.batch_size))


def _onnx_recipe(entry: EncoderSettings) -> OnnxRecipe:
    return OnnxRecipe(
        pooling=entry.pooling,
        query_prefix=entry.query_prefix,
        document_prefix=entry.document_prefix,
    )


def _http_recipe(label: str, entry: EncoderSettings) -> HttpRecipe:
    return HttpRecipe(
        label=label,
        url=entry.url,
        model=entry.model,
        dim=entry.dim or 0,
        api_key_env=entry.api_key_env,
        shorten=entry.truncate_dim is not None,
        query_prefix=entry.query_prefix,
        document_prefix=entry.document_prefix,
        batch_size=entry.batch_size,
        max_tokens=entry.max_tokens,
        metric=entry.metric,
        licence=entry.licence,
        retries=RetryPolicy(attempts=entry.retries + 1, timeout_s=entry.timeout_s),
    )
