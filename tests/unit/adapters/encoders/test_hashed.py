import numpy as np
import pytest

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.hashed import HashPairScorer, HashVisualEncoder
from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.testing.encoder_contract import TextEncoderContract
from eagle_rag.testing.pair_contract import PairScorerContract
from eagle_rag.testing.visual_contract import VisualEncoderContract

TEXT = EncoderCard("pubmedbert", "text", 768, "auto", checkpoint="lab/bert", metric="ip")
VISUAL = EncoderCard("scans", "visual", 1024, "auto", metric="ip", queries_text=True)
PAIR = EncoderCard("cross", "rerank", 1, "auto")


class TestStandIn(TextEncoderContract):
    def make_encoder(self) -> TextEncoder:
        return HashEncoder.of_card(TEXT)


class TestHashVisual(VisualEncoderContract):
    decodes = False

    def make_encoder(self) -> VisualEncoder:
        return HashVisualEncoder(VISUAL)


class TestHashPairs(PairScorerContract):
    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        del batch_size
        return HashPairScorer(PAIR)


def test_stand_in_has_the_card_of_the_encoder_it_stands_for() -> None:
    """The registry refuses an encoder that is not the one registered."""
    assert HashEncoder.of_card(TEXT).card == TEXT
    assert HashVisualEncoder(VISUAL).card == VISUAL
    assert HashPairScorer(PAIR).card == PAIR


def test_vectors_are_the_same_on_every_machine() -> None:
    card = EncoderCard("scans", "visual", 3, "hash", queries_text=True)
    vector = HashVisualEncoder(card).encode_images([b"a"]).vectors[0]
    # SHA-256 of SHA-256("a") and four zero bytes, as three little-endian numbers from -1 to 1.
    numbers = np.array([-0.6878776, -0.8084063, -0.7872533])
    np.testing.assert_allclose(vector, numbers / np.linalg.norm(numbers), atol=1e-6)


def test_dimension_is_part_of_the_space() -> None:
    small, large = (EncoderCard("scans", "visual", dim, "hash") for dim in (8, 16))
    assert HashVisualEncoder(small).spec.digest != HashVisualEncoder(large).spec.digest


def test_encoder_without_a_text_tower_refuses_text() -> None:
    card = EncoderCard("slides", "visual", 8, "hash")
    with pytest.raises(InvalidInput, match="'slides' encodes pictures only"):
        HashVisualEncoder(card).encode_query("tumour")
