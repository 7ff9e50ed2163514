"""Preparing sources, in this process for a few and in worker processes for many."""

from collections.abc import Iterator
from itertools import chain, islice

from eagle_rag.adapters.workers import map_in_processes
from eagle_rag.engine.compose import build_kernel
from eagle_rag.ingest.prepare import PrepareConfig, PreparedSource, prepare_source
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.document import Refusal, Source

__all__ = ["prepare_all"]

# Starting a process costs about as much as parsing this many papers.
_FEW_SOURCES = 32
_FEW_BYTES = 8 << 20


class _Worker:
    """What one process prepares with; made once a process."""

    current: "_Worker | None" = None

    def __init__(self, bus: BoundBus, config: PrepareConfig) -> None:
        self.bus = bus
        self.config = config

    def prepare(self, item: Source | Refusal) -> PreparedSource | Refusal:
        return item if isinstance(item, Refusal) else prepare_source(self.bus, item, self.config)


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
    if len(head) < _FEW_SOURCES and size <= _FEW_BYTES:
        worker = _make_worker(settings, config)
        yield from map(worker.prepare, head)
        return
    yield from map_in_processes(
        _prepare_in_process,
        chain(head, items),
        workers=settings.ingest.worker_count,
        initializer=_start_process,
        initargs=(settings, config),
        killed=_refused,
    )


def _refused(item: Source | Refusal) -> PreparedSource | Refusal:
    """Return the refusal of a source that killed the process that read it, twice."""
    if isinstance(item, Refusal):
        return item
    return Refusal(
        item.uri, "", "killed-worker",
        "the process that read it died, and died again when it read nothing else: killed, or out of memory",
        "split the file, or give the machine more memory",
    )  # fmt: skip


def _make_worker(settings: Settings, config: PrepareConfig) -> _Worker:
    bus = build_kernel(settings).bus.bind(settings.plugins.default_namespace)
    return _Worker(bus, config)


def _start_process(settings: Settings, config: PrepareConfig) -> None:
    _Worker.current = _make_worker(settings, config)


def _prepare_in_process(item: Source | Refusal) -> PreparedSource | Refusal:
    if _Worker.current is None:
        message = "the worker process was not initialised"
        raise RuntimeError(message)
    return _Worker.current.prepare(item)
