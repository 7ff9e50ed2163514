"""Silence for libraries that warn, log or print what they read."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["quiet"]


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
