"""What an ONNX text encoder is loaded from: a model, a tokenizer and their digest."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from eagle_rag.adapters.encoders.wordpiece import folder_tokenizer
from eagle_rag.errors import EncoderLoadError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Checkpoint", "FolderCheckpoint", "combined_digest", "file_digest"]


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


class FolderCheckpoint:
    """A checkpoint exported to a folder: ``model.onnx`` with ``tokenizer.json`` or ``vocab.txt``.

    Weights kept outside the model lie beside it in files whose names start with ``model.onnx``.

    Args:
        folder: The folder; nothing is read before first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def digest(self) -> str:
        """Return the SHA-256 over the names and contents of its files."""
        model = self.model()
        names = (
            ("tokenizer.json",)
            if self._has("tokenizer.json")
            else ("vocab.txt", "tokenizer_config.json")
        )
        files = [*sorted(self._folder.glob(f"{model.name}*")), *map(self._folder.joinpath, names)]
        return combined_digest(
            part for path in files if path.is_file() for part in (path.name, file_digest(path))
        )

    def model(self) -> Path:
        """Return the path of ``model.onnx``.

        Raises:
            EncoderLoadError: It is not there.
        """
        if not self._has("model.onnx"):
            message = f"no model.onnx in {self._folder}"
            raise EncoderLoadError(
                message,
                remedy="export the checkpoint to ONNX there, or correct the path",
            )
        return self._folder / "model.onnx"

    def tokenizer(self) -> "Tokenizer":
        """Return the tokenizer of the folder."""
        return folder_tokenizer(self._folder)

    def _has(self, name: str) -> bool:
        return (self._folder / name).is_file()


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
