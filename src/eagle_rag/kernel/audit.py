"""Decisions kept: a ring in memory, counts, and sinks that never fail the caller."""

import json
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from threading import Lock

from eagle_rag.errors import EagleError
from eagle_rag.model.records import AuditEvent

__all__ = ["AuditLog", "AuditStats", "Sink"]

Sink = Callable[[Sequence[AuditEvent]], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AuditStats:
    """What the log has seen since it was opened.

    Args:
        counts: Decisions by category, sorted.
        sink_failures: How many decisions a sink did not take.
        last_failure: The latest sink failure, or empty.
    """

    counts: tuple[tuple[str, int], ...]
    sink_failures: int = 0
    last_failure: str = ""


class AuditLog:
    """A ``DecisionLog`` with a ring of the latest decisions and up to two sinks.

    Args:
        ring_size: How many decisions stay in memory.
        jsonl_path: File that gets one JSON line a decision, or ``None``.
        sink: Further sink, such as the registry's ``save_audit``, or ``None``.
    """

    def __init__(
        self, ring_size: int, *, jsonl_path: Path | None = None, sink: Sink | None = None
    ) -> None:
        self._ring: deque[AuditEvent] = deque(maxlen=ring_size)
        self._counts: Counter[str] = Counter()
        sinks: list[tuple[str, Sink]] = []
        if jsonl_path is not None:
            sinks.append((str(jsonl_path), partial(_append, jsonl_path)))
        if sink is not None:
            sinks.append(("the sink", sink))
        self._sinks = tuple(sinks)
        self._failures = 0
        self._last_failure = ""
        self._lock = Lock()

    def log_decision(self, event: AuditEvent) -> None:
        """Record one decision; a sink that fails is counted, never raised."""
        with self._lock:
            self._ring.append(event)
            self._counts[event.category] += 1
            for where, sink in self._sinks:
                self._hand_over(event, where, sink)

    def recent(self, limit: int | None = None) -> tuple[AuditEvent, ...]:
        """Return the latest decisions, oldest first; ``None`` is all of the ring."""
        with self._lock:
            events = tuple(self._ring)
        return events if limit is None else events[max(len(events) - limit, 0) :]

    def stats(self) -> AuditStats:
        """Return the counts, and what the sinks did not take."""
        with self._lock:
            counts = tuple(sorted(self._counts.items()))
            return AuditStats(counts, self._failures, self._last_failure)

    def _hand_over(self, event: AuditEvent, where: str, sink: Sink) -> None:
        try:
            sink((event,))
        except (OSError, ValueError, RuntimeError, EagleError) as error:
            self._failures += 1
            self._last_failure = f"{where}: {type(error).__name__}: {error}"
            _log.warning("decision not recorded by %s", self._last_failure)


def _append(path: Path, events: Sequence[AuditEvent]) -> None:
    """Write one JSON line a decision; the file is opened each time, so that it can be rotated."""
    lines = (
        json.dumps(asdict(event) | {"detail": dict(event.detail)}, ensure_ascii=False) + "\n"
        for event in events
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)
