"""What an ONNX text encoder is loaded from: a model, a tokenizer and their digest."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from eagle_rag.errors import EncoderLoadError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Checkpoint", "combined_digest", "file_digest"]


class Checkpoint(Protocol):
    """Weights and vocabulary of one encoder."""

    def digest(self) -> str:
        """Return the SHA-256 of weights, vocabulary and graph, without loading them as a model."""
        ...

    def model(self) -> bytes | Path:
        """Return an ONNX model, or the file it is in."""
        ...

    def tokenizer(self) -> "Tokenizer":
        """Return its tokenizer, without truncation and padding."""
        ...


def combined_digest(parts: Iterable[str]) -> str:
    """Return one SHA-256 over several texts; where one ends and the next starts matters."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, kept for as long as its size and time stay the same.

    Raises:
        EncoderLoadError: It cannot be read.
    """
    try:
        status = path.stat()
        return _digest(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        message = f"cannot read {path}: {error}"
        raise EncoderLoadError(message, remedy="check the file") from error


@lru_cache(maxsize=64)
def _digest(path: Path, size: int, changed_ns: int) -> str:  # noqa: ARG001 - size and time are the cache's key
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
