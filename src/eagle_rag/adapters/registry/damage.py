"""Saying which document a value belongs to that cannot be decoded."""

from collections.abc import Iterator
from contextlib import contextmanager

from eagle_rag.errors import EagleError, RegistryError

__all__ = ["DAMAGE", "decoding"]

DAMAGE = (ValueError, TypeError, LookupError, AttributeError)
"""What decoding raises over a cell that somebody else has written: no JSON, an unknown kind of
section, a number where a list belongs."""


@contextmanager
def decoding(document_id: str, what: str) -> Iterator[None]:
    """Turn what decoding raises into an error that names the document and its damaged part.

    Raises:
        RegistryError: Something in the block could not be decoded.
    """
    try:
        yield
    except (EagleError, UnicodeEncodeError):
        raise
    except DAMAGE as error:
        message = (
            f"the registry is damaged: the {what} of document {document_id!r} cannot be read"
            f" ({type(error).__name__}: {error})"
        )
        remedy = f"run `eagle delete {document_id}`, then ingest its source again"
        raise RegistryError(message, remedy=remedy) from error
