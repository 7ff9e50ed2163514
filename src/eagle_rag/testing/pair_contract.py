"""What every cross-encoder must do: inherit from ``PairScorerContract`` in your own tests.

Example::

    class TestMyScorer(PairScorerContract):
        def make_scorer(self, batch_size: int = 16) -> PairScorer:
            return MyScorer(batch_size)
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eagle_rag.ports.encoders import PairScorer

__all__ = ["PairScorerContract"]

_QUERY = "survival with osimertinib"
_TEXTS = (
    "Osimertinib improved progression-free survival.",
    "IC50 = 2.3 uM",
    "The cells were cultured for 48 h, then washed twice with buffer and counted.",
    "Survival",
    "Tumour",
    "We found no difference between the arms (hazard ratio 0.98, p = 0.83).",
    "survival",
)
_SAME = 1e-5  # two scores of one pair may differ by rounding, not by more


class PairScorerContract:
    """Contract tests of ``PairScorer``; a subclass says how to make one."""

    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        """Return a fresh scorer that runs at most so many pairs at a time."""
        raise NotImplementedError

    def test_card_says_what_it_is(self) -> None:
        """The registry trusts the card before the weights are loaded."""
        card = self.make_scorer().card
        assert (card.modality, card.dim) == ("rerank", 1)

    def test_scores_are_finite_float32_one_a_text(self) -> None:
        """Ranking relies on shape and type."""
        scores = self.make_scorer().score_pairs(_QUERY, _TEXTS)
        assert scores.dtype == np.float32
        assert scores.shape == (len(_TEXTS),)
        assert np.isfinite(scores).all()

    def test_scores_differ_between_texts(self) -> None:
        """A scorer that reads nothing passes everything else."""
        assert np.ptp(self.make_scorer().score_pairs(_QUERY, _TEXTS)) > 1e-4

    def test_scores_differ_between_queries(self) -> None:
        """One that reads only the texts would, too."""
        scorer = self.make_scorer()
        first, second = scorer.score_pairs(_QUERY, _TEXTS), scorer.score_pairs("drug", _TEXTS)
        assert np.abs(first - second).max() > 1e-4

    def test_no_texts_give_no_scores(self) -> None:
        """A query that finds nothing is no special case."""
        assert self.make_scorer().score_pairs(_QUERY, []).shape == (0,)

    @pytest.mark.parametrize("batch_size", [1, 2, 3, 64])
    def test_k3_any_batch_size_gives_the_same_scores_and_order(self, batch_size: int) -> None:
        """Memory decides the batch size; it must not decide the ranking."""
        expected = self.make_scorer().score_pairs(_QUERY, _TEXTS)
        scores = self.make_scorer(batch_size).score_pairs(_QUERY, _TEXTS)
        assert np.abs(scores - expected).max() < _SAME
        assert scores.argsort(kind="stable").tolist() == expected.argsort(kind="stable").tolist()

    def test_score_does_not_depend_on_the_other_texts(self) -> None:
        """The same passage found by another search has the same score."""
        scorer = self.make_scorer()
        together = scorer.score_pairs(_QUERY, _TEXTS)
        alone = [scorer.score_pairs(_QUERY, [text])[0] for text in _TEXTS]
        assert np.abs(together - np.array(alone)).max() < _SAME

    def test_order_is_kept(self) -> None:
        """Sorting by length inside must not show outside."""
        scorer = self.make_scorer()
        forward = scorer.score_pairs(_QUERY, _TEXTS)
        backward = scorer.score_pairs(_QUERY, _TEXTS[::-1])
        assert np.abs(forward - backward[::-1]).max() < _SAME

    def test_empty_odd_and_long_texts_have_finite_scores(self) -> None:
        """Nothing that was indexed may stop a search."""
        odd = ["", " ", "\0\a", "\ud800", "?!", "word " * 2000]
        scorer = self.make_scorer()
        assert np.isfinite(scorer.score_pairs(_QUERY, odd)).all()
        assert np.isfinite(scorer.score_pairs("word " * 2000, odd)).all()
        assert np.isfinite(scorer.score_pairs("\ud800", odd)).all()

    def test_threads_may_share_a_scorer(self) -> None:
        """Searches run at the same time."""
        scorer = self.make_scorer()
        with ThreadPoolExecutor(4) as pool:
            scores = list(pool.map(lambda text: scorer.score_pairs(_QUERY, [text])[0], _TEXTS))
        assert np.abs(np.array(scores) - scorer.score_pairs(_QUERY, _TEXTS)).max() < _SAME
