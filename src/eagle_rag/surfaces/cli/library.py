"""``eagle ingest``, ``verify`` and ``delete``: what changes or proves the index."""

from typing import TYPE_CHECKING, Annotated

import typer

from eagle_rag.surfaces.cli.ingest import paths_of, run_ingest
from eagle_rag.surfaces.cli.output import left_out, print_json, print_text, print_verify
from eagle_rag.surfaces.schemas import to_json

if TYPE_CHECKING:
    from eagle_rag.surfaces.cli.session import Session

__all__ = ["register"]

_PARTIAL = 3
Json = Annotated[bool, typer.Option("--json", help="JSON on stdout.")]


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(help="Files, folders, .tar (also .gz, .xz, .bz2) and .zip archives."),
    ],
    *,
    kb: Annotated[
        str | None, typer.Option(help="Knowledge base; default from the settings.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON line an event, the report last.")
    ] = False,
) -> None:
    """Read papers and make them searchable; unchanged files are skipped, an interrupted run resumes.

    Exit code 0 when everything was taken, 3 when something was refused.

    Example: eagle ingest papers/ more.tar.xz --kb lung
    """
    session: Session = context.obj
    with session.engine() as engine:
        report = run_ingest(engine, paths_of(paths), kb_name=kb, as_json=as_json)
    if left_out(report):
        raise typer.Exit(_PARTIAL)


def verify(
    context: typer.Context,
    *,
    repair: Annotated[
        bool, typer.Option(help="Fix what can be fixed without the sources.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove that every passage is its document's characters and every row has its passage.

    Exit code 0 when clean, 3 when something is wrong.

    Example: eagle verify --repair
    """
    session: Session = context.obj
    with session.engine() as engine:
        report = engine.verify(repair=repair)
    if as_json:
        print_json({**to_json(report), "clean": report.clean})
    else:
        print_verify(report)
    if not report.clean:
        raise typer.Exit(_PARTIAL)


def delete(
    context: typer.Context,
    documents: Annotated[
        list[str], typer.Argument(help="Document ids, PMIDs, PMCIDs, DOIs or others.")
    ],
    *,
    kb: Annotated[
        list[str] | None, typer.Option("--kb", help="Only in this knowledge base.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Delete documents from everywhere.

    Example: eagle delete PMC99000012
    """
    session: Session = context.obj
    with session.engine() as engine:
        for document in documents:
            for identity in engine.delete(document, kb_names=tuple(kb) if kb else None):
                if as_json:
                    print_json({"event": "deleted", "document_id": identity})
                else:
                    print_text(f"deleted {identity}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("ingest")(ingest)
    app.command("verify")(verify)
    app.command("delete")(delete)
