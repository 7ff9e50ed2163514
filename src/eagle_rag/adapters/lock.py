"""One writer at a time to an index, across processes; readers never take the lock.

The lock is the operating system's, on a file: it goes when its holder goes, however it dies. A file
beside it says who holds the lock, for people; nothing is decided by that file.
"""

import json
import os
import socket
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from eagle_rag.errors import IndexLocked, RegistryError

__all__ = ["WriterLock"]

_POLL_S = 0.05
"""How often a waiting writer tries again."""


class WriterLock:
    """The writer lock of one index.

    Keep the object as long as the lock is to be held: it is given back with it. Not bound to a thread: one thread may acquire it and another release it. Acquiring it again in
    the same object counts, and needs as many releases.

    Args:
        path: The lock file; its folder must exist. Who holds it is written to ``<path>.holder``.
        timeout_s: How long ``with`` waits for another writer.
    """

    def __init__(self, path: Path, *, timeout_s: float = 0.0) -> None:
        self._path = path
        self._holder_path = path.with_name(path.name + ".holder")
        self._timeout_s = timeout_s
        self._lock = FileLock(path, thread_local=False)

    def acquire(self, timeout_s: float = 0.0) -> None:
        """Take the lock, waiting at most ``timeout_s`` for its holder to end.

        Raises:
            IndexLocked: Another writer holds it; names that writer.
            RegistryError: The lock file cannot be written.
        """
        try:
            self._lock.acquire(timeout=timeout_s, poll_interval=_POLL_S)
        except Timeout as error:
            raise IndexLocked(str(self._path), self.holder() or "another process") from error
        except OSError as error:
            message = f"cannot write the lock file {str(self._path)!r}: {error}"
            remedy = "check that the folder exists and may be written to"
            raise RegistryError(message, remedy=remedy) from error
        self._write_holder()

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        if self._lock.lock_counter == 1:
            self._holder_path.unlink(missing_ok=True)
        self._lock.release()

    def holder(self) -> str:
        """Return who took the lock last and has not given it back, for a message; or empty.

        A process that was killed cannot take its name away, so this alone does not say that the
        lock is held.
        """
        try:
            held = json.loads(self._holder_path.read_text(encoding="utf-8"))
            return (
                f"pid {held['pid']} on host {held['host']} since {held['since']} "
                f"({held['command']})"
            )
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def __enter__(self) -> Self:
        """Acquire the lock, waiting ``timeout_s`` of the constructor."""
        self.acquire(self._timeout_s)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Release the lock."""
        self.release()

    def _write_holder(self) -> None:
        """Write who we are, whole or not at all; the lock holds even where this fails."""
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": _command(),
        }
        temporary = self._holder_path.with_name(f"{self._holder_path.name}.{os.getpid()}")
        with suppress(OSError):
            temporary.write_text(json.dumps(holder), encoding="utf-8")
            temporary.replace(self._holder_path)


def _command() -> str:
    """Return program and subcommand; further arguments may hold secrets."""
    words = [word for word in sys.argv[1:2] if not word.startswith("-")]
    return " ".join([Path(sys.argv[0] or "python").name, *words])
