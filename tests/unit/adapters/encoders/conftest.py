"""A tiny BERT: random weights, its ONNX export and its folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag.adapters.encoders import wire
from eagle_rag.model.passage import FloatArray
from eagle_rag.testing.bert_reference import bert_hidden

DIM, HEADS, LAYERS, WIDE, POSITIONS = 8, 2, 2, 16, 32
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tumour", "cell", "##s", "drug", "a", ":")
Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class TinyBert:
    folder: Path
    weights: Weights
    pieces: tuple[str, ...] = PIECES
    dim: int = DIM

    def hidden(self, ids: Sequence[int]) -> FloatArray:
        return bert_hidden(self.weights, ids, layers=LAYERS, heads=HEADS)


@pytest.fixture
def tiny_bert(tmp_path: Path) -> TinyBert:
    return make_tiny_bert(tmp_path / "tiny")


@pytest.fixture
def tiny_bert_with(tmp_path: Path) -> Callable[[str, NDArray[Any]], TinyBert]:
    """Make one with one tensor replaced."""
    return lambda name, values: make_tiny_bert(tmp_path / "changed", {name: values})


def make_tiny_bert(folder: Path, changes: Weights | None = None) -> TinyBert:
    weights = random_weights() | (changes or {})
    folder.mkdir()
    (folder / "model.onnx").write_bytes(export(weights))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", "utf-8")
    return TinyBert(folder, weights)


def random_weights() -> Weights:
    rng = np.random.default_rng(7)

    def draw(*shape: int) -> FloatArray:
        return rng.normal(0, 0.5, shape).astype(np.float32)

    weights: Weights = {
        "embeddings.word_embeddings.weight": draw(len(PIECES), DIM),
        "embeddings.position_embeddings.weight": draw(POSITIONS, DIM),
        "embeddings.token_type_embeddings.weight": draw(2, DIM),
    }
    norms = ["embeddings.LayerNorm"]
    linears: list[tuple[str, int, int]] = []
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
        parts = ("self.query", "self.key", "self.value", "output.dense")
        linears += [(f"{prefix}.attention.{part}", DIM, DIM) for part in parts]
        linears += [
            (f"{prefix}.intermediate.dense", DIM, WIDE),
            (f"{prefix}.output.dense", WIDE, DIM),
        ]
    for name in norms:
        weights |= {f"{name}.weight": draw(DIM) + 1, f"{name}.bias": draw(DIM)}
    for name, size, out in linears:
        weights |= {f"{name}.weight": draw(out, size), f"{name}.bias": draw(out)}
    return {name: np.asarray(values, np.float32) for name, values in weights.items()}


class Export:
    """An ONNX graph of standard operators, with names as torch's exporter gives them."""

    def __init__(self, weights: Weights) -> None:
        self.nodes: list[bytes] = []
        self.tensors = [
            wire.tensor(name, values.T if "dense" in name or ".self." in name else values)
            for name, values in weights.items()
        ]
        constants: dict[str, NDArray[Any]] = {
            "heads": np.array([0, 0, HEADS, DIM // HEADS], np.int64),
            "merged": np.array([0, 0, DIM], np.int64),
            "root": np.array(np.sqrt(DIM // HEADS), np.float32),
            "half": np.array(0.5, np.float32),
            "one": np.array(1, np.float32),
            "two.root": np.array(np.sqrt(2), np.float32),
            "far": np.array(-1e4, np.float32),
            "zero.at": np.array([0], np.int64),
            "one.at": np.array([1], np.int64),
            "two.at": np.array([2], np.int64),
            "mask.axes": np.array([1, 2], np.int64),
        }
        self.tensors += [wire.tensor(name, values) for name, values in constants.items()]

    def call(self, operator: str, inputs: str, output: str, **attributes: Any) -> str:
        self.nodes.append(wire.node(operator, inputs.split(), [output], attributes=attributes))
        return output

    def linear(self, source: str, name: str, output: str) -> str:
        self.call("MatMul", f"{source} {name}.weight", f"{output}.product")
        return self.call("Add", f"{output}.product {name}.bias", output)

    def norm(self, source: str, name: str, output: str) -> str:
        inputs = f"{source} {name}.weight {name}.bias"
        return self.call("LayerNormalization", inputs, output, axis=-1, epsilon=1e-12)

    def layer(self, hidden: str, prefix: str) -> str:
        for part, order in (
            ("query", (0, 2, 1, 3)),
            ("key", (0, 2, 3, 1)),
            ("value", (0, 2, 1, 3)),
        ):
            name = f"{prefix}.attention.self.{part}"
            flat = self.linear(hidden, name, f"{name}.flat")
            self.call("Reshape", f"{flat} heads", f"{name}.heads")
            self.call("Transpose", f"{name}.heads", name, perm=order)
        at = f"{prefix}.attention.self"
        self.call("MatMul", f"{at}.query {at}.key", f"{at}.raw")
        self.call("Div", f"{at}.raw root", f"{at}.scaled")
        self.call("Add", f"{at}.scaled mask", f"{at}.masked")
        self.call("Softmax", f"{at}.masked", f"{at}.shares", axis=-1)
        self.call("MatMul", f"{at}.shares {at}.value", f"{at}.mixed")
        self.call("Transpose", f"{at}.mixed", f"{at}.turned", perm=(0, 2, 1, 3))
        self.call("Reshape", f"{at}.turned merged", f"{at}.out")
        out = self.linear(f"{at}.out", f"{prefix}.attention.output.dense", f"{prefix}.attended")
        total = self.call("Add", f"{out} {hidden}", f"{prefix}.sum")
        middle = self.norm(total, f"{prefix}.attention.output.LayerNorm", f"{prefix}.middle")
        wide = self.linear(middle, f"{prefix}.intermediate.dense", f"{prefix}.wide")
        self.call("Div", f"{wide} two.root", f"{prefix}.rooted")
        self.call("Erf", f"{prefix}.rooted", f"{prefix}.erf")
        self.call("Add", f"{prefix}.erf one", f"{prefix}.raised")
        self.call("Mul", f"{wide} {prefix}.raised", f"{prefix}.twice")
        gelu = self.call("Mul", f"{prefix}.twice half", f"{prefix}.gelu")
        out = self.linear(gelu, f"{prefix}.output.dense", f"{prefix}.narrow")
        total = self.call("Add", f"{out} {middle}", f"{prefix}.total")
        return self.norm(total, f"{prefix}.output.LayerNorm", f"{prefix}.hidden")


def export(weights: Weights) -> bytes:
    graph, prefix = Export(weights), "embeddings"
    graph.call("Cast", "attention_mask", "mask.float", to=1)
    graph.call("Sub", "one mask.float", "mask.hidden")
    graph.call("Mul", "mask.hidden far", "mask.flat")
    graph.call("Unsqueeze", "mask.flat mask.axes", "mask")
    graph.call("Gather", f"{prefix}.word_embeddings.weight input_ids", "word")
    graph.call("Gather", f"{prefix}.token_type_embeddings.weight token_type_ids", "kind")
    graph.call("Shape", "input_ids", "shape")
    graph.call("Slice", "shape one.at two.at", "length")
    graph.call("Slice", f"{prefix}.position_embeddings.weight zero.at length zero.at", "position")
    graph.call("Add", "word kind", "word.kind")
    graph.call("Add", "word.kind position", "sum")
    hidden = graph.norm("sum", f"{prefix}.LayerNorm", "start")
    for layer in range(LAYERS):
        hidden = graph.layer(hidden, f"encoder.layer.{layer}")
    graph.call("Identity", hidden, "last_hidden_state")
    free = ["batch", "sequence"]
    names = ("input_ids", "attention_mask", "token_type_ids")
    return wire.model(
        graph.nodes,
        graph.tensors,
        inputs=[wire.value(name, "int64", free) for name in names],
        outputs=[wire.value("last_hidden_state", "float32", [*free, DIM])],
        opsets={"": 17},
    )
