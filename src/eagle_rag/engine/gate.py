"""Who may change the index at a time, across processes and between the threads of one engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock, get_ident

from eagle_rag.adapters.lock import WriterLock
from eagle_rag.errors import IndexLocked

__all__ = ["WriterGate"]


class WriterGate:
    """The writer lock of an index, shared by the threads of one engine.

    Between processes there is one writer. Inside the process ingests and verifies take turns, because
    each clears what nobody else can be writing; a deletion may happen while an ingest runs, but not
    while verify compares.

    Args:
        path: The lock file; its folder is made when it is first needed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file_lock = WriterLock(path)
        self._holders = 0
        self._counting = Lock()
        self._turn = Lock()
        self._turn_thread: int | None = None
        self._deleting = RLock()

    @contextmanager
    def ingesting(self) -> Iterator[None]:
        """Hold the index for an ingest; deletions stay possible.

        Raises:
            IndexLocked: Another process writes, or this very thread already ingests or verifies.
        """
        if self._turn_thread == get_ident():
            raise IndexLocked(str(self._path), "an ingest or verify of this very thread")
        with self._turn:
            self._turn_thread = get_ident()
            try:
                with self._holding():
                    yield
            finally:
                self._turn_thread = None

    @contextmanager
    def verifying(self) -> Iterator[None]:
        """Hold the index for a verify; nobody else changes anything.

        Raises:
            IndexLocked: As ``ingesting``.
        """
        with self.ingesting(), self._deleting:
            yield

    @contextmanager
    def deleting(self) -> Iterator[None]:
        """Hold the index for a deletion.

        Raises:
            IndexLocked: Another process writes.
        """
        with self._deleting, self._holding():
            yield

    @contextmanager
    def _holding(self) -> Iterator[None]:
        with self._counting:
            if self._holders == 0:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file_lock.acquire()
            self._holders += 1
        try:
            yield
        finally:
            with self._counting:
                self._holders -= 1
                if self._holders == 0:
                    self._file_lock.release()
