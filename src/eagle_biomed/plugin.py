"""The plugin: hook implementations only, each one call."""

from collections.abc import Sequence

from eagle_biomed.formats.selector import biomed_format_selector, format_card
from eagle_biomed.options import SEARCH_OPTIONS
from eagle_biomed.wiring import BiomedParts, load_parts
from eagle_rag.errors import PluginError
from eagle_rag.hooks import hookimpl
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import ChunkDecision, EncodedBatch, Passage, VisualAsset
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryAddition,
    QueryContext,
    RouteDecision,
)
from eagle_rag.ports.plugins import PluginContext

__all__ = ["BiomedPlugin"]


class BiomedPlugin:
    """Biomedicine for the core."""

    name = "biomed"
    namespace = "biomed"
    version = "1"
    depends_on: tuple[str, ...] = ()
    priority = 100
    # PDFium and RDKit can die, or take for ever, on files that are made for that.
    isolated_pipelines: tuple[str, ...] = ("pdf", "compound")
    search_options: tuple[str, ...] = SEARCH_OPTIONS

    def __init__(self) -> None:
        self._loaded: BiomedParts | None = None

    def on_load(self, context: PluginContext) -> None:
        """Register what the plugin brings; nothing is loaded."""
        self._loaded = load_parts(context)

    @property
    def _parts(self) -> BiomedParts:
        if self._loaded is None:
            message = "a hook of plugin 'biomed' was called before on_load"
            raise PluginError(message, remedy="load it through the engine")
        return self._loaded

    @hookimpl
    def ingest_route_selectors(self, source: Source) -> str | None:
        """Return the format of a source."""
        return biomed_format_selector(source)

    @hookimpl
    def parse(self, source: Source) -> ParseOutcome | None:
        """Parse a source of one of the plugin's formats."""
        card = format_card(source.pipeline)
        return None if card is None else card.parser()(source, self._parts.formats)

    @hookimpl
    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...] | None:
        """Return the pictures of a document of one of the plugin's formats."""
        card = format_card(document.format)
        pictures = None if card is None else card.picture_reader()
        return None if pictures is None else pictures(document, source)

    @hookimpl
    def chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...]:
        """Tag passages with section, document type and drugs."""
        return self._parts.enrich(document, passages)

    @hookimpl
    def annotate(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Tag passages with the document's profile: biomedical or general text."""
        return self._parts.profile(document, passages)

    @hookimpl
    def classify_chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Decide where passages go."""
        return self._parts.classifier.text(document, passages)

    @hookimpl
    def classify_visual(
        self, document: ParsedDocument, assets: tuple[VisualAsset, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Decide where pictures go."""
        return self._parts.classifier.visual(document, assets)

    @hookimpl
    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Encode texts with an encoder of the plugin's own."""
        return self._parts.embed_text(encoder, texts)

    @hookimpl
    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Encode pictures with an encoder of the plugin's own."""
        return self._parts.embed_visual(encoder, images)

    @hookimpl
    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Decide which collections a query goes to."""
        return self._parts.queries.route(context)

    @hookimpl
    def query_dense_expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Find the intent; ask text encoders with names, and the chemical collection for a structure."""
        return self._parts.queries.expand(context, plan)

    @hookimpl
    def query_assemble(self, context: QueryContext) -> QueryAddition | None:
        """Note the names that go with the query's entities."""
        return self._parts.path.assemble(context)

    @hookimpl
    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Put what names the drugs of a query first; keep a compound's neighbours out unless asked for."""
        return self._parts.path.rerank(context, plan, expanded, candidates=candidates)

    @hookimpl
    def retrieve_supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """Bring the compounds whose structures the query holds, and documents about its drugs."""
        return self._parts.path.retrieve_supplement(context, plans)

    @hookimpl
    def rrf_post_merge(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Put those compounds first, and what else is new before the rerank."""
        return self._parts.path.post_merge(context, merged, supplement)

    @hookimpl
    def rerank_merged(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Rerank by cross-encoder, entity, section and the penalty for other drugs."""
        return self._parts.path.rerank_merged(context, merged, texts)
