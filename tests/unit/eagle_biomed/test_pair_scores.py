"""Scores of a cross-encoder, and the existing ones when there are none."""

from collections.abc import Callable, Iterator

import pytest

from eagle_biomed.pair_scores import PairScores, RerankScores
from eagle_rag.errors import EncoderLoadError, EncoderUnavailable
from eagle_rag.testing.query_side import Encoders, Scorer

TEXTS = ["one", "two", "three"]
EXISTING = [0.3, 0.2, 0.1]


def scored(encoders: Encoders, label: str = "pairs") -> RerankScores:
    return PairScores(encoders, label).score("q", TEXTS, existing=EXISTING)


def test_each_text_has_the_encoders_score() -> None:
    assert scored(Encoders(Scorer((1, 3, 2)))) == RerankScores((1.0, 3.0, 2.0), "pairs")


def test_texts_are_cut_at_2048_characters() -> None:
    scorer = Scorer((1, 2))
    PairScores(Encoders(scorer), "pairs").score("q", ["x" * 3000, "y"], existing=[0, 0])
    assert [len(text) for text in scorer.seen] == [2048, 1]


@pytest.mark.parametrize(
    ("encoders", "note"),
    [
        (Encoders(error=EncoderUnavailable("no answer")), "pairs failed: EncoderUnavailable"),
        (Encoders(error=RuntimeError("out of memory")), "pairs failed: RuntimeError"),
        (Encoders(error=ValueError("shape")), "pairs failed: ValueError"),
        (Encoders(error=EncoderLoadError("no weights")), "pairs is not there: no weights"),
        (Encoders(), "pairs is not there"),
        (Encoders(Scorer((1, 2))), "pairs failed: PluginError: 2 scores for 3 texts"),
        (Encoders(Scorer((1, float("nan"), 2))), "a score is no finite number"),
    ],
)
def test_the_existing_scores_stand_when_the_encoder_does_not_score(
    encoders: Encoders, note: str
) -> None:
    found = scored(encoders)
    assert (found.values, found.source) == ((0.3, 0.2, 0.1), "fused")
    assert note in found.note


def test_without_a_label_no_encoder_is_asked_for() -> None:
    encoders = Encoders(Scorer((1, 2, 3)))
    assert scored(encoders, "").source == "fused"
    assert encoders.calls == 0


def test_an_encoder_that_does_not_load_is_not_tried_for_every_query() -> None:
    encoders = Encoders(error=EncoderLoadError("no weights"))
    pairs = PairScores(encoders, "pairs")
    notes = [pairs.score("q", TEXTS, existing=EXISTING).note for _ in range(3)]
    assert encoders.calls == 1
    assert len(set(notes)) == 1


def test_an_encoder_that_failed_once_is_tried_again() -> None:
    encoders = Encoders(error=EncoderUnavailable("no answer"))
    pairs = PairScores(encoders, "pairs")
    pairs.score("q", TEXTS, existing=EXISTING)
    encoders.error, encoders.scorer = None, Scorer((1, 2, 3))
    assert pairs.score("q", TEXTS, existing=EXISTING).source == "pairs"


@pytest.fixture
def clock() -> Callable[[], float]:
    ticks: Iterator[int] = iter(range(1000))
    return lambda: float(next(ticks))


def test_what_is_not_reached_in_time_has_no_score(clock: Callable[[], float]) -> None:
    """The best come first, so the last are those that miss."""
    pairs = PairScores(Encoders(Scorer(range(50))), "pairs", clock)
    found = pairs.score("q", ["t"] * 50, existing=[0.0] * 50, budget_s=0.5)
    reached = [value for value in found.values if value is not None]
    assert 0 < len(reached) < 50
    assert found.values[: len(reached)] == tuple(map(float, range(len(reached))))
    assert found.note == f"{50 - len(reached)} of 50 candidates were not reached in time"
