"""``eagle ingest``: files in, a report out; progress on stderr."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from eagle_rag.model.results import IngestEvent, IngestReport
from eagle_rag.surfaces.cli.output import print_json, print_report, say, stderr_console
from eagle_rag.surfaces.schemas import to_json

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

__all__ = ["run_ingest"]


def run_ingest(
    engine: "Engine", paths: list[Path], *, kb_name: str | None, as_json: bool
) -> IngestReport:
    """Ingest with a progress line on stderr; with ``as_json`` every event is a line on stdout.

    A line with ``"event": "committed"`` is an acknowledgement: that document is durable.
    """
    started = time.monotonic()
    console = stderr_console()
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task("reading", total=None)
        passages = 0

        def on_event(event: IngestEvent) -> None:
            nonlocal passages
            if as_json:
                print_json({"event": event.kind, **_event_json(event)})
            if event.kind != "optimized":
                passages += event.passages if event.kind == "committed" else 0
                progress.update(task, advance=1, description=f"documents ({passages} passages)")

        report = engine.ingest(paths, kb_name=kb_name, on_event=on_event)
    if as_json:
        print_json({"event": "report", **to_json(report)})
    else:
        print_report(report)
        say(f"{time.monotonic() - started:.1f} s")
    return report


def _event_json(event: IngestEvent) -> dict[str, object]:
    value: dict[str, object] = to_json(event)
    value.pop("kind")
    return {name: item for name, item in value.items() if item not in {"", 0}}
