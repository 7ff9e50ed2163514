"""Native checkpoints to folders that onnxruntime reads; the layout is that of ``folder``.

A folder is made under another name, compared with what it was made from, and only then renamed: one that
differs, or whose export was interrupted, is never left behind. Needs the extra ``torch``.
"""

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from eagle_rag.adapters.encoders.checkpoint import file_digest
from eagle_rag.adapters.encoders.export_compare import Agreement, compare_export
from eagle_rag.adapters.encoders.export_graphs import quantize
from eagle_rag.adapters.encoders.export_towers import ExportJob, write_towers
from eagle_rag.adapters.encoders.folder import CARD, ExportCard, ExportKind, exported_digest
from eagle_rag.adapters.encoders.libraries import require_installed
from eagle_rag.errors import InvalidInput
from eagle_rag.model.encoding import Pooling

__all__ = ["ExportRecipe", "ExportReport", "Precision", "export_checkpoint"]

Precision = Literal["fp32", "int8"]
ModelArgs = tuple[tuple[str, str | float | bool], ...]
_LIBRARIES = {"open_clip": "open_clip"}


@dataclass(frozen=True, slots=True)
class ExportRecipe:
    """What to make of a checkpoint.

    Args:
        kind: ``text``, ``pair`` (a cross-encoder), ``open_clip`` (two towers) or ``vision``.
        precision: ``fp32``, or ``int8`` for linear layers of 8 bits with a scale a channel.
        pooling: Of ``text``; ``none`` when the model pools by itself. Others ignore it.
        licence: Licence of the weights, for the card.
        model_args: How a timm checkpoint is built where its configuration does not say.
    """

    kind: ExportKind = "text"
    precision: Precision = "fp32"
    pooling: Pooling = "mean"
    licence: str = ""
    model_args: ModelArgs = ()

    @classmethod
    def of(
        cls,
        kind: str,
        *,
        precision: str = "fp32",
        pooling: str = "mean",
        licence: str = "",
        model_args: ModelArgs = (),
    ) -> "ExportRecipe":
        """Return a recipe of words a user wrote.

        Raises:
            InvalidInput: One of them is unknown.
        """
        known = (
            ("kind", kind, get_args(ExportKind)),
            ("precision", precision, get_args(Precision)),
            ("pooling", pooling, get_args(Pooling)),
        )
        for name, value, values in known:
            if value not in values:
                message = f"{name} must be one of {', '.join(values)}, got {value!r}"
                raise InvalidInput(message)
        return cls(
            cast("ExportKind", kind),
            cast("Precision", precision),
            cast("Pooling", pooling),
            licence,
            model_args,
        )


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was made.

    Args:
        folder: Where it is.
        source: The checkpoint it was made from, as its card names it.
        kind, precision, pooling: As in the recipe.
        dim: Dimension of the vectors; 1 for ``pair``.
        max_tokens: Window of the text side; 0 for ``vision``.
        size_bytes: Of all files.
        digest: SHA-256 over names and contents of the files.
        difference: Largest difference of a number between the checkpoint and the export.
        cosine: Lowest cosine between their vectors.
    """

    folder: str
    source: str
    kind: str
    precision: str
    pooling: str
    dim: int
    max_tokens: int
    size_bytes: int
    digest: str
    difference: float
    cosine: float


def export_checkpoint(
    source: str, folder: Path, recipe: ExportRecipe, *, on_step: Callable[[str], None]
) -> ExportReport:
    """Export a checkpoint, compare it with the original, and put it in place.

    Args:
        source: A folder, a weights file of open_clip, or a hub id.
        folder: Must not exist yet; missing folders above it are made.
        recipe: What to make of it.
        on_step: Told what is done next, in a few words.

    Raises:
        EncoderLoadError: A library is missing, the checkpoint does not load or has no ONNX form, or
            checkpoint and export do not agree.
        InvalidInput: The folder is there already.
    """
    target = folder.expanduser()
    if target.exists():
        message = f"{target} is there already"
        raise InvalidInput(message, remedy="name a folder that is not, or remove it")
    for module in ("torch", "onnx", _LIBRARIES.get(recipe.kind, "transformers")):
        require_installed(module, source)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
        part = Path(place) / "export"
        part.mkdir()
        card, agreement = _made(source, part, recipe, on_step)
        report = _report(target, part, card, agreement)
        part.rename(target)
    return report


def _made(
    source: str, part: Path, recipe: ExportRecipe, on_step: Callable[[str], None]
) -> tuple[ExportCard, Agreement]:
    job = ExportJob(source, part, recipe.kind, recipe.pooling, recipe.model_args)
    on_step(f"loading {source} and writing it as ONNX")
    shape = write_towers(job)
    if recipe.precision == "int8":
        for path in sorted(part.glob("*.onnx")):
            on_step(f"quantizing {path.name} to int8")
            quantize(path, source)
    card = ExportCard(
        kind=recipe.kind,
        source=_public_name(source),
        dim=shape.dim,
        max_tokens=shape.max_tokens,
        pooling=recipe.pooling if recipe.kind == "text" else "none",
        precision=recipe.precision,
        licence=recipe.licence,
        files={path.name: file_digest(path) for path in sorted(part.iterdir())},
    )
    (part / CARD).write_text(json.dumps(card.as_json(), indent=2) + "\n", "utf-8")
    on_step("comparing it with the checkpoint")
    return card, compare_export(job, card)


def _report(target: Path, part: Path, card: ExportCard, agreement: Agreement) -> ExportReport:
    return ExportReport(
        folder=str(target),
        source=card.source,
        kind=card.kind,
        precision=card.precision,
        pooling=card.pooling,
        dim=card.dim,
        max_tokens=card.max_tokens,
        size_bytes=sum(path.stat().st_size for path in part.iterdir()),
        digest=exported_digest(part, card),
        difference=agreement.difference,
        cosine=agreement.cosine,
    )


def _public_name(source: str) -> str:
    """Return a hub id as it is, and of a path its last part: the card travels with the folder."""
    path = Path(source).expanduser()
    return path.resolve().name if path.exists() else source
