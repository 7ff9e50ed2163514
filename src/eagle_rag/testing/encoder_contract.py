"""What every text encoder must do: inherit from ``TextEncoderContract`` in your own tests.

Example::

    class TestMyEncoder(TextEncoderContract):
        def make_encoder(self) -> TextEncoder:
            return MyEncoder()
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from eagle_rag.ports.encoders import TextEncoder

__all__ = ["TextEncoderContract"]

_TEXTS = (
    "Osimertinib improved progression-free survival in EGFR T790M-positive disease.",
    "IC50 = 2.3 uM",
    "The cells were cultured at 37 \N{DEGREE SIGN}C in 5 % CO\N{SUBSCRIPT TWO} for 48 h, then washed twice.",
    "\N{GREEK SMALL LETTER BETA}-catenin and TGF-\N{GREEK SMALL LETTER BETA}1",
    "Survival",
    "We found no difference between the arms (hazard ratio 0.98, 95 % CI 0.81 to 1.19, p = 0.83).",
)
_SAME = 1e-5  # two encodings of one text may differ by rounding, not by more


class TextEncoderContract:
    """Contract tests of ``TextEncoder``; a subclass says how to make one.

    Attributes:
        tells_truncation: ``False`` for a remote encoder whose window cannot be known.
    """

    tells_truncation = True

    def make_encoder(self) -> TextEncoder:
        """Return a fresh encoder."""
        raise NotImplementedError

    def test_card_and_spec_agree(self) -> None:
        """The registry trusts the card before the weights are loaded."""
        encoder = self.make_encoder()
        assert encoder.card.modality == "text"
        assert (encoder.card.label, encoder.card.dim, encoder.card.metric) == (
            encoder.spec.encoder,
            encoder.spec.dim,
            encoder.spec.metric,
        )

    def test_digest_is_sha256_and_the_same_for_two_instances(self) -> None:
        """An index opened tomorrow must be recognised as the same space."""
        digest = self.make_encoder().spec.digest
        assert len(digest) == 64
        assert int(digest, 16) >= 0
        assert digest == self.make_encoder().spec.digest

    def test_spec_is_the_same_after_encoding(self) -> None:
        """Loading must not change the space."""
        encoder = self.make_encoder()
        before = encoder.spec
        assert encoder.encode_documents(_TEXTS[:1]).spec == before
        assert encoder.encode_query(_TEXTS[0]).spec == before

    def test_documents_come_as_finite_float32_rows(self) -> None:
        """Stores rely on shape and type."""
        encoder = self.make_encoder()
        vectors = encoder.encode_documents(_TEXTS).vectors
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(_TEXTS), encoder.spec.dim)
        assert np.isfinite(vectors).all()

    def test_normalized_vectors_have_unit_length(self) -> None:
        """Cosine and inner product agree only then."""
        encoder = self.make_encoder()
        lengths = np.linalg.norm(encoder.encode_documents(_TEXTS).vectors, axis=1)
        assert not encoder.spec.normalized or np.allclose(lengths, 1, atol=1e-4)

    def test_no_texts_give_no_rows(self) -> None:
        """A document whose passages all go elsewhere is no special case."""
        encoder = self.make_encoder()
        batch = encoder.encode_documents([])
        assert batch.vectors.shape == (0, encoder.spec.dim)
        assert batch.truncated == ()

    def test_result_does_not_depend_on_batching(self) -> None:
        """An interrupted ingest resumes with other batches and must write the same vectors."""
        encoder = self.make_encoder()
        together = encoder.encode_documents(_TEXTS).vectors
        alone = np.concatenate([encoder.encode_documents([text]).vectors for text in _TEXTS])
        assert np.abs(together - alone).max() < _SAME

    def test_result_does_not_depend_on_order(self) -> None:
        """Sorting by length inside an encoder must not show outside."""
        encoder = self.make_encoder()
        forward = encoder.encode_documents(_TEXTS).vectors
        backward = encoder.encode_documents(_TEXTS[::-1]).vectors
        assert np.abs(forward - backward[::-1]).max() < _SAME

    def test_query_is_one_row(self) -> None:
        """Shape ``(1, dim)``."""
        encoder = self.make_encoder()
        assert encoder.encode_query(_TEXTS[0]).vectors.shape == (1, encoder.spec.dim)

    def test_document_is_nearest_to_a_query_of_its_own_words(self) -> None:
        """The least that any encoder must be able to do."""
        encoder = self.make_encoder()
        documents = encoder.encode_documents(_TEXTS).vectors
        scores = documents @ encoder.encode_query(_TEXTS[0]).vectors[0]
        assert int(scores.argmax()) == 0

    def test_empty_and_odd_texts_give_finite_vectors(self) -> None:
        """Nothing a parser can produce may stop an ingest."""
        encoder = self.make_encoder()
        odd = ["", " ", "\0\a", "\ud800", "\N{FULLWIDTH LATIN CAPITAL LETTER A}", "?!"]
        vectors = encoder.encode_documents(odd).vectors
        assert np.isfinite(vectors).all()

    def test_k2_text_longer_than_the_window_is_reported_by_position(self) -> None:
        """A truncated passage is in the report, never silent."""
        encoder = self.make_encoder()
        words = " ".join(["word"] * (encoder.card.max_tokens + 1))
        expected = (1,) if self.tells_truncation else ()
        assert encoder.encode_documents(["short", words, "short"]).truncated == expected

    def test_threads_may_share_an_encoder(self) -> None:
        """Search and ingest encode at the same time."""
        encoder = self.make_encoder()
        with ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(lambda text: encoder.encode_query(text).vectors[0], _TEXTS))
        expected = [encoder.encode_query(text).vectors[0] for text in _TEXTS]
        assert np.abs(np.array(rows) - np.array(expected)).max() < _SAME
