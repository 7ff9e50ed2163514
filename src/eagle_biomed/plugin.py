"""The plugin: hook implementations only, each one call."""

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.selector import biomed_format_selector, format_card
from eagle_rag.hooks import hookimpl
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import VisualAsset
from eagle_rag.ports.plugins import PluginContext

__all__ = ["BiomedPlugin"]


class BiomedPlugin:
    """Biomedicine for the core."""

    name = "biomed"
    namespace = "biomed"
    version = "1"
    depends_on: tuple[str, ...] = ()
    priority = 100

    def __init__(self) -> None:
        self._tools: FormatTools | None = None

    def on_load(self, context: PluginContext) -> None:
        """Register what the plugin brings; nothing is loaded."""
        self._tools = FormatTools(context.services.read_xml)

    @hookimpl
    def ingest_route_selectors(self, source: Source) -> str | None:
        """Return the format of a source."""
        return biomed_format_selector(source)

    @hookimpl
    def parse(self, source: Source) -> ParseOutcome | None:
        """Parse a source of one of the plugin's formats."""
        card = format_card(source.pipeline)
        if card is None or self._tools is None:
            return None
        return card.parser()(source, self._tools)

    @hookimpl
    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...] | None:
        """Return the pictures of a document of one of the plugin's formats."""
        card = format_card(document.format)
        pictures = None if card is None else card.picture_reader()
        return None if pictures is None else pictures(document, source)
