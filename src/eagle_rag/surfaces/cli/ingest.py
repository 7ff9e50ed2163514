"""``eagle ingest``: files in, a report out; progress on stderr."""

import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eagle_rag.errors import InvalidInput
from eagle_rag.model.results import IngestEvent, IngestReport
from eagle_rag.surfaces.cli.output import print_json, print_report, say, stderr_console
from eagle_rag.surfaces.cli.progress import BarProgress, PlainProgress
from eagle_rag.surfaces.schemas import to_json

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

__all__ = ["paths_of", "run_ingest"]

_KB_CHARS = 64
_SHOWN = 20


def paths_of(texts: Sequence[str]) -> list[Path]:
    """Return the paths that arguments name.

    Raises:
        InvalidInput: One is empty, as an unset variable is; it would be the working directory.
    """
    if not all(texts):
        message = "an empty path names no file and no folder"
        raise InvalidInput(message, remedy="write . for the working directory")
    return [Path(text) for text in texts]


def _check_kb(name: str) -> None:
    if len(name) > _KB_CHARS or any(unicodedata.category(char) in {"Cc", "Cs"} for char in name):
        message = f"no knowledge base can be called {name[:200]!r}"
        rule = f"a name has 1 to {_KB_CHARS} characters, all of them UTF-8 and none a control character"
        raise InvalidInput(message, remedy=rule)


def run_ingest(
    engine: "Engine", paths: list[Path], *, kb_name: str | None, as_json: bool
) -> IngestReport:
    """Ingest with a progress line on stderr; with ``as_json`` every event is a line on stdout.

    Where stderr is no terminal, the progress is a plain line every half minute.
    A line with ``"event": "committed"`` is an acknowledgement: that document is durable.

    Raises:
        InvalidInput: The knowledge base has a name that none can have.
    """
    _check_kb(engine.settings.kb_name if kb_name is None else kb_name)
    started = time.monotonic()
    console = stderr_console()
    warnings: list[str] = []
    duplicates: list[str] = []
    with BarProgress(console) if console.is_terminal else PlainProgress() as progress:

        def on_event(event: IngestEvent) -> None:
            if as_json:
                print_json({"event": event.kind, **_event_json(event)})
            if event.kind == "warning":
                warnings.append(f"warning {event.source_uri}: {event.message}")
            else:
                progress.note(event)
            if event.kind == "duplicate":
                duplicates.append(f"duplicate {event.source_uri}: {event.message}")

        report = engine.ingest(paths, kb_name=kb_name, on_event=on_event)
    if as_json:
        print_json({"event": "report", **to_json(report)})
    else:
        print_report(report)
        _say_some(duplicates, "duplicates")
        _say_some(warnings, "warnings")
        say(f"{time.monotonic() - started:.1f} s")
    return report


def _say_some(messages: list[str], kind: str) -> None:
    for message in messages[:_SHOWN]:
        say(message)
    if len(messages) > _SHOWN:
        say(f"... and {len(messages) - _SHOWN} more {kind}; --json lists all")


def _event_json(event: IngestEvent) -> dict[str, object]:
    value: dict[str, object] = to_json(event)
    value.pop("kind")
    return {name: item for name, item in value.items() if item not in {"", 0}}
