"""Native text checkpoints, loaded as real ones are and compared with transformers itself."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from eagle_rag.adapters.encoders.memory import NotEnoughMemory
from eagle_rag.adapters.encoders.runtimes import open_text
from eagle_rag.adapters.encoders.torch_text import TorchTextEncoder
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import TextRecipe
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.testing.encoder_contract import TextEncoderContract
from eagle_rag.testing.tiny_checkpoints import TINY_DIM, TINY_WINDOW

pytestmark = pytest.mark.torch
CARD = EncoderCard("tiny", "text", TINY_DIM, "torch", max_tokens=TINY_WINDOW)
TEXTS = ("Osimertinib, survival", "CC(=O)Oc1ccccc1C(=O)O", "", "word " * 60, "drug", "a b c d e")
Find = Callable[[str], Path]


def open_at(folder: Path, *, card: EncoderCard = CARD, **recipe: Any) -> TextEncoder:
    return open_text(replace(card, checkpoint=str(folder)), TextRecipe(**recipe))


shared_at = cache(open_at)  # loading takes longer than a test


class _Native(TextEncoderContract):
    name = ""
    pooling: Literal["mean", "cls", "none"] = "mean"

    @pytest.fixture(autouse=True)
    def _folder(self, checkpoint: Find) -> None:
        self.folder = checkpoint(self.name)

    def make_encoder(self) -> TextEncoder:
        return shared_at(self.folder, pooling=self.pooling)


class TestPubMedBert(_Native):
    name = "masked"


class TestChemBerta(_Native):
    name = "chemberta"


class TestMedCpt(_Native):
    name, pooling = "medcpt/article", "cls"

    def make_encoder(self) -> TextEncoder:
        query = str(self.folder.parent / "query")
        return shared_at(self.folder, pooling="cls", query_checkpoint=query)


class TestPoolingModel(_Native):
    name, pooling = "bert", "none"


def _reference(folder: Path, text: str, *, pooling: str) -> Any:
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder)
    given = tokenizer(text, return_tensors="pt", truncation=True, max_length=TINY_WINDOW)
    with torch.no_grad():
        output = model(**given)
    hidden, mask = output.last_hidden_state, given["attention_mask"].unsqueeze(-1)
    pooled = hidden[:, 0] if pooling == "cls" else (hidden * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(pooled)[0].numpy()


@pytest.mark.parametrize("name", ["bert", "masked", "chemberta", "medcpt/query"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_vectors_are_those_of_transformers(checkpoint: Find, name: str, pooling: str) -> None:
    vectors = open_at(checkpoint(name), pooling=pooling).encode_documents(TEXTS).vectors
    expected = [_reference(checkpoint(name), text, pooling=pooling) for text in TEXTS]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["bert", "chemberta", "medcpt/article"])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_export_agrees_with_the_native_checkpoint(
    checkpoint: Find, exported: Callable[..., Path], name: str, pooling: str
) -> None:
    """An index filled through one runtime is searched through the other after a move to production."""
    native = open_at(checkpoint(name), pooling=pooling)
    card = replace(CARD, runtime="onnx")
    onnx = open_at(exported(name, "text"), card=card, pooling=pooling)
    first, second = native.encode_documents(TEXTS), onnx.encode_documents(TEXTS)
    np.testing.assert_allclose(first.vectors, second.vectors, atol=1e-4)
    assert first.truncated == second.truncated == (3,)


@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_queries_use_their_own_tower(
    checkpoint: Find, exported: Callable[..., Path], runtime: str
) -> None:
    names = "medcpt/article", "medcpt/query"
    article, query = (
        exported(name, "text") if runtime == "onnx" else checkpoint(name) for name in names
    )
    card = replace(CARD, runtime=runtime)
    both = open_at(article, card=card, pooling="cls", query_checkpoint=str(query))
    alone = open_at(query, card=card, pooling="cls")
    expected = alone.encode_query("drug").vectors
    np.testing.assert_allclose(both.encode_query("drug").vectors, expected, atol=1e-6)
    assert np.abs(both.encode_documents(["drug"]).vectors - expected).max() > 1e-3


@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_digest_of_two_towers_covers_both(
    checkpoint: Find, exported: Callable[..., Path], runtime: str
) -> None:
    find = (lambda name: exported(name, "text")) if runtime == "onnx" else checkpoint
    article, query, bert = find("medcpt/article"), find("medcpt/query"), find("bert")
    card = replace(CARD, runtime=runtime)
    digests = {
        open_at(article, card=card).spec.digest,
        open_at(article, card=card, query_checkpoint=str(query)).spec.digest,
        open_at(article, card=card, query_checkpoint=str(bert)).spec.digest,
        open_at(bert, card=card, query_checkpoint=str(query)).spec.digest,
    }
    assert len(digests) == 4


@pytest.mark.parametrize("dim", [TINY_DIM - 8, TINY_DIM + 8])
@pytest.mark.parametrize("runtime", ["torch", "onnx"])
def test_other_dimensions_are_fitted_when_the_recipe_says_so(
    checkpoint: Find, exported: Callable[..., Path], runtime: str, dim: int
) -> None:
    folder = exported("bert", "text") if runtime == "onnx" else checkpoint("bert")
    plain = open_at(folder, card=replace(CARD, runtime=runtime), normalized=False)
    whole = plain.encode_query("drug").vectors[0]
    expected = np.zeros(dim, np.float32)
    expected[: min(dim, TINY_DIM)] = whole[:dim]
    fitted = open_at(folder, card=replace(CARD, runtime=runtime, dim=dim), fit_dim=True)
    got = fitted.encode_query("drug").vectors[0]
    np.testing.assert_allclose(got, expected / np.linalg.norm(expected), atol=1e-5)


def test_other_dimension_is_refused_without_fitting(checkpoint: Find) -> None:
    with pytest.raises(EncoderLoadError, match="32 dimensions, its card says 8"):
        open_at(checkpoint("bert"), card=replace(CARD, dim=8)).encode_query("drug")


def test_prefixes_are_put_before_queries_and_documents(checkpoint: Find) -> None:
    plain = open_at(checkpoint("bert")).encode_documents(["q: drug", "d: drug"]).vectors
    prefixed = open_at(checkpoint("bert"), query_prefix="q: ", document_prefix="d: ")
    np.testing.assert_allclose(prefixed.encode_query("drug").vectors[0], plain[0], atol=1e-5)
    np.testing.assert_allclose(prefixed.encode_documents(["drug"]).vectors[0], plain[1], atol=1e-5)


def test_padded_batches_give_the_same_vectors(checkpoint: Find) -> None:
    """A GPU pads; the mask must keep the padding out."""
    encoder = open_at(checkpoint("bert"))
    assert isinstance(encoder, TorchTextEncoder)
    alone = encoder.encode_documents(TEXTS).vectors
    encoder._tower(encoder._documents).padded = True
    np.testing.assert_allclose(encoder.encode_documents(TEXTS).vectors, alone, atol=1e-5)


def test_k3_memory_shortage_halves_the_batch(checkpoint: Find) -> None:
    encoder = open_at(checkpoint("bert"))
    assert isinstance(encoder, TorchTextEncoder)
    expected = encoder.encode_documents(TEXTS).vectors
    tower, sizes = encoder._tower(encoder._documents), []
    embed, tower.padded = tower.embed, True

    def short(rows: Any) -> Any:
        sizes.append(len(rows))
        if len(rows) > 2:
            with tower._runtime.running("a test"):
                raise tower._runtime.torch.OutOfMemoryError
        return embed(rows)

    tower.embed = short  # type: ignore[method-assign]  # a device with little memory
    np.testing.assert_allclose(encoder.encode_documents(TEXTS).vectors, expected, atol=1e-5)
    assert sizes == [6, 3, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "words", ["CUDA out of memory. Tried", "DefaultCPUAllocator: not enough memory: you tried"]
)
def test_runtime_error_about_memory_is_recognised(checkpoint: Find, words: str) -> None:
    encoder = open_at(checkpoint("bert"))
    assert isinstance(encoder, TorchTextEncoder)
    runtime = encoder._tower(encoder._documents)._runtime
    with pytest.raises(NotEnoughMemory), runtime.running("a test"):
        raise RuntimeError(words)


def test_run_that_no_machine_has_memory_for_is_recognised(checkpoint: Find) -> None:
    """What torch really says, in the release installed."""
    encoder = open_at(checkpoint("bert"))
    assert isinstance(encoder, TorchTextEncoder)
    runtime = encoder._tower(encoder._documents)._runtime
    with pytest.raises(NotEnoughMemory), runtime.running("a test"):
        runtime.torch.empty(10**8, 10**8)


def test_folder_without_weights_is_refused_with_their_names(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match=r"no weights in .*model\.safetensors"):
        open_at(tmp_path).encode_query("a")


def test_damaged_weights_are_a_load_error(checkpoint: Find, tmp_path: Path) -> None:
    for path in checkpoint("bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(EncoderLoadError, match="does not load"):
        open_at(tmp_path).encode_query("a")


def test_missing_weights_are_refused_instead_of_drawn_at_random(
    checkpoint: Find, tmp_path: Path
) -> None:
    """transformers only logs it, and every vector would be noise."""
    import safetensors.torch

    for path in checkpoint("bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = safetensors.torch.load_file(tmp_path / "model.safetensors")
    del weights["encoder.layer.0.output.dense.weight"]
    safetensors.torch.save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(EncoderLoadError, match=r"lacks 1 weights .*layer\.0\.output\.dense"):
        open_at(tmp_path).encode_query("a")


def test_window_beyond_the_models_positions_is_refused(checkpoint: Find) -> None:
    """On a GPU it would abort the process."""
    for name in ("bert", "chemberta"):
        card = replace(CARD, max_tokens=TINY_WINDOW + 1)
        with pytest.raises(EncoderLoadError, match="window of 49 tokens, its model has 48"):
            open_at(checkpoint(name), card=card).encode_query("a")


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt", "config.json"])
def test_digest_covers_weights_vocabulary_and_configuration(
    checkpoint: Find, tmp_path: Path, name: str
) -> None:
    for path in checkpoint("bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert open_at(tmp_path).spec.digest == open_at(checkpoint("bert")).spec.digest
    with (tmp_path / name).open("ab") as file:
        file.write(b"\n")
    assert open_at(tmp_path).spec.digest != open_at(checkpoint("bert")).spec.digest


def test_digest_leaves_other_files_out(checkpoint: Find, tmp_path: Path) -> None:
    """A page about the model is not the model."""
    for path in checkpoint("bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "README.md").write_text("about", "utf-8")
    (tmp_path / "pytorch_model.bin").write_bytes(b"the same, not loaded")
    assert open_at(tmp_path).spec.digest == open_at(checkpoint("bert")).spec.digest


def test_auto_takes_the_export_when_the_folder_is_one(
    checkpoint: Find, exported: Callable[..., Path]
) -> None:
    card = replace(CARD, runtime="auto")
    assert isinstance(open_at(checkpoint("bert"), card=card), TorchTextEncoder)
    assert not isinstance(open_at(exported("bert", "text"), card=card), TorchTextEncoder)


def test_loading_leaves_the_verbosity_of_transformers_alone(
    checkpoint: Find, capfd: pytest.CaptureFixture[str]
) -> None:
    """Progress bars on stderr belong to the command line, not to a library."""
    import transformers

    transformers.utils.logging.set_verbosity_info()
    try:
        open_at(checkpoint("masked")).encode_query("a")
        assert transformers.utils.logging.get_verbosity() == transformers.logging.INFO
    finally:
        transformers.utils.logging.set_verbosity_warning()
    assert capfd.readouterr() == ("", "")
