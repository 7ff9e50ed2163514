"""A cross-encoder under a time budget."""

from collections.abc import Sequence

import numpy as np
import pytest

from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import FloatArray
from eagle_rag.ops.pair_budget import score_within

_TEXTS = [f"text {number}" for number in range(50)]


class _Slow:
    """Scores a text by its number and moves its own clock."""

    card = EncoderCard("slow", "rerank", 1, "hash")

    def __init__(self, seconds_a_text: float, load_s: float = 0.0) -> None:
        self.now = 0.0
        self.batches: list[int] = []
        self._each, self._load = seconds_a_text, load_s

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        del query
        self.now += self._each * len(texts) + (0.0 if self.batches else self._load)
        self.batches.append(len(texts))
        return np.array([float(text.split()[1]) for text in texts], np.float32)

    def clock(self) -> float:
        return self.now


def _scores(scorer: _Slow, budget_s: float | None, texts: Sequence[str] = _TEXTS) -> list[float]:
    return list(score_within(scorer, "q", texts, budget_s=budget_s, clock=scorer.clock))


def test_without_a_budget_all_texts_are_one_call() -> None:
    scorer = _Slow(1.0)
    assert _scores(scorer, None) == list(range(50))
    assert scorer.batches == [50]


def test_a_budget_that_suffices_scores_every_text_in_order() -> None:
    assert _scores(_Slow(0.01), 10.0) == list(range(50))


def test_a_spent_budget_leaves_the_worst_out_and_is_not_overdrawn() -> None:
    scorer = _Slow(0.25)
    assert _scores(scorer, 4.0) == list(range(17))
    assert scorer.now == pytest.approx(0.25 + 4.0)


def test_loading_the_weights_is_not_charged() -> None:
    assert len(_scores(_Slow(0.1, load_s=60.0), 2.0)) == 21


def test_a_budget_of_nothing_still_tells_the_best_few_apart() -> None:
    assert _scores(_Slow(1.0), 0.0) == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_texts_need_no_budget(count: int) -> None:
    assert _scores(_Slow(1.0), 0.0, _TEXTS[:count]) == list(range(count))
