"""A deterministic encoder without weights, for tests and for trying a pipeline out."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

__all__ = ["HashEncoder"]

_WORD = re.compile(r"\w+")
_REVISION = "eagle-hash-1"  # goes into the digest: change it whenever the vectors change
_SLOTS = (
    4  # positions a word sets; more make two words collide less, at the price of denser vectors
)


class HashEncoder:
    """Words hashed into a vector: no weights, no download, the same on every machine.

    For tests and dry runs: texts that share words are near each other, everything else is close to
    orthogonal. It knows nothing of meaning, so nothing measured with it says anything about quality.
    Each casefolded word sets four positions, chosen with their signs by SHA-256, once per occurrence;
    the sum is scaled to unit length. A text without words is hashed as a whole, so it is a
    unit vector too.

    Args:
        dim: Dimension, at least 1.
        label: Name in configuration and indexes.
        max_tokens: Words beyond this many are dropped and reported as truncated.

    Raises:
        InvalidInput: ``dim`` or ``max_tokens`` is below 1.
    """

    def __init__(self, dim: int = 384, label: str = "hash", *, max_tokens: int = 512) -> None:
        if dim < 1 or max_tokens < 1:
            message = f"dim and max_tokens must be at least 1, got {dim} and {max_tokens}"
            raise InvalidInput(message)
        card = EncoderCard(
            label,
            "text",
            dim,
            "hash",
            checkpoint=_REVISION,
            max_tokens=max_tokens,
            licence="Apache-2.0",
        )
        self._take(card)

    @classmethod
    def of_card(cls, card: EncoderCard) -> "HashEncoder":
        """Return one that stands in for another encoder: its card is that encoder's.

        Raises:
            InvalidInput: As for the constructor.
        """
        encoder = cls(card.dim, card.label, max_tokens=card.max_tokens)
        encoder._take(card)
        return encoder

    def _take(self, card: EncoderCard) -> None:
        self._card = card
        recipe = f"{_REVISION}:{card.dim}:{card.max_tokens}".encode()
        digest = hashlib.sha256(recipe).hexdigest()
        self._spec = VectorSpec(card.label, digest, card.dim, metric=card.metric, pooling="none")

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the digest covers the recipe, the dimension and the window."""
        return self._spec

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts, each by itself."""
        vectors = np.zeros((len(texts), self._spec.dim), np.float32)
        truncated = []
        for at, text in enumerate(texts):
            words = _WORD.findall(text.casefold())
            if len(words) > self._card.max_tokens:
                truncated.append(at)
            vectors[at] = self._vector(text, words[: self._card.max_tokens])
        return EncodedBatch(vectors, self._spec, tuple(truncated))

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode one query, exactly as a document."""
        return self.encode_documents([text])

    def _vector(self, text: str, words: Sequence[str]) -> FloatArray:
        total = np.zeros(self._spec.dim, np.float64)
        for word, count in Counter(words).items():
            positions, signs = _positions(word, self._spec.dim)
            np.add.at(total, np.array(positions), count * np.array(signs))
        if not total.any():
            # No words, or signs that cancel out: the first position of the text's own hash.
            positions, signs = _positions(f"\0{text}", self._spec.dim)
            total[positions[0]] = signs[0]
        unit: FloatArray = (total / np.sqrt(total @ total)).astype(np.float32)
        return unit


@lru_cache(maxsize=65_536)
def _positions(word: str, dim: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return where a word adds to the vector, and with which signs."""
    digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
    numbers = [int.from_bytes(digest[8 * slot : 8 * slot + 8], "little") for slot in range(_SLOTS)]
    return (
        tuple((number >> 1) % dim for number in numbers),
        tuple(1.0 if number & 1 else -1.0 for number in numbers),
    )
