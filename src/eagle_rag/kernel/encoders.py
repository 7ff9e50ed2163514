"""The registry of encoders: cards at once, weights on first use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import cast

from eagle_rag.errors import EagleError, EncoderLoadError, PluginError, UnknownName
from eagle_rag.model.collection import EncoderCard, Modality
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.plugins import EncoderFactory

__all__ = ["EncoderRegistry"]

_Encoder = TextEncoder | VisualEncoder | PairScorer
_METHODS: dict[Modality, str] = {
    "text": "encode_documents",
    "visual": "encode_images",
    "rerank": "score_pairs",
}
_REMEDY = "add it under `encoders` in the configuration, or enable the plugin that brings it"


@dataclass(slots=True)
class _Entry:
    card: EncoderCard
    factory: EncoderFactory
    lock: Lock = field(default_factory=Lock)
    encoder: _Encoder | None = None


class EncoderRegistry:
    """Encoders by label, made on first use and kept; safe to share between threads."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._lock = Lock()

    def register_encoder(self, card: EncoderCard, factory: EncoderFactory) -> None:
        """Register an encoder; ``factory`` is called on first use.

        Raises:
            PluginError: The label is taken.
        """
        with self._lock:
            if card.label in self._entries:
                taken = self._entries[card.label].card
                message = (
                    f"encoder label {card.label!r} is taken by {taken.runtime} {taken.checkpoint}"
                )
                raise PluginError(message, remedy="choose another label")
            self._entries[card.label] = _Entry(card, factory)

    def card(self, label: str) -> EncoderCard:
        """Return one card.

        Raises:
            UnknownName: Nobody registered the label.
        """
        entry = self._entries.get(label)
        if entry is None:
            kind = "encoder"
            raise UnknownName(kind, label, tuple(sorted(self._entries)), remedy=_REMEDY)
        return entry.card

    def cards(self) -> tuple[EncoderCard, ...]:
        """Return all cards by label."""
        return tuple(self._entries[label].card for label in sorted(self._entries))

    def text(self, label: str) -> TextEncoder:
        """Return a text encoder.

        Raises:
            UnknownName: Nobody registered it as a text encoder; the known labels are listed.
            EncoderLoadError: A library it needs is not installed; the extra is named.
            PluginError: Its factory made something else than its card says.
        """
        return cast("TextEncoder", self._get(label, "text"))

    def visual(self, label: str) -> VisualEncoder:
        """Return a visual encoder, as ``text`` does."""
        return cast("VisualEncoder", self._get(label, "visual"))

    def rerank(self, label: str) -> PairScorer:
        """Return a cross-encoder, as ``text`` does."""
        return cast("PairScorer", self._get(label, "rerank"))

    def _get(self, label: str, modality: Modality) -> _Encoder:
        entry = self._entries.get(label)
        if entry is None or entry.card.modality != modality:
            known = tuple(card.label for card in self.cards() if card.modality == modality)
            remedy = f"it is a {entry.card.modality} encoder" if entry else _REMEDY
            kind = f"{modality} encoder"
            raise UnknownName(kind, label, known, remedy=remedy)
        if entry.encoder is None:
            with entry.lock:
                if entry.encoder is None:
                    entry.encoder = _made(entry.card, entry.factory)
        return entry.encoder


def _made(card: EncoderCard, factory: Callable[[], _Encoder]) -> _Encoder:
    try:
        encoder = factory()
    except EagleError:
        raise
    except ImportError as error:
        extra = f"eagle-rag[{card.extra}]" if card.extra else str(error.name or "the library")
        message = f"encoder {card.label!r} needs a library that is not installed: {error}"
        raise EncoderLoadError(message, remedy=f"pip install '{extra}'") from error
    method = _METHODS[card.modality]
    if not callable(getattr(encoder, method, None)):
        message = f"encoder {card.label!r} is registered as {card.modality} but has no {method}"
        raise PluginError(message, remedy="correct its card or its factory")
    if encoder.card != card:
        message = f"encoder {card.label!r} was registered as {card} but is {encoder.card}"
        raise PluginError(message, remedy="register the card the encoder itself returns")
    return encoder
