"""Every hook, on one page.

A plugin implements any of these as methods decorated with ``hookimpl``. The bus
(``eagle_rag.kernel.bus``) calls the implementations itself: higher priority first, then plugin name,
only plugins of the namespace in force and the core's defaults. All values are frozen; a hook returns
a value and never changes its arguments.

Modes:
    first: the first return that is not ``None`` is the result; the rest is not called.
    all: every return that is not ``None`` is collected, in calling order.
    transform: each return that is not ``None`` replaces the value given to the next.

Failure policies:
    fail: the call raises ``HookFailed`` with plugin and hook named; errors of this package, such as
        ``UnreadableDocument``, pass as they are. During ingest, the document at hand is refused and
        the rest goes on.
    degrade: the failing implementation is left out; the trace and the audit say so. A return that
        breaks the hook's contract counts as a failure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pluggy

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

__all__ = [
    "HOOKS",
    "PROJECT",
    "HookMode",
    "HookPolicy",
    "HookRule",
    "HookSpecs",
    "hookimpl",
    "hookspec",
]

PROJECT = "eagle_rag"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

HookMode = Literal["first", "all", "transform"]
HookPolicy = Literal["fail", "degrade"]


@dataclass(frozen=True, slots=True)
class HookRule:
    """How the bus treats one hook.

    Args:
        mode: How returns merge.
        policy: What happens when an implementation raises.
        subject: For ``transform``: the argument that is piped.
    """

    mode: HookMode
    policy: HookPolicy
    subject: str = ""


class HookSpecs:
    """The hook specifications; see each docstring."""

    @hookspec
    def ingest_route_selectors(self, source: Source) -> str | None:
        """Choose the format pipeline of a source.

        Called once a source, before parsing. Return a format name such as ``jats``, or ``None`` to
        abstain. Mode first; policy fail.
        """

    @hookspec
    def parse(self, source: Source) -> ParseOutcome | None:
        """Parse a source whose ``pipeline`` is set.

        Called once a source, in a worker process. Return its documents and refusals, or ``None``
        when the pipeline is not yours. Raise ``UnreadableDocument`` when nothing can be read.
        Mode first; policy fail.
        """

    @hookspec
    def chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Enrich the passages of a document.

        Called once a document, in a worker process, with the passages the core cut. Return them with
        further ``tags``, sorted, or ``None`` to leave them. Text, offsets, ids, order, number and
        earlier tags must stay: anything else is refused. Mode transform of ``passages``; policy fail.
        """

    @hookspec
    def annotate(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...] | None:
        """Enrich the passages of a document with what needs an encoder or a language model.

        Called once a document, in the main process, after ``chunk`` and before ``classify_chunk``. What
        is returned must keep what ``chunk`` must keep. Mode transform of ``passages``; policy fail.
        """

    @hookspec
    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...] | None:
        """Bring pictures of a document.

        Called once a document, in a worker process, after ``chunk``; ``source.companions`` are the files
        beside it. Return assets or ``None``. A key is a ``Figure.key`` or ``Table.key`` of the document, or
        any other name: it says which passage the picture hangs on. Of several assets with one key the first
        stands, so a plugin goes before the core, which brings the pictures that figures name. Beyond
        ``ingest.max_pictures`` the rest is left out. Mode all; policy fail.
        """

    @hookspec
    def classify_chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[ChunkDecision, ...] | None:
        """Decide collection and encoder of passages.

        Called once a document with all its passages; ``ChunkDecision.target`` is the passage's
        ordinal. Return decisions for as many passages as you like, or ``None``. The core's own decision
        stands only for passages that nobody else decided on; of several in one ``exclusive_group``
        for one passage the first stands. Mode all; policy fail.
        """

    @hookspec
    def classify_visual(
        self, document: ParsedDocument, assets: tuple[VisualAsset, ...]
    ) -> tuple[ChunkDecision, ...] | None:
        """Decide collection and encoder of pictures, as ``classify_chunk``.

        Called once a document that has pictures, in the main process; ``ChunkDecision.target`` is the
        position of the asset. A picture that nobody decides on is kept, and no search finds it by its
        looks. Mode all; policy fail.
        """

    @hookspec
    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Encode passages with the encoder of this label.

        Called in batches, in the main process. Return vectors in the order given, or ``None`` when the
        encoder is not yours. Mode first; policy fail.
        """

    @hookspec
    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Encode pictures, as ``embed_text``.

        Raise ``InvalidInput`` when one of them is no picture that can be decoded: then each is tried alone,
        and that one is kept without a vector. Mode first; policy fail.
        """

    @hookspec
    def upsert_vectors(self, collection: str, rows: Sequence[StoredPassage]) -> int | None:
        """Write rows to a collection.

        Called once a document and collection. Return how many rows were written durably, or ``None`` when
        the collection is not yours. Mode first; policy fail.
        """

    @hookspec
    def query_assemble(self, context: QueryContext) -> QueryAddition | None:
        """Add to a query before anything is decided.

        Called once a query. Return an addition or ``None``. Mode all; policy degrade.
        """

    @hookspec
    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Decide which collections a query goes to.

        Called once a query. Return plans or ``None`` to abstain. Mode first; policy fail.
        """

    @hookspec
    def query_dense_expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Rewrite a query for the arms.

        Called once a query with ``plan=None``, where the intent is taken from the return, then once a
        plan. Return the expanded query or ``None``. Mode first; policy degrade.
        """

    @hookspec
    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Reorder the candidates of one plan (tier 1).

        Called once a plan. Return candidates best first, a subset of those given, or ``None``. Their
        ``score``, ``parts`` and ``arms`` may change, what they are may not. Mode first; policy degrade.
        """

    @hookspec
    def retrieve_supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """Bring further candidates, such as documents that mention an entity.

        Called once a query, after the plans were searched. Return candidates best first, with any
        ``parts`` and ``arms``, or ``None``; what is out of scope is dropped by the core. Mode all;
        policy degrade.
        """

    @hookspec
    def rrf_post_merge(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Change the merged ranking, for example inject supplement candidates.

        Called once a query, after fusion and dedupe. Return the ranking, or ``None``. ``score``,
        ``parts`` and ``arms`` may change, what a candidate is may not. Mode first; policy degrade.
        """

    @hookspec
    def rerank_merged(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Rerank the merged ranking (tier 2).

        Called once a query, when ``rerank.policy`` is ``domain``, with the first ``rerank.depth``
        candidates and the text of each. Return candidates best first, or ``None`` to leave the order.
        ``score``, ``parts`` and ``arms`` may change, what a candidate is may not. Those left out, for
        example because ``context.rerank_budget_s`` was spent, follow below in their order, and the trace
        says how many. A part ``stand_in`` says that an encoder failed and another score stands for its own;
        the trace says that too. Mode first; policy degrade.
        """


HOOKS: dict[str, HookRule] = {
    "ingest_route_selectors": HookRule("first", "fail"),
    "parse": HookRule("first", "fail"),
    "chunk": HookRule("transform", "fail", subject="passages"),
    "annotate": HookRule("transform", "fail", subject="passages"),
    "ingest_visual_extract": HookRule("all", "fail"),
    "classify_chunk": HookRule("all", "fail"),
    "classify_visual": HookRule("all", "fail"),
    "embed_text": HookRule("first", "fail"),
    "embed_visual": HookRule("first", "fail"),
    "upsert_vectors": HookRule("first", "fail"),
    "query_assemble": HookRule("all", "degrade"),
    "classify_query": HookRule("first", "fail"),
    "query_dense_expand": HookRule("first", "degrade"),
    "rerank": HookRule("first", "degrade"),
    "retrieve_supplement": HookRule("all", "degrade"),
    "rrf_post_merge": HookRule("first", "degrade"),
    "rerank_merged": HookRule("first", "degrade"),
}
