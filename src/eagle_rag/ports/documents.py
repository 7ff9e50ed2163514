"""Parsers: bytes to documents."""

from typing import Protocol

from eagle_rag.model.document import ParseOutcome, Source

__all__ = ["DocumentParser"]


class DocumentParser(Protocol):
    """One format's parser. Pure but for its arguments: no network, no disk."""

    @property
    def format(self) -> str:
        """Name of the format, such as ``jats``."""
        ...

    def accepts(self, source: Source) -> bool:
        """Whether the source looks like this format, by name and first bytes; never raises."""
        ...

    def parse(self, source: Source) -> ParseOutcome:
        """Parse every record of the source.

        Raises:
            UnreadableDocument: The whole source is unreadable; one bad record of several is a
                ``Refusal`` in the outcome instead.
        """
        ...
