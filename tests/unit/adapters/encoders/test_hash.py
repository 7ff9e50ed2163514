import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.errors import InvalidInput

EXPECTED = [0.0, 0.632456, 0.316228, 0.0, 0.0, 0.316228, -0.632456, 0.0]


def test_vectors_are_the_same_on_every_machine() -> None:
    """Indexes in golden tests depend on it; a change needs a new revision in the digest."""
    vector = HashEncoder(8).encode_query("BRCA1 mutation, mutation").vectors[0]
    np.testing.assert_allclose(np.round(vector, 6), EXPECTED)


def test_texts_that_share_words_are_nearer_than_texts_that_do_not() -> None:
    vectors = HashEncoder().encode_documents(["lung cancer", "lung disease", "mouse diet"]).vectors
    assert vectors[0] @ vectors[1] > 0.3 > abs(vectors[0] @ vectors[2])


def test_case_does_not_matter() -> None:
    vectors = HashEncoder().encode_documents(["EGFR", "egfr"]).vectors
    np.testing.assert_array_equal(vectors[0], vectors[1])


@given(st.lists(st.text()), st.integers(1, 40))
def test_every_text_is_a_unit_vector(texts: list[str], dim: int) -> None:
    vectors = HashEncoder(dim).encode_documents(texts).vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_k2_words_beyond_the_window_are_dropped_and_reported() -> None:
    batch = HashEncoder(max_tokens=2).encode_documents(["a b", "a b c", "a b d"])
    np.testing.assert_array_equal(batch.vectors[0], batch.vectors[2])
    assert batch.truncated == (1, 2)


def test_another_dimension_is_another_space_under_the_same_label() -> None:
    assert HashEncoder(8).spec.digest != HashEncoder(16).spec.digest


def test_label_can_be_chosen() -> None:
    assert (
        HashEncoder(label="other").spec.encoder == HashEncoder(label="other").card.label == "other"
    )


def test_dimension_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="got 0"):
        HashEncoder(0)
