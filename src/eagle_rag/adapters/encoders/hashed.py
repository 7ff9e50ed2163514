"""Visual encoders and cross-encoders without weights: SHA-256 of the input, for tests and dry runs."""

import hashlib
from collections.abc import Sequence

import numpy as np

from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["HashPairScorer", "HashVisualEncoder"]

_REVISION = "eagle-hash-visual-1"  # goes into the digest: change it whenever the vectors change


class HashVisualEncoder:
    """Bytes hashed into a vector: equal files are equal, all others close to orthogonal.

    Pictures are not decoded. A text query lies in the same space and is near nothing but the picture
    whose bytes are the text's UTF-8.

    Args:
        card: What it is to be taken for.
    """

    def __init__(self, card: EncoderCard) -> None:
        self._card = card
        digest = hashlib.sha256(f"{_REVISION}:{card.dim}".encode()).hexdigest()
        self._spec = VectorSpec(card.label, digest, card.dim, metric=card.metric, pooling="none")

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the digest covers the recipe and the dimension."""
        return self._spec

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        """Encode files, each by itself."""
        vectors = np.empty((len(images), self._card.dim), np.float32)
        for at, image in enumerate(images):
            vectors[at] = _unit(image, self._card.dim)
        return EncodedBatch(vectors, self._spec)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode a text as if it were a file.

        Raises:
            InvalidInput: The card says that it takes no text.
        """
        if not self._card.queries_text:
            message = f"encoder {self._card.label!r} encodes pictures only, not {text[:60]!r}"
            raise InvalidInput(message, remedy="search its collection with a picture")
        return self.encode_images([text.encode("utf-8", "surrogatepass")])


class HashPairScorer:
    """Scores from 0 to 1 that depend on query and text, and on nothing else.

    Args:
        card: What it is to be taken for.
    """

    def __init__(self, card: EncoderCard) -> None:
        self._card = card

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return one score a text, shape ``(n,)``."""
        return np.array([_share(f"{query}\0{text}") for text in texts], np.float32)


def _unit(data: bytes, dim: int) -> FloatArray:
    """Return a unit vector of 32-bit numbers drawn from SHA-256 in counter mode."""
    seed = hashlib.sha256(data).digest()
    blocks = b"".join(
        hashlib.sha256(seed + count.to_bytes(4, "little")).digest()
        for count in range(dim // 8 + 1)
    )
    numbers = np.frombuffer(blocks, "<u4", dim).astype(np.float64) / 2**31 - 1
    unit: FloatArray = (numbers / np.sqrt(numbers @ numbers)).astype(np.float32)
    return unit


def _share(text: str) -> float:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "little") / 2**32
