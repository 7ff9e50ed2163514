"""The plugin's encoders, registered as cards; nothing is loaded before the first text or picture."""

import os
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from eagle_biomed.encoder_cards import (
    MORGAN_CARD,
    NATIVE,
    NativeEncoder,
    OpenedWith,
    native_cards,
    opened_with,
)
from eagle_biomed.encoder_modes import ModeRule, Weights
from eagle_biomed.options import BiomedOptions
from eagle_biomed.structure_texts import document_structures, query_structure
from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import TextRecipe, VisualRecipe
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec
from eagle_rag.ops.excerpts import excerpt
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.plugins import DecisionLog, PluginContext
from eagle_rag.ports.services import EncoderRuntimes

__all__ = [
    "LazyDomainEncoder",
    "LazyImageEncoder",
    "LazyPairScorer",
    "register_encoders",
]

E = TypeVar("E")


def register_encoders(
    context: PluginContext,
    options: BiomedOptions,
    *,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Register the seven of the reference and ``morgan``; no weight is loaded.

    Args:
        context: Registrar, runtimes and audit.
        options: The mode in force.
        environ: Names checkpoints; ``None`` for the process's own.
    """
    given = os.environ if environ is None else environ
    rule = ModeRule(options.encoder_mode, options.allow_deterministic)
    cards = native_cards(given)
    runtimes, audit = context.services.runtimes, context.audit
    for native in NATIVE:
        card = rule.card(cards[native.card.label])
        factory = _factory(native, card, opened_with(native, cards, given))
        context.registrar.register_encoder(card, partial(factory, runtimes, rule, audit))
    context.registrar.register_encoder(MORGAN_CARD, _morgan)


def _morgan() -> TextEncoder:
    # RDKit takes a third of a second to import; most processes do without.
    from eagle_biomed.chemical_encoders import MorganEncoder

    return MorganEncoder(MORGAN_CARD)


_Made = TextEncoder | VisualEncoder | PairScorer
_Factory = Callable[[EncoderRuntimes, ModeRule, DecisionLog], _Made]


def _factory(native: NativeEncoder, card: EncoderCard, opened: OpenedWith) -> _Factory:
    def make(runtimes: EncoderRuntimes, rule: ModeRule, audit: DecisionLog) -> _Made:
        def weights(
            opener: Callable[[EncoderCard], E], trial: Callable[[E], object]
        ) -> Weights[E]:
            return Weights(opened.card, opener, trial=trial, rule=rule, audit=audit)

        recipe = opened.recipe
        if isinstance(recipe, TextRecipe):
            texts = weights(partial(runtimes.text, recipe=recipe), _try_text)
            return LazyDomainEncoder(card, texts, reads_structures=native.reads_structures)
        if isinstance(recipe, VisualRecipe):
            pictures = weights(partial(runtimes.visual, recipe=recipe), _try_picture)
            return LazyImageEncoder(card, pictures)
        return LazyPairScorer(card, weights(partial(runtimes.pairs, recipe=recipe), _try_pair))

    return make


@dataclass(frozen=True, slots=True)
class LazyDomainEncoder:
    """A text encoder whose weights are chosen by the mode and loaded with the first text.

    Args:
        card: Its card as registered.
        weights: What stands behind it.
        reads_structures: The model is given the SMILES string of a text, not the text.
    """

    card: EncoderCard
    weights: Weights[TextEncoder]
    reads_structures: bool = False

    @property
    def spec(self) -> VectorSpec:
        """Its vector space; that of hashes differs from that of the weights they stand in for.

        Raises:
            EncoderLoadError: The weights are missing and nothing may stand in for them.
        """
        return self.weights.ask(lambda encoder: encoder.spec)

    @property
    def stand_in(self) -> str:
        """Why hashes stand in for the weights; empty when they do not, or nothing was asked yet."""
        return self.weights.stand_in

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts to be indexed, in the order given.

        Raises:
            InvalidInput: It reads structures, and a text holds none.
            EncoderLoadError: As for ``spec``.
        """
        given = document_structures(texts, self.card.label) if self.reads_structures else texts
        return self.weights.get().encode_documents(given)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode one query.

        Raises:
            InvalidQuery: It reads structures, and the query holds none.
            EncoderLoadError: As for ``spec``.
        """
        given = query_structure(text, self.card.label) if self.reads_structures else text
        return self.weights.get().encode_query(given)


@dataclass(frozen=True, slots=True)
class LazyImageEncoder:
    """A visual encoder whose weights are chosen by the mode and loaded with the first picture.

    Medical pictures are encoded by the checkpoint of their label or, where the mode says so, by hashes:
    never by a general visual model.

    Args:
        card: Its card as registered.
        weights: What stands behind it.
    """

    card: EncoderCard
    weights: Weights[VisualEncoder]

    @property
    def spec(self) -> VectorSpec:
        """Its vector space, as for ``LazyDomainEncoder``."""
        return self.weights.ask(lambda encoder: encoder.spec)

    @property
    def stand_in(self) -> str:
        """Why hashes stand in for the weights, as for ``LazyDomainEncoder``."""
        return self.weights.stand_in

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        """Encode pictures.

        Raises:
            InvalidInput: One of them cannot be decoded.
            EncoderLoadError: The weights are missing and nothing may stand in for them.
        """
        return self.weights.get().encode_images(images)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode a text query in the pictures' space.

        Raises:
            InvalidInput: The checkpoint has no text tower.
            EncoderLoadError: As for ``encode_images``.
        """
        if not self.card.queries_text:
            message = f"encoder {self.card.label!r} encodes pictures only, not {excerpt(text)!r}"
            raise InvalidInput(message, remedy="search its collection with a picture")
        return self.weights.get().encode_query(text)


@dataclass(frozen=True, slots=True)
class LazyPairScorer:
    """A cross-encoder whose weights are chosen by the mode and loaded with the first pair.

    Args:
        card: Its card as registered.
        weights: What stands behind it.
    """

    card: EncoderCard
    weights: Weights[PairScorer]

    @property
    def stand_in(self) -> str:
        """Why hashes stand in for the weights, as for ``LazyDomainEncoder``."""
        return self.weights.stand_in

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return one score a text, shape ``(n,)``, higher is better.

        Raises:
            EncoderLoadError: The weights are missing and nothing may stand in for them.
        """
        return self.weights.get().score_pairs(query, texts)


def _try_text(encoder: TextEncoder) -> object:
    return encoder.encode_documents(["C"]), encoder.encode_query("C")


def _try_picture(encoder: VisualEncoder) -> object:
    return encoder.encode_images([_grey_square()])


def _try_pair(encoder: PairScorer) -> object:
    return encoder.score_pairs("C", ["C"])


def _grey_square(size: int = 32) -> bytes:
    """Return a picture (PNG, 8-bit grey) that every encoder can decode."""
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + b"\x80" * size) * size)
    parts = ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
