"""Native checkpoints: a folder, or a model hub's id in the hub's own cache.

A hub id that was downloaded once is read from its snapshot in the cache from then on, without asking the
hub: an index must not change its vector space because a repository changed. Removing it from the cache
(``hf cache``) fetches it anew.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eagle_rag.adapters.encoders.checkpoint import combined_digest, file_digest
from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.errors import EncoderLoadError

__all__ = ["CLIP_WEIGHTS", "WEIGHTS", "NativeCheckpoint", "weight_files"]

# In the order in which transformers and timm look for them.
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
# In the order in which open_clip looks for them (open_clip/factory.py, _find_checkpoint_in_dir).
CLIP_WEIGHTS = (
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.safetensors",
    "open_clip_pytorch_model.bin",
    "open_clip_pytorch_model.pth",
    "model.safetensors",
    "pytorch_model.bin",
    "pytorch_model.pth",
    "model.pth",
)
_BESIDE = frozenset(
    {
        "config.json",
        "open_clip_config.json",
        "preprocessor_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "spiece.model",
        "sentencepiece.bpe.model",
        "tokenizer.model",
    }
)
_HUB_ID = re.compile(r"(?:hf-hub:)?(?P<id>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>[\w.-]+))?")


class NativeCheckpoint:
    """The files of a checkpoint in its publisher's format; nothing is read before first use.

    Args:
        reference: A folder, or a hub id (``owner/name``, with ``@revision`` if need be).
        label: The encoder's label, for messages.
        weights: Names of weights files, the first found is the one that is loaded.
    """

    def __init__(self, reference: str, label: str, *, weights: tuple[str, ...] = WEIGHTS) -> None:
        self.reference = reference
        self._label = label
        self._weights = weights

    def digest(self) -> str:
        """Return the SHA-256 over names and contents of weights, vocabulary and configuration.

        Raises:
            EncoderLoadError: The folder lacks weights, or the hub id was not downloaded yet.
        """
        folder = self._local()
        if folder is None:
            message = f"encoder {self._label!r}: {self.reference} was not downloaded yet"
            remedy = (
                f"run once, with a network: hf download {self.reference.removeprefix('hf-hub:')}"
            )
            raise EncoderLoadError(message, remedy=remedy)
        names = [path.name for path in folder.iterdir() if path.is_file()]
        chosen = [*weight_files(names, self._weights), *sorted(_BESIDE & set(names))]
        return combined_digest(
            part for name in chosen for part in (name, file_digest(folder / name))
        )

    def folder(self) -> Path:
        """Return the folder with its files, downloading a hub id that is not in the cache.

        The hub's own environment is respected: ``HF_HUB_OFFLINE``, ``HF_HOME``, ``HF_TOKEN``.

        Raises:
            EncoderLoadError: The folder lacks weights, or the download failed.
        """
        return self._local() or self._downloaded()

    def _local(self) -> Path | None:
        path = Path(self.reference).expanduser()
        if self.reference and path.is_dir():
            if not self._has_weights(path):
                message = f"encoder {self._label!r}: no weights in {path}"
                remedy = f"put one of {', '.join(self._weights)} there, or correct the path"
                raise EncoderLoadError(message, remedy=remedy)
            return path
        hub = needed("huggingface_hub", self._label)
        repository, revision = self._repository()
        try:
            found = Path(
                hub.snapshot_download(
                    repository,
                    revision=revision,
                    local_files_only=True,
                    allow_patterns=sorted(_BESIDE),
                )
            )
        except (OSError, ValueError):
            return None  # not in the cache, or a download that broke off
        return found if self._has_weights(found) else None

    def _downloaded(self) -> Path:
        hub = needed("huggingface_hub", self._label)
        repository, revision = self._repository()
        try:
            names = hub.HfApi().list_repo_files(repository, revision=revision)
            weights = weight_files(names, self._weights)
            wanted = [*weights, *sorted(_BESIDE & set(names))]
            folder = Path(
                hub.snapshot_download(repository, revision=revision, allow_patterns=wanted)
            )
        except _hub_failures(hub) as error:
            message = f"encoder {self._label!r}: {self.reference} cannot be downloaded: {error}"
            raise EncoderLoadError(message, remedy=_remedy(error)) from error
        if not self._has_weights(folder):
            message = (
                f"encoder {self._label!r}: {self.reference} has no weights that can be loaded"
            )
            raise EncoderLoadError(message, remedy=f"it must hold one of {self._weights}")
        return folder

    def _has_weights(self, folder: Path) -> bool:
        names = [path.name for path in folder.iterdir() if path.is_file()]
        return bool(weight_files(names, self._weights))

    def _repository(self) -> tuple[str, str | None]:
        match = _HUB_ID.fullmatch(self.reference)
        if match is None:
            message = (
                f"encoder {self._label!r}: {self.reference!r} is neither a folder nor a hub id"
            )
            raise EncoderLoadError(message, remedy="correct its checkpoint: a path, or owner/name")
        return match["id"], match["revision"]


def weight_files(names: Iterable[str], preferred: tuple[str, ...]) -> tuple[str, ...]:
    """Return the weights files that a library loads: the first preferred one, with its shards.

    Args:
        names: Files of a checkpoint's folder.
        preferred: Names in the order in which the library looks for them.
    """
    known = set(names)
    first = next((name for name in preferred if name in known), None)
    if first is None:
        return ()
    if not first.endswith(".index.json"):
        return (first,)
    stem, suffix = first.removesuffix(".index.json").rsplit(".", 1)
    shard = re.compile(rf"{re.escape(stem)}-\d+-of-\d+\.{re.escape(suffix)}")
    return (first, *sorted(name for name in known if shard.fullmatch(name)))


def _hub_failures(hub: Any) -> tuple[type[Exception], ...]:  # noqa: ANN401 - the module
    """Return what a download raises: network and HTTP errors, refused names, missing entries."""
    errors = hub.errors
    kinds: list[Callable[..., Exception]] = [
        getattr(errors, name)
        for name in ("HTTPError", "EntryNotFoundError", "RevisionResolutionError")
        if hasattr(errors, name)
    ]
    return (OSError, ValueError, *(kind for kind in kinds if isinstance(kind, type)))


def _remedy(error: Exception) -> str:
    if "Gated" in type(error).__name__:
        return "accept its licence on the hub, and set HF_TOKEN"
    return "check the name and the network, or name a folder that holds the checkpoint"
