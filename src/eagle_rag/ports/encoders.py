"""Encoders: text, pictures, pairs."""

from collections.abc import Sequence
from typing import Protocol

from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["EncoderCatalog", "PairScorer", "TextEncoder", "VisualEncoder"]


class TextEncoder(Protocol):
    """Texts to vectors. Weights load on first use."""

    @property
    def card(self) -> EncoderCard:
        """What it is, without loading it."""
        ...

    @property
    def spec(self) -> VectorSpec:
        """Its vector space, without loading weights into memory (digests are read from disk)."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts to be indexed; the order is kept and the result does not depend on batching.

        Raises:
            EncoderLoadError: The weights are missing or do not load.
            EncoderUnavailable: A remote encoder does not answer.
        """
        ...

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode one query, shape ``(1, dim)``."""
        ...


class VisualEncoder(Protocol):
    """Pictures to vectors; when the card says ``queries_text``, text queries too."""

    @property
    def card(self) -> EncoderCard:
        """What it is, without loading it."""
        ...

    @property
    def spec(self) -> VectorSpec:
        """Its vector space."""
        ...

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        """Encode pictures in any format Pillow reads.

        Raises:
            InvalidInput: One of them cannot be decoded.
            EncoderLoadError, EncoderUnavailable: As for texts.
        """
        ...

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode a text query in the pictures' space, shape ``(1, dim)``."""
        ...


class PairScorer(Protocol):
    """A cross-encoder: query and passages together to scores."""

    @property
    def card(self) -> EncoderCard:
        """What it is, without loading it."""
        ...

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return one score a text, shape ``(n,)``, higher is better, independent of batch size."""
        ...


class EncoderCatalog(Protocol):
    """The registry of encoders as plugins see it."""

    def text(self, label: str) -> TextEncoder:
        """Return a text encoder.

        Raises:
            UnknownName: Nobody registered it as a text encoder; the known labels are listed.
        """
        ...

    def visual(self, label: str) -> VisualEncoder:
        """Return a visual encoder, as ``text`` does."""
        ...

    def rerank(self, label: str) -> PairScorer:
        """Return a cross-encoder, as ``text`` does."""
        ...

    def cards(self) -> tuple[EncoderCard, ...]:
        """Return all cards by label."""
        ...
