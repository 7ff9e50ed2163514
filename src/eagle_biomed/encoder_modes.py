"""Which weights stand behind a label: the native ones, or hashes in their place, and who says so.

- ``deterministic``: hashes, always. The card's runtime is ``hash``.
- ``require_native``: the native weights, or ``EncoderLoadError``.
- ``auto``: the native weights; where they do not load, hashes if ``EAGLE_BIOMED_ALLOW_DETERMINISTIC=1``,
  else ``EncoderLoadError``.

Nothing else is ever tried: no other checkpoint, and for pictures no general model.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from eagle_biomed.options import EncoderMode
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.plugins import DecisionLog

__all__ = ["ModeRule", "Weights"]

_LOG = logging.getLogger(__name__)
_HASH = "hash"
E = TypeVar("E")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModeRule:
    """The mode in force.

    Args:
        mode: ``auto``, ``require_native`` or ``deterministic``.
        allow_deterministic: In ``auto``, hashes may stand in.
    """

    mode: EncoderMode = "auto"
    allow_deterministic: bool = False

    def card(self, card: EncoderCard) -> EncoderCard:
        """Return a card as it is registered: in mode ``deterministic`` its runtime is ``hash``."""
        return replace(card, runtime=_HASH) if self.mode == "deterministic" else card

    @property
    def may_stand_in(self) -> bool:
        """Whether hashes may take the place of weights that do not load."""
        return self.mode == "auto" and self.allow_deterministic


@dataclass(slots=True)
class _State(Generic[E]):
    encoder: E | None = None
    reason: str = ""


class Weights(Generic[E]):
    """The encoder behind a label, opened with the first question and decided once.

    Where hashes may stand in, that first question loads the weights, so that the vector space named
    before the first text is the one the texts are encoded in.

    Args:
        card: What is opened.
        opener: Opens a card.
        trial: Encodes something small; raises ``EncoderLoadError`` when the weights do not load.
        rule: The mode in force.
        audit: Where a stand-in is recorded.
    """

    def __init__(
        self,
        card: EncoderCard,
        opener: Callable[[EncoderCard], E],
        *,
        trial: Callable[[E], object],
        rule: ModeRule,
        audit: DecisionLog,
    ) -> None:
        self._card = rule.card(card)
        self._opener = opener
        self._trial = trial
        self._rule = rule
        self._audit = audit
        self._lock = threading.Lock()
        self._state: _State[E] = _State()

    def get(self) -> E:
        """Return the encoder.

        Raises:
            EncoderLoadError: Its weights do not load and nothing may stand in for them.
        """
        with self._lock:
            if self._state.encoder is None:
                self._state = self._decided()
            if self._state.encoder is None:  # pragma: no cover - _decided gives one or raises
                message = f"encoder {self._card.label!r} was not opened"
                raise EncoderLoadError(message)
            return self._state.encoder

    @property
    def stand_in(self) -> str:
        """Why hashes stand in for the weights, in one sentence; empty when they do not."""
        with self._lock:
            return self._state.reason

    def ask(self, question: Callable[[E], T]) -> T:
        """Return an answer that needs the files of the weights, such as a digest.

        A hub id that was not downloaded yet is downloaded for it, when that is allowed.

        Raises:
            EncoderLoadError: As ``get``.
        """
        encoder = self.get()
        try:
            return question(encoder)
        except EncoderLoadError:
            self._trial(encoder)
            return question(encoder)

    def _decided(self) -> _State[E]:
        if not self._rule.may_stand_in:
            return _State(self._opener(self._card))
        try:
            encoder = self._opener(self._card)
            self._trial(encoder)
        except EncoderLoadError as error:
            return self._standing_in(error)
        return _State(encoder)

    def _standing_in(self, error: EncoderLoadError) -> _State[E]:
        card = self._card
        reason = f"hashes stand in for {card.checkpoint or card.label}: {error.message}"
        _LOG.warning("encoder %s: %s", card.label, reason)
        self._audit.log_decision(
            AuditEvent(
                category="encoder_stand_in",
                plugin="biomed",
                subject=card.label,
                decision=reason,
                detail=(("checkpoint", card.checkpoint), ("mode", self._rule.mode)),
            )
        )
        return _State(self._opener(replace(card, runtime=_HASH)), reason)
