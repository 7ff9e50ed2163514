"""Posting JSON to one address, with retries. Knows nothing of embeddings."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle_rag.errors import EncoderLoadError, EncoderUnavailable, InvalidInput

if TYPE_CHECKING:
    import httpx

__all__ = ["JsonPoster", "RetryPolicy"]

_OK, _UNAUTHORIZED, _FORBIDDEN = 200, 401, 403
# Too many requests, request timeout, and what a server or a proxy says when it is overloaded or restarts.
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_EXCERPT = 200  # characters of an error answer that are shown


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how patiently to ask again.

    Waits double from ``first_wait_s`` to ``longest_wait_s``, each scaled by a random factor of 0.5 to 1
    so that clients refused together do not come back together.

    Args:
        attempts: Requests in all, at least 1.
        first_wait_s: Seconds before the second request.
        longest_wait_s: Most seconds before any; a ``Retry-After`` beyond it ends the attempts.
        timeout_s: Seconds to connect, and between two pieces of an answer.
    """

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.attempts < 1 or self.timeout_s <= 0:
            message = (
                f"attempts must be at least 1 and timeout_s above 0, "
                f"got {self.attempts} and {self.timeout_s}"
            )
            raise InvalidInput(message)


class JsonPoster:
    """Posts JSON; answers come back decoded. May be used from several threads.

    Args:
        url: Full address; may not hold a user name or password.
        key_variable: Environment variable that holds the bearer token; empty for none. It is read
            for each request and never logged or shown.
        policy: Retries.
        transport: Replaces the network, for tests.
        sleep: Called with seconds to wait.
        rng: Source of the jitter; by default seeded by the operating system.

    Raises:
        InvalidInput: The address is not an http or https address, or holds a password.
    """

    def __init__(
        self,
        url: str,
        *,
        key_variable: str = "",
        policy: RetryPolicy | None = None,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
        rng: np.random.Generator | None = None,
    ) -> None:
        import httpx

        self._url = _checked_url(url)
        self.host = self._url.netloc.decode("ascii")
        self._policy = policy or RetryPolicy()
        self._key_variable = key_variable
        self._sleep = sleep
        self._rng = rng or np.random.default_rng()
        self._lock = threading.Lock()
        self._client = httpx.Client(timeout=self._policy.timeout_s, transport=transport)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, body: Mapping[str, Any]) -> Any:  # noqa: ANN401 - decoded JSON; the caller checks its shape
        """Return the decoded answer.

        Raises:
            EncoderLoadError: The variable for the key is not set.
            EncoderUnavailable: No answer, a refusal, or an answer that is not JSON.
        """
        import httpx

        headers = self._headers()
        for attempt in range(1, self._policy.attempts + 1):
            asked_s: float | None = None
            try:
                response = self._client.post(self._url, json=body, headers=headers)
            except httpx.TransportError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.status_code == _OK:
                    return self._decoded(response)
                if response.status_code not in _TRANSIENT:
                    raise self._refusal(response, headers)
                problem = f"status {response.status_code}"
                asked_s = _retry_after_s(response)
            if attempt == self._policy.attempts or (asked_s or 0) > self._policy.longest_wait_s:
                break
            self._sleep(self._wait_s(attempt) if asked_s is None else asked_s)
        asks = f", which asks to wait {asked_s:.0f} s" if asked_s else ""
        message = f"{self.host} did not answer after {attempt} requests; last: {problem}{asks}"
        raise EncoderUnavailable(
            message, remedy="check that the service runs and is reachable, or try again later"
        )

    def _headers(self) -> dict[str, str]:
        if not self._key_variable:
            return {}
        key = os.environ.get(self._key_variable, "").strip()
        if not key:
            message = f"the environment variable {self._key_variable} for {self.host} is not set"
            raise EncoderLoadError(message, remedy="set it to the service's API key")
        return {"Authorization": f"Bearer {key}"}

    def _wait_s(self, attempt: int) -> float:
        with self._lock:
            jitter = self._rng.uniform(0.5, 1.0)
        doubled = self._policy.first_wait_s * 2.0 ** (attempt - 1)
        return float(min(doubled, self._policy.longest_wait_s) * jitter)

    def _decoded(self, response: "httpx.Response") -> Any:  # noqa: ANN401 - see post
        try:
            return response.json()
        except ValueError as error:
            message = f"{self.host} answered with something that is not JSON"
            raise EncoderUnavailable(
                message, remedy="check that the URL is that of an OpenAI-compatible service"
            ) from error

    def _refusal(self, response: "httpx.Response", headers: Mapping[str, str]) -> Exception:
        status = response.status_code
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            # The answer is not shown: services repeat parts of the key in it.
            named = self._key_variable or "api_key_env (not set)"
            message = f"{self.host} refused the key (status {status})"
            return EncoderUnavailable(message, remedy=f"check the API key in {named}")
        excerpt = response.text[:_EXCERPT]
        key = headers.get("Authorization", "").removeprefix("Bearer ")
        if key:
            excerpt = excerpt.replace(key, "***")
        message = f"{self.host} refused the request with status {status}: {excerpt}"
        return EncoderUnavailable(message, remedy="check URL, model name and input length")


def _checked_url(url: str) -> "httpx.URL":
    import httpx

    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        message = f"{url!r} is not a URL: {error}"
        raise InvalidInput(message, remedy="give an http or https address") from error
    if parsed.userinfo:
        message = f"the URL of {parsed.host} holds a user name or password"
        raise InvalidInput(
            message, remedy="put the key into an environment variable and name that"
        )
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        message = f"{url!r} is not an http or https address"
        raise InvalidInput(message, remedy="for example https://example.org/v1")
    return parsed


def _retry_after_s(response: "httpx.Response") -> float | None:
    """Return the seconds that ``Retry-After`` (RFC 9110, section 10.2.3) asks for, if it does."""
    asked = response.headers.get("Retry-After", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        until = parsedate_to_datetime(asked)
        # Measured by the server's own clock where it tells it: ours may differ.
        now = (
            parsedate_to_datetime(response.headers["Date"])
            if "Date" in response.headers
            else datetime.now(UTC)
        )
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):  # no date, or one of the two without a zone
        return None
