"""Which collections a query goes to, why, and what the chemical one is asked.

The reference's steps on the collections and encoders of this profile; ``docs/biomed-retrieval.md`` lists them
with what is done otherwise. The intent is that of the context. What a query names is read once, not once a step.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

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
from eagle_biomed.expansion import expand_query, sparse_terms
from eagle_biomed.intent import EntityNames, detect_retrieval_intent, named_drugs
from eagle_biomed.options import BiomedOptions
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.model.collection import CollectionProfile
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

__all__ = ["FEW_ROWS", "PARENT_DOC_HINT", "QueryRouter", "asks_for_neighbours", "structure_in"]

FEW_ROWS: Final = 5
"""Rows that a chemical plan brings for a drug's name: one molecule, in a few knowledge bases."""
PARENT_DOC_HINT: Final = "parent_doc_retrieval"

_NAMESPACE: Final = "biomed"
_NO_ENCODER = "left out: no encoder fills it in this profile"
_NO_TOWER = "left out: its encoder takes pictures alone, not words"
_NO_WORDS_ARM = "left out: it has no BM25 arm, and mode is lexical"
_NO_STRUCTURE = "left out: the query holds no structure and names none"
_DRUG_ON = "the query names a drug: its own structure alone"
_DRUG_OFF = "left out: drug_structure_search is off, and the compound's card is found by its name"
_SAME_MOLECULE = 0.999
"""Cosine from which two vectors are of one molecule; rounding takes some of it."""

_QUERIES: Final = 32
"""Queries whose names and structure are remembered: those under way at one time."""

_THINGS: Final = r"(?:compounds?|molecules?|drugs?|structures?|ligands?|inhibitors?)"
_NEIGHBOURS: Final = re.compile(
    r"\b(?:analog(?:ue)?s|derivatives|congeners|scaffolds?|chemotypes?)\b"
    r"|\b(?:analog(?:ue)?|derivative|congener)\s+of\b"
    r"|\b(?:structural(?:ly)?|chemical(?:ly)?)[\s-]+(?:analog\w*|similar\w*|related|alike|relatives?)\b"
    rf"|\b{_THINGS}\s+(?:that\s+are\s+|most\s+)?(?:similar\s+to|related\s+to|like|resembling)\b"
    rf"|\bsimilar\s+{_THINGS}\b",
    re.IGNORECASE,
)

_ARM = {
    TEXT: "text",
    CORE_TEXT: "general",
    MEDCPT: "medcpt",
    CHEMICAL: "chemical",
    RADIOLOGY: "radiology",
    PATHOLOGY: "pathology",
    CORE_VISUAL: "visual",
}


@dataclass(frozen=True, slots=True)
class _Wish:
    """A collection that a query should go to, and why; ``refused``: that an option keeps it from, and which."""

    collection: str
    reason: str
    refused: bool = False


class _Remembered:
    """The ontology, which remembers what it found in the last few texts."""

    def __init__(self, names: EntityNames) -> None:
        self.match_entities = lru_cache(_QUERIES)(names.match_entities)
        self.match_drug_entities = lru_cache(_QUERIES)(names.match_drug_entities)
        self.resolve_entity = names.resolve_entity
        self.smiles_of = names.smiles_of
        self.resolve_compound_query = names.resolve_compound_query
        self.expand_query_for_dense_retrieval = names.expand_query_for_dense_retrieval


