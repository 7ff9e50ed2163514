"""``HttpJsonModel`` against a service played by ``httpx.MockTransport``."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import numpy as np
import pytest

from eagle_rag.adapters.encoders.http_client import RetryPolicy
from eagle_rag.adapters.encoders.json_model import (
    HttpJsonModel,
    JsonModelRecipe,
    check_against_schema,
)
from eagle_rag.engine.services import plugin_services
from eagle_rag.errors import ConfigurationError, EncoderLoadError, EncoderUnavailable, InvalidInput
from eagle_rag.kernel.settings import load_settings

RECIPE = JsonModelRecipe("https://chat.example/v1", "model-a")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["profile", "confidence"],
    "properties": {
        "profile": {"type": "string", "enum": ["biomedical", "general"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "names": {"type": "array", "items": {"type": "string"}},
    },
}
GOOD = {"profile": "general", "confidence": 0.75}


@dataclass
class Service:
    """Answers from a script, one entry a request; the last is repeated."""

    script: list[httpx.Response | Exception]
    requests: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        scripted = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(scripted, Exception):
            raise scripted
        return scripted

    def model(self, **changes: Any) -> HttpJsonModel:
        return HttpJsonModel(
            replace(RECIPE, **changes),
            transport=httpx.MockTransport(self),
            sleep=self.waits.append,
            rng=np.random.default_rng(5),
        )


def says(content: object) -> httpx.Response:
    return httpx.Response(200, json={"choices": [{"message": {"content": content}}]})


def test_the_answer_that_fits_is_returned() -> None:
    assert Service([says(json.dumps(GOOD))]).model().ask("which?", schema=SCHEMA) == GOOD


def test_the_question_goes_out_with_model_json_format_and_schema() -> None:
    service = Service([says(json.dumps(GOOD))])
    service.model(url="https://chat.example/v1/?api-version=2").ask("which \ud800?", schema=SCHEMA)
    request = service.requests[0]
    assert str(request.url) == "https://chat.example/v1/chat/completions?api-version=2"
    body = json.loads(request.content)
    assert (body["model"], body["response_format"]) == ("model-a", {"type": "json_object"})
    assert body["temperature"] == 0
    assert json.loads(body["messages"][0]["content"].partition("schema: ")[2]) == SCHEMA
    assert body["messages"][1]["role"] == "user"
    assert body["messages"][1]["content"].startswith("which ")


def test_fences_around_the_answer_are_taken_off() -> None:
    content = f"```json\n{json.dumps(GOOD)}\n```"
    assert Service([says(content)]).model().ask("which?", schema=SCHEMA) == GOOD


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not JSON"),
        ("general", "not JSON"),
        ('{"profile": "general", "confidence": 0.', "not JSON"),
        ('{"profile": "general", "confidence": NaN}', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('["general"]', "not of type object"),
        ('{"confidence": 0.5}', "lacks profile"),
        ("{}", "lacks profile, confidence"),
        ('{"profile": "other", "confidence": 0.5}', "not one of"),
        ('{"profile": 5, "confidence": 0.5}', "not of type string"),
        ('{"profile": "general", "confidence": "0.5"}', "not of type number"),
        ('{"profile": "general", "confidence": true}', "not of type number"),
        ('{"profile": "general", "confidence": -0.1}', "below 0"),
        ('{"profile": "general", "confidence": 1.1}', "above 1"),
        ('{"profile": "general", "confidence": 1, "names": [1]}', r"names\[0\]"),
        (None, "NoneType instead of text"),
        ([{"text": "x"}], "list instead of text"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(content: object, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Service([says(content)]).model().ask("which?", schema=SCHEMA)


def test_whole_numbers_are_integers_and_truth_is_not() -> None:
    check_against_schema(1.0, {"type": "integer"})
    for wrong in (1.5, True):
        with pytest.raises(InvalidInput, match="not of type integer"):
            check_against_schema(wrong, {"type": "integer"})


def test_an_answer_nested_without_end_is_refused() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    value: list[Any] = []
    for _ in range(50):
        value = [value]
    with pytest.raises(InvalidInput, match="nests more than"):
        check_against_schema(value, schema)


@pytest.mark.parametrize(
    "body", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": None}]}, [1], None]
)
def test_an_answer_of_another_shape_is_the_services_fault(body: object) -> None:
    with pytest.raises(EncoderUnavailable, match="another shape"):
        Service([httpx.Response(200, content=json.dumps(body))]).model().ask(
            "which?", schema=SCHEMA
        )


def test_a_service_that_times_out_is_asked_again_then_given_up() -> None:
    service = Service([httpx.ReadTimeout("too slow")])
    model = service.model(retries=RetryPolicy(attempts=3, timeout_s=1.0))
    with pytest.raises(EncoderUnavailable, match=r"after 3 requests.*too slow"):
        model.ask("which?", schema=SCHEMA)
    assert len(service.requests) == 3


def test_a_transient_failure_is_survived() -> None:
    service = Service([httpx.Response(503), says(json.dumps(GOOD))])
    assert service.model().ask("which?", schema=SCHEMA) == GOOD


def test_a_refused_request_is_not_repeated_and_shows_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHAT_KEY", "sk-verysecret")
    service = Service([httpx.Response(400, text="bad sk-verysecret")])
    with pytest.raises(EncoderUnavailable) as caught:
        service.model(api_key_env="CHAT_KEY").ask("which?", schema=SCHEMA)
    assert len(service.requests) == 1
    assert service.requests[0].headers["Authorization"] == "Bearer sk-verysecret"
    assert "sk-verysecret" not in str(caught.value)


def test_a_key_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAT_KEY", raising=False)
    with pytest.raises(EncoderLoadError, match="CHAT_KEY"):
        Service([says("{}")]).model(api_key_env="CHAT_KEY").ask("which?", schema=SCHEMA)


def test_an_address_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(InvalidInput, match="http"):
        HttpJsonModel(replace(RECIPE, url="chat.example"))


def test_without_a_url_plugins_get_no_model() -> None:
    assert plugin_services(load_settings(environ={})).json_model is None


def test_the_configured_model_is_opened_with_the_first_question() -> None:
    settings = load_settings(
        overrides={
            "llm.url": "http://127.0.0.1:9/v1",
            "llm.model": "model-a",
            "llm.retries": 0,
            "llm.timeout_s": 2,
        },
        environ={},
    )
    model = plugin_services(settings).json_model
    assert model is not None
    with pytest.raises(EncoderUnavailable, match=r"127\.0\.0\.1:9 did not answer after 1 request"):
        model.ask("which?", schema=SCHEMA)


@pytest.mark.parametrize("given", [{"llm.url": "http://x.example/v1"}, {"llm.url": ""}])
def test_a_url_without_a_model_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match="a language model needs url and model"):
        load_settings(overrides=given, environ={})


def test_a_url_that_is_no_address_of_the_web_is_refused() -> None:
    given = {"llm.url": "chat.example/v1", "llm.model": "model-a"}
    with pytest.raises(ConfigurationError, match="must begin with http"):
        load_settings(overrides=given, environ={})
