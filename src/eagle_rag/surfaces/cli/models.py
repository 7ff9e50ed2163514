"""``eagle models``: encoders listed, tried and exported."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
import yaml

from eagle_rag.errors import InvalidInput
from eagle_rag.surfaces.cli.output import print_json, print_rows, print_table, say
from eagle_rag.surfaces.schemas import to_json

if TYPE_CHECKING:
    from eagle_rag.engine.models import ModelCheck
    from eagle_rag.surfaces.cli.session import Session

__all__ = ["register"]

_PARTIAL = 3
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout.")]


def list_command(context: typer.Context, *, as_json: Json = False) -> None:
    """List encoders: dimension, runtime, checkpoint, licence, and whether the weights are here.

    Example: eagle models list
    """
    from eagle_rag.engine.models import list_models

    session: Session = context.find_root().obj
    with session.engine() as engine:
        found = list_models(engine.kernel)
    if as_json:
        print_json([to_json(each) for each in found])
        return
    for each in found:
        rows = [
            ("kind", f"{each.modality}, {each.dim}-d, {each.runtime}"),
            ("checkpoint", each.checkpoint or "none"),
            ("weights", each.weights),
            ("licence", each.licence or "not stated"),
            ("fills", ", ".join(each.fills) or "nothing"),
        ]
        print_rows(rows, title=each.label)


def check(
    context: typer.Context,
    label: Annotated[
        str | None,
        typer.Argument(
            help="Only this encoder; else those in use and those whose weights are here."
        ),
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Load encoders and encode something small with each; exit code 3 when one in use, or the one named, fails.

    Example: eagle models check minilm
    """
    from eagle_rag.engine.models import check_models

    session: Session = context.find_root().obj
    with session.engine() as engine:
        results = check_models(engine.kernel, label)
    if as_json:
        print_json([to_json(each) for each in results])
    else:
        columns = ("encoder", "state", "dim", "norm", "digest", "load ms", "ms", "")
        print_table(columns, [_row(each) for each in results])
    if any(not each.ok and (each.fills or label is not None) for each in results):
        raise typer.Exit(_PARTIAL)


def _row(result: "ModelCheck") -> tuple[str, ...]:
    if not (result.ok and result.checked):
        state = "FAIL" if result.checked else "skipped"
        return (result.label, state, "", "", "", "", "", result.message)
    return (
        result.label,
        "ok",
        str(result.dim),
        f"{result.norm:.4f}",
        result.digest[:12],
        f"{result.load_ms:.0f}",
        f"{result.item_ms:.1f}",
        result.message,
    )


def export(  # noqa: PLR0913 - one option of the command a parameter
    source: Annotated[str, typer.Argument(help="A folder, or a hub id such as owner/name.")],
    folder: Annotated[Path, typer.Argument(help="Where to; must not exist yet.")],
    *,
    kind: Annotated[
        str, typer.Option(help="text, pair (a cross-encoder), open_clip or vision.")
    ] = "text",
    precision: Annotated[str, typer.Option(help="fp32 or int8.")] = "fp32",
    pooling: Annotated[
        str, typer.Option(help="Of text: mean, cls, or none when the model pools by itself.")
    ] = "mean",
    licence: Annotated[str, typer.Option(help="Licence of the weights, for the card.")] = "",
    model_arg: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE of a timm checkpoint that does not say how it is built."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Export a checkpoint to ONNX and compare both; needs the extra torch.

    The folder appears when everything in it was compared, and then serves as an encoder's checkpoint.

    Example: eagle models export ncbi/MedCPT-Query-Encoder models/query --pooling cls
    """
    from eagle_rag.engine.models import ExportRecipe, export_model

    recipe = ExportRecipe.of(
        kind,
        precision=precision,
        pooling=pooling,
        licence=licence,
        model_args=tuple(_model_argument(each) for each in model_arg or ()),
    )
    report = export_model(source, folder, recipe, on_step=say)
    if as_json:
        print_json(to_json(report))
        return
    rows = [
        ("folder", report.folder),
        ("kind", f"{report.kind}, {report.dim}-d, {report.precision}"),
        ("window", f"{report.max_tokens} tokens" if report.max_tokens else "none"),
        ("size", f"{report.size_bytes / 1e6:.1f} MB"),
        ("digest", report.digest),
        ("largest difference", f"{report.difference:.2g}"),
        ("lowest cosine", f"{report.cosine:.6f}"),
    ]
    print_rows(rows)


def _model_argument(given: str) -> tuple[str, str | float | bool]:
    name, equals, value = given.partition("=")
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:
        read = None
    if not (name and equals) or not isinstance(read, str | float | int):
        message = f"--model-arg takes NAME=VALUE, got {given!r}"
        raise InvalidInput(message, remedy="for example --model-arg embed_dim=1536")
    return name, read


def register(app: typer.Typer) -> None:
    """Add the commands."""
    models = typer.Typer(help="Encoders.", no_args_is_help=True)
    models.command("list")(list_command)
    models.command("check")(check)
    models.command("export")(export)
    app.add_typer(models, name="models")
