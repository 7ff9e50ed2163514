"""Folders of exported checkpoints: what lies in one, and whether it is still what was exported.

A folder holds ``card.json`` and the files of its kind; the sides that write and read it share the names
here. A folder without a card (``model.onnx`` with ``tokenizer.json`` or ``vocab.txt``) is a bare one:
it is read too, nothing in it can be checked.

- ``text``: ``model.onnx`` takes ``input_ids`` (and ``attention_mask``, ``token_type_ids`` if it likes) and
  gives ``last_hidden_state``, or ``sentence_embedding`` when it pools; ``tokenizer.json``.
- ``pair``: ``model.onnx`` takes the same and gives ``logits``, ``(n, 1)`` or ``(n, 2)``: the last column is
  the score; ``tokenizer.json``.
- ``open_clip``: ``visual.onnx`` takes ``pixel_values``, ``(n, 3, height, width)``, and gives
  ``image_embeds``; ``text.onnx`` takes ``input_ids``, ``(n, max_tokens)``, padded with the pad id of the
  tokenizer's ``padding`` entry (else 0), and gives ``text_embeds``; ``tokenizer.json``;
  ``preprocess.json``.
- ``vision``: ``visual.onnx`` as above; ``preprocess.json``.

``preprocess.json`` is described by ``pixels.PixelRecipe``.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from eagle_rag.adapters.encoders.checkpoint import combined_digest, file_digest
from eagle_rag.adapters.encoders.wordpiece import folder_tokenizer
from eagle_rag.errors import EncoderLoadError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "CARD",
    "FILES",
    "LAYOUT",
    "MODEL",
    "PREPROCESS",
    "TEXT_TOWER",
    "TOKENIZER",
    "VISUAL_TOWER",
    "ExportCard",
    "ExportKind",
    "FolderCheckpoint",
    "check_kind",
    "exported_digest",
    "is_exported",
    "read_card",
    "read_json",
]

LAYOUT = 1
CARD, PREPROCESS, TOKENIZER = "card.json", "preprocess.json", "tokenizer.json"
MODEL, VISUAL_TOWER, TEXT_TOWER = "model.onnx", "visual.onnx", "text.onnx"
ExportKind = Literal["text", "pair", "open_clip", "vision"]
FILES: Mapping[ExportKind, tuple[str, ...]] = {
    "text": (MODEL, TOKENIZER),
    "pair": (MODEL, TOKENIZER),
    "open_clip": (VISUAL_TOWER, TEXT_TOWER, TOKENIZER, PREPROCESS),
    "vision": (VISUAL_TOWER, PREPROCESS),
}
_AGAIN = "export the checkpoint again"


@dataclass(frozen=True, slots=True)
class ExportCard:
    """What ``card.json`` says.

    Args:
        kind: What the folder holds.
        source: The checkpoint it was exported from: a hub id or a folder's name.
        dim: Dimension of the vectors; 1 for ``pair``.
        max_tokens: Window of the text side; 0 for ``vision``.
        pooling: ``mean``, ``cls`` or ``none``.
        precision: ``fp32`` or ``int8``.
        licence: Licence of the weights.
        files: SHA-256 by file name, of every file but the card.
    """

    kind: ExportKind
    source: str
    dim: int
    max_tokens: int
    pooling: str = "none"
    precision: str = "fp32"
    licence: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the content of ``card.json``."""
        return {
            "layout": LAYOUT,
            "kind": self.kind,
            "source": self.source,
            "dim": self.dim,
            "max_tokens": self.max_tokens,
            "pooling": self.pooling,
            "precision": self.precision,
            "licence": self.licence,
            "files": dict(sorted(self.files.items())),
        }


