"""Which formats there are, how each is recognised, and which module parses it.

Recognising is pure and quick and imports no parsing library; a parser's module is imported with the
first source of its format.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import VisualAsset
from eagle_rag.ports.services import XmlReader

__all__ = ["Accepts", "FormatCard", "FormatTools", "Parse", "Pictures", "select_format"]

Accepts = Callable[[Source], bool]


@dataclass(frozen=True, slots=True)
class FormatTools:
    """What parsers are given.

    Args:
        read_xml: Reads XML safely.
    """

    read_xml: XmlReader


Parse = Callable[[Source, FormatTools], ParseOutcome]
Pictures = Callable[[ParsedDocument, Source], tuple[VisualAsset, ...]]


@dataclass(frozen=True, slots=True)
class FormatCard:
    """One format.

    Args:
        name: Name of the format; ``ParsedDocument.format`` of its documents.
        accepts: Whether a source looks like it, by name and first bytes; never raises.
        module: Module with the functions below; imported on first use.
        parse: Name of its function ``(source, tools) -> ParseOutcome``.
        pictures: Name of its function ``(document, source) -> assets``; empty when it has none.
    """

    name: str
    accepts: Accepts
    module: str
    parse: str = "parse"
    pictures: str = ""

    def parser(self) -> Parse:
        """Import and return its parser."""
        return cast("Parse", getattr(import_module(self.module), self.parse))

    def picture_reader(self) -> Pictures | None:
        """Import and return its reader of pictures, or ``None``."""
        if not self.pictures:
            return None
        return cast("Pictures", getattr(import_module(self.module), self.pictures))


def select_format(cards: Iterable[FormatCard], source: Source) -> str | None:
    """Return the name of the first format that accepts the source, or ``None``."""
    return next((card.name for card in cards if card.accepts(source)), None)
