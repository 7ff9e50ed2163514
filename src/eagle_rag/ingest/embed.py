"""Stage 5: vectors, for the passages of several documents at once."""

from collections.abc import Sequence

from eagle_rag.errors import PluginError, VectorSpaceMismatch
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.passage import EncodedBatch, VectorSpec

__all__ = ["embed_texts"]


def embed_texts(
    bus: BoundBus, texts: Sequence[str], *, encoder: str, expected: VectorSpec
) -> EncodedBatch:
    """Encode texts for one collection.

    Raises:
        PluginError: No plugin knows the encoder, or it returned another number of vectors.
        VectorSpaceMismatch: The encoder answers in another space than the collection's.
    """
    batch = bus.embed_text(encoder, texts)
    if batch is None:
        message = f"no plugin encodes with {encoder!r}"
        raise PluginError(message, remedy="enable the plugin that registered the encoder")
    if batch.vectors.shape != (len(texts), expected.dim):
        message = (
            f"encoder {encoder!r} returned shape {batch.vectors.shape} for {len(texts)} texts"
        )
        raise PluginError(message, remedy=f"it must return ({len(texts)}, {expected.dim})")
    if batch.spec != expected:
        message = (
            f"encoder {encoder!r} answers in space {batch.spec}, the collection holds {expected}"
        )
        raise VectorSpaceMismatch(message, remedy="rebuild the collection with one encoder")
    return batch