class FolderCheckpoint:
    """A text or pair checkpoint in a folder, exported with a card or bare.

    In a bare folder, weights kept outside the model lie beside it in files whose names start with
    ``model.onnx``.

    Args:
        folder: The folder; nothing is read before first use.
        kind: What it must hold when it has a card.
    """

    def __init__(self, folder: Path, kind: ExportKind = "text") -> None:
        self._folder = folder
        self._kind = kind

    def digest(self) -> str:
        """Return the SHA-256 over the names and contents of its files.

        Raises:
            EncoderLoadError: A file is missing or is not what was exported, or the kind is another.
        """
        card = read_card(self._folder)
        if card is not None:
            check_kind(self._folder, card, self._kind)
            return exported_digest(self._folder, card)
        model = self.model()
        names = (TOKENIZER,) if self._has(TOKENIZER) else ("vocab.txt", "tokenizer_config.json")
        files = [*sorted(self._folder.glob(f"{model.name}*")), *map(self._folder.joinpath, names)]
        return combined_digest(
            part for path in files if path.is_file() for part in (path.name, file_digest(path))
        )

    def model(self) -> Path:
        """Return the path of ``model.onnx``.

        Raises:
            EncoderLoadError: It is not there.
        """
        if not self._has(MODEL):
            message = f"no model.onnx in {self._folder}"
            raise EncoderLoadError(
                message,
                remedy="export the checkpoint to ONNX there, or correct the path",
            )
        return self._folder / MODEL

    def tokenizer(self) -> "Tokenizer":
        """Return the tokenizer of the folder."""
        return folder_tokenizer(self._folder)

    def _has(self, name: str) -> bool:
        return (self._folder / name).is_file()


def is_exported(folder: Path) -> bool:
    """Return whether a folder holds an exported checkpoint, with or without a card."""
    return any((folder / name).is_file() for name in (CARD, MODEL, VISUAL_TOWER))


def read_card(folder: Path) -> ExportCard | None:
    """Return the card of a folder; ``None`` for a bare one.

    Raises:
        EncoderLoadError: The card is damaged, of another layout, or misses a file of its kind.
    """
    path = folder / CARD
    if not path.is_file():
        return None
    values = read_json(path)
    if values.get("layout") != LAYOUT:
        message = f"{path} has layout {values.get('layout')!r}, expected {LAYOUT}"
        raise EncoderLoadError(message, remedy=_AGAIN)
    card = _card(path, values)
    missing = [name for name in FILES[card.kind] if name not in card.files]
    if missing:
        message = f"{path} lists no {', '.join(missing)}, which kind {card.kind!r} needs"
        raise EncoderLoadError(message, remedy=_AGAIN)
    return card


def exported_digest(folder: Path, card: ExportCard) -> str:
    """Return the SHA-256 over names and contents of all files of an exported folder.

    Raises:
        EncoderLoadError: A file is missing or is not the one that was exported.
    """
    parts = []
    for name, expected in sorted(card.files.items()):
        digest = file_digest(folder / name)
        if digest != expected:
            message = f"{folder / name} has sha256 {digest}, its card says {expected}"
            raise EncoderLoadError(message, remedy=_AGAIN)
        parts += [name, digest]
    return combined_digest(parts)


def check_kind(folder: Path, card: ExportCard, kind: ExportKind) -> None:
    """Refuse a folder that holds something else.

    Raises:
        EncoderLoadError: The card names another kind.
    """
    if card.kind != kind:
        message = f"{folder} holds a checkpoint of kind {card.kind!r}, expected {kind!r}"
        raise EncoderLoadError(message, remedy="correct the encoder's card or its checkpoint")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file.

    Raises:
        EncoderLoadError: It cannot be read or holds no object.
    """
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read as JSON: {error}"
        raise EncoderLoadError(message, remedy=_AGAIN) from error
    if not isinstance(values, dict):
        message = f"{path} holds {type(values).__name__}, expected an object"
        raise EncoderLoadError(message, remedy=_AGAIN)
    return values


def _card(path: Path, values: Mapping[str, Any]) -> ExportCard:
    kind, files = values.get("kind"), values.get("files")
    if kind not in get_args(ExportKind):
        message = f"{path} has kind {kind!r}, expected one of {', '.join(get_args(ExportKind))}"
        raise EncoderLoadError(message, remedy=_AGAIN)
    if not isinstance(files, dict) or any("/" in name or "\\" in name for name in files):
        message = f"{path}: files must map file names of the folder to digests, got {files!r}"
        raise EncoderLoadError(message, remedy=_AGAIN)
    try:
        return ExportCard(
            kind=cast("ExportKind", kind),
            source=str(values["source"]),
            dim=int(values["dim"]),
            max_tokens=int(values["max_tokens"]),
            pooling=str(values.get("pooling", "none")),
            precision=str(values.get("precision", "fp32")),
            licence=str(values.get("licence", "")),
            files={str(name): str(digest) for name, digest in files.items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        message = f"{path} lacks or garbles a field: {error!r}"
        raise EncoderLoadError(message, remedy=_AGAIN) from error
