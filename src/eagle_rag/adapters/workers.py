"""Ordered, bounded mapping over worker processes."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
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
        workers, mp_context=context, initializer=initializer, initargs=initargs
    )
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * workers + 2:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        msg = "a worker process died while reading documents"
        raise EagleError(
            msg,
            remedy="the run can be started again and resumes; fewer ingest.workers need less memory",
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
