"""The query side's hooks, put together: which part answers which hook, and in what order parts of one hook go."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from eagle_biomed.exact_compounds import ExactCompounds, is_exact_compound
from eagle_biomed.rerank import PlanReranker
from eagle_biomed.rerank_merged import MergedReranker
from eagle_biomed.routing import QueryRouter
from eagle_biomed.supplement import EntitySupplement
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryAddition,
    QueryContext,
)

__all__ = ["QueryPath"]


class ExpandsQueries(Protocol):
    """What assembling needs of the ontology."""

    def expand_query_with_entities(self, query: str) -> str:
        """Return the names that go with a query's entities, or empty."""
        ...


@dataclass(frozen=True, slots=True)
class QueryPath:
    """What happens to a query after it was routed; keeps nothing between two queries.

    Args:
        router: Keeps a compound's neighbours out of answers that nobody asked them for.
        tier1: Orders one plan.
        compounds: Brings compounds by their structure, always first.
        supplement: Brings documents by a drug's name.
        tier2: Orders the merged ranking.
        names: Gives the ontology.
        min_new: Supplement hits that are injected at most; 0 injects none, and none are looked for.
    """

    router: QueryRouter
    tier1: PlanReranker
    compounds: ExactCompounds
    supplement: EntitySupplement
    tier2: MergedReranker
    names: Callable[[], ExpandsQueries]
    min_new: int

    def assemble(self, context: QueryContext) -> QueryAddition | None:
        """Return the names of the query's entities as a note; the arms get them by expansion alone."""
        suffix = self.names().expand_query_with_entities(context.request.query)
        return QueryAddition(note=suffix) if suffix else None

    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        *,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return one plan's candidates best first; ``None`` when there is nothing to change."""
        narrowed = self.router.narrow(context, plan, candidates)
        left = candidates if narrowed is None else narrowed
        ordered = self.tier1.rerank(context, plan, expanded, candidates=left)
        return narrowed if ordered is None else ordered

    def retrieve_supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[Candidate, ...] | None:
        """Return exact compounds, then passages of documents that name the query's drugs."""
        exact = self.compounds.supplement(context, plans) or ()
        entity = self.supplement.supplement(context, plans) if self.min_new else ()
        known = {each.passage_id for each in exact}
        return (*exact, *(each for each in entity if each.passage_id not in known)) or None

    def post_merge(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the ranking with exact compounds first, then what is injected; ``None`` for no change."""
        entity = tuple(each for each in supplement if not is_exact_compound(each))
        ranking = self.supplement.inject(context, merged, entity, min_new=self.min_new)
        with_exact = self.compounds.inject(ranking, supplement)
        changed = ranking if with_exact is None else with_exact
        return None if changed == merged else changed

    def rerank_merged(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Return the merged ranking best first; ``None`` when another policy is in force."""
        return self.tier2.rerank(context, merged, texts)
