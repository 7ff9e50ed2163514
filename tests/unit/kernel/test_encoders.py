"""Encoders are made once, on first use, and are what their card says."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from eagle_rag.errors import EncoderLoadError, PluginError, UnknownName
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.model.collection import EncoderCard, Modality
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec


class FakeEncoder:
    """Text, visual and rerank at once."""

    def __init__(self, card: EncoderCard) -> None:
        self.card = card
        self.spec = VectorSpec(card.label, "0" * 64, card.dim)

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        return EncodedBatch(np.zeros((len(texts), self.card.dim), np.float32), self.spec)

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        return EncodedBatch(np.zeros((len(images), self.card.dim), np.float32), self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        return self.encode_documents([text])

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        del query
        return np.zeros(len(texts), np.float32)


def _card(label: str = "one", modality: Modality = "text", extra: str = "") -> EncoderCard:
    return EncoderCard(label, modality, 4, "hash", extra=extra)


def test_nothing_is_made_before_first_use_and_then_once() -> None:
    made: list[str] = []
    registry = EncoderRegistry()

    def factory() -> FakeEncoder:
        made.append("one")
        return FakeEncoder(_card())

    registry.register_encoder(_card(), factory)
    assert (registry.cards(), made) == ((_card(),), [])
    assert registry.text("one") is registry.text("one")
    assert made == ["one"]


def test_two_threads_make_an_encoder_once() -> None:
    made: list[int] = []
    start = Barrier(8)
    registry = EncoderRegistry()

    def factory() -> FakeEncoder:
        made.append(1)
        return FakeEncoder(_card())

    def use(_: int) -> object:
        start.wait(timeout=10)
        return registry.text("one")

    registry.register_encoder(_card(), factory)
    with ThreadPoolExecutor(8) as pool:
        encoders = set(pool.map(use, range(8)))
    assert (len(encoders), len(made)) == (1, 1)


def test_cards_are_ordered_by_label() -> None:
    registry = EncoderRegistry()
    for label in ("b", "a"):
        registry.register_encoder(_card(label), lambda: FakeEncoder(_card()))
    assert [card.label for card in registry.cards()] == ["a", "b"]


@pytest.mark.parametrize("modality", ["text", "visual", "rerank"])
def test_each_modality_has_its_way_in(modality: Modality) -> None:
    registry = EncoderRegistry()
    registry.register_encoder(
        _card(modality=modality), lambda: FakeEncoder(_card(modality=modality))
    )
    assert getattr(registry, modality)("one").card.modality == modality


def test_a_taken_label_is_refused() -> None:
    registry = EncoderRegistry()
    registry.register_encoder(_card(), lambda: FakeEncoder(_card()))
    with pytest.raises(PluginError, match="'one' is taken by hash"):
        registry.register_encoder(_card(), lambda: FakeEncoder(_card()))


def test_an_unknown_label_lists_the_known_ones() -> None:
    registry = EncoderRegistry()
    registry.register_encoder(_card(), lambda: FakeEncoder(_card()))
    with pytest.raises(UnknownName, match="unknown text encoder 'two'; known: one") as caught:
        registry.text("two")
    assert "enable the plugin" in caught.value.remedy
    with pytest.raises(UnknownName, match="unknown encoder 'two'"):
        registry.card("two")


def test_a_label_of_another_modality_says_which() -> None:
    registry = EncoderRegistry()
    registry.register_encoder(_card(), lambda: FakeEncoder(_card()))
    with pytest.raises(UnknownName, match="it is a text encoder"):
        registry.rerank("one")


def test_a_missing_library_names_the_extra() -> None:
    registry = EncoderRegistry()

    def factory() -> FakeEncoder:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    registry.register_encoder(_card(extra="torch"), factory)
    registry.register_encoder(_card("bare"), factory)
    with pytest.raises(EncoderLoadError, match=r"pip install 'eagle-rag\[torch\]'"):
        registry.text("one")
    with pytest.raises(EncoderLoadError, match="pip install 'torch'"):
        registry.text("bare")


def test_a_factory_that_failed_is_asked_again() -> None:
    answers: list[FakeEncoder] = []
    registry = EncoderRegistry()

    def factory() -> FakeEncoder:
        if not answers:
            answers.append(FakeEncoder(_card()))
            raise EncoderLoadError("weights are missing")
        return answers[0]

    registry.register_encoder(_card(), factory)
    with pytest.raises(EncoderLoadError):
        registry.text("one")
    assert registry.text("one") is answers[0]


def test_an_encoder_that_is_not_what_its_card_says_is_refused() -> None:
    registry = EncoderRegistry()
    registry.register_encoder(_card(), lambda: FakeEncoder(_card("other")))
    with pytest.raises(PluginError, match="was registered as"):
        registry.text("one")


def test_an_encoder_without_the_method_of_its_modality_is_refused() -> None:
    class Hollow:
        card = _card()

    registry = EncoderRegistry()
    registry.register_encoder(_card(), Hollow)  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(PluginError, match="has no encode_documents"):
        registry.text("one")
