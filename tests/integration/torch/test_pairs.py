"""Native and exported cross-encoders."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eagle_rag.adapters.encoders.pairs import CheckpointPairScorer
from eagle_rag.adapters.encoders.runtimes import open_pairs
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe
from eagle_rag.ports.encoders import PairScorer
from eagle_rag.testing.pair_contract import PairScorerContract
from eagle_rag.testing.tiny_checkpoints import TINY_WINDOW

pytestmark = pytest.mark.torch
CARD = EncoderCard("tiny-cross", "rerank", 1, "torch", max_tokens=TINY_WINDOW)
QUERY = "osimertinib survival"
TEXTS = ("Osimertinib improved survival", "drug", "", "word " * 60, "cell", "tumour cells")
Find = Callable[[str], Path]


def open_at(folder: Path, *, runtime: str = "torch", batch_size: int = 16) -> PairScorer:
    card = replace(CARD, runtime=runtime, checkpoint=str(folder))
    return open_pairs(card, PairRecipe(batch_size))


shared_at = cache(open_at)  # loading takes longer than a test


class TestNative(PairScorerContract):
    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint("cross")

    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        return shared_at(self.folder, batch_size=batch_size)


class TestExported(PairScorerContract):
    @pytest.fixture(autouse=True)
    def _folder(self, exported: Callable[..., Path]) -> None:
        self.folder = exported("cross", "pair")

    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        return shared_at(self.folder, runtime="onnx", batch_size=batch_size)


def _reference(folder: Path, text: str) -> Any:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    given = tokenizer(
        [QUERY], [text], return_tensors="pt", truncation=True, max_length=TINY_WINDOW
    )
    with torch.no_grad():
        return model(**given).logits[0, -1].item()


@pytest.mark.parametrize("name", ["cross", "cross2"])
def test_scores_are_the_last_logit_of_transformers(checkpoint: Find, name: str) -> None:
    scores = open_at(checkpoint(name)).score_pairs(QUERY, TEXTS)
    expected = [_reference(checkpoint(name), text) for text in TEXTS]
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["cross", "cross2"])
def test_export_agrees_with_the_native_checkpoint(
    checkpoint: Find, exported: Callable[..., Path], name: str
) -> None:
    native = open_at(checkpoint(name)).score_pairs(QUERY, TEXTS)
    onnx = open_at(exported(name, "pair"), runtime="onnx").score_pairs(QUERY, TEXTS)
    np.testing.assert_allclose(native, onnx, atol=1e-4)


def test_model_of_three_labels_is_refused(checkpoint: Find) -> None:
    with pytest.raises(EncoderLoadError, match=r"logits of shape \(1, 3\)"):
        open_at(checkpoint("cross3")).score_pairs(QUERY, ["drug"])


def test_encoder_without_a_head_is_refused(checkpoint: Find) -> None:
    """Its head would be drawn at random."""
    with pytest.raises(EncoderLoadError, match="lacks 2 weights of its model, such as classifier"):
        open_at(checkpoint("bert")).score_pairs(QUERY, ["drug"])


def test_padded_batches_give_the_same_scores(checkpoint: Find) -> None:
    """A GPU pads; the mask must keep the padding out."""
    scorer = open_at(checkpoint("cross"))
    assert isinstance(scorer, CheckpointPairScorer)
    alone = scorer.score_pairs(QUERY, TEXTS)
    scorer._loaded().padded = True
    np.testing.assert_allclose(scorer.score_pairs(QUERY, TEXTS), alone, atol=1e-5)
