"""Entity-anchored recall: documents that the registry finds by a drug's name, and the best passages of each.

Nothing depends on how files are called. The look-up is by all names of a drug; the nearest passages are
searched within the documents found, in each collection that the query goes to anyway, and within the scope of
the request.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_biomed.collections import CHEMICAL, CORE_TEXT, TEXT
from eagle_biomed.evidence import EvidenceReader, with_parts
from eagle_biomed.expansion import resolve_drug_terms
from eagle_biomed.intent import EntityNames
from eagle_biomed.rerank import VectorShelf
from eagle_biomed.scoring import (
    entity_boost_score,
    lexical_overlap,
    spellings,
    supplement_score,
)
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import AllOf, Filter, OneOf
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    QueryIntent,
)
from eagle_rag.ports.services import NameLookup

__all__ = ["EntitySupplement", "collections_for_intent", "supplement_limit"]

_DOCUMENTS: Final = 64
"""Documents of a drug that are searched; a drug in more of them is found by the arms as well."""
_LOOKED_UP: Final = 10_000  # of which those are taken that the request allows
_PER_DOCUMENT, _LEAST = 4, 8


def collections_for_intent(intent: QueryIntent) -> tuple[str, ...]:
    """Return the collections of the supplement, by the reference's table.

    ``eagle_text`` is with the texts: documents that the router took for general are there, and they may name
    a drug.
    """
    if intent.workflow == "chemical":
        return (CHEMICAL,)
    every = (TEXT, CORE_TEXT, CHEMICAL)
    return tuple(name for name in every if name not in intent.suppress_collections)


def supplement_limit(recall_top_k: int, documents: int) -> int:
    """Return ``min(recall_top_k, max(4 * documents, 8))``."""
    return min(recall_top_k, max(_PER_DOCUMENT * documents, _LEAST))


@dataclass(frozen=True, slots=True)
class EntitySupplement:
    """Brings passages of documents that name the drugs of a query.

    Args:
        library: Searches within documents; ``None`` in a worker process, and then it abstains.
        lookup: Finds documents by name; likewise.
        reader: Reads what passages name.
        names: Gives the ontology.
        expand: The query as a plan's encoder sees it; ``None``: as it was asked.
    """

    library: VectorShelf | None
    lookup: NameLookup | None
    reader: EvidenceReader
    names: Callable[[], EntityNames]
    expand: Callable[[QueryContext, CollectionQueryPlan], ExpandedQuery | None]

    def supplement(
        self, context: QueryContext, plans: Sequence[CollectionQueryPlan]
    ) -> tuple[Candidate, ...]:
        """Return passages, best first; none where none would be injected.

        A search for words alone gets none: nothing may be encoded for it.

        Raises:
            EncoderLoadError, EncoderUnavailable, StoreError, RegistryError: Something did not answer.
        """
        request = context.request
        wanted = context.intent.require_entity_match and context.rerank_policy != "none"
        if not wanted or not request.query.strip() or request.mode == "lexical":
            return ()
        terms = resolve_drug_terms(request.query, self.names())
        documents = self._documents(context, terms) if terms else ()
        if not documents:
            return ()
        homes = collections_for_intent(context.intent)
        found = [
            candidate
            for plan in plans
            if plan.collection in homes
            for candidate in self._nearest(context, plan, documents)
        ]
        return self._ordered(context, found, terms)

    def _documents(self, context: QueryContext, terms: Sequence[str]) -> tuple[str, ...]:
        if self.lookup is None:
            return ()
        request = context.request
        called = spellings(terms, self.names())
        narrow = request.document_ids is not None
        limit = _LOOKED_UP if narrow else _DOCUMENTS
        found = self.lookup.documents_named(called, kb_names=request.kb_names, limit=limit)
        if request.document_ids is not None:
            allowed = frozenset(request.document_ids)
            found = tuple(each for each in found if each in allowed)
        return found[:_DOCUMENTS]

    def _nearest(
        self, context: QueryContext, plan: CollectionQueryPlan, documents: tuple[str, ...]
    ) -> list[Candidate]:
        asked = self._asked(context, plan)
        if self.library is None or not asked:
            return []
        within: Filter = OneOf("document_id", documents)
        if context.scope is not None:
            within = AllOf((context.scope, within))
        limit = supplement_limit(plan.recall_top_k, len(documents))
        hits = self.library.nearest(plan.collection, asked, limit=limit, where=within)
        return [_candidate(hit, plan.collection) for hit in hits]

    def _asked(self, context: QueryContext, plan: CollectionQueryPlan) -> str:
        """Return what the plan's encoder is asked; empty when it has nothing to compare with."""
        expanded = self.expand(context, plan)
        if expanded is not None:
            return expanded.dense_query
        return "" if plan.collection == CHEMICAL else context.request.query

    def _ordered(
        self, context: QueryContext, found: Sequence[Candidate], terms: Sequence[str]
    ) -> tuple[Candidate, ...]:
        """Return the candidates by ``2.0 * entity + lexical + 0.1 * dense``, each passage once."""
        called = spellings(terms, self.names())
        best: dict[str, Candidate] = {}
        evidence = self.reader.read(found, kb_names=context.request.kb_names)
        for candidate, known in zip(found, evidence, strict=True):
            score = supplement_score(
                entity_boost_score(known, called),
                lexical_overlap(context.request.query, known.text, terms),
                candidate.score,
            )
            scored = replace(candidate, score=score, parts=with_parts(candidate, supplement=score))
            before = best.get(candidate.passage_id)
            if before is None or score > before.score:
                best[candidate.passage_id] = scored
        return tuple(sorted(best.values(), key=lambda each: (-each.score, each.passage_id)))


def _candidate(hit: StoreHit, collection: str) -> Candidate:
    return Candidate(
        passage_id=hit.passage_id,
        document_id=hit.document_id,
        version=hit.version,
        kb_name=hit.kb_name,
        collection=collection,
        score=hit.score,
        extra=hit.extra,
    )
