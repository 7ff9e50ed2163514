"""The shipped suites for pictures and pairs fail what is broken."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from eagle_rag.adapters.encoders.hashed import HashPairScorer, HashVisualEncoder
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray
from eagle_rag.ports.encoders import PairScorer, VisualEncoder
from eagle_rag.testing.pair_contract import PairScorerContract
from eagle_rag.testing.visual_contract import VisualEncoderContract

VISUAL = EncoderCard("scans", "visual", 16, "hash", queries_text=True)
PAIR = EncoderCard("cross", "rerank", 1, "hash")


class SeesTheBatch(HashVisualEncoder):
    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        batch = super().encode_images(images)
        return replace(batch, vectors=batch.vectors + np.float32(len(images)))


class MixesUpOrder(HashVisualEncoder):
    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        return super().encode_images(sorted(images))


class SeesNothing(HashVisualEncoder):
    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        return super().encode_images([b""] * len(images))


class DoesNotScale(HashVisualEncoder):
    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        batch = super().encode_images(images)
        return replace(batch, vectors=batch.vectors * np.float32(2))


class AnswersInAnotherSpace(HashVisualEncoder):
    def encode_query(self, text: str) -> EncodedBatch:
        return replace(super().encode_query(text), spec=replace(self.spec, digest="0" * 64))


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (SeesTheBatch, VisualEncoderContract.test_result_does_not_depend_on_batching),
        (MixesUpOrder, VisualEncoderContract.test_order_is_kept),
        (SeesNothing, VisualEncoderContract.test_different_pictures_have_different_vectors),
        (DoesNotScale, VisualEncoderContract.test_vectors_have_unit_length),
        (
            AnswersInAnotherSpace,
            VisualEncoderContract.test_text_query_lies_in_the_same_space_or_is_refused,
        ),
    ],
)
def test_broken_visual_encoder_fails_the_suite(
    broken: type[HashVisualEncoder], check: Callable[[VisualEncoderContract], None]
) -> None:
    class Broken(VisualEncoderContract):
        def make_encoder(self) -> VisualEncoder:
            return broken(VISUAL)

    with pytest.raises(AssertionError):
        check(Broken())


class ScoresTheBatch(HashPairScorer):
    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        return super().score_pairs(query, texts) + np.float32(len(texts))


class IgnoresTheQuery(HashPairScorer):
    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        del query
        return super().score_pairs("", texts)


class IgnoresTheTexts(HashPairScorer):
    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        return super().score_pairs(query, [""] * len(texts))


class SortsByLength(HashPairScorer):
    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        return super().score_pairs(query, sorted(texts, key=len))


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (ScoresTheBatch, PairScorerContract.test_score_does_not_depend_on_the_other_texts),
        (IgnoresTheQuery, PairScorerContract.test_scores_differ_between_queries),
        (IgnoresTheTexts, PairScorerContract.test_scores_differ_between_texts),
        (SortsByLength, PairScorerContract.test_order_is_kept),
    ],
)
def test_broken_scorer_fails_the_suite(
    broken: type[HashPairScorer], check: Callable[[PairScorerContract], None]
) -> None:
    class Broken(PairScorerContract):
        def make_scorer(self, batch_size: int = 16) -> PairScorer:
            del batch_size
            return broken(PAIR)

    with pytest.raises(AssertionError):
        check(Broken())


def test_scorer_whose_batch_size_matters_fails_the_suite() -> None:
    class Sized(HashPairScorer):
        size = 0

        def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
            return super().score_pairs(query, texts) * np.float32(self.size)

    class Broken(PairScorerContract):
        def make_scorer(self, batch_size: int = 16) -> PairScorer:
            scorer = Sized(PAIR)
            scorer.size = batch_size
            return scorer

    check = PairScorerContract.test_k3_any_batch_size_gives_the_same_scores_and_order
    with pytest.raises(AssertionError):
        check(Broken(), 2)
