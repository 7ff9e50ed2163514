"""Entity-anchored recall: documents that the registry finds by a drug's name, and the best passages of each.

Nothing depends on how files are called. The look-up is by all names of a drug; the nearest passages are
searched within the documents found, in each collection that the query goes to anyway, and within the scope of
the request. A combination query looks for each of its drugs by itself: in one look-up for all of them the
hundreds of documents of one drug would leave no room for those of another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_biomed.collections import CHEMICAL, CORE_TEXT, TEXT
from eagle_biomed.combination import COMBINATION, DrugMentions, asked_drugs
from eagle_biomed.evidence import EvidenceReader, with_parts
from eagle_biomed.expansion import resolve_drug_terms
from eagle_biomed.injection import post_merge
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
"""Documents that are searched; a drug in more of them is found by the arms as well."""
_DRUGS: Final = 8
"""Drugs of a combination that have a look-up of their own. Who lists more of them compares no pair, and each
costs a search a collection."""
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
    """Brings passages of documents that name the drugs of a query, and puts them into the merged ranking.

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
        homes = collections_for_intent(context.intent)
        searched = [plan for plan in plans if plan.collection in homes]
        groups = _groups(context.intent, terms)
        found: list[Candidate] = []
        for drugs in groups:
            documents = self._documents(context, drugs, share=_DOCUMENTS // len(groups))
            for plan in searched if documents else ():
                found += self._nearest(context, plan, documents)
        return self._ordered(context, found, terms)

    def inject(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
        *,
        min_new: int,
    ) -> tuple[Candidate, ...]:
        """Return the ranking after injection; see ``post_merge``.

        Args:
            context: The query.
            merged: The ranking, best first.
            supplement: What ``supplement`` brought and the core kept.
            min_new: How many are injected at most; of a combination query, at least one a drug.

        Raises:
            RegistryError: It did not answer.
        """
        mentions = None
        if context.intent.workflow == COMBINATION:
            drugs = asked_drugs(context.request.query, self.names())[:_DRUGS]
            mentions = DrugMentions(
                drugs, lambda given: self.reader.read(given, kb_names=context.request.kb_names)
            )
        return post_merge(context, merged, supplement, min_new=min_new, mentions=mentions)

    def _documents(
        self, context: QueryContext, terms: Sequence[str], *, share: int
    ) -> tuple[str, ...]:
        """Return at most ``share`` documents that are about one of the terms, of those the request allows."""
        if self.lookup is None:
            return ()
        request = context.request
        called = spellings(terms, self.names())
        narrow = request.document_ids is not None
        limit = _LOOKED_UP if narrow else share
        found = self.lookup.documents_named(called, kb_names=request.kb_names, limit=limit)
        if request.document_ids is not None:
            allowed = frozenset(request.document_ids)
            found = tuple(each for each in found if each in allowed)
        return found[:share]

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


def _groups(intent: QueryIntent, terms: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the drugs that are looked up together: of a combination each alone, else all."""
    if intent.workflow == COMBINATION:
        return tuple((term,) for term in terms[:_DRUGS])
    return (terms,) if terms else ()


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