class QueryRouter:
    """Routes and expands queries; safe to use from several threads.

    Args:
        options: The plugin's options.
        collections: What can be searched; ``None`` where nothing is, and then it abstains.
        encoders: All encoders.
        names: Gives what finds entities; called with the first query.
    """

    def __init__(
        self,
        options: BiomedOptions,
        *,
        collections: CollectionCatalog | None,
        encoders: EncoderCatalog,
        names: Callable[[], EntityNames],
    ) -> None:
        self._options = options
        self._collections = collections
        self._encoders = encoders
        self._names = lru_cache(maxsize=1)(lambda: _Remembered(names()))

    def route(self, context: QueryContext) -> RouteDecision | None:
        """Return the plans; ``None`` leaves the query to the core, as any of another namespace.

        Each hint names a collection and says why the query goes there or does not; ``parent_doc_retrieval``
        is ``False`` when the query names an entity.

        Raises:
            UnknownName: ``exploratory_search_collections`` names a collection that is not there.
        """
        if self._collections is None or context.namespace != _NAMESPACE:
            return None
        plans: list[CollectionQueryPlan] = []
        hints: dict[str, str] = {}
        for wish in self._wishes(context):
            missing = self._missing(wish, context)
            hints.setdefault(wish.collection, missing or wish.reason)
            if not missing and all(plan.collection != wish.collection for plan in plans):
                plans.append(self._plan(wish.collection, context, self._collections))
        if not plans:
            return None
        if self._names().match_entities(context.request.query):
            hints[PARENT_DOC_HINT] = "False"
        arms = "+".join(_ARM.get(plan.collection, plan.collection) for plan in plans)
        rule = f"biomed-{context.intent.workflow}:{arms}"
        return RouteDecision(tuple(plans), rule=rule, hints=tuple(sorted(hints.items())))

    def expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Return the query as a plan's arms see it; without a plan, the query with its intent.

        The chemical collection is asked for the structure alone, and for nothing when there is none. ``None`` for
        a query without words, and off the namespace.
        """
        query, names = context.request.query, self._names
        if context.namespace != _NAMESPACE or not query.strip():
            return None
        if plan is None:
            intent = detect_retrieval_intent(query, names())
            return expand_query(query, names(), encoder="", intent=intent)
        if plan.collection == CHEMICAL:
            structure = structure_in(query, names())
            terms = sparse_terms(query, names(), intent=context.intent)
            return ExpandedQuery(structure, terms, context.intent)
        return expand_query(
            query,
            names(),
            encoder=plan.encoder,
            intent=context.intent,
            expand_encoders=self._options.expand_encoders,
        )

    def narrow(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the compound itself, without its neighbours, for a query that names it and asks for no more.

        Molecules that look like a drug answer no question about it, least of all where the drug is not in
        the library. ``None`` leaves the candidates of any other query as they are.
        """
        if plan.collection != CHEMICAL or asks_for_neighbours(context.request.query):
            return None
        return tuple(each for each in candidates if _similarity(each) >= _SAME_MOLECULE)

    def _plan(
        self, collection: str, context: QueryContext, catalog: CollectionCatalog
    ) -> CollectionQueryPlan:
        top_k = self._options.collection_recall_top_k
        if collection == CHEMICAL and not asks_for_neighbours(context.request.query):
            top_k = min(top_k, FEW_ROWS)
        (plan,) = catalog.plans([collection], recall_top_k=top_k)
        return replace(plan, recall_top_k=top_k)

    def _wishes(self, context: QueryContext) -> Iterator[_Wish]:
        request = context.request
        if request.query.strip():
            yield from self._text()
            yield from self._chemical(context)
        yield from _visual(request)
        if context.intent.workflow == "combination":
            yield _Wish(CORE_VISUAL, "the query is about a combination of drugs")
        for name in self._options.exploratory_search_collections:
            yield _Wish(name, "exploratory_search_collections")

    def _text(self) -> Iterator[_Wish]:
        yield _Wish(TEXT, "always")
        if self._options.medcpt_dual_search:
            yield _Wish(MEDCPT, "medcpt_dual_search")
        if self._options.default_dual_text_search:
            yield _Wish(CORE_TEXT, "default_dual_text_search")
        elif self._options.general_text_search == "always":
            yield _Wish(CORE_TEXT, "always: documents taken for general text are only there")
        elif not self._is_filled(TEXT):
            yield _Wish(CORE_TEXT, f"no encoder fills {TEXT}, so its passages are there")

    def _chemical(self, context: QueryContext) -> Iterator[_Wish]:
        """Yield the chemical collection and why; whether it can be asked is decided by ``_missing``."""
        words, names = context.request.query, self._names()
        if _readable(words):
            yield _Wish(CHEMICAL, "the query holds a structure")
        elif context.intent.workflow == "chemical":
            yield _Wish(CHEMICAL, "the query is about compounds")
        elif asks_for_neighbours(words) and structure_in(words, names):
            yield _Wish(CHEMICAL, "the query asks for compounds like one it names")
        elif names.smiles_of(_bare(words)):
            yield _Wish(CHEMICAL, "the query is the name of a compound of known structure")
        elif named_drugs(words, names):
            off = not self._options.drug_structure_search
            yield _Wish(CHEMICAL, _DRUG_OFF if off else _DRUG_ON, refused=off)
        elif any(names.resolve_entity(n).related_drugs for n in names.match_entities(words)):
            yield _Wish(CHEMICAL, "the query names an entity that drugs act on")

    def _is_filled(self, collection: str) -> bool:
        profiles = () if self._collections is None else self._collections.profiles()
        return any(each.name == collection and each.default_encoder for each in profiles)

    def _missing(self, wish: _Wish, context: QueryContext) -> str:
        """Return why a collection is not searched; empty when it is."""
        collection = wish.collection
        if collection in context.intent.suppress_collections:
            return f"left out: a query of workflow {context.intent.workflow} does not go there"
        if wish.refused:
            return wish.reason
        profiles = () if self._collections is None else self._collections.profiles()
        profile = next((each for each in profiles if each.name == collection), None)
        if profile is not None:
            return self._unfit(profile, context.request)
        # Of one that an option names and nobody registered, the catalogue says so.
        known = collection in self._options.exploratory_search_collections
        return "" if known else _NO_ENCODER

    def _unfit(self, profile: CollectionProfile, request: SearchRequest) -> str:
        if not profile.default_encoder:
            return _NO_ENCODER
        if request.mode == "lexical" and not profile.hybrid_enabled:
            return _NO_WORDS_ARM
        if profile.name == CHEMICAL and not structure_in(request.query, self._names()):
            return _NO_STRUCTURE
        return _NO_TOWER if self._is_blind(profile.default_encoder, request) else ""

    def _is_blind(self, encoder: str, request: SearchRequest) -> bool:
        """Return whether an encoder takes pictures alone and the query is none."""
        card = next((each for each in self._encoders.cards() if each.label == encoder), None)
        blind = card is not None and card.modality == "visual" and not card.queries_text
        return blind and request.image is None


