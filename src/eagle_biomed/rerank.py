"""Tier 1: the candidates of one plan, before plans are merged.

``tier1`` chooses among three ways. ``cosine`` is the reference's: candidates that do not name what is asked
for are dropped, unless none would be left, and the rest goes by cosine. A pure cosine order forgets which
texts hold the exact names of a query, so ``filter`` is the default: those that name it come first, each group
in the order of the fusion, and none is dropped, because a short page makes a search go deeper and deeper for
what is not there. ``off`` leaves the fusion alone. ``docs/biomed-retrieval.md`` has what each is worth.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from eagle_biomed.collections import CHEMICAL, CORE_TEXT, MEDCPT, TEXT
from eagle_biomed.evidence import EvidenceReader, evidence_of, with_parts
from eagle_biomed.intent import EntityNames, named_drugs
from eagle_biomed.options import Tier1
from eagle_biomed.scoring import (
    ENTITY_TEXT_CHARS,
    Evidence,
    entity_boost_score,
    names_any_within,
    spellings,
)
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import Filter, OneOf
from eagle_rag.model.query import Candidate, CollectionQueryPlan, ExpandedQuery, QueryContext

__all__ = ["PlanReranker", "VectorShelf", "cosines", "names_asked"]

_RERANKED = frozenset({TEXT, MEDCPT, CORE_TEXT, CHEMICAL})
_UNKNOWN = -1.0
"""Cosine of what has no vector there: after everything that has one."""


class VectorShelf(Protocol):
    """What is needed of ``Library``."""

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return the rows of a collection nearest to a query."""
        ...


def names_asked(evidence: Evidence, terms: Sequence[str]) -> bool:
    """Return whether a passage names one of the terms: by tag, by what it is called, or at its head.

    A drug's names, or a section cue in words; the reference asks for either. The head ends for both tiers at
    the same character.
    """
    return entity_boost_score(evidence, terms) > 0 or names_any_within(
        evidence.text, terms, ENTITY_TEXT_CHARS
    )


def cosines(
    candidates: Sequence[Candidate], collection: str, query: str, library: VectorShelf | None
) -> dict[str, float]:
    """Return the cosine of query and passage by passage id, for those with a vector in the collection.

    The dense arm knows it of what it found. Of the others the stored vector is compared: it is the passage
    encoded by the encoder that fills the collection, so nothing is encoded but the query.

    Args:
        candidates: What is compared.
        collection: Whose vectors.
        query: What its encoder is asked; empty when there is nothing to ask.
        library: Compares stored vectors; ``None``: only what the dense arm found.
    """
    arm = f"{collection}/dense"
    found = {
        each.passage_id: score.score
        for each in candidates
        for score in each.arms
        if score.arm == arm
    }
    others = tuple(
        sorted({each.passage_id for each in candidates if each.passage_id not in found})
    )
    if others and query and library is not None:
        where = OneOf("passage_id", others)
        hits = library.nearest(collection, query, limit=2 * len(others), where=where)
        for hit in hits:  # a passage may have several rows, such as its pictures
            found[hit.passage_id] = max(hit.score, found.get(hit.passage_id, hit.score))
    return found


@dataclass(frozen=True, slots=True)
class PlanReranker:
    """Orders the candidates of one plan.

    Args:
        mode: ``cosine``, ``filter`` or ``off``.
        library: Compares stored vectors; ``None`` where there is nothing to compare.
        reader: Reads what passages name.
        names: Gives the ontology.
    """

    mode: Tier1
    library: VectorShelf | None
    reader: EvidenceReader
    names: Callable[[], EntityNames]

    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        *,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the candidates best first; ``None`` leaves them to the fusion.

        Raises:
            EncoderLoadError, EncoderUnavailable, StoreError, RegistryError: Something did not answer.
        """
        if self.mode == "off" or plan.collection not in _RERANKED or not candidates:
            return None
        kept, rest = self._parted(
            context, plan, self._terms(context, expanded), candidates=candidates
        )
        if self.mode == "filter":
            return (*kept, *rest) if rest and kept else None
        if context.request.mode == "lexical":
            return kept if rest else None  # who asks for words alone wants nothing encoded
        known = cosines(kept, plan.collection, expanded.dense_query, self.library)
        return _by_cosine(kept, known)

    def _terms(self, context: QueryContext, expanded: ExpandedQuery) -> tuple[str, ...]:
        """Return what candidates are asked to name; empty when nothing is asked.

        The reference asks for any sparse term, section cues included. ``filter`` asks for the drugs alone:
        the warnings of another drug are no better than its other sections, and a passage that says
        "compound" is no better than one that has the InChIKey asked for.
        """
        if not context.intent.require_entity_match or not expanded.sparse_terms:
            return ()
        known = self.names()
        # A passage may use a brand or a code where the query has the generic name.
        drugs = spellings(named_drugs(context.request.query, known), known)
        if self.mode == "filter":
            return drugs
        return tuple(dict.fromkeys((*expanded.sparse_terms, *drugs)))

    def _parted(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        terms: tuple[str, ...],
        *,
        candidates: tuple[Candidate, ...],
    ) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
        """Return the candidates that name a term, and the others; all and none when no candidate does."""
        by_structure = plan.collection == CHEMICAL and self.mode == "filter"
        if (
            not terms or by_structure
        ):  # whoever asks for what looks like a drug asks for other names
            return candidates, ()
        named = self._naming(candidates, terms, kb_names=context.request.kb_names)
        kept = tuple(each for each in candidates if each.passage_id in named)
        rest = tuple(each for each in candidates if each.passage_id not in named)
        return (kept, rest) if kept else (candidates, ())

    def _naming(
        self,
        candidates: Sequence[Candidate],
        terms: Sequence[str],
        *,
        kb_names: Sequence[str] | None,
    ) -> frozenset[str]:
        """Return the passages that name a term; the registry is asked of those whose row does not say."""
        by_row = {each.passage_id: evidence_of(each, None, None) for each in candidates}
        named = {key for key, known in by_row.items() if names_asked(known, terms)}
        others = [each for each in candidates if each.passage_id not in named]
        evidence = self.reader.read(others, kb_names=kb_names)
        named |= {
            each.passage_id
            for each, known in zip(others, evidence, strict=True)
            if names_asked(known, terms)
        }
        return frozenset(named)


def _by_cosine(
    candidates: Sequence[Candidate], known: Mapping[str, float]
) -> tuple[Candidate, ...]:
    scored = (
        replace(each, score=cosine, parts=with_parts(each, tier1_cosine=cosine))
        for each in candidates
        for cosine in (known.get(each.passage_id, _UNKNOWN),)
    )
    return tuple(sorted(scored, key=lambda each: (-each.score, each.passage_id)))
