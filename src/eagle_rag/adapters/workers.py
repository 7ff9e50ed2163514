"""Ordered, bounded mapping over worker processes, and what one item may cost a process."""

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from threading import Thread
from typing import Generic, TypeVar

from eagle_rag.errors import EagleError

__all__ = ["TimeLimited", "limit_memory", "map_in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int,
    initializer: Callable[..., None],
    initargs: tuple[object, ...],
    killed: Callable[[Item, float], Result] | None = None,
) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, at most ``2 * workers + 2`` ahead.

    Args:
        function: A module-level function; it runs in a fresh interpreter.
        items: Consumed lazily, so a folder of any size is never held in memory.
        workers: Number of processes, at least 1.
        initializer: Called once a process, before the first item.
        initargs: Its arguments; they must pickle.
        killed: Gives the result of an item whose process dies twice, the second time alone, from the
            item and the seconds until that death. What was on its way beside it is done again.

    Raises:
        EagleError: A worker process died (killed, or out of memory) and ``killed`` is ``None``, or one
            died before its first item.
    """
    crew = _Crew(function, workers, partial(_start, initializer, initargs))
    waiting: deque[_Task[Item, Result]] = deque()
    try:
        for item in items:
            waiting.append(_Task(item, crew.submit(item)))
            if len(waiting) > 2 * workers + 2:
                yield crew.first(waiting, killed)
        while waiting:
            yield crew.first(waiting, killed)
    except BrokenProcessPool as error:
        msg = "a worker process died while reading documents"
        raise EagleError(
            msg,
            remedy="the run can be started again and resumes; fewer ingest.workers need less memory;"
            ' a script that ingests must do so below `if __name__ == "__main__":`',
        ) from error
    finally:
        crew.end()


@dataclass(slots=True)
class _Task(Generic[Item, Result]):
    item: Item
    future: Future[Result]


class TimeLimited(Generic[Item, Result]):
    """A function that ends its process when one item takes too long; it pickles if its parts do.

    Code of a C library cannot be interrupted, so the system ends the process. Where it keeps no timers
    (Windows) nothing is limited.

    Args:
        function: What is called.
        seconds: How long each item may take, in seconds on the clock.
    """

    def __init__(
        self, function: Callable[[Item], Result], seconds: Callable[[Item], float]
    ) -> None:
        self._function = function
        self._seconds = seconds

    def __call__(self, item: Item) -> Result:
        """Return what the function returns, within the time."""
        if not hasattr(signal, "setitimer"):
            return self._function(item)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, self._seconds(item))
        try:
            return self._function(item)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


def limit_memory(more_bytes: int) -> None:
    """Let this process take that much address space beyond what it has now.

    A library that asks for more is told that there is none. Nothing happens where the system does not
    say how much a process has.
    """
    try:
        import resource  # there is none on Windows

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + more_bytes
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


class _Crew(Generic[Item, Result]):
    """A pool of processes, replaced by another when one of them dies."""

    def __init__(
        self, function: Callable[[Item], Result], workers: int, start: Callable[[], None]
    ) -> None:
        self._function = function
        self._workers = workers
        self._start = start
        self._pool = self._make(workers)

    def submit(self, item: Item) -> Future[Result]:
        """Hand out an item; a pool that is broken gives a future that says so."""
        with _interrupts_held():
            try:
                return self._pool.submit(self._function, item)
            except BrokenProcessPool as error:
                return _failed(error)

    def first(
        self, waiting: deque[_Task[Item, Result]], killed: Callable[[Item, float], Result] | None
    ) -> Result:
        """Return the result of the first task, which is taken out.

        Raises:
            BrokenProcessPool: A process died and ``killed`` is ``None``, or died before its first item.
        """
        try:
            result = waiting[0].future.result()
        except BrokenProcessPool:
            if killed is None:
                raise
            self._repeat(waiting, killed)
            result = waiting[0].future.result()
        waiting.popleft()
        return result

    def end(self) -> None:
        """Let go of the processes; what they have not begun is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _repeat(
        self, waiting: deque[_Task[Item, Result]], killed: Callable[[Item, float], Result]
    ) -> None:
        """Do what a dead process left undone, one item at a time, then go on with a new pool."""
        self.end()
        self._pool = self._make(1)
        self._prove()
        for task in waiting:
            if not _is_broken(task.future):
                continue
            begun = time.monotonic()
            task.future = self.submit(task.item)
            if _is_broken(task.future):
                task.future = Future()
                task.future.set_result(killed(task.item, time.monotonic() - begun))
                self.end()
                self._pool = self._make(1)
        self.end()
        self._pool = self._make(self._workers)

    def _prove(self) -> None:
        """Raise when a process dies before it was given anything: then no item is at fault."""
        with _interrupts_held():
            ready = self._pool.submit(os.getpid)
        ready.result()

    def _make(self, workers: int) -> ProcessPoolExecutor:
        # Spawned, not forked: the store's threads do not survive a fork.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(workers, mp_context=context, initializer=self._start)


def _is_broken(future: Future[Result]) -> bool:
    """Wait for a future, and return whether its process died."""
    return isinstance(future.exception(), BrokenProcessPool)


def _failed(error: BrokenProcessPool) -> Future[Result]:
    future: Future[Result] = Future()
    future.set_exception(error)
    return future


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from processes started meanwhile: they inherit the mask, this thread gets it later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(initializer: Callable[..., None], initargs: tuple[object, ...]) -> None:
    # Ctrl-C reaches the whole process group; the parent decides what it means. Where there are no
    # signal masks this is as early as it can be said.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    initializer(*initargs)


def _end_with_parent() -> None:
    """End this process when its parent is gone: a killed parent cannot tell its workers to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
