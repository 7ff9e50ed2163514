"""A language model behind an OpenAI-compatible address (``POST .../chat/completions``) that answers in JSON.

The service is asked for a JSON object (``response_format``), which not all of them keep to, so every
answer is checked here against the schema: ``type``, ``enum``, ``minimum``, ``maximum``, ``required``,
``properties`` and ``items``. Other keywords of JSON Schema are sent to the model and not checked.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from eagle_rag.adapters.encoders.http_client import JsonPoster, RetryPolicy
from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.errors import EncoderUnavailable, InvalidInput

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpJsonModel", "JsonModelRecipe", "check_against_schema"]

_SYSTEM = "Answer with one JSON object and nothing else. It must fit this JSON schema: "
_REMEDY = "check that the URL is that of an OpenAI-compatible chat service, and the model's name"
_EXCERPT = 200  # characters of a wrong answer that are shown
_DEEPEST = 20  # levels of an answer that are checked; a schema here has two or three
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


@dataclass(frozen=True, slots=True)
class JsonModelRecipe:
    """A remote model and how to ask it.

    Args:
        url: Base address, such as ``https://example.org/v1``; ``/chat/completions`` is added.
        model: The model's name there.
        api_key_env: Environment variable that holds the key; empty for a service without one.
        retries: How often and how patiently to ask again.
    """

    url: str
    model: str
    api_key_env: str = ""
    retries: RetryPolicy = field(default_factory=RetryPolicy)


class HttpJsonModel:
    """A ``JsonModel``; nothing is sent before the first question. Safe to use from several threads.

    Args:
        recipe: The model and how to ask it.
        transport: Replaces the network, for tests.
        sleep: Called with seconds to wait between requests.
        rng: Source of the jitter of these waits.

    Raises:
        InvalidInput: The address cannot be used.
    """

    def __init__(
        self,
        recipe: JsonModelRecipe,
        *,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._model = recipe.model
        path, _, query = recipe.url.partition("?")
        address = f"{path.rstrip('/')}/chat/completions"
        self._poster = JsonPoster(
            f"{address}?{query}" if query else address,
            key_variable=recipe.api_key_env,
            policy=recipe.retries,
            transport=transport,
            sleep=sleep,
            rng=rng,
        )

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def ask(self, prompt: str, *, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object the model answered with; see ``JsonModel.ask``.

        Raises:
            EncoderLoadError: The variable for the key is not set.
            EncoderUnavailable: The service does not answer, refuses, or answers in another shape.
            InvalidInput: The model's answer is not a JSON object, or does not fit the schema.
        """
        body = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": _SYSTEM + json.dumps(schema, sort_keys=True)},
                {"role": "user", "content": without_surrogates(prompt)},
            ],
            "response_format": {"type": "json_object"},
            # The likeliest answer, so that the same document is judged alike again.
            "temperature": 0,
        }
        content = self._content(self._poster.post(body))
        answer = _decoded(content)
        check_against_schema(answer, schema)
        if not isinstance(answer, dict):
            _refuse(f"the answer is a JSON {type(answer).__name__}, not an object")
        return answer

    def _content(self, answer: Any) -> str:  # noqa: ANN401 - decoded JSON
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            message = f"{self._poster.host} gave an answer of another shape: {error!r}"
            raise EncoderUnavailable(message, remedy=_REMEDY) from error
        if not isinstance(content, str):
            _refuse(f"the answer holds {type(content).__name__} instead of text")
        return content


def check_against_schema(value: object, schema: Mapping[str, Any], where: str = "answer") -> None:
    """Refuse a decoded JSON value that does not fit a schema.

    Args:
        value: The value.
        schema: ``type``, ``enum``, ``minimum``, ``maximum``, ``required``, ``properties``, ``items``.
        where: Name of the value in the error.

    Raises:
        InvalidInput: It does not fit; the first place is named.
    """
    _check(value, schema, where, depth=0)


def _check(value: object, schema: Mapping[str, Any], where: str, *, depth: int) -> None:
    if depth > _DEEPEST:
        _refuse(f"{where} nests more than {_DEEPEST} deep")
    expected = schema.get("type")
    if expected is not None and not _is_a(value, expected):
        _refuse(f"{where} is {value!r:.{_EXCERPT}}, not of type {expected}")
    if "enum" in schema and value not in schema["enum"]:
        _refuse(f"{where} is {value!r:.{_EXCERPT}}, not one of {list(schema['enum'])}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(value, schema, where)
    if isinstance(value, dict):
        _check_object(value, schema, where, depth=depth)
    if isinstance(value, list) and "items" in schema:
        for position, item in enumerate(value):
            _check(item, schema["items"], f"{where}[{position}]", depth=depth + 1)


def _is_a(value: object, expected: str) -> bool:
    # In Python True is an integer; in JSON it is not. 1.0 is an integer in JSON.
    if isinstance(value, bool):
        return expected == "boolean"
    if expected == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(expected, object))


def _check_range(value: float, schema: Mapping[str, Any], where: str) -> None:
    if value < schema.get("minimum", value):
        _refuse(f"{where} is {value}, below {schema['minimum']}")
    if value > schema.get("maximum", value):
        _refuse(f"{where} is {value}, above {schema['maximum']}")


def _check_object(
    value: dict[str, object], schema: Mapping[str, Any], where: str, *, depth: int
) -> None:
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        _refuse(f"{where} lacks {', '.join(missing)}")
    for name, inner in schema.get("properties", {}).items():
        if name in value:
            _check(value[name], inner, f"{where}.{name}", depth=depth + 1)


def _decoded(content: str) -> object:
    """Return the JSON of an answer, which some models put between Markdown fences."""
    text = content.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json").strip()
    try:
        # NaN and Infinity are no JSON, and no confidence.
        decoded: object = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        message = f"the model's answer is not JSON: {content[:_EXCERPT]!r}"
        raise InvalidInput(message, remedy="choose a model that can answer in JSON") from error
    return decoded


def _no_constant(name: str) -> Never:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _refuse(problem: str) -> Never:
    message = f"the model's answer is wrong: {problem}"
    raise InvalidInput(message, remedy="ask again, or another model")
