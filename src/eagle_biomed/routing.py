"""Which collections a query goes to, and what the chemical one is asked.

The choice of this version: by what the query holds, without intent. It keeps nothing between two queries.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from eagle_biomed.classifiers import is_pathology, is_radiology
from eagle_biomed.collections import (
    CHEMICAL,
    CORE_TEXT,
    CORE_VISUAL,
    MEDCPT,
    PATHOLOGY,
    RADIOLOGY,
    TEXT,
)
from eagle_biomed.options import BiomedOptions
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.model.query import (
    Candidate,
    CollectionQueryPlan,
    ExpandedQuery,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.ports.encoders import EncoderCatalog
from eagle_rag.ports.plugins import CollectionCatalog

__all__ = ["CompoundLookup", "QueryRouter", "structure_in"]

_NO_ENCODER = "left out: no encoder fills it in this profile"
_NO_TOWER = "left out: its encoder takes pictures alone, not words"
_NO_WORDS_ARM = "left out: it has no BM25 arm, and mode is lexical"
_NO_STRUCTURE = "left out: the query holds no structure and names none"
_ALIKE = re.compile(
    r"\b(?:similar|analog(?:ue)?s?|derivatives?|scaffolds?|structur\w+|SMILES|InChI|chemotypes?"
    r"|compounds?|molecules?)\b",
    re.IGNORECASE,
)
_SAME_MOLECULE = 0.999
"""Cosine from which two vectors are of one molecule; rounding takes some of it."""


class CompoundLookup(Protocol):
    """What routing needs of the ontology."""

    def match_drug_entities(self, text: str) -> Sequence[str]:
        """Return the canonical names of the drugs a text names, by first occurrence."""
        ...

    def smiles_of(self, name: str) -> str:
        """Return the SMILES of a known compound, or empty."""
        ...


@dataclass(frozen=True, slots=True)
class _Wish:
    """A collection that a query should go to, and why."""

    collection: str
    reason: str


class QueryRouter:
    """Routes and expands queries; safe to use from several threads.

    Args:
        options: The plugin's options.
        collections: What can be searched; ``None`` where nothing is, and then it abstains.
        encoders: All encoders.
        names: Gives what finds compounds; called with the first query.
    """

    def __init__(
        self,
        options: BiomedOptions,
        *,
        collections: CollectionCatalog | None,
        encoders: EncoderCatalog,
        names: Callable[[], CompoundLookup],
    ) -> None:
        self._options = options
        self._collections = collections
        self._encoders = encoders
        self._names = names

    def route(self, context: QueryContext) -> RouteDecision | None:
        """Return the plans; ``None`` leaves the query to the core.

        Each hint names a collection and says why the query goes there or does not.

        Raises:
            UnknownName: ``exploratory_search_collections`` names a collection that is not there.
        """
        if self._collections is None:
            return None
        top_k = self._options.collection_recall_top_k
        plans: list[CollectionQueryPlan] = []
        hints: dict[str, str] = {}
        for wish in self._wishes(context.request):
            missing = self._missing(wish.collection, context.request)
            hints.setdefault(wish.collection, missing or wish.reason)
            if not missing and all(plan.collection != wish.collection for plan in plans):
                plans.extend(self._collections.plans([wish.collection], recall_top_k=top_k))
        if not plans:
            return None
        rule = "biomed-" + "+".join(_ARM.get(plan.collection, plan.collection) for plan in plans)
        return RouteDecision(tuple(plans), rule=rule, hints=tuple(sorted(hints.items())))

    def expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Return the structure that the chemical collection is asked for; ``None`` for other plans."""
        if plan is None or plan.collection != CHEMICAL:
            return None
        structure = structure_in(context.request.query, self._names())
        return ExpandedQuery(structure) if structure else None

    def narrow(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the compound itself, without its neighbours, for a query that is but its name.

        Molecules that look like a drug answer no question about it, least of all where the drug is not in
        the library. ``None`` leaves the candidates of any other query as they are.
        """
        query = context.request.query
        if plan.collection != CHEMICAL or readable_structure(query) or _ALIKE.search(query):
            return None
        return tuple(each for each in candidates if _similarity(each) >= _SAME_MOLECULE)

    def _wishes(self, request: SearchRequest) -> list[_Wish]:
        wishes: list[_Wish] = []
        words = request.query
        if words.strip():
            wishes += [_Wish(TEXT, "always"), _Wish(CORE_TEXT, "always")]
            if self._options.medcpt_dual_search:
                wishes.append(_Wish(MEDCPT, "medcpt_dual_search"))
            wishes += self._chemical(words)
        wishes += _visual(request)
        extra = self._options.exploratory_search_collections
        wishes += [_Wish(name, "exploratory_search_collections") for name in extra]
        return wishes

    def _chemical(self, words: str) -> list[_Wish]:
        if readable_structure(words):
            return [_Wish(CHEMICAL, "the query holds a structure")]
        if _ALIKE.search(words) and structure_in(words, self._names()):
            return [_Wish(CHEMICAL, "the query asks about the structure of a compound it names")]
        if self._names().smiles_of(_bare(words)):
            return [_Wish(CHEMICAL, "the query is the name of a compound of known structure")]
        return []

    def _missing(self, collection: str, request: SearchRequest) -> str:
        """Return why a collection cannot be searched; empty when it can."""
        profiles = () if self._collections is None else self._collections.profiles()
        profile = next((each for each in profiles if each.name == collection), None)
        known = profile is not None or collection in self._options.exploratory_search_collections
        if profile is None:
            return "" if known else _NO_ENCODER
        if not profile.default_encoder:
            return _NO_ENCODER
        if request.mode == "lexical" and not profile.hybrid_enabled:
            return _NO_WORDS_ARM
        if collection == CHEMICAL and not structure_in(request.query, self._names()):
            return _NO_STRUCTURE
        cards = {card.label: card for card in self._encoders.cards()}
        card = cards.get(profile.default_encoder)
        blind = card is not None and card.modality == "visual" and not card.queries_text
        return _NO_TOWER if blind and request.image is None else ""


_ARM = {
    TEXT: "text",
    CORE_TEXT: "general",
    MEDCPT: "medcpt",
    CHEMICAL: "chemical",
    RADIOLOGY: "radiology",
    PATHOLOGY: "pathology",
    CORE_VISUAL: "visual",
}


def _visual(request: SearchRequest) -> list[_Wish]:
    if request.image is not None:
        names = (RADIOLOGY, PATHOLOGY, CORE_VISUAL)
        return [_Wish(name, "the query is a picture") for name in names]
    wishes: list[_Wish] = []
    if is_radiology(request.query):
        wishes.append(_Wish(RADIOLOGY, "the query speaks of radiology"))
    if is_pathology(request.query):
        wishes.append(_Wish(PATHOLOGY, "the query speaks of pathology"))
    return wishes


def structure_in(query: str, names: CompoundLookup) -> str:
    """Return the SMILES or InChI a query holds, else the SMILES of a compound it names, else empty."""
    own = readable_structure(query)
    if own:
        return own
    found = (names.smiles_of(name) for name in (_bare(query), *names.match_drug_entities(query)))
    return next((smiles for smiles in found if smiles), "")


def _bare(query: str) -> str:
    return query.strip(" \t\n?!.,;:\"'")


def _similarity(candidate: Candidate) -> float:
    return max(
        (arm.score for arm in candidate.arms if arm.arm == f"{CHEMICAL}/dense"), default=0.0
    )
