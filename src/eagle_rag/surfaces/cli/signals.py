"""Ctrl-C and a polite kill: an exit code of their own, and time to clean up."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Never

__all__ = ["Stopped", "exit_within", "stop_signals"]


class Stopped(SystemExit):
    """A signal asked this process to end; its code is 128 and the number of the signal."""


@contextmanager
def stop_signals() -> Iterator[None]:
    """Turn SIGINT and SIGTERM into ``Stopped``, so that worker processes and locks are let go.

    A signal that whoever started this process had ignored stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> Never:
    del frame
    # A second one ends the process at once.
    signal.signal(number, signal.SIG_DFL)
    raise Stopped(128 + number)


def exit_within(seconds: float, code: int) -> None:
    """End this process at the latest after some seconds, whatever its threads wait for.

    A signal to the whole process group kills workers while they write to their queue, and the threads
    that serve the queue then wait for the rest of it for ever.
    """
    timer = threading.Timer(seconds, os._exit, (code,))
    timer.daemon = True
    timer.start()