def _visual(request: SearchRequest) -> Iterator[_Wish]:
    if request.image is not None:
        for name in (RADIOLOGY, PATHOLOGY, CORE_VISUAL):
            yield _Wish(name, "the query is a picture")
        return
    if is_radiology(request.query):
        yield _Wish(RADIOLOGY, "the query speaks of radiology")
    if is_pathology(request.query):
        yield _Wish(PATHOLOGY, "the query speaks of pathology")


_readable = lru_cache(_QUERIES)(readable_structure)


def asks_for_neighbours(query: str) -> bool:
    """Return whether a query wants molecules that look like one: it holds a structure, or says so."""
    return _NEIGHBOURS.search(query) is not None or bool(_readable(query))


def structure_in(query: str, names: EntityNames) -> str:
    """Return the SMILES or InChI a query holds, else the SMILES of a compound it names, else empty."""
    own = _readable(query)
    if own:
        return own
    found = (names.smiles_of(name) for name in (_bare(query), *named_drugs(query, names)))
    return next((smiles for smiles in found if smiles), "")


def _bare(query: str) -> str:
    return query.strip(" \t\n?!.,;:\"'")


def _similarity(candidate: Candidate) -> float:
    return max(
        (arm.score for arm in candidate.arms if arm.arm == f"{CHEMICAL}/dense"), default=0.0
    )
