"""``HttpTextEncoder`` against a service played by ``httpx.MockTransport``."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import numpy as np
import pytest

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.http import HttpRecipe, HttpTextEncoder
from eagle_rag.adapters.encoders.http_client import RetryPolicy
from eagle_rag.errors import (
    EagleError,
    EncoderLoadError,
    EncoderUnavailable,
    InvalidInput,
    VectorSpaceMismatch,
)
from eagle_rag.testing.encoder_contract import TextEncoderContract

RECIPE = HttpRecipe("api", "https://embed.example/v1", "model-a", 4)
KEY = "sk-verysecret"


@dataclass
class Service:
    """Answers from a script first, then with hashed vectors, last text first."""

    dim: int = 4
    script: list[httpx.Response | Exception] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.script:
            scripted = self.script.pop(0)
            if isinstance(scripted, Exception):
                raise scripted
            return scripted
        texts = json.loads(request.content)["input"]
        rows = HashEncoder(self.dim).encode_documents(texts).vectors * 3
        data = [{"index": at, "embedding": row.tolist()} for at, row in enumerate(rows)]
        return httpx.Response(200, json={"data": data[::-1]})

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.requests]

    def encoder(self, **changes: Any) -> HttpTextEncoder:
        return HttpTextEncoder(
            replace(RECIPE, **changes),
            transport=httpx.MockTransport(self),
            sleep=self.waits.append,
            rng=np.random.default_rng(5),
        )


def answer(*rows: object) -> httpx.Response:
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    return httpx.Response(200, content=json.dumps({"data": data}))


class TestHttpContract(TextEncoderContract):
    tells_truncation = False

    def make_encoder(self) -> HttpTextEncoder:
        return Service(64).encoder(dim=64)


def test_vectors_are_put_in_order_by_index_and_have_unit_length() -> None:
    texts = ["lung", "liver", "brain"]
    vectors = Service().encoder().encode_documents(texts).vectors
    expected = HashEncoder(4).encode_documents(texts).vectors
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_texts_are_sent_in_batches_to_the_embeddings_path() -> None:
    service = Service()
    service.encoder(batch_size=2).encode_documents(["a", "b", "c"])
    assert [body["input"] for body in service.bodies()] == [["a", "b"], ["c"]]
    assert {str(request.url) for request in service.requests} == {
        "https://embed.example/v1/embeddings"
    }


def test_query_part_of_the_address_is_kept() -> None:
    service = Service()
    service.encoder(url="https://embed.example/v1/?api-version=2").encode_query("a")
    assert str(service.requests[0].url) == "https://embed.example/v1/embeddings?api-version=2"


def test_prefixes_are_sent() -> None:
    service = Service()
    encoder = service.encoder(query_prefix="query: ", document_prefix="passage: ")
    encoder.encode_query("a")
    encoder.encode_documents(["b"])
    assert [body["input"] for body in service.bodies()] == [["query: a"], ["passage: b"]]


def test_dimensions_are_asked_for_only_when_told_to() -> None:
    service = Service()
    service.encoder().encode_query("a")
    service.encoder(send_dimensions=True).encode_query("a")
    assert [body.get("dimensions") for body in service.bodies()] == [None, 4]


def test_longer_vectors_are_shortened_and_scaled_again() -> None:
    service = Service(script=[answer([3.0, 4.0, 12.0, 1.0])])
    vector = service.encoder(dim=2, shorten=True).encode_query("a").vectors[0]
    np.testing.assert_allclose(vector, [0.6, 0.8], atol=1e-6)


@pytest.mark.parametrize(
    ("row", "shorten"), [([1.0] * 5, False), ([1.0] * 3, False), ([1.0] * 3, True)]
)
def test_other_dimension_is_refused_with_both_named(row: list[float], shorten: bool) -> None:  # noqa: FBT001 - a parameter of a test
    service = Service(script=[answer(row)])
    with pytest.raises(VectorSpaceMismatch, match=f"dimension {len(row)} .* expected 4"):
        service.encoder(shorten=shorten).encode_query("a")


@pytest.mark.parametrize(
    "response",
    [
        answer([1.0] * 4),
        answer(*[[1.0] * 4] * 3),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": [1.0] * 4}] * 2}),
        httpx.Response(200, json={"data": [{"embedding": [1.0] * 4}] * 2}),
        httpx.Response(200, json={"error": "no"}),
        httpx.Response(200, json=[1]),
        httpx.Response(200, text="<html>"),
        answer([1.0] * 4, [1.0] * 3),
        answer([1.0] * 4, ["a"] * 4),
        answer([1.0] * 4, [float("nan")] * 4),
        answer([1.0] * 4, [float("inf")] * 4),
        answer([1.0] * 4, [0.0] * 4),
        answer(1.0, 2.0),
    ],
)
def test_answer_that_is_not_two_vectors_is_a_typed_error(response: httpx.Response) -> None:
    with pytest.raises(EncoderUnavailable, match=r"embed\.example"):
        Service(script=[response]).encoder().encode_documents(["a", "b"])


def test_transient_failures_are_tried_again_with_growing_jittered_waits() -> None:
    failures: list[httpx.Response | Exception] = [
        httpx.Response(429),
        httpx.ReadTimeout("slow"),
        httpx.Response(503),
        httpx.ConnectError("refused"),
    ]
    service = Service(script=failures)
    service.encoder().encode_query("a")
    assert len(service.requests) == 5
    for wait, longest in zip(service.waits, (0.5, 1, 2, 4), strict=True):
        assert longest / 2 <= wait <= longest


def test_waits_are_capped() -> None:
    service = Service(script=[httpx.Response(500) for _ in range(9)])
    service.encoder(retries=RetryPolicy(attempts=10, longest_wait_s=3)).encode_query("a")
    assert max(service.waits) <= 3


def test_exhausted_attempts_name_host_and_last_failure() -> None:
    service = Service(script=[httpx.Response(502), httpx.ConnectError("refused")])
    with pytest.raises(EncoderUnavailable, match=r"embed\.example.*2 requests.*refused") as caught:
        service.encoder(retries=RetryPolicy(attempts=2)).encode_query("a")
    assert "check that the service runs" in caught.value.remedy


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"Retry-After": "7"}, 7),
        (
            {
                "Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT",
                "Date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            30,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_retry_after_is_honoured(headers: dict[str, str], wait_s: float) -> None:
    service = Service(script=[httpx.Response(429, headers=headers)])
    service.encoder().encode_query("a")
    assert service.waits == [wait_s]


def test_retry_after_that_means_nothing_is_ignored() -> None:
    service = Service(script=[httpx.Response(429, headers={"Retry-After": "soon"})])
    service.encoder().encode_query("a")
    assert 0.25 <= service.waits[0] <= 0.5


def test_retry_after_beyond_the_cap_ends_the_attempts() -> None:
    """Asking sooner than the service allows only makes it longer."""
    service = Service(script=[httpx.Response(429, headers={"Retry-After": "3600"})])
    with pytest.raises(EncoderUnavailable, match="asks to wait 3600 s"):
        service.encoder().encode_query("a")
    assert (len(service.requests), service.waits) == (1, [])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_refusals_are_not_tried_again(status: int) -> None:
    service = Service(script=[httpx.Response(status, text="no such model")])
    with pytest.raises(EncoderUnavailable, match=rf"embed\.example.*{status}"):
        service.encoder().encode_query("a")
    assert len(service.requests) == 1


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_EMBED_KEY", KEY)


@pytest.mark.usefixtures("_key")
def test_key_is_read_from_the_environment_and_sent_as_bearer() -> None:
    service = Service()
    service.encoder(api_key_env="TEST_EMBED_KEY").encode_query("a")
    assert service.requests[0].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.usefixtures("_key")
@pytest.mark.parametrize("status", [400, 401, 500])
def test_key_is_never_shown(status: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    refusal = httpx.Response(status, text=f"Incorrect API key provided: {KEY}")
    service = Service(script=[refusal])
    encoder = service.encoder(api_key_env="TEST_EMBED_KEY", retries=RetryPolicy(attempts=1))
    with pytest.raises(EncoderUnavailable) as caught:
        encoder.encode_query("a")
    shown = f"{caught.value}{caught.value.__cause__!r}{encoder!r}{vars(encoder)}{caplog.text}"
    assert KEY not in shown


def test_no_key_is_sent_when_none_is_named() -> None:
    service = Service()
    service.encoder().encode_query("a")
    assert "Authorization" not in service.requests[0].headers


def test_unset_key_variable_is_named() -> None:
    with pytest.raises(EncoderLoadError, match="TEST_EMBED_UNSET"):
        Service().encoder(api_key_env="TEST_EMBED_UNSET").encode_query("a")


def test_empty_text_is_sent_as_a_space() -> None:
    service = Service()
    service.encoder().encode_documents(["", "a"])
    assert service.bodies()[0]["input"] == [" ", "a"]


def test_same_model_on_another_host_is_the_same_space() -> None:
    here, there = (
        Service().encoder(url=f"https://{host}/v1") for host in ("a.example", "b.example")
    )
    other = Service().encoder(model="model-b")
    assert here.spec == there.spec
    assert here.spec.digest != other.spec.digest


def test_closed_encoder_sends_nothing() -> None:
    service = Service()
    encoder = service.encoder()
    encoder.close()
    with pytest.raises(RuntimeError, match="closed"):
        encoder.encode_query("a")
    assert service.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://embed.example/v1",
        "embed.example/v1",
        "https://",
        "https://a\n.example",
        "https://me:pw@embed.example",
    ],
)
def test_unusable_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Service().encoder(url=url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: replace(RECIPE, dim=0),
        lambda: replace(RECIPE, batch_size=0),
        lambda: RetryPolicy(attempts=0),
        lambda: RetryPolicy(timeout_s=0),
    ],
)
def test_settings_without_meaning_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(EagleError, match="at least 1"):
        make()
