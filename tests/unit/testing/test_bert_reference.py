import json
import math
from pathlib import Path

import numpy as np

from eagle_rag.testing.bert_reference import bert_hidden, erf, read_safetensors


def test_erf_agrees_with_the_standard_library() -> None:
    x = np.linspace(-4, 4, 401, dtype=np.float32)
    np.testing.assert_allclose(erf(x), [math.erf(value) for value in x], atol=5e-7)


def test_safetensors_are_read_by_name_type_and_shape(tmp_path: Path) -> None:
    first, second = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([7], np.int64)
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [1], "data_offsets": [24, 32]},
    }
    encoded = json.dumps(header).encode()
    data = len(encoded).to_bytes(8, "little") + encoded + first.tobytes() + second.tobytes()
    (tmp_path / "model.safetensors").write_bytes(data)
    read = read_safetensors(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(read["a"], first)
    np.testing.assert_array_equal(read["b"], second)


def test_without_layers_the_state_is_the_normalised_sum_of_embeddings() -> None:
    """Hand computed: word 1 is (3, 0), position 0 is (0, 1), type 0 is (0, 0): (3, 1) becomes (1, -1)."""
    weights = {
        "embeddings.word_embeddings.weight": np.array([[9, 9], [3, 0]], np.float32),
        "embeddings.position_embeddings.weight": np.array([[0, 1]], np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((2, 2), np.float32),
        "embeddings.LayerNorm.weight": np.array([2, 2], np.float32),
        "embeddings.LayerNorm.bias": np.array([0, 5], np.float32),
    }
    hidden = bert_hidden(weights, [1], layers=0, heads=1)
    np.testing.assert_allclose(hidden, [[2, 3]], atol=1e-6)
