"""A cross-encoder over any runtime: loading on first use, batches that shrink, checked scores."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eagle_rag.adapters.encoders.memory import in_batches
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe
from eagle_rag.model.passage import FloatArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["CheckpointPairScorer", "PairModel", "PairRow", "PairSource", "shortened"]

_CHARACTERS = 4  # a token, about: shorter texts cannot exceed a window by much
_COLUMNS = 2  # one logit, or two of which the last is that of "relevant"


@dataclass(frozen=True, slots=True)
class PairRow:
    """A query and a text as ids.

    Args:
        ids: Special tokens included.
        types: 0 for the query's side, 1 for the text's; as long as ``ids``.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]


class PairModel(Protocol):
    """A loaded cross-encoder.

    Attributes:
        padded: Rows of different lengths may share a run.
        most_rows: No run may hold more; 0 for no limit of its own.
    """

    padded: bool
    most_rows: int

    def rows(self, query: str, texts: Sequence[str]) -> list[PairRow]:
        """Return the ids of each pair, cut to the window."""
        ...

    def logits(self, rows: Sequence[PairRow]) -> NDArray[Any]:
        """Return ``(n,)``, ``(n, 1)`` or ``(n, 2)`` numbers.

        Raises:
            NotEnoughMemory: The run did not fit into memory.
        """
        ...


class PairSource(Protocol):
    """Where a cross-encoder's weights come from."""

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary and configuration."""
        ...

    def load(self) -> PairModel:
        """Load the weights."""
        ...


class CheckpointPairScorer:
    """A cross-encoder from a checkpoint; nothing is loaded before the first pair.

    A score does not depend on what else is scored beyond rounding. When memory runs out the batch is
    halved. Safe to use from several threads.

    Args:
        card: What it is; ``max_tokens`` is the window of query and text together.
        source: Where its weights come from.
        recipe: How many pairs a run.

    Raises:
        InvalidInput: ``batch_size`` is below 1.
    """

    def __init__(self, card: EncoderCard, source: PairSource, *, recipe: PairRecipe) -> None:
        if recipe.batch_size < 1:
            message = f"batch_size must be at least 1, got {recipe.batch_size}"
            raise InvalidInput(message)
        self._card = card
        self._source = source
        self._recipe = recipe
        self._lock = threading.Lock()
        self._model: PairModel | None = None

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return self._card

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary and configuration, without loading them.

        Raises:
            EncoderLoadError: A file is missing.
        """
        return self._source.digest()

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return one score a text, shape ``(n,)``, higher is better.

        Raises:
            EncoderLoadError: The weights are missing, do not load or give no finite numbers.
        """
        if not texts:
            return np.empty(0, np.float32)
        model = self._loaded()
        rows = model.rows(query, texts)

        def run(batch: Sequence[int]) -> FloatArray:
            return self._column(model.logits([rows[at] for at in batch]))

        size = self._recipe.batch_size
        scores = in_batches(
            [len(row.ids) for row in rows],
            run,
            size=min(size, model.most_rows or size),
            padded=model.padded,
        )
        return np.array(scores, np.float32)

    def _column(self, logits: NDArray[Any]) -> FloatArray:
        shape = logits.shape
        scores = logits if logits.ndim == 1 else logits[:, -1]
        if logits.ndim > 2 or (logits.ndim == 2 and shape[1] > _COLUMNS):  # noqa: PLR2004 - axes
            message = f"encoder {self._card.label!r} gave logits of shape {shape}"
            raise EncoderLoadError(message, remedy="a cross-encoder gives one or two a pair")
        if not np.isfinite(scores).all():
            message = f"encoder {self._card.label!r} gave a score that is not finite"
            raise EncoderLoadError(message, remedy="the weights are damaged; install them again")
        return scores.astype(np.float32)

    def _loaded(self) -> PairModel:
        with self._lock:
            if self._model is None:
                self._model = self._source.load()
            return self._model


def shortened(text: str, tokenizer: "Tokenizer", window: int) -> str:
    """Return the start of a text that still fills a window by itself, so that cutting the pair is cheap.

    tokenizers keeps what it cuts off, for a pair every piece of one side beside every piece of the other: two long
    texts would take minutes and gigabytes. The cut is made behind a whole word, so what stays in the
    window has the same tokens. (When both sides alone are longer than the window, the odd token may go to the
    other side.)

    Args:
        text: One side of a pair.
        tokenizer: Without truncation.
        window: Tokens of the pair.
    """
    if len(text) <= _CHARACTERS * window:
        return text
    encoding = tokenizer.encode(text, add_special_tokens=False)
    words: list[int | None] = encoding.word_ids
    if len(words) <= window:
        return text
    last = window - 1
    # A word without an end, such as a sequence, is cut all the same.
    while last + 1 < min(len(words), 2 * window) and words[last + 1] == words[last]:
        last += 1
    end: int = encoding.offsets[last][1]
    return text[:end]
