"""Embeddings from a remote service with OpenAI's interface (``POST .../embeddings``).

Such a service cuts long texts, or refuses them, without saying where: ``EncodedBatch.truncated`` is
always empty here. Choose passages short enough for the model.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle_rag.adapters.encoders.checkpoint import combined_digest
from eagle_rag.adapters.encoders.http_client import JsonPoster, RetryPolicy
from eagle_rag.adapters.encoders.surrogates import without_surrogates
from eagle_rag.errors import EncoderUnavailable, InvalidInput, VectorSpaceMismatch
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpRecipe", "HttpTextEncoder"]

_REMEDY = "check that the URL is that of an OpenAI-compatible embedding service"


@dataclass(frozen=True, slots=True)
class HttpRecipe:
    """A remote model and how to ask for it.

    Args:
        label: Name in configuration and indexes.
        url: Base address, such as ``https://example.org/v1``; ``/embeddings`` is added.
        model: The model's name there.
        dim: Dimension of the vectors stored.
        api_key_env: Environment variable that holds the key; empty for a service without one.
        send_dimensions: Ask the service for ``dim`` by the ``dimensions`` parameter, which not all know.
        shorten: Keep the first ``dim`` numbers of longer vectors and scale them to unit length again.
            Only for models trained that way (Kusupati et al. 2022, Matryoshka Representation
            Learning); of other models the result is noise, so it is off by default.
        query_prefix: Put before every query.
        document_prefix: Put before every document.
        batch_size: Texts a request.
        max_tokens: The model's window, as its documentation says; not checked.
        metric: ``cosine`` or ``ip``; vectors have unit length, so they order alike.
        licence: Licence of the weights.
        retries: How often and how patiently to ask again.
    """

    label: str
    url: str
    model: str
    dim: int
    api_key_env: str = ""
    send_dimensions: bool = False
    shorten: bool = False
    query_prefix: str = ""
    document_prefix: str = ""
    batch_size: int = 64
    max_tokens: int = 512
    metric: str = "cosine"
    licence: str = ""
    retries: RetryPolicy = field(default_factory=RetryPolicy)

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.dim < 1 or self.batch_size < 1:
            message = (
                f"dim and batch_size must be at least 1, got {self.dim} and {self.batch_size}"
            )
            raise InvalidInput(message)

    def card(self) -> EncoderCard:
        """Return the card to register."""
        return EncoderCard(
            label=self.label,
            modality="text",
            dim=self.dim,
            runtime="http",
            checkpoint=self.model,
            max_tokens=self.max_tokens,
            metric=self.metric,
            licence=self.licence,
        )


class HttpTextEncoder:
    """A text encoder behind an OpenAI-compatible address; nothing is sent before the first text.

    Vectors are scaled to unit length. An empty text is sent as one space, because services refuse
    empty ones. Whether a text was truncated cannot be known, so none is ever reported. Safe to use from several
    threads.

    Args:
        recipe: The model and how to ask for it.
        transport: Replaces the network, for tests.
        sleep: Called with seconds to wait between requests.
        rng: Source of the jitter of these waits.

    Raises:
        InvalidInput: The address cannot be used.
    """

    def __init__(
        self,
        recipe: HttpRecipe,
        *,
        transport: "httpx.BaseTransport | None" = None,
        sleep: Callable[[float], None] = time.sleep,
        rng: np.random.Generator | None = None,
    ) -> None:
        self._recipe = recipe
        path, _, query = recipe.url.partition("?")
        address = f"{path.rstrip('/')}/embeddings"
        self._poster = JsonPoster(
            f"{address}?{query}" if query else address,
            key_variable=recipe.api_key_env,
            policy=recipe.retries,
            transport=transport,
            sleep=sleep,
            rng=rng,
        )
        self._spec = VectorSpec(
            encoder=recipe.label,
            # The host is left out: the same model behind another address is the same space.
            digest=combined_digest((recipe.model, address.partition("://")[2].partition("/")[2])),
            dim=recipe.dim,
            metric=recipe.metric,
            pooling="none",
            query_prefix=recipe.query_prefix,
            document_prefix=recipe.document_prefix,
        )

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._recipe.card()

    @property
    def spec(self) -> VectorSpec:
        """Its vector space, known by the model's name and the URL's path."""
        return self._spec

    def close(self) -> None:
        """Close the connections."""
        self._poster.close()

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        """Encode texts to be indexed, in the order given.

        Raises:
            EncoderLoadError: The key is not in the environment.
            EncoderUnavailable: The service does not answer, refuses, or answers nonsense.
            VectorSpaceMismatch: Its vectors have another dimension.
        """
        return self._encode(texts, self._recipe.document_prefix)

    def encode_query(self, text: str) -> EncodedBatch:
        """Encode one query; raises as ``encode_documents``."""
        return self._encode([text], self._recipe.query_prefix)

    def _encode(self, texts: Sequence[str], prefix: str) -> EncodedBatch:
        vectors = np.empty((len(texts), self._spec.dim), np.float32)
        size = self._recipe.batch_size
        for start in range(0, len(texts), size):
            batch = [
                without_surrogates(prefix + text) or " " for text in texts[start : start + size]
            ]
            vectors[start : start + len(batch)] = self._request(batch)
        return EncodedBatch(vectors, self._spec)

    def _request(self, batch: Sequence[str]) -> FloatArray:
        body: dict[str, Any] = {"model": self._recipe.model, "input": list(batch)}
        if self._recipe.send_dimensions:
            body["dimensions"] = self._recipe.dim
        rows = self._rows(self._poster.post(body), len(batch))
        if rows.shape[1] != self._spec.dim and not (
            self._recipe.shorten and rows.shape[1] > self._spec.dim
        ):
            message = (
                f"{self._poster.host} gave vectors of dimension {rows.shape[1]} for model "
                f"{self._recipe.model!r}, expected {self._spec.dim}"
            )
            raise VectorSpaceMismatch(
                message, remedy="correct dim, or set shorten for a model trained for it"
            )
        rows = rows[:, : self._spec.dim]
        lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        if not np.isfinite(lengths).all() or not lengths.all():
            message = f"{self._poster.host} gave a vector that is zero or not finite"
            raise EncoderUnavailable(message, remedy=f"check the model {self._recipe.model!r}")
        units: FloatArray = (rows / lengths).astype(np.float32)
        return units

    def _rows(self, answer: Any, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:  # noqa: ANN401 - decoded JSON
        """Return the vectors of an answer by their ``index``, shape ``(count, dim)``."""
        try:
            items = {item["index"]: item["embedding"] for item in answer["data"]}
            indexes = sorted(items)
            rows = np.array([items[index] for index in indexes], np.float64)
        except (KeyError, TypeError, ValueError) as error:
            message = f"{self._poster.host} gave an answer of another shape: {error!r}"
            raise EncoderUnavailable(message, remedy=_REMEDY) from error
        if len(answer["data"]) != count or indexes != list(range(count)) or rows.ndim != 2:  # noqa: PLR2004 - rows and columns
            message = f"{self._poster.host} gave {len(answer['data'])} vectors for {count} texts"
            raise EncoderUnavailable(message, remedy=_REMEDY)
        return rows
