"""BERT in numpy: slow, without a runtime, to compare an exported checkpoint with.

Formulas: Devlin et al. 2019 and Vaswani et al. 2017, in the variant of the published checkpoints
(normalisation after the residual, exact GELU). Weights are named as in a published BERT checkpoint.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eagle_rag.model.passage import FloatArray

__all__ = ["bert_hidden", "erf", "read_safetensors"]

_DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file by name."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {
        name: np.frombuffer(
            data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]],
            _DTYPES[entry["dtype"]],
        ).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }


def bert_hidden(
    weights: Mapping[str, NDArray[Any]], ids: Sequence[int], *, layers: int, heads: int
) -> FloatArray:
    """Return the last hidden state of one text, shape ``(tokens, dim)``."""
    prefix = "embeddings"
    total = (
        weights[f"{prefix}.word_embeddings.weight"][list(ids)]
        + weights[f"{prefix}.position_embeddings.weight"][: len(ids)]
        + weights[f"{prefix}.token_type_embeddings.weight"][0]
    )
    hidden = _norm(weights, total, f"{prefix}.LayerNorm")
    for layer in range(layers):
        hidden = _layer(weights, hidden, f"encoder.layer.{layer}", heads=heads)
    return hidden


def erf(x: FloatArray) -> FloatArray:
    """Return the error function to 1.5e-7 (Abramowitz and Stegun 1964, 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
    total = sum(factor * t**power for power, factor in enumerate(series, 1))
    value: FloatArray = (np.sign(x) * (1 - total * np.exp(-x * x))).astype(np.float32)
    return value


def _layer(
    weights: Mapping[str, NDArray[Any]], hidden: FloatArray, prefix: str, *, heads: int
) -> FloatArray:
    tokens, dim = hidden.shape
    query, key, value = (
        _linear(weights, hidden, f"{prefix}.attention.self.{part}")
        .reshape(tokens, heads, dim // heads)
        .transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(dim // heads))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = (powers / powers.sum(axis=-1, keepdims=True)) @ value
    out = _linear(
        weights, mixed.transpose(1, 0, 2).reshape(tokens, dim), f"{prefix}.attention.output.dense"
    )
    hidden = _norm(weights, hidden + out, f"{prefix}.attention.output.LayerNorm")
    wide = _linear(weights, hidden, f"{prefix}.intermediate.dense")
    wide = wide * np.float32(0.5) * (1 + erf(wide / np.float32(np.sqrt(2))))
    out = _linear(weights, wide, f"{prefix}.output.dense")
    return _norm(weights, hidden + out, f"{prefix}.output.LayerNorm")


def _linear(weights: Mapping[str, NDArray[Any]], x: FloatArray, name: str) -> FloatArray:
    product: FloatArray = x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return product


def _norm(weights: Mapping[str, NDArray[Any]], x: FloatArray, name: str) -> FloatArray:
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    scaled: FloatArray = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return scaled
