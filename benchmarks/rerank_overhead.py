"""Reranking through the product beside bare onnxruntime, in one run, on the same tokens.

    python benchmarks/rerank_overhead.py [--passages 30] [--layers 6] [--hidden 384] [--repeats 5]

A cross-encoder with random weights is written as an exported folder (no torch, no download): what a run
costs does not depend on what the weights say. Then, alternately:

- bare: ``InferenceSession.run`` with as many threads on token ids made beforehand, three ways: one pair a run, pairs of one
  length together, and all padded to the longest with a mask. The quickest of the three counts.
- the product: tier 2 of a search with policy ``general`` over that folder: tokenising, batches, the time
  budget, checking and sorting of the scores.

Prints the medians and the ratio of the medians, and fails above 1.15. Scores of both must agree.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no stubs
from numpy.typing import NDArray

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.runtimes import open_pairs
from eagle_rag.adapters.encoders.session import usual_threads
from eagle_rag.adapters.encoders.wordpiece import bert_tokenizer
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe
from eagle_rag.model.query import Candidate, QueryContext, SearchRequest
from eagle_rag.ports.encoders import PairScorer
from eagle_rag.retrieve.rerank import Head, rerank_general

__all__ = ["main"]

BAR = 1.15
QUERY = "what is known about resistance to third generation kinase inhibitors"
WINDOW = 512
_CONTRIB = "com.microsoft"
Floats = NDArray[np.float32]
Rows = Sequence[tuple[Sequence[int], Sequence[int]]]


class Graph:
    """A BERT cross-encoder as it is put together; each method returns the name of its output."""

    def __init__(self, layers: int, hidden: int, words: int) -> None:
        self._rng = np.random.default_rng(11)
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []
        self._hidden = hidden
        self._heads = hidden // 32
        state = self._embeddings(words)
        for layer in range(layers):
            state = self._layer(state, f"layer{layer}")
        self._tensors.append(wire.tensor("first", np.array(0, np.int64)))
        self._call("Gather", [state, "first"], "pooled", axis=1)
        self._linear("pooled", "logits", hidden, 1)

    def model(self) -> bytes:
        """Return the model: ids, mask and types to ``logits``."""
        free = ["batch", "tokens"]
        names = ("input_ids", "attention_mask", "token_type_ids")
        return wire.model(
            self._nodes,
            self._tensors,
            inputs=[wire.value(name, "int64", free) for name in names],
            outputs=[wire.value("logits", "float32", ["batch", 1])],
            opsets={"": 17, _CONTRIB: 1},
        )

    def _call(
        self,
        operator: str,
        inputs: Sequence[str],
        output: str,
        *,
        domain: str = "",
        **attributes: float | str | Sequence[int],
    ) -> str:
        node = wire.node(operator, inputs, [output], domain=domain, attributes=attributes)
        self._nodes.append(node)
        return output

    def _weights(self, name: str, *shape: int) -> str:
        values = self._rng.normal(0, 0.05, shape).astype(np.float32)
        self._tensors.append(wire.tensor(name, values))
        return name

    def _linear(self, source: str, output: str, size: int, wide: int) -> str:
        product = self._call(
            "MatMul", [source, self._weights(f"{output}.w", size, wide)], f"{output}.x"
        )
        return self._call("Add", [product, self._weights(f"{output}.b", wide)], output)

    def _norm(self, source: str, output: str) -> str:
        ones = np.ones(self._hidden, np.float32)
        self._tensors.append(wire.tensor(f"{output}.scale", ones))
        inputs = [source, f"{output}.scale", self._weights(f"{output}.shift", self._hidden)]
        return self._call("LayerNormalization", inputs, output, axis=-1, epsilon=1e-12)

    def _embeddings(self, words: int) -> str:
        for number in (0, 1, 2):
            self._tensors.append(wire.tensor(f"int{number}", np.array([number], np.int64)))
        self._weights("positions", WINDOW, self._hidden)
        self._call("Cast", ["attention_mask"], "mask", to=6)
        word = self._call(
            "Gather", [self._weights("words", words, self._hidden), "input_ids"], "word"
        )
        kind = self._call(
            "Gather", [self._weights("types", 2, self._hidden), "token_type_ids"], "kind"
        )
        self._call("Shape", ["input_ids"], "shape")
        self._call("Slice", ["shape", "int1", "int2"], "length")
        place = self._call("Slice", ["positions", "int0", "length", "int0"], "place")
        both = self._call("Add", [word, kind], "both")
        return self._norm(self._call("Add", [both, place], "embedding"), "embedded")

    def _layer(self, state: str, name: str) -> str:
        size = self._hidden
        parts = [self._linear(state, f"{name}.{part}", size, size) for part in ("q", "k", "v")]
        mixed = self._call(
            "MultiHeadAttention",
            [*parts, "", "mask"],
            f"{name}.mixed",
            domain=_CONTRIB,
            num_heads=self._heads,
        )
        out = self._linear(mixed, f"{name}.out", size, size)
        state = self._norm(self._call("Add", [out, state], f"{name}.sum"), f"{name}.norm")
        wide = self._linear(state, f"{name}.wide", size, 4 * size)
        wide = self._call("Gelu", [wide], f"{name}.gelu", domain=_CONTRIB)
        out = self._linear(wide, f"{name}.narrow", 4 * size, size)
        return self._norm(self._call("Add", [out, state], f"{name}.sum2"), f"{name}.norm2")


def write_folder(folder: Path, *, layers: int, hidden: int) -> Path:
    """Write the model and BERT's vocabulary; return the folder."""
    from importlib.resources import files

    vocabulary = files("eagle_rag.adapters.encoders") / "bert_base_uncased_vocab.txt"
    text = vocabulary.read_text(encoding="utf-8")
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text(text, encoding="utf-8")
    model = Graph(layers, hidden, len(text.splitlines())).model()
    (folder / "model.onnx").write_bytes(model)
    return folder


