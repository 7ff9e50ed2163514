"""The shipped contract suite: passed by the default install's encoders, failed by broken ones."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.onnx import OnnxTextEncoder, minilm_encoder
from eagle_rag.model.passage import EncodedBatch
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.testing.encoder_contract import TextEncoderContract


@cache
def _minilm() -> OnnxTextEncoder:
    return minilm_encoder()


class TestHashEncoder(TextEncoderContract):
    def make_encoder(self) -> TextEncoder:
        return HashEncoder()


class TestMinilm(TextEncoderContract):
    def make_encoder(self) -> TextEncoder:
        return _minilm()


class DependsOnBatch(HashEncoder):
    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        batch = super().encode_documents(texts)
        return replace(batch, vectors=batch.vectors + np.float32(len(texts)))


class ReversesOrder(HashEncoder):
    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        batch = super().encode_documents(texts)
        return replace(batch, vectors=batch.vectors[::-1])


class HidesTruncation(HashEncoder):
    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        return replace(super().encode_documents(texts), truncated=())


class GivesDoubles(HashEncoder):
    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        batch = super().encode_documents(texts)
        return replace(batch, vectors=batch.vectors.astype(np.float64))


class DoesNotScale(HashEncoder):
    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        batch = super().encode_documents(texts)
        return replace(batch, vectors=batch.vectors * np.float32(2))


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (DependsOnBatch, TextEncoderContract.test_result_does_not_depend_on_batching),
        (ReversesOrder, TextEncoderContract.test_document_is_nearest_to_a_query_of_its_own_words),
        (
            HidesTruncation,
            TextEncoderContract.test_k2_text_longer_than_the_window_is_reported_by_position,
        ),
        (GivesDoubles, TextEncoderContract.test_documents_come_as_finite_float32_rows),
        (DoesNotScale, TextEncoderContract.test_normalized_vectors_have_unit_length),
    ],
)
def test_broken_encoder_fails_the_suite(
    broken: type[HashEncoder], check: Callable[[TextEncoderContract], None]
) -> None:
    class Broken(TextEncoderContract):
        def make_encoder(self) -> TextEncoder:
            return broken()

    with pytest.raises(AssertionError):
        check(Broken())
