"""Stage 1: which parser reads a source."""

import codecs
from dataclasses import replace

from eagle_rag.errors import UnreadableDocument
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import Source

__all__ = ["route_source"]


def route_source(bus: BoundBus, source: Source) -> Source:
    """Return the source with its pipeline set.

    Raises:
        UnreadableDocument: It is empty, or no parser accepts it.
    """
    if not source.data.removeprefix(codecs.BOM_UTF8).strip():
        message = "is empty"
        raise UnreadableDocument(source.uri, "empty", message, remedy="check how it was written")
    pipeline = bus.ingest_route_selectors(source)
    if pipeline is None:
        message = "no parser reads this kind of file"
        remedy = "give JATS or PubMed XML, HTML, Markdown or plain text, or enable a plugin that reads it"
        raise UnreadableDocument(source.uri, "unsupported-format", message, remedy=remedy)
    return replace(source, pipeline=pipeline)
