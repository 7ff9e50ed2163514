"""The core's own defaults as a plugin: last in every hook, so that any plugin can go before it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eagle_rag.hooks import hookimpl
from eagle_rag.kernel.pictures import PictureLimits, extract_pictures
from eagle_rag.kernel.plugins import CORE, CORE_PRIORITY
from eagle_rag.model.collection import CollectionProfile
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import (
    ChunkDecision,
    EncodedBatch,
    Passage,
    StoredPassage,
    VisualAsset,
)
from eagle_rag.model.query import (
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    RouteDecision,
)
from eagle_rag.ports.documents import DocumentParser
from eagle_rag.ports.encoders import EncoderCatalog
from eagle_rag.ports.plugins import PluginContext
from eagle_rag.ports.stores import CollectionWriter

__all__ = ["CorePlugin", "CoreServices"]

_RULE = "core-default"


@dataclass(frozen=True, slots=True)
class CoreServices:
    """What the main process gives the core; a worker process has none of it.

    Args:
        store: Where rows are written.
        encoders: Who encodes.
        targets: Collections every passage goes to, unless a plugin decides otherwise.
        plans: What a query searches, unless a plugin decides otherwise.
        picture_plans: Gives what a query that holds a picture searches besides.
    """

    store: CollectionWriter
    encoders: EncoderCatalog
    targets: tuple[CollectionProfile, ...]
    plans: tuple[CollectionQueryPlan, ...]
    picture_plans: Callable[[], tuple[CollectionQueryPlan, ...]] = tuple


class CorePlugin:
    """Defaults of every hook that needs one.

    Args:
        parsers: Formats of the core, in the order they are asked.
        services: Store, encoders and routes; ``None`` in a worker process, where only routing and
            parsing are called and the other hooks abstain.
        limits: How many pictures of a document are taken in.
    """

    name = CORE
    namespace = CORE
    version = "1"
    depends_on: tuple[str, ...] = ()
    priority = CORE_PRIORITY

    def __init__(
        self,
        parsers: Sequence[DocumentParser],
        services: CoreServices | None = None,
        *,
        limits: PictureLimits | None = None,
    ) -> None:
        self._parsers = tuple(parsers)
        self._services = services
        self._limits = limits or PictureLimits()

    def on_load(self, context: PluginContext) -> None:
        """Register nothing: the engine registers what is configured."""

    @hookimpl
    def ingest_route_selectors(self, source: Source) -> str | None:
        """Return the format of the first parser that accepts the source."""
        return next((each.format for each in self._parsers if each.accepts(source)), None)

    @hookimpl
    def parse(self, source: Source) -> ParseOutcome | None:
        """Parse with the parser of the source's pipeline."""
        parser = next((each for each in self._parsers if each.format == source.pipeline), None)
        return None if parser is None else parser.parse(source)

    @hookimpl
    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...]:
        """Bring the pictures that figures and tables name and that lie beside the source."""
        return extract_pictures(document, source, self._limits)

    @hookimpl
    def classify_chunk(self, passages: tuple[Passage, ...]) -> tuple[ChunkDecision, ...] | None:
        """Send every passage to the default text collections."""
        if self._services is None:
            return None
        return tuple(
            ChunkDecision(
                passage.ordinal,
                target.name,
                target.default_encoder,
                chunk_type=target.chunk_type,
                rule=_RULE,
            )
            for passage in passages
            for target in self._services.targets
        )

    @hookimpl
    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Encode with the registered encoder of this label."""
        if self._services is None:
            return None
        return self._services.encoders.text(encoder).encode_documents(texts)

    @hookimpl
    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Encode with the registered visual encoder of this label."""
        if self._services is None:
            return None
        return self._services.encoders.visual(encoder).encode_images(images)

    @hookimpl
    def upsert_vectors(self, collection: str, rows: Sequence[StoredPassage]) -> int | None:
        """Write the rows to the store."""
        if self._services is None:
            return None
        self._services.store.upsert(collection, rows)
        return len(rows)

    @hookimpl
    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Search the default text collections; with a picture, also all that hold pictures."""
        if self._services is None:
            return None
        pictured = context.request.image is not None
        plans = self._services.plans + (self._services.picture_plans() if pictured else ())
        return RouteDecision(plans, rule=_RULE) if plans else None

    @hookimpl
    def query_dense_expand(self, context: QueryContext) -> ExpandedQuery:
        """Append what plugins added to the query; the lexical terms stay apart."""
        suffixes = (addition.dense_suffix for addition in context.additions)
        dense = " ".join(part for part in (context.request.query, *suffixes) if part)
        terms = tuple(term for each in context.additions for term in each.lexical_terms)
        return ExpandedQuery(dense, tuple(dict.fromkeys(terms)))
