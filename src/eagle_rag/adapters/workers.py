"""Ordered, bounded mapping over worker processes."""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from eagle_rag.errors import EagleError

__all__ = ["map_in_processes"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_processes(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    workers: int,
    initializer: Callable[..., None],
    initargs: tuple[object, ...],
) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of the items, at most ``2 * workers + 2`` ahead.

    Args:
        function: A module-level function; it runs in a fresh interpreter.
        items: Consumed lazily, so a folder of any size is never held in memory.
        workers: Number of processes, at least 1.
        initializer: Called once a process, before the first item.
        initargs: Its arguments; they must pickle.

    Raises:
        EagleError: A worker process died (killed, or out of memory).
    """
    # Spawned, not forked: the store's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    waiting: deque[Future[Result]] = deque()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start, initargs=(initializer, initargs)
    )
    try:
        for item in items:
            with _interrupts_held():
                waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers + 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        msg = "a worker process died while reading documents"
        raise EagleError(
            msg,
            remedy="the run can be started again and resumes; fewer ingest.workers need less memory;"
            ' a script that ingests must do so below `if __name__ == "__main__":`',
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


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