def make_texts(vocabulary: Path, count: int) -> list[str]:
    """Return passages of 60 to 250 tokens: whole words of the vocabulary, as they come."""
    rng = np.random.default_rng(13)
    words = [word for word in vocabulary.read_text(encoding="utf-8").split() if word.isalpha()]
    return [" ".join(rng.choice(words, int(rng.integers(60, 251)))) for _ in range(count)]


def tokenized(folder: Path, texts: Sequence[str]) -> Rows:
    """Return ids and types of each pair."""
    tokenizer = bert_tokenizer(folder / "vocab.txt")
    tokenizer.enable_truncation(WINDOW, strategy="longest_first")
    encodings = tokenizer.encode_batch([(QUERY, text) for text in texts])
    return [(encoding.ids, encoding.type_ids) for encoding in encodings]


def bare_ways(path: Path, rows: Rows) -> dict[str, Callable[[], Floats]]:
    """Return three ways to run the model on the rows, each giving the logits in their order."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = usual_threads()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def logits(at: Sequence[int], length: int) -> Floats:
        ids = np.zeros((len(at), length), np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for row, place in enumerate(at):
            size = len(rows[place][0])
            ids[row, :size], types[row, :size] = rows[place]
            mask[row, :size] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        scores: Floats = session.run(["logits"], feeds)[0][:, 0]
        return scores

    def grouped(groups: Sequence[Sequence[int]]) -> Callable[[], Floats]:
        def run() -> Floats:
            scores = np.empty(len(rows), np.float32)
            for group in groups:
                scores[list(group)] = logits(group, max(len(rows[at][0]) for at in group))
            return scores

        return run

    lengths: dict[int, list[int]] = {}
    for at, (ids, _) in enumerate(rows):
        lengths.setdefault(len(ids), []).append(at)
    every = range(len(rows))
    return {
        "one a run": grouped([[at] for at in every]),
        "equal lengths": grouped(list(lengths.values())),
        "padded": grouped([list(every)]),
    }


def product(scorer: PairScorer, texts: Sequence[str]) -> Callable[[], Floats]:
    """Return tier 2 of a search over these passages; it gives the scores in the order of the texts."""
    context = QueryContext(SearchRequest(QUERY), "core", (), rerank_budget_s=600.0)
    merged = tuple(
        Candidate(f"p{at:03}", f"d{at:03}", 1, "kb", "text", 1.0 / (61 + at))
        for at in range(len(texts))
    )
    head = Head(merged, len(texts), lambda _: tuple(texts))

    def run() -> Floats:
        result = rerank_general(lambda: scorer, context, head, clock=time.monotonic)
        scores = {item.passage_id: item.score for item in result.candidates}
        return np.array([scores[item.passage_id] for item in merged], np.float32)

    return run


def measure(runs: dict[str, Callable[[], Floats]], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each, run in turn after one round to warm up."""
    spent: dict[str, list[float]] = {name: [] for name in runs}
    for round_ in range(repeats + 1):
        for name, run in runs.items():
            started = time.perf_counter()
            run()
            if round_:
                spent[name].append(1000 * (time.perf_counter() - started))
    return {name: statistics.median(times) for name, times in spent.items()}


def main() -> int:
    """Print medians and ratio; return 1 above the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=30)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--hidden", type=int, default=384)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = write_folder(Path(place) / "cross", layers=asked.layers, hidden=asked.hidden)
        texts = make_texts(folder / "vocab.txt", asked.passages)
        rows = tokenized(folder, texts)
        card = EncoderCard("cross", "rerank", 1, "onnx", str(folder), max_tokens=WINDOW)
        ways = bare_ways(folder / "model.onnx", rows)
        ours = product(open_pairs(card, PairRecipe()), texts)
        for name, way in ways.items():
            np.testing.assert_allclose(ours(), way(), atol=1e-4, err_msg=name)
        medians = measure({**ways, "product": ours}, asked.repeats)
    best = min(ways, key=lambda name: medians[name])
    ratio = medians["product"] / medians[best]
    tokens = sum(len(ids) for ids, _ in rows)
    print(f"{asked.passages} pairs, {tokens} tokens, {asked.layers} layers of {asked.hidden}")
    for name, median in medians.items():
        print(f"{name:>14}: {median:8.1f} ms")
    print(f"product / bare ({best}): {ratio:.3f}, the bar is {BAR}")
    return int(ratio > BAR)


if __name__ == "__main__":
    sys.exit(main())
