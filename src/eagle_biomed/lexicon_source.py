"""What a lexicon is: names somebody else made, with their licence."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["LexiconEntry", "LexiconSource"]


@dataclass(frozen=True, slots=True)
class LexiconEntry:
    """One entity of a lexicon.

    Args:
        name: Canonical name.
        aliases: Other names.
        cui: UMLS concept, or empty.
        kind: ``gene``, ``drug``, ``disease``, ``pathway``; empty when the lexicon does not say.
    """

    name: str
    aliases: tuple[str, ...] = ()
    cui: str = ""
    kind: str = ""


class LexiconSource(Protocol):
    """A lexicon somebody else made."""

    @property
    def name(self) -> str:
        """Name shown as ``Entity.source``; letters, digits and hyphens."""
        ...

    @property
    def licence(self) -> str:
        """Under what terms its content may be used."""
        ...

    def digest(self) -> str:
        """Return a digest of the content: what the cache is found by. Empty when there is no content."""
        ...

    def entries(self, skipped: Counter[str]) -> Iterator[LexiconEntry]:
        """Yield the entities; entities with one CUI may come in several pieces.

        Args:
            skipped: Where rows that are left out are counted by reason.
        """
        ...
