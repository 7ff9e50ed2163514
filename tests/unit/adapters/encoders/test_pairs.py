"""Cross-encoders: batches, memory and an exported model made here."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.memory import NotEnoughMemory
from eagle_rag.adapters.encoders.onnx_pairs import OnnxPairModel, onnx_pairs
from eagle_rag.adapters.encoders.pairs import CheckpointPairScorer, PairRow, shortened
from eagle_rag.adapters.encoders.session import OnnxModel
from eagle_rag.adapters.encoders.wordpiece import bert_tokenizer
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe
from eagle_rag.ports.encoders import PairScorer
from eagle_rag.testing.pair_contract import PairScorerContract

CARD = EncoderCard("cross", "rerank", 1, "onnx", max_tokens=24)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
)


class Model:
    """Scores a pair by its ids, slowly and exactly; runs of more than ``room`` pairs do not fit."""

    most_rows = 0

    def __init__(
        self, *, room: int = 1000, padded: bool = True, columns: int = 0, value: float = 0
    ) -> None:
        self.room, self.padded, self.columns, self.value = room, padded, columns, value
        self.runs: list[int] = []

    def rows(self, query: str, texts: Sequence[str]) -> list[PairRow]:
        pairs = [[*map(ord, query), 0, *map(ord, text)] for text in texts]
        return [PairRow(tuple(ids), (0,) * len(ids)) for ids in pairs]

    def logits(self, rows: Sequence[PairRow]) -> NDArray[Any]:
        self.runs.append(len(rows))
        if len(rows) > self.room:
            message = "full"
            raise NotEnoughMemory(message)
        scores = np.array([np.dot(row.ids, range(len(row.ids))) % 97 for row in rows], np.float64)
        if not self.columns:
            return scores + self.value
        return np.stack([np.zeros_like(scores)] * (self.columns - 1) + [scores], axis=1)


class Source:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.loads = 0

    def digest(self) -> str:
        return "0" * 64

    def load(self) -> Model:
        self.loads += 1
        return self.model


def scorer(model: Model, batch_size: int = 16) -> CheckpointPairScorer:
    return CheckpointPairScorer(CARD, Source(model), recipe=PairRecipe(batch_size))


class TestAnyModel(PairScorerContract):
    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        return scorer(Model(room=3), batch_size)


class TestUnpadded(PairScorerContract):
    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        return scorer(Model(padded=False), batch_size)


TEXTS = [f"{'x' * (at % 5)}{at}" for at in range(20)]


@pytest.mark.parametrize("room", [1, 2, 3, 7, 20])
def test_k3_memory_shortage_changes_neither_scores_nor_order(room: int) -> None:
    expected = scorer(Model()).score_pairs("q", TEXTS)
    model = Model(room=room)
    np.testing.assert_array_equal(scorer(model).score_pairs("q", TEXTS), expected)
    assert max(model.runs) == 16
    assert max(model.runs[5:], default=0) <= room


def test_k3_pair_that_does_not_fit_alone_is_an_error() -> None:
    with pytest.raises(NotEnoughMemory):
        scorer(Model(room=0)).score_pairs("q", TEXTS)


@pytest.mark.parametrize("columns", [1, 2])
def test_last_column_is_the_score(columns: int) -> None:
    expected = scorer(Model()).score_pairs("q", TEXTS)
    got = scorer(Model(columns=columns)).score_pairs("q", TEXTS)
    np.testing.assert_array_equal(got, expected)


def test_more_than_two_columns_are_refused() -> None:
    with pytest.raises(EncoderLoadError, match=r"logits of shape \(16, 3\)"):
        scorer(Model(columns=3)).score_pairs("q", TEXTS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_score_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(EncoderLoadError, match="not finite"):
        scorer(Model(value=value)).score_pairs("q", TEXTS)


def test_model_is_loaded_once_and_not_before_the_first_pair() -> None:
    source = Source(Model())
    subject = CheckpointPairScorer(CARD, source, recipe=PairRecipe())
    assert subject.score_pairs("q", []).shape == (0,)
    assert source.loads == 0
    subject.score_pairs("q", ["a"])
    subject.score_pairs("q", ["b"])
    assert source.loads == 1


def test_batch_size_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="batch_size must be at least 1, got 0"):
        scorer(Model(), 0)


def pair_folder(folder: Path, *, columns: int = 1) -> Path:
    """Write a model whose logits are the sum over tokens of (word + side) rows, and its vocabulary."""
    rng = np.random.default_rng(5)
    folder.mkdir()
    words = rng.normal(0, 1, (len(PIECES), columns)).astype(np.float32)
    sides = rng.normal(0, 1, (2, columns)).astype(np.float32)
    free = ["n", "tokens"]
    model = wire.model(
        [
            wire.node("Gather", ["words", "input_ids"], ["word"]),
            wire.node("Gather", ["sides", "token_type_ids"], ["side"]),
            wire.node("Mul", ["word", "side"], ["both"]),
            wire.node("ReduceSum", ["both", "axis"], ["logits"], attributes={"keepdims": 0}),
        ],
        [
            wire.tensor("words", words),
            wire.tensor("sides", sides),
            wire.tensor("axis", np.array([1], np.int64)),
        ],
        inputs=[wire.value(name, "int64", free) for name in ("input_ids", "token_type_ids")],
        outputs=[wire.value("logits", "float32", ["n", columns])],
        opsets={"": 17},
    )
    (folder / "model.onnx").write_bytes(model)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), "utf-8")
    return folder


class TestExported(PairScorerContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = pair_folder(tmp_path / "cross")

    def make_scorer(self, batch_size: int = 16) -> PairScorer:
        return onnx_pairs(replace(CARD, checkpoint=str(self.folder)), PairRecipe(batch_size))


def test_exported_model_takes_the_last_of_two_columns(tmp_path: Path) -> None:
    folder = pair_folder(tmp_path / "cross", columns=2)
    subject = onnx_pairs(replace(CARD, checkpoint=str(folder)), PairRecipe())
    scores = subject.score_pairs("a", ["b"])
    model = OnnxModel(folder / "model.onnx", "cross")
    # [CLS] a [SEP] b [SEP]
    feeds = {
        "input_ids": np.array([[2, 5, 3, 6, 3]], np.int64),
        "token_type_ids": np.array([[0, 0, 0, 1, 1]], np.int64),
    }
    expected = model.run("logits", feeds, what="one pair")[0, 1]
    np.testing.assert_allclose(scores, [expected], atol=1e-6)


def test_longer_side_is_cut_first(tmp_path: Path) -> None:
    folder = pair_folder(tmp_path / "cross")
    model = OnnxPairModel(
        OnnxModel(folder / "model.onnx", "cross"),
        bert_tokenizer(folder / "vocab.txt"),
        replace(CARD, max_tokens=10),
        quantized=False,
    )
    (row,) = model.rows("a b", ["c " * 30])
    assert row.ids == (2, 5, 6, 3, *[7] * 5, 3)
    assert row.types == (0, 0, 0, 0, *[1] * 6)


@pytest.mark.parametrize("seed", range(20))
def test_shortening_a_side_leaves_what_the_window_shows(tmp_path: Path, seed: int) -> None:
    """Only what lies beyond the window may be cut before the pair is."""
    rng = np.random.default_rng(seed)
    tokenizer = bert_tokenizer(pair_folder(tmp_path / "cross") / "vocab.txt")
    window = int(rng.integers(14, 40))
    words = ["".join(rng.choice(list(LETTERS), rng.integers(1, 12))) for _ in range(60)]
    long, short = " ".join(words), "".join(words[: rng.integers(0, 2)])
    for sides in ((long, long), (short, long), (long, short)):
        first, second = (shortened(side, tokenizer, window) for side in sides)
        assert len(first) + len(second) < sum(map(len, sides))
        whole = deepcopy(tokenizer)
        whole.enable_truncation(window, strategy="longest_first")
        assert whole.encode(first, second).ids == whole.encode(sides[0], sides[1]).ids


def test_word_without_an_end_is_cut_all_the_same(tmp_path: Path) -> None:
    tokenizer = bert_tokenizer(pair_folder(tmp_path / "cross") / "vocab.txt")
    sequence = "acgt" * 20  # one word of 80 tokens
    assert shortened(sequence, tokenizer, 8) == sequence[:16]


def test_quantised_model_runs_one_pair_at_a_time(tmp_path: Path) -> None:
    """Its scales are taken over a whole run: a neighbour would change the score."""
    folder = pair_folder(tmp_path / "cross")
    data = (folder / "model.onnx").read_bytes()
    assert onnx_pairs(replace(CARD, checkpoint=str(folder)), PairRecipe())._loaded().most_rows == 0
    # An unused name is enough for the check, and keeps the model runnable.
    (folder / "model.onnx").write_bytes(data + b"\x32\x16DynamicQuantizeLinear.x"[:24])
    assert onnx_pairs(replace(CARD, checkpoint=str(folder)), PairRecipe())._loaded().most_rows == 1


def test_window_without_room_for_a_pair_is_refused(tmp_path: Path) -> None:
    card = replace(CARD, max_tokens=3, checkpoint=str(pair_folder(tmp_path / "cross")))
    with pytest.raises(EncoderLoadError, match="window of 3 tokens holds no pair"):
        onnx_pairs(card, PairRecipe()).score_pairs("a", ["b"])


def test_digest_changes_with_the_vocabulary(tmp_path: Path) -> None:
    subject = onnx_pairs(
        replace(CARD, checkpoint=str(pair_folder(tmp_path / "cross"))), PairRecipe()
    )
    before = subject.digest()
    with (tmp_path / "cross" / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
        vocabulary.write("new\n")
    assert subject.digest() != before


@pytest.mark.parametrize(
    "words",
    [
        "Failed to allocate memory for requested buffer of size 18446744073709551615",
        "std::bad_alloc",
        "bad allocation",
    ],
)
def test_k3_failed_allocation_of_onnxruntime_is_recognised(tmp_path: Path, words: str) -> None:
    model = OnnxModel(pair_folder(tmp_path / "cross") / "model.onnx", "cross")
    failure = model._failures[0]

    class Full:
        def run(self, *_: object) -> None:
            raise failure(words)

    model._session = Full()
    with pytest.raises(NotEnoughMemory, match="failed on a test"):
        model.run("logits", {}, what="a test")


def test_k3_run_that_no_machine_has_memory_for_is_recognised() -> None:
    """What onnxruntime really says, in the release installed."""
    data = wire.model(
        [wire.node("ConstantOfShape", ["input_ids"], ["out"])],
        [],
        inputs=[wire.value("input_ids", "int64", ["axes"])],
        outputs=[wire.value("out", "float32", ["rows", "columns"])],
        opsets={"": 17},
    )
    with pytest.raises(NotEnoughMemory):
        OnnxModel(data, "cross").run("out", {"input_ids": np.full(2, 10**8)}, what="a test")
