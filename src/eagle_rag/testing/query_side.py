"""Candidates and a plugin's services in memory, for tests of the hooks of the query side.

Each fake holds what it is given and notes what it was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from eagle_rag.errors import UnknownName
from eagle_rag.model.collection import EncoderCard, StoreHit
from eagle_rag.model.document import SectionKind
from eagle_rag.model.filters import AllOf, AnyOf, Filter, OneOf
from eagle_rag.model.passage import FloatArray, Passage
from eagle_rag.model.query import (
    ArmScore,
    Candidate,
    QueryContext,
    QueryIntent,
    RerankPolicy,
    SearchRequest,
)
from eagle_rag.model.records import AuditEvent, DocumentNames
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder

__all__ = [
    "Audit",
    "Encoders",
    "Lookup",
    "Scorer",
    "Shelf",
    "Texts",
    "candidate",
    "context_of",
    "holds",
    "ids_of",
    "part",
    "passage",
]


def candidate(
    key: str,
    score: float = 0.0,
    *,
    collection: str = "eagle_text",
    arms: tuple[ArmScore, ...] = (),
    document: str = "",
    **extra: str,
) -> Candidate:
    """Return a candidate; its document has the same key unless it is named, ``extra`` are its row's fields."""
    fields = tuple(sorted(extra.items()))
    return Candidate(key, document or f"doc-{key}", 1, "kb", collection, score, arms, extra=fields)


def ids_of(candidates: Sequence[Candidate]) -> list[str]:
    """Return the passages, in order."""
    return [each.passage_id for each in candidates]


def part(candidate: Candidate, name: str) -> float:
    """Return a part of a candidate's score."""
    return dict(candidate.parts)[name]


def context_of(
    request: str | SearchRequest,
    intent: QueryIntent | None = None,
    *,
    namespace: str = "core",
    policy: RerankPolicy = "domain",
    scope: Filter | None = None,
) -> QueryContext:
    """Return the context of a query that will be reranked."""
    asked = SearchRequest(request) if isinstance(request, str) else request
    query = asked.query
    return QueryContext(
        asked,
        namespace,
        tuple(query.lower().split()),
        scope=scope,
        intent=intent or QueryIntent(),
        rerank_policy=policy,
    )


def passage(
    key: str,
    text: str = "",
    *,
    path: tuple[str, ...] = (),
    tags: Mapping[str, str] | None = None,
    document: str = "",
) -> Passage:
    """Return a passage; its document has the same key unless it is named."""
    pairs = tuple(sorted((tags or {}).items()))
    owner = document or f"doc-{key}"
    return Passage(key, owner, 0, 0, path, SectionKind.BODY, 0, len(text), text, pairs)


@dataclass
class Texts:
    """``PassageTexts`` over given passages; it notes what was asked."""

    held: dict[str, Passage] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def texts(
        self, passage_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, Passage]:
        """See ``PassageTexts``."""
        del kb_names
        self.asked.append(tuple(passage_ids))
        return {each: self.held[each] for each in passage_ids if each in self.held}


@dataclass
class Lookup:
    """``NameLookup`` over given names; it notes what was asked."""

    by_term: dict[str, tuple[str, ...]] = field(default_factory=dict)
    called: dict[str, DocumentNames] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    kb_names: list[Sequence[str] | None] = field(default_factory=list)

    def documents_named(
        self, terms: Sequence[str], *, kb_names: Sequence[str] | None = None, limit: int = 64
    ) -> tuple[str, ...]:
        """See ``NameLookup``."""
        self.asked.append(tuple(terms))
        self.kb_names.append(kb_names)
        found = {doc for term in terms for doc in self.by_term.get(term, ())}
        return tuple(sorted(found))[:limit]

    def names_of(
        self, document_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, DocumentNames]:
        """See ``NameLookup``."""
        del kb_names
        return {each: self.called[each] for each in document_ids if each in self.called}


@dataclass
class Shelf:
    """The part of ``Library`` that compares vectors, over given rows; it notes what was asked."""

    # Just what such hooks call: the rest of ``Library`` is listings.

    rows: dict[str, tuple[StoreHit, ...]] = field(default_factory=dict)
    asked: list[tuple[str, str, int]] = field(default_factory=list)

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``Library.nearest``."""
        self.asked.append((collection, query, limit))
        if collection not in self.rows:
            kind = "collection"
            raise UnknownName(kind, collection, ())
        return tuple(row for row in self.rows[collection] if holds(where, row))[:limit]


def holds(where: Filter | None, row: StoreHit) -> bool:
    """Return whether a row satisfies a filter; of comparisons, equality alone is known."""
    if where is None:
        return True
    if isinstance(where, AllOf):
        return all(holds(each, row) for each in where.parts)
    if isinstance(where, AnyOf):
        return any(holds(each, row) for each in where.parts)
    value = getattr(row, where.field)
    if isinstance(where, OneOf):
        return value in where.values
    return bool(value == where.value)


@dataclass
class Scorer:
    """A cross-encoder that knows its scores; it notes the texts it saw."""

    values: Sequence[float]
    seen: list[str] = field(default_factory=list)

    @property
    def card(self) -> EncoderCard:
        """What it is."""
        return EncoderCard("pairs", "rerank", 1, "hash")

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """See ``PairScorer``."""
        del query
        start = len(self.seen)
        self.seen += texts
        return np.array(self.values[start : start + len(texts)], np.float32)


@dataclass
class Encoders:
    """``EncoderCatalog`` with one cross-encoder, or an error instead."""

    scorer: PairScorer | None = None
    error: Exception | None = None
    calls: int = 0

    def text(self, label: str) -> TextEncoder:
        """See ``EncoderCatalog``."""
        kind = "text encoder"
        raise UnknownName(kind, label, ())

    def visual(self, label: str) -> VisualEncoder:
        """See ``EncoderCatalog``."""
        kind = "visual encoder"
        raise UnknownName(kind, label, ())

    def rerank(self, label: str) -> PairScorer:
        """See ``EncoderCatalog``."""
        self.calls += 1
        if self.error is not None:
            raise self.error
        if self.scorer is None:
            kind = "cross-encoder"
            raise UnknownName(kind, label, ())
        return self.scorer

    def cards(self) -> tuple[EncoderCard, ...]:
        """See ``EncoderCatalog``."""
        return ()


@dataclass
class Audit:
    """A decision log that keeps what it is told."""

    events: list[AuditEvent] = field(default_factory=list)

    def log_decision(self, event: AuditEvent) -> None:
        """See ``DecisionLog``."""
        self.events.append(event)
