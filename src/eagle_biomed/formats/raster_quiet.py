"""Silence for libraries that warn, log or print what they read."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["quiet", "without_stderr"]

_LOCK = Lock()
_STDERR = 2


@contextmanager
def quiet(library: str) -> Iterator[None]:
    """Drop what a library warns and logs: it quotes values of the file.

    Args:
        library: Name of its top logger, such as ``pydicom``.
    """
    known = logging.Logger.manager.loggerDict
    names = [name for name in known if name == library or name.startswith(f"{library}.")]
    loggers = [logging.getLogger(name) for name in (library, *names)]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def without_stderr() -> Iterator[None]:
    """Drop what a C library writes to the standard error of the process, as libtiff does.

    One at a time, for as short as a picture takes: what other threads write meanwhile is lost too.
    """
    with _LOCK:
        kept = os.dup(_STDERR)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, _STDERR)
            yield
        finally:
            os.dup2(kept, _STDERR)
            os.close(nowhere)
            os.close(kept)
