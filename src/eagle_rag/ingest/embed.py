"""Stage 5: vectors, for the passages and pictures of several documents at once."""

from collections.abc import Sequence

from eagle_rag.errors import PluginError, VectorSpaceMismatch
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.passage import EncodedBatch, VectorSpec

__all__ = ["embed_images", "embed_texts"]


def embed_texts(
    bus: BoundBus, texts: Sequence[str], *, encoder: str, expected: VectorSpec
) -> EncodedBatch:
    """Encode texts for one collection.

    Raises:
        PluginError: No plugin knows the encoder, or it returned another number of vectors.
        VectorSpaceMismatch: The encoder answers in another space than the collection's.
    """
    batch = bus.embed_text(encoder, texts)
    return _checked(batch, f"{len(texts)} texts", encoder=encoder, rows=len(texts), spec=expected)


def embed_images(
    bus: BoundBus, images: Sequence[bytes], *, encoder: str, expected: VectorSpec
) -> EncodedBatch:
    """Encode pictures for one collection, as ``embed_texts`` does.

    Raises:
        InvalidInput: One of them is no picture that the encoder can decode.
    """
    batch = bus.embed_visual(encoder, images)
    what = f"{len(images)} pictures"
    return _checked(batch, what, encoder=encoder, rows=len(images), spec=expected)


def _checked(
    batch: EncodedBatch | None, what: str, *, encoder: str, rows: int, spec: VectorSpec
) -> EncodedBatch:
    if batch is None:
        message = f"no plugin encodes with {encoder!r}"
        raise PluginError(message, remedy="enable the plugin that registered the encoder")
    if batch.vectors.shape != (rows, spec.dim):
        message = f"encoder {encoder!r} returned shape {batch.vectors.shape} for {what}"
        raise PluginError(message, remedy=f"it must return ({rows}, {spec.dim})")
    if batch.spec != spec:
        message = f"encoder {encoder!r} answers in space {batch.spec}, the collection holds {spec}"
        raise VectorSpaceMismatch(message, remedy="rebuild the collection with one encoder")
    return batch
