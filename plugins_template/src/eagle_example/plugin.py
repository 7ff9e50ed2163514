"""Hook implementations, each one call long; the work belongs into modules beside this one.

A plugin imports only ``eagle_rag.hooks``, ``model``, ``ports``, ``ops`` and ``errors``. All hooks are
listed; ``None`` abstains. Delete those you do not need, and leave out parameters you do not use.
"""

from collections.abc import Sequence

from eagle_rag.hooks import hookimpl
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import (
    ChunkDecision,
    EncodedBatch,
    Passage,
    StoredPassage,
    VisualAsset,
)
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryAddition,
    QueryContext,
    RouteDecision,
)
from eagle_rag.ports.plugins import PluginContext

__all__ = ["ExamplePlugin"]


class ExamplePlugin:
    """The plugin. Its entry point calls it without arguments."""

    name = "example"
    namespace = "example"
    version = "0.1.0"
    depends_on: tuple[str, ...] = ()
    priority = 100  # higher runs first; the core's defaults have -1000

    def on_load(self, context: PluginContext) -> None:
        """Register encoders and collections; registering costs nothing, weights load on first use.

        ``context.options`` is ``plugins.options.example`` of the settings.
        """

    @hookimpl
    def ingest_route_selectors(self, source: Source) -> str | None:
        """Choose the format pipeline of a source. Mode first; policy fail."""
        return None

    @hookimpl
    def parse(self, source: Source) -> ParseOutcome | None:
        """Parse a source whose ``pipeline`` is set. Mode first; policy fail."""
        return None

    @hookimpl
    def chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Enrich the passages of a document. Mode transform; policy fail."""
        return None

    @hookimpl
    def annotate(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Enrich with what needs an encoder. Mode transform; policy fail."""
        return None

    @hookimpl
    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...] | None:
        """Bring pictures of a document. Mode all; policy fail."""
        return None

    @hookimpl
    def classify_chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[ChunkDecision, ...] | None:
        """Decide collection and encoder of passages. Mode all; policy fail."""
        return None

    @hookimpl
    def classify_visual(
        self, document: ParsedDocument, assets: tuple[VisualAsset, ...]
    ) -> tuple[ChunkDecision, ...] | None:
        """Decide collection and encoder of pictures, as ``classify_chunk``. Mode all; policy fail."""
        return None

    @hookimpl
    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Encode passages with the encoder of this label. Mode first; policy fail."""
        return None

    @hookimpl
    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Encode pictures, as ``embed_text``. Mode first; policy fail."""
        return None

    @hookimpl
    def upsert_vectors(self, collection: str, rows: Sequence[StoredPassage]) -> int | None:
        """Write rows to a collection. Mode first; policy fail."""
        return None

    @hookimpl
    def query_assemble(self, context: QueryContext) -> QueryAddition | None:
        """Add to a query before anything is decided. Mode all; policy degrade."""
        return None

    @hookimpl
    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Decide which collections a query goes to. Mode first; policy fail."""
        return None

    @hookimpl
    def query_dense_expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Rewrite a query for the arms. Mode first; policy degrade."""
        return None

    @hookimpl
    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Reorder the candidates of one plan (tier 1). Mode first; policy degrade."""
        return None

    @hookimpl
    def retrieve_supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """Bring further candidates, such as documents that mention an entity. Mode all; policy degrade."""
        return None

    @hookimpl
    def rrf_post_merge(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Change the merged ranking, for example inject supplement candidates. Mode first; policy degrade."""
        return None

    @hookimpl
    def rerank_merged(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Rerank the merged ranking (tier 2). Mode first; policy degrade."""
        return None
