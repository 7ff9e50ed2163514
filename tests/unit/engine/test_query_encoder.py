"""A query in words is encoded once, whoever asks for it and however often."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import EncoderUnavailable
from eagle_rag.model.passage import EncodedBatch
from eagle_rag.model.query import CollectionQueryPlan
from eagle_rag.ports.encoders import TextEncoder

_PLAN = CollectionQueryPlan("eagle_text", "hash")


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine({"store.kind": "memory"})


def _counted(engine: Engine, monkeypatch: pytest.MonkeyPatch, *, failures: int = 0) -> list[str]:
    encoder: TextEncoder = engine.kernel.encoders.text("hash")
    whole, asked = type(encoder).encode_query, []

    def encode_query(self: TextEncoder, text: str) -> EncodedBatch:
        asked.append(text)
        if len(asked) <= failures:
            message = "busy"
            raise EncoderUnavailable(message)
        return whole(self, text)

    monkeypatch.setattr(type(encoder), "encode_query", encode_query)
    return asked


def test_the_same_words_are_encoded_once_for_all_collections(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _counted(engine, monkeypatch)
    queries = engine._queries
    first, _ = queries.encode(_PLAN, "kinase")
    again, _ = queries.encode(CollectionQueryPlan("labels", "hash"), "kinase")
    other, _ = queries.encode(_PLAN, "ligase")
    assert asked == ["kinase", "ligase"]
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_two_threads_that_ask_at_once_share_one_encoding(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, start = _counted(engine, monkeypatch), Barrier(4)

    def ask() -> bytes:
        start.wait()
        return engine._queries.encode(_PLAN, "kinase")[0].tobytes()

    with ThreadPoolExecutor(4) as threads:
        found = {each.result() for each in [threads.submit(ask) for _ in range(4)]}
    assert (len(found), asked) == (1, ["kinase"])


def test_an_encoding_that_failed_is_tried_again(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _counted(engine, monkeypatch, failures=1)
    with pytest.raises(EncoderUnavailable):
        engine._queries.encode(_PLAN, "kinase")
    assert engine._queries.encode(_PLAN, "kinase")[0].any()
    assert asked == ["kinase", "kinase"]


def test_a_remembered_vector_cannot_be_changed(engine: Engine) -> None:
    vector, _ = engine._queries.encode(_PLAN, "kinase")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1.0


def test_the_oldest_query_is_forgotten(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _counted(engine, monkeypatch)
    for number in range(100):
        engine._queries.encode(_PLAN, f"q{number}")
    engine._queries.encode(_PLAN, "q99")
    engine._queries.encode(_PLAN, "q0")
    assert len(asked) == 101
