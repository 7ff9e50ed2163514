"""``OnnxTextEncoder`` on a tiny BERT, compared with numpy."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.onnx import OnnxRecipe, OnnxTextEncoder, onnx_encoder
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.testing.encoder_contract import TextEncoderContract

CARD = EncoderCard("tiny", "text", 8, "onnx", max_tokens=16)
Pooling = Literal["mean", "cls", "none"]
# [CLS] tumour cell ##s [SEP]
TEXT, IDS = "Tumour cells", [2, 5, 6, 7, 3]


def encoder(folder: Path, **recipe: Any) -> OnnxTextEncoder:
    return onnx_encoder(replace(CARD, checkpoint=str(folder)), recipe=OnnxRecipe(**recipe))


class TestTinyBertContract(TextEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tiny_bert: Any) -> None:
        self.folder: Path = tiny_bert.folder

    def make_encoder(self) -> OnnxTextEncoder:
        return encoder(self.folder)


def test_mean_pooling_agrees_with_numpy(tiny_bert: Any) -> None:
    expected = tiny_bert.hidden(IDS).mean(axis=0)
    vector = encoder(tiny_bert.folder, normalized=False).encode_documents([TEXT]).vectors[0]
    np.testing.assert_allclose(vector, expected, atol=2e-5)


def test_cls_pooling_agrees_with_numpy(tiny_bert: Any) -> None:
    expected = tiny_bert.hidden(IDS)[0]
    got = encoder(tiny_bert.folder, pooling="cls").encode_documents([TEXT]).vectors[0]
    np.testing.assert_allclose(got, expected / np.linalg.norm(expected), atol=2e-5)


def test_empty_text_is_the_special_tokens_alone(tiny_bert: Any) -> None:
    expected = tiny_bert.hidden([2, 3]).mean(axis=0)
    got = encoder(tiny_bert.folder, normalized=False).encode_documents([""]).vectors[0]
    np.testing.assert_allclose(got, expected, atol=2e-5)


def test_prefixes_are_put_before_queries_and_documents(tiny_bert: Any) -> None:
    plain = encoder(tiny_bert.folder).encode_documents(["a: drug", "cell: drug"]).vectors
    prefixed = encoder(tiny_bert.folder, query_prefix="a: ", document_prefix="cell: ")
    np.testing.assert_allclose(prefixed.encode_query("drug").vectors[0], plain[0], atol=1e-6)
    np.testing.assert_allclose(prefixed.encode_documents(["drug"]).vectors[0], plain[1], atol=1e-6)


def test_prefixes_and_pooling_are_part_of_the_space(tiny_bert: Any) -> None:
    spec = encoder(tiny_bert.folder, pooling="cls", query_prefix="q", document_prefix="d").spec
    assert (spec.pooling, spec.query_prefix, spec.document_prefix) == ("cls", "q", "d")


def test_k2_long_text_is_cut_to_the_window_with_its_last_special_token(tiny_bert: Any) -> None:
    """The vector is that of [CLS], 14 words and [SEP], and the position is reported."""
    batch = encoder(tiny_bert.folder, normalized=False).encode_documents(["a", "drug " * 15])
    expected = tiny_bert.hidden([2, *[8] * 14, 3]).mean(axis=0)
    np.testing.assert_allclose(batch.vectors[1], expected, atol=2e-5)
    assert batch.truncated == (1,)


def test_k2_text_that_just_fits_is_not_reported(tiny_bert: Any) -> None:
    assert encoder(tiny_bert.folder).encode_documents(["drug " * 14]).truncated == ()


def test_number_of_threads_changes_nothing(tiny_bert: Any) -> None:
    texts = [" ".join(["cell"] * count) for count in (5, 1, 9, 9, 2, 12, 1)]
    one = encoder(tiny_bert.folder, threads=1).encode_documents(texts).vectors
    four = encoder(tiny_bert.folder, threads=4).encode_documents(texts).vectors
    np.testing.assert_array_equal(one, four)


def test_changed_weights_change_the_digest(
    tiny_bert: Any, tiny_bert_with: Callable[[str, NDArray[Any]], Any]
) -> None:
    bias = "encoder.layer.0.output.dense.bias"
    changed = tiny_bert_with(bias, tiny_bert.weights[bias] + 1)
    assert encoder(tiny_bert.folder).spec.digest != encoder(changed.folder).spec.digest


def test_changed_vocabulary_changes_the_digest(tiny_bert: Any) -> None:
    before = encoder(tiny_bert.folder).spec.digest
    with (tiny_bert.folder / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
        vocabulary.write("new\n")
    assert encoder(tiny_bert.folder).spec.digest != before


def test_missing_model_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match=r"no model\.onnx in .*export"):
        encoder(tmp_path).encode_query("a")


def test_damaged_model_is_refused(tiny_bert: Any) -> None:
    (tiny_bert.folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EncoderLoadError, match="'tiny' does not load"):
        encoder(tiny_bert.folder).encode_query("a")


def test_card_of_another_dimension_is_refused(tiny_bert: Any) -> None:
    card = replace(CARD, dim=9, checkpoint=str(tiny_bert.folder))
    with pytest.raises(EncoderLoadError, match="expected 3 axes, the last of 9"):
        onnx_encoder(card).encode_query("a")


def test_pooling_none_needs_a_model_that_pools(tiny_bert: Any) -> None:
    with pytest.raises(EncoderLoadError, match="expected 2 axes"):
        encoder(tiny_bert.folder, pooling="none").encode_query("a")


def test_weights_that_are_not_finite_are_refused_in_every_thread(
    tiny_bert_with: Callable[[str, NDArray[Any]], Any],
) -> None:
    broken = tiny_bert_with("embeddings.LayerNorm.bias", np.full(8, np.nan, np.float32))
    with pytest.raises(EncoderLoadError, match="vector of length nan"):
        encoder(broken.folder, threads=2).encode_documents(["a", "drug"])


def test_vocabulary_larger_than_the_model_is_a_load_error(tiny_bert: Any) -> None:
    """An id beyond the embedding table must not leak a runtime's own exception."""
    with (tiny_bert.folder / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
        vocabulary.write("beyond\n")
    with pytest.raises(EncoderLoadError, match="failed on 3 tokens"):
        encoder(tiny_bert.folder).encode_query("beyond")


def test_window_without_room_for_a_word_is_refused(tiny_bert: Any) -> None:
    card = replace(CARD, max_tokens=2, checkpoint=str(tiny_bert.folder))
    with pytest.raises(EncoderLoadError, match="window of 2 tokens"):
        onnx_encoder(card).encode_query("a")


def test_failed_load_is_tried_again(tiny_bert: Any) -> None:
    """A long-lived server recovers when the file appears."""
    whole = (tiny_bert.folder / "model.onnx").read_bytes()
    subject = encoder(tiny_bert.folder)
    (tiny_bert.folder / "model.onnx").unlink()
    with pytest.raises(EncoderLoadError):
        subject.encode_query("a")
    (tiny_bert.folder / "model.onnx").write_bytes(whole)
    assert subject.encode_query("a").vectors.shape == (1, 8)


@pytest.mark.parametrize("values", [{"pooling": "max"}, {"threads": -1}])
def test_recipe_refuses_what_has_no_meaning(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        OnnxRecipe(**values)


def _pooling_model(folder: Path, *, given: str = "input_ids") -> Path:
    """Write a model that gives a text the sum of its words' rows."""
    rows = np.arange(11 * 8, dtype=np.float32).reshape(11, 8) + 1
    folder.mkdir()
    data = wire.model(
        [
            wire.node("Gather", ["rows", given], ["words"]),
            wire.node(
                "ReduceSum", ["words", "axis"], ["sentence_embedding"], attributes={"keepdims": 0}
            ),
        ],
        [wire.tensor("rows", rows), wire.tensor("axis", np.array([1], np.int64))],
        inputs=[wire.value(given, "int64", ["batch", "sequence"])],
        outputs=[wire.value("sentence_embedding", "float32", ["batch", 8])],
        opsets={"": 17},
    )
    (folder / "model.onnx").write_bytes(data)
    return folder


def test_model_that_pools_by_itself_is_taken_as_it_is(tiny_bert: Any, tmp_path: Path) -> None:
    folder = _pooling_model(tmp_path / "pools")
    (folder / "vocab.txt").write_text("\n".join(tiny_bert.pieces), "utf-8")
    vector = encoder(folder, pooling="none", normalized=False).encode_query("drug").vectors[0]
    np.testing.assert_allclose(vector, (2 + 8 + 3) * 8 + 3 * np.arange(1, 9))


def test_model_with_unknown_inputs_is_refused_with_their_names(tmp_path: Path) -> None:
    folder = _pooling_model(tmp_path / "pixels", given="pixel_values")
    with pytest.raises(EncoderLoadError, match=r"takes \['pixel_values'\]"):
        encoder(folder, pooling="none").encode_query("drug")


@pytest.mark.parametrize("dim", [5, 11])
def test_other_dimensions_are_fitted_when_the_recipe_says_so(tiny_bert: Any, dim: int) -> None:
    whole = encoder(tiny_bert.folder, normalized=False).encode_query("drug").vectors[0]
    expected = np.zeros(dim, np.float32)
    expected[: min(dim, 8)] = whole[:dim]
    card = replace(CARD, dim=dim, checkpoint=str(tiny_bert.folder))
    got = onnx_encoder(card, recipe=OnnxRecipe(fit_dim=True)).encode_query("drug").vectors[0]
    np.testing.assert_allclose(got, expected / np.linalg.norm(expected), atol=2e-5)


def _two_towers(tiny_bert: Any, tiny_bert_with: Callable[[str, NDArray[Any]], Any]) -> Any:
    bias = "encoder.layer.0.output.dense.bias"
    return tiny_bert_with(bias, tiny_bert.weights[bias] + np.arange(8, dtype=np.float32))


def test_queries_use_their_own_tower(
    tiny_bert: Any, tiny_bert_with: Callable[[str, NDArray[Any]], Any]
) -> None:
    other = _two_towers(tiny_bert, tiny_bert_with)
    card = replace(CARD, checkpoint=str(tiny_bert.folder))
    both = onnx_encoder(card, query_checkpoint=str(other.folder))
    documents = encoder(tiny_bert.folder).encode_documents(["drug"]).vectors
    np.testing.assert_array_equal(both.encode_documents(["drug"]).vectors, documents)
    queries = encoder(other.folder).encode_query("drug").vectors
    np.testing.assert_array_equal(both.encode_query("drug").vectors, queries)
    assert np.abs(documents - queries).max() > 0.01


def test_digest_of_two_towers_covers_both_and_their_roles(
    tiny_bert: Any, tiny_bert_with: Callable[[str, NDArray[Any]], Any]
) -> None:
    first, second = str(tiny_bert.folder), str(_two_towers(tiny_bert, tiny_bert_with).folder)
    pairs = [(first, ""), (first, second), (second, first), (second, "")]
    digests = {
        onnx_encoder(replace(CARD, checkpoint=documents), query_checkpoint=queries).spec.digest
        for documents, queries in pairs
    }
    assert len(digests) == len(pairs)
