"""Scores of a cross-encoder for the merged rerank, and what stands in for them when there are none."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Final

from eagle_rag.errors import EagleError, EncoderLoadError, PluginError, UnknownName
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import FloatArray
from eagle_rag.ops.pair_budget import score_within
from eagle_rag.ports.encoders import EncoderCatalog, PairScorer

__all__ = ["FUSED", "PAIR_TEXT_CHARS", "PairScores", "RerankScores"]

_log = logging.getLogger(__name__)

FUSED: Final = "fused"
"""Source of scores that stand in for a cross-encoder's, and the part that such a score is shown as."""
PAIR_TEXT_CHARS: Final = 2048
"""Characters of a passage that the cross-encoder sees; it cuts to its own window after that."""
# What a runtime raises besides this package's own: onnxruntime, torch (also when memory runs out), tokenizers.
_RUNTIME_ERRORS: Final = (
    ArithmeticError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class RerankScores:
    """Raw scores of candidates in order; ``None`` where time ran out.

    Args:
        values: One a candidate.
        source: What gave them: the encoder's label, or ``fused``.
        note: Why not the encoder's, or not all of them; empty when nothing is to be said.
        failed: An encoder is configured and did not score.
    """

    values: tuple[float | None, ...]
    source: str
    note: str = ""
    failed: bool = False


@dataclass(slots=True)
class PairScores:
    """Scores pairs with one cross-encoder; one that does not load is not tried again in this process.

    Args:
        encoders: All encoders.
        label: The cross-encoder; empty: there is none, and the fused scores are meant to stand in.
        clock: Seconds of a clock that only goes forward.
    """

    encoders: EncoderCatalog
    label: str
    clock: Callable[[], float] = time.monotonic
    _missing: str = field(default="", init=False)

    def score(
        self,
        query: str,
        texts: Sequence[str],
        *,
        existing: Sequence[float],
        budget_s: float | None = None,
    ) -> RerankScores:
        """Return the encoder's score of each text, or the existing scores.

        The existing ones stand when the encoder fails in any way, returns another number of scores or one
        that is no finite number.

        Args:
            query: The question.
            texts: One a candidate, best candidate first; cut at 2,048 characters.
            existing: The scores the candidates have.
            budget_s: Seconds; those not reached by then have no score. ``None`` is no limit.
        """
        note = self._missing if self.label else "no cross-encoder is configured"
        if not note:
            try:
                return self._scored(query, [text[:PAIR_TEXT_CHARS] for text in texts], budget_s)
            except (EncoderLoadError, UnknownName) as error:
                note = self._missing = f"{self.label} is not there: {error}"
            except (EagleError, *_RUNTIME_ERRORS) as error:
                note = f"{self.label} failed: {type(error).__name__}: {error}"
            _log.warning("the merged rerank goes by the fused scores: %s", note)
        return RerankScores(tuple(existing), FUSED, note, failed=bool(self.label))

    def _scored(self, query: str, texts: Sequence[str], budget_s: float | None) -> RerankScores:
        values = self._pairs(query, texts, budget_s)
        if not all(value is None or isfinite(value) for value in values):
            message = "a score is no finite number"
            raise PluginError(message)
        missing = sum(value is None for value in values)
        note = f"{missing} of {len(values)} candidates were not reached in time" if missing else ""
        return RerankScores(values, self.label, note)

    def _pairs(
        self, query: str, texts: Sequence[str], budget_s: float | None
    ) -> tuple[float | None, ...]:
        scorer = _Counted(self.encoders.rerank(self.label))
        reached = score_within(scorer, query, texts, budget_s=budget_s, clock=self.clock)
        values = [float(score) for score in reached]
        return (*values, *(None for _ in texts[len(values) :]))


class _Counted:
    """A cross-encoder whose answers are counted: too few are no budget that ran out."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer

    @property
    def card(self) -> EncoderCard:
        return self._scorer.card

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        scores = self._scorer.score_pairs(query, texts)
        if len(scores) != len(texts):
            message = f"{len(scores)} scores for {len(texts)} texts"
            raise PluginError(message)
        return scores
