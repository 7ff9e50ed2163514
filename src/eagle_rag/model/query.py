"""A question on its way: request, context, plans, candidates, ranking."""

from dataclasses import dataclass, field
from typing import Literal

from eagle_rag.model.filters import Filter

__all__ = [
    "STAND_IN_PART",
    "ArmScore",
    "Candidate",
    "CollectionQueryPlan",
    "ExpandedQuery",
    "FusionMethod",
    "GroupBy",
    "QueryAddition",
    "QueryContext",
    "QueryIntent",
    "RerankPolicy",
    "RouteDecision",
    "SearchMode",
    "SearchRequest",
]

STAND_IN_PART = "stand_in"
"""Part of a candidate that a reranker scored by something else, because what it was asked to use failed."""

FusionMethod = Literal["rrf", "weighted", "min-max"]
GroupBy = Literal["document", "passage"]
RerankPolicy = Literal["domain", "general", "none"]
SearchMode = Literal["hybrid", "lexical", "dense"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What the caller asks.

    Args:
        query: The question, untouched; may be empty beside an image.
        top_k: How many results, at least 1.
        offset: How many results to skip, at least 0.
        kb_names: Knowledge bases the caller may see: ``None`` means all of the workspace,
            an empty tuple means none, and then nothing is found; at most 10,000.
        document_ids: Restrict to these documents; ``None`` for no restriction, empty for nothing; at
            most 10,000.
        filters: Further restriction, or ``None``.
        group_by: ``document``: one result a document, its best passage; ``passage``: as they are.
        mode: ``hybrid`` runs both arms.
        fusion: ``None`` takes the setting.
        explain: Every arm's rank and score in each hit.
        image: A picture to compare with, encoded as a file is; ``None`` for a question in words.
    """

    query: str
    top_k: int = 10
    offset: int = 0
    kb_names: tuple[str, ...] | None = None
    document_ids: tuple[str, ...] | None = None
    filters: Filter | None = None
    group_by: GroupBy = "document"
    mode: SearchMode = "hybrid"
    fusion: FusionMethod | None = None
    explain: bool = False
    image: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class QueryIntent:
    """What kind of question it is; filled by a domain plugin.

    Args:
        workflow: ``general``, or a name of the plugin's.
        suppress_collections: Collections not to search.
        section_cues: Section tags the question points to.
        require_entity_match: Only hits that mention the entity asked for are worth showing.
    """

    workflow: str = "general"
    suppress_collections: tuple[str, ...] = ()
    section_cues: tuple[str, ...] = ()
    require_entity_match: bool = False


@dataclass(frozen=True, slots=True)
class QueryAddition:
    """What a plugin adds to a query during assembly.

    Args:
        dense_suffix: Appended to the text the dense arms see.
        lexical_terms: Further terms for the lexical arms.
        note: Shown in the trace of a search that is explained.
        plugin: Stamped by the bus.
    """

    dense_suffix: str = ""
    lexical_terms: tuple[str, ...] = ()
    note: str = ""
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class QueryContext:
    """The question with everything learnt about it; computed once, passed to every later hook.

    Args:
        request: What was asked.
        namespace: The plugin namespace in force.
        tokens: Search tokens of the query, in order.
        scope: The scope of the request compiled to a filter; ``None`` is no restriction.
        additions: What ``query_assemble`` returned, by priority.
        intent: What ``query_dense_expand`` made of it; ``QueryIntent()`` until then.
        rerank_policy: Who reranks the merged ranking: the plugin (``domain``), the core's cross-encoder
            (``general``) or nobody.
        rerank_budget_s: Seconds that scoring pairs may take in all; ``None`` is no limit.
        rerank_depth: Candidates of the merged ranking that are reranked at most.
    """

    request: SearchRequest
    namespace: str
    tokens: tuple[str, ...]
    scope: Filter | None = None
    additions: tuple[QueryAddition, ...] = ()
    intent: QueryIntent = field(default_factory=QueryIntent)
    rerank_policy: RerankPolicy = "none"
    rerank_budget_s: float | None = None
    rerank_depth: int = 50


@dataclass(frozen=True, slots=True)
class CollectionQueryPlan:
    """One collection to search with one encoder.

    Args:
        collection: Its name.
        encoder: Label of the query's encoder.
        recall_top_k: How many rows each arm brings.
        hybrid: Run the BM25 arm as well.
        weight: Weight of this plan in weighted fusion.
        rule: Which rule chose it; empty for the one of the decision.
    """

    collection: str
    encoder: str
    recall_top_k: int = 100
    hybrid: bool = True
    weight: float = 1.0
    rule: str = ""


@dataclass(frozen=True, slots=True)
class RouteDecision:
    """Which collections a query goes to, and why."""

    plans: tuple[CollectionQueryPlan, ...]
    rule: str = "default"
    confidence: float = 1.0
    hints: tuple[tuple[str, str], ...] = ()
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class ExpandedQuery:
    """The query as the arms see it.

    Args:
        dense_query: Text the dense arm encodes; empty leaves that arm out: the query has nothing for it.
        sparse_terms: Further terms of the lexical arm.
        intent: The intent found; ``None`` leaves the context's.
    """

    dense_query: str
    sparse_terms: tuple[str, ...] = ()
    intent: QueryIntent | None = None


@dataclass(frozen=True, slots=True)
class ArmScore:
    """What one arm said about a candidate.

    Args:
        arm: ``<collection>/lexical``, ``<collection>/identifier``, ``<collection>/dense``;
            ``<collection>/rerank/<plugin>``, ``supplement/<plugin>``, ``inject/<plugin>``,
            ``rerank_merged/<plugin>``; when the request explains, ``<collection>/plan`` (the arms of a
            plan fused) and ``fused`` (the plans merged) besides.
        rank: From 1.
        score: In the arm's own unit.
    """

    arm: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage on its way to being a hit.

    Args:
        passage_id: Its passage.
        document_id: Its document.
        version: Version of the document.
        kb_name: Its knowledge base.
        collection: Where it was found first.
        score: Current score, in the unit of the last stage.
        arms: Every arm that found it.
        extra: Extra fields of its row, sorted by name.
        pictures: Keys of the pictures through which it was found, best first.
        parts: Named parts of its score that a stage or plugin explains, sorted by name: ``dense`` and
            ``sparse`` of a hybrid collection, a reranker's raw score, a penalty.
    """

    passage_id: str
    document_id: str
    version: int
    kb_name: str
    collection: str
    score: float
    arms: tuple[ArmScore, ...] = ()
    extra: tuple[tuple[str, str | None], ...] = ()
    pictures: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
