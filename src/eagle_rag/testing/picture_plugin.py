"""A plugin with eyes for colours: a visual collection small enough to compute by hand.

Its entry point is ``eagle_rag.testing.picture_plugin:PicturePlugin``; tests give it one of their own.
"""

from collections.abc import Sequence
from io import BytesIO

import numpy as np

from eagle_rag.errors import InvalidInput
from eagle_rag.hooks import hookimpl
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.passage import ChunkDecision, EncodedBatch, VectorSpec, VisualAsset
from eagle_rag.model.query import CollectionQueryPlan, QueryContext, RouteDecision
from eagle_rag.ports.plugins import PluginContext

__all__ = ["COLOURS", "UNFILLED", "ColourEncoder", "PicturePlugin"]

COLOURS = "eagle_colours"
"""The collection that holds pictures."""

UNFILLED = "eagle_unfilled"
"""A collection that no encoder fills."""

_FIELDS = ("content_summary", "image_id", "image_path", "parent_section")
_WORDS = ("red", "green", "blue")


class ColourEncoder:
    """Pictures to the direction of their mean colour; the words red, green and blue to the same space.

    Args:
        words: It has a text tower.
    """

    def __init__(self, *, words: bool = True) -> None:
        self.card = EncoderCard("colours", "visual", 4, "hash", queries_text=words)
        self.spec = VectorSpec("colours", "0" * 64, 4, pooling="none")

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        """Return the mean colour of each picture and a constant, of unit length."""
        from PIL import Image, UnidentifiedImageError

        colours: list[list[float]] = []
        for image in images:
            try:
                with Image.open(BytesIO(image)) as opened:
                    pixels = np.asarray(opened.convert("RGB"), dtype=np.float64)
            except (UnidentifiedImageError, OSError, SyntaxError) as error:
                message = f"picture {len(colours)} of {len(images)} cannot be decoded: {error}"
                raise InvalidInput(message) from error
            colours.append([*pixels.mean(axis=(0, 1)), 1.0])
        return self._batch(colours)

    def encode_query(self, text: str) -> EncodedBatch:
        """Return the direction of the colours that a text names."""
        words = text.lower().split()
        return self._batch([[*(float(words.count(word)) for word in _WORDS), 0.01]])

    def _batch(self, rows: list[list[float]]) -> EncodedBatch:
        vectors = np.asarray(rows, dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return EncodedBatch(vectors, self.spec)


class PicturePlugin:
    """Sends pictures to ``COLOURS``, but those whose caption says ``nowhere`` or ``unfilled``.

    Options: ``words: false`` leaves the text tower out.
    """

    name = "eye"
    namespace = "eye"
    version = "1"
    depends_on: tuple[str, ...] = ()
    priority = 100

    def on_load(self, context: PluginContext) -> None:
        """Register the encoder and both collections."""
        words = bool(context.options.get("words", True))
        encoder = ColourEncoder(words=words)
        context.registrar.register_encoder(encoder.card, lambda: ColourEncoder(words=words))
        for name, label in ((COLOURS, "colours"), (UNFILLED, "")):
            context.registrar.register_collection(
                CollectionProfile(
                    name,
                    4,
                    label,
                    hybrid_enabled=False,
                    chunk_type="picture",
                    extra_output_fields=_FIELDS,
                )
            )

    @hookimpl
    def classify_visual(self, assets: tuple[VisualAsset, ...]) -> tuple[ChunkDecision, ...]:
        """Decide by the caption."""
        return tuple(
            ChunkDecision(
                position,
                UNFILLED if "unfilled" in asset.caption else COLOURS,
                "colours",
                chunk_type="picture",
                rule="caption",
            )
            for position, asset in enumerate(assets)
            if "nowhere" not in asset.caption
        )

    @hookimpl
    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Send a query in words that names a colour to the pictures too; leave others to the core."""
        if context.request.image is not None or not set(context.tokens) & set(_WORDS):
            return None
        return RouteDecision(
            (
                CollectionQueryPlan("eagle_text", "hash"),
                CollectionQueryPlan(COLOURS, "colours", hybrid=False),
                CollectionQueryPlan(UNFILLED, "", hybrid=False),
            ),
            rule="colour",
        )
