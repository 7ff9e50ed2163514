"""Preparing sources, in this process for a few and in worker processes for many.

What a plugin says may kill or outlast its reader goes to a worker process however few there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from eagle_rag.adapters.workers import TimeLimited, limit_memory, map_in_processes
from eagle_rag.engine.compose import build_kernel
from eagle_rag.errors import EagleError
from eagle_rag.ingest.prepare import PrepareConfig, PreparedSource, prepare_source
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.document import Refusal, Source

__all__ = ["prepare_all"]

# Starting a process costs about as much as parsing this many papers.
_FEW_SOURCES = 32
_FEW_BYTES = 8 << 20
# ingest.max_parse_s is for each so much of a source: a file of many records takes its time.
_TIMED_BYTES = 4 << 20


class _Worker:
    """What one process prepares with; made once a process."""

    current: "_Worker | None" = None

    def __init__(self, bus: BoundBus, config: PrepareConfig) -> None:
        self.bus = bus
        self.config = config

    def prepare(self, item: Source | Refusal) -> PreparedSource | Refusal:
        return item if isinstance(item, Refusal) else prepare_source(self.bus, item, self.config)


@dataclass(frozen=True, slots=True)
class _Allowance:
    """How long a source may take; it pickles."""

    seconds: float

    def __call__(self, item: Source | Refusal) -> float:
        size = 0 if isinstance(item, Refusal) else len(item.data)
        return self.seconds * (1 + size // _TIMED_BYTES)

    def refused(self, item: Source | Refusal, seconds: float) -> PreparedSource | Refusal:
        """Return the refusal of a source that killed the process that read it, twice."""
        if isinstance(item, Refusal):
            return item
        if seconds >= self(item):
            return Refusal(
                item.uri, "", "too-slow",
                f"was not read after {self(item):g} seconds",
                "split the file, or raise ingest.max_parse_s",
            )  # fmt: skip
        return Refusal(
            item.uri, "", "killed-worker",
            "the process that read it died, and died again when it read nothing else: killed, or out of"
            " memory",
            "split the file, or raise ingest.max_worker_bytes where the machine has more memory",
        )  # fmt: skip


def prepare_all(
    items: Iterator[Source | Refusal], settings: Settings, config: PrepareConfig
) -> Iterator[PreparedSource | Refusal]:
    """Yield every source prepared, in order; refusals pass through.

    Args:
        items: Consumed lazily.
        settings: Plugins and parsers are built from it, in each process.
        config: What shapes prepared documents.
    """
    head = list(islice(items, _FEW_SOURCES))
    size = sum(len(item.data) for item in head if isinstance(item, Source))
    workers = settings.ingest.worker_count
    if len(head) < _FEW_SOURCES and size <= _FEW_BYTES:
        worker, isolated = _make_worker(settings, config)
        if not any(_pipeline(worker.bus, item) in isolated for item in head):
            yield from map(worker.prepare, head)
            return
        workers = 1
    allowance = _Allowance(settings.ingest.max_parse_s)
    yield from map_in_processes(
        TimeLimited(_prepare_in_process, allowance),
        chain(head, items),
        workers=workers,
        initializer=_start_process,
        initargs=(settings, config),
        killed=allowance.refused,
    )


def _pipeline(bus: BoundBus, item: Source | Refusal) -> str:
    """Return which parser a source goes to; empty when that cannot be said here."""
    if isinstance(item, Refusal):
        return ""
    try:
        return bus.ingest_route_selectors(item) or ""
    except EagleError:
        return ""  # preparing it meets the same error, and reports it


def _make_worker(settings: Settings, config: PrepareConfig) -> tuple[_Worker, frozenset[str]]:
    """Return what prepares, and the pipelines that are read in a process of their own."""
    kernel = build_kernel(settings)
    bus = kernel.bus.bind(settings.plugins.default_namespace)
    # Most plugins have none: the attribute is optional.
    isolated = (getattr(plugin, "isolated_pipelines", ()) for plugin in kernel.loaded.plugins)
    return _Worker(bus, config), frozenset(chain.from_iterable(isolated))


def _start_process(settings: Settings, config: PrepareConfig) -> None:
    _Worker.current, _ = _make_worker(settings, config)
    limit_memory(settings.ingest.max_worker_bytes)


def _prepare_in_process(item: Source | Refusal) -> PreparedSource | Refusal:
    if _Worker.current is None:
        message = "the worker process was not initialised"
        raise RuntimeError(message)
    return _Worker.current.prepare(item)
