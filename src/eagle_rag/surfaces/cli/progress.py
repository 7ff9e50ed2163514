"""How far an ingest is: a bar on a terminal, else one plain line now and then."""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from eagle_rag.model.results import IngestEvent
from eagle_rag.surfaces.cli.output import PART_OF_DOCUMENT, say

__all__ = ["EVERY_S", "BarProgress", "PlainProgress"]

EVERY_S = 30.0
"""Seconds between two lines: what is done sooner needs none, and an hour's log stays readable."""

_MINUTE_S, _HOUR_S = 60, 3600


class BarProgress:
    """A line that is drawn anew, and is gone at the end.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._progress.add_task("reading", total=None)
        self._passages = 0

    def __enter__(self) -> Self:
        """Draw it."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wipe it."""
        self._progress.stop()

    def note(self, event: IngestEvent) -> None:
        """Count what an ingest finished."""
        if event.kind == "optimized":
            return
        self._passages += event.passages if event.kind == "committed" else 0
        shown = f"documents ({self._passages} passages)"
        self._progress.update(self._task, advance=1, description=shown)


class PlainProgress:
    """Says every ``EVERY_S`` seconds, from a thread of its own, how many sources were read.

    Not only when a document is done: the largest file may take minutes, and then a sign of life is wanted
    most.

    Args:
        clock: Seconds that only grow.
        wait: Waits for so many seconds and returns whether the end came meanwhile; ``None`` for the end of
            the ``with`` block.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._clock = clock
        self._ended = threading.Event()
        self._wait = self._ended.wait if wait is None else wait
        self._thread = threading.Thread(target=self._run, name="eagle-progress", daemon=True)
        self._started = clock()
        self._sources: set[str] = set()
        self._added = self._unchanged = self._refused = 0

    def __enter__(self) -> Self:
        """Start the clock."""
        self._started = self._clock()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say nothing more."""
        self._ended.set()
        self._thread.join()

    def note(self, event: IngestEvent) -> None:
        """Count what an ingest finished."""
        if event.source_uri:
            self._sources.add(event.source_uri)
        self._added += event.kind == "committed"
        self._unchanged += event.kind == "unchanged"
        beside = event.message.startswith(f"{PART_OF_DOCUMENT}:")
        self._refused += event.kind == "refused" and not beside

    def line(self) -> str:
        """Return where the ingest stands: ``1,200 sources read, 1,150 added, 3 refused, 4 min``."""
        unchanged = f", {self._unchanged:,} unchanged" if self._unchanged else ""
        return (
            f"{len(self._sources):,} sources read, {self._added:,} added{unchanged},"
            f" {self._refused:,} refused, {_duration(self._clock() - self._started)}"
        )

    def _run(self) -> None:
        while not self._wait(EVERY_S):
            say(self.line())


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < _MINUTE_S:
        return f"{whole} s"
    minutes = whole // _MINUTE_S
    if whole < _HOUR_S:
        return f"{minutes} min"
    return f"{whole // _HOUR_S} h {minutes % _MINUTE_S} min"
