"""Stage 2: bytes to documents."""

from eagle_rag.errors import PluginError
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParseOutcome, Source

__all__ = ["parse_source"]


def parse_source(bus: BoundBus, source: Source) -> ParseOutcome:
    """Return everything a routed source holds.

    Raises:
        UnreadableDocument: Nothing in it can be read.
        PluginError: A plugin chose a pipeline that nobody implements.
    """
    outcome = bus.parse(source)
    if outcome is None:
        message = (
            f"{source.uri} was routed to pipeline {source.pipeline!r}, which no plugin parses"
        )
        raise PluginError(message, remedy="enable the plugin that brings it")
    return outcome
