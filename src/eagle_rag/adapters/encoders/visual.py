"""A visual encoder over any runtime: decoding, batches that shrink, vectors of one space."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from eagle_rag.adapters.encoders.memory import in_batches
from eagle_rag.adapters.encoders.pixels import decode_picture
from eagle_rag.adapters.encoders.pooling import fitted, scaled
from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["CheckpointVisualEncoder", "VisualSource", "VisualTowers"]


class VisualTowers(Protocol):
    """A loaded visual encoder.

    Attributes:
        most_pictures: Pictures a run, at least 1.
    """

    most_pictures: int

    def pixels(self, picture: "Image") -> FloatArray:
        """Return what the visual tower sees of an RGB picture, shape ``(3, height, width)``."""
        ...

    def embed_pixels(self, pixels: FloatArray) -> FloatArray:
        """Return one vector a picture, of any length.

        Args:
            pixels: Shape ``(n, 3, height, width)``.

        Raises:
            NotEnoughMemory: The run did not fit into memory.
        """
        ...

    def embed_text(self, text: str) -> tuple[FloatArray, bool]:
        """Return a text's vector, shape ``(1, d)``, and whether the text was cut.

        Raises:
            InvalidInput: There is no text tower.
        """
        ...


class VisualSource(Protocol):
    """Where a visual encoder's weights come from."""

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary and configuration."""
        ...

    def load(self) -> VisualTowers:
        """Load the weights."""
        ...


class CheckpointVisualEncoder:
    """A visual encoder from a checkpoint; nothing is loaded before the first picture or query.

    Vectors have unit length. When memory runs out the batch is halved. Safe to use from several threads.

    Args:
        card: What it is.
        source: Where its weights come from.
        fit_dim: Cut or zero-pad the model's vectors to the card's dimension.
    """

    def __init__(self, card: EncoderCard, source: VisualSource, *, fit_dim: bool = False) -> None:
        self._card = card
        self._source = source
        self._fit_dim = fit_dim
        self._lock = threading.Lock()
        self._spec: VectorSpec | None = None
        self._towers: VisualTowers | None = None

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; the files are read once for their digest, not loaded.

        Raises:
            EncoderLoadError: A file is missing, or nothing was downloaded yet.
        """
        with self._lock:
            if self._spec is None:
                self._spec = VectorSpec(
                    encoder=self._card.label,
                    digest=self._source.digest(),
                    dim=self._card.dim,
                    metric=self._card.metric,
                    pooling="none",
                )
            return self._spec

    def load(self) -> None:
        """Load the weights now; a hub's are downloaded when that is allowed.

        Raises:
            EncoderLoadError: They are missing or do not load.
        """
        self._loaded()

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        """Encode pictures in any format Pillow reads.

        Raises:
            InvalidInput: One cannot be decoded; the message names its position.
            EncoderLoadError: The weights are missing, do not load or give no finite numbers.
        """
        if not images:
            return EncodedBatch(np.empty((0, self._card.dim), np.float32), self.spec)
        towers = self._loaded()

        def run(batch: Sequence[int]) -> FloatArray:
            # Decoded here, not before: a thousand scans at once do not fit into memory.
            pixels = [towers.pixels(decode_picture(images[at], at=at)) for at in batch]
            return self._unit(towers.embed_pixels(np.stack(pixels)))

        rows = in_batches([1] * len(images), run, size=towers.most_pictures, padded=False)
        return EncodedBatch(np.stack(rows), self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode a text query in the pictures' space.

        Raises:
            InvalidInput: It has no text tower.
            EncoderLoadError: The weights are missing, do not load or give no finite numbers.
        """
        if not self._card.queries_text:
            message = f"encoder {self._card.label!r} encodes pictures only, not {text[:60]!r}"
            raise InvalidInput(message, remedy="search its collection with a picture")
        vector, cut = self._loaded().embed_text(text)
        return EncodedBatch(self._unit(vector), self.spec, (0,) if cut else ())

    def _unit(self, vectors: FloatArray) -> FloatArray:
        name = self._card.label
        return scaled(fitted(vectors, self._card.dim, name=name, fit=self._fit_dim), name=name)

    def _loaded(self) -> VisualTowers:
        with self._lock:
            if self._towers is None:
                self._towers = self._source.load()
            return self._towers
