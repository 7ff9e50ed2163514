"""Stage 4: the arms of each plan, side by side.

A plan has up to three arms: BM25 over all query tokens, BM25 over the query's identifiers in their
whole form (only when it has any: a variant, a cell line, a trial number), and the dense arm. The
identifier arm is what lets an exact name win over texts that merely resemble it.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Literal

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import Filter, OneOf
from eagle_rag.model.passage import FloatArray
from eagle_rag.model.query import CollectionQueryPlan, ExpandedQuery, QueryContext
from eagle_rag.ops.exact import exact_forms
from eagle_rag.ops.tokens import tokenize
from eagle_rag.ports.stores import CollectionReader

__all__ = [
    "ArmHits",
    "Encode",
    "PlannedQuery",
    "Reach",
    "complete_arms",
    "has_arms",
    "search_arms",
]

# A text that lacks the rarer of two names has less than half of the best score.
_LEAST_SHARE = 0.6
# Rows a passage may have: its own, those of pictures, those of a version being replaced.
_ROWS = 4

Encode = Callable[[CollectionQueryPlan, str | bytes], tuple[FloatArray, bool]]

Rescore = Callable[[Filter, int], tuple[StoreHit, ...]]
"""The scores an arm gives the rows that match a filter, at most so many of them."""

Reach = Literal["text", "picture", "both", "nothing"]
"""What the encoder of a plan takes a query as; ``nothing``: none fills the collection in this profile."""


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """One plan with the query expanded for it.

    Args:
        plan: The plan.
        expanded: The query in words.
        by_picture: The dense arm compares with the request's picture instead.
    """

    plan: CollectionQueryPlan
    expanded: ExpandedQuery
    by_picture: bool = False


@dataclass(frozen=True, slots=True)
class ArmHits:
    """What one arm of one plan found.

    Args:
        arm: ``<collection>/<lexical|identifier|dense>``.
        plan: Position of the plan.
        hits: Best first.
        limit: How many were asked for; fewer hits than that means there are no more.
        truncated: The encoder saw only the head of the query.
        also: Rows that other arms of the plan found, with this arm's score; see ``complete_arms``.
        rescore: How to get those; ``None`` for an arm that says what matches at all.
    """

    arm: str
    plan: int
    hits: tuple[StoreHit, ...]
    limit: int
    truncated: bool = False
    also: tuple[StoreHit, ...] = ()
    rescore: Rescore | None = field(default=None, repr=False, compare=False)


def search_arms(
    planned: Sequence[PlannedQuery],
    context: QueryContext,
    *,
    store: CollectionReader,
    encode: Encode,
    executor: Executor,
    depth_factor: int = 1,
) -> tuple[ArmHits, ...]:
    """Run every arm of every plan and return them in the order of plans, arms.

    Args:
        planned: The plans.
        context: The query.
        store: Where to search.
        encode: ``(plan, text or picture) -> (vector, truncated)``; it refuses a plan whose encoder is not of the
            collection's vector space.
        executor: Threads for the arms.
        depth_factor: Multiplies every plan's ``recall_top_k``.

    Raises:
        StoreError, EncoderLoadError, EncoderUnavailable, VectorSpaceMismatch: An arm failed. An arm
            that fails is an error, not an empty list.
    """
    pending: list[tuple[str, int, int, Future[_Found]]] = []
    for position, query in enumerate(planned):
        limit = query.plan.recall_top_k * depth_factor
        for name, run in _arms(query, context, store=store, encode=encode, limit=limit):
            arm = f"{query.plan.collection}/{name}"
            pending.append((arm, position, limit, executor.submit(run)))
    found: list[ArmHits] = []
    for arm, position, limit, future in pending:
        result = future.result()
        found.append(
            ArmHits(arm, position, result.hits, limit, result.truncated, rescore=result.rescore)
        )
    return tuple(found)


def complete_arms(arms: Sequence[ArmHits], *, executor: Executor) -> tuple[ArmHits, ...]:
    """Return the arms, each with its score of the passages that other arms of its plan found.

    A fusion by score needs it: a passage that the dense arm ranks behind its limit has a cosine all the
    same, and 0 would be wrong. What an arm still lacks then has no score there.

    Raises:
        StoreError: An arm failed.
    """
    pending: list[Future[tuple[StoreHit, ...]] | None] = []
    for arm in arms:
        others = {
            hit.passage_id for each in arms if each.plan == arm.plan for hit in each.hits
        } - {hit.passage_id for hit in arm.hits}
        if arm.rescore is None or not others:
            pending.append(None)
            continue
        where = OneOf("passage_id", tuple(sorted(others)))
        pending.append(executor.submit(arm.rescore, where, _ROWS * len(others)))
    return tuple(
        arm if future is None else replace(arm, also=future.result())
        for arm, future in zip(arms, pending, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    hits: tuple[StoreHit, ...]
    truncated: bool = False
    rescore: Rescore | None = None


Run = Callable[[], _Found]


def _arms(
    query: PlannedQuery,
    context: QueryContext,
    *,
    store: CollectionReader,
    encode: Encode,
    limit: int,
) -> list[tuple[str, Run]]:
    plan, expanded = query.plan, query.expanded
    request = context.request
    mode, words = request.mode, bool(request.query.strip())
    arms: list[tuple[str, Run]] = []
    if words and mode != "dense" and (plan.hybrid or mode == "lexical"):
        extra = [token for term in expanded.sparse_terms for token in tokenize(term)]
        tokens = tuple(dict.fromkeys((*context.tokens, *extra)))
        arms.append(("lexical", _lexical(store, plan.collection, tokens, limit, context.scope)))
        whole = exact_forms(request.query)
        if whole:
            run = _lexical(store, plan.collection, whole, limit, context.scope)
            arms.append(("identifier", _with_most(run)))
    asked = _asked_of_dense(query, context)
    if mode != "lexical" and asked is not None:
        arms.append(("dense", _dense(store, plan, asked, limit, context.scope, encode)))
    return arms


def has_arms(query: PlannedQuery, context: QueryContext) -> bool:
    """Return whether anything can be asked of a plan: its words arm, or its dense arm."""
    mode, words = context.request.mode, bool(context.request.query.strip())
    lexical = words and mode != "dense" and (query.plan.hybrid or mode == "lexical")
    return lexical or (mode != "lexical" and _asked_of_dense(query, context) is not None)


def _asked_of_dense(query: PlannedQuery, context: QueryContext) -> str | bytes | None:
    """Return what the dense arm is asked; ``None`` when a plugin left it nothing."""
    picture = context.request.image if query.by_picture else None
    if picture is not None:
        return picture
    return query.expanded.dense_query if query.expanded.dense_query.strip() else None


def _lexical(
    store: CollectionReader,
    collection: str,
    tokens: tuple[str, ...],
    limit: int,
    scope: Filter | None,
) -> Run:
    def rescore(where: Filter, most: int) -> tuple[StoreHit, ...]:
        return store.search_lexical(collection, tokens, limit=most, where=where)

    def run() -> _Found:
        hits = store.search_lexical(collection, tokens, limit=limit, where=scope)
        return _Found(hits, rescore=rescore)

    return run


def _with_most(run: Run) -> Run:
    """Keep the hits that hold about as much of the names as the best one.

    In ``BRCA2 p.V220Ifs*4`` both are names; a text with the gene alone is not an exact match.
    """

    def kept() -> _Found:
        hits = run().hits
        least = _LEAST_SHARE * hits[0].score if hits else 0.0
        return _Found(tuple(hit for hit in hits if hit.score >= least))

    return kept


def _dense(
    store: CollectionReader,
    plan: CollectionQueryPlan,
    asked: str | bytes,
    limit: int,
    scope: Filter | None,
    encode: Encode,
) -> Run:
    def run() -> _Found:
        vector, truncated = encode(plan, asked)

        def rescore(where: Filter, most: int) -> tuple[StoreHit, ...]:
            return store.search_dense(plan.collection, vector, limit=most, where=where)

        hits = store.search_dense(plan.collection, vector, limit=limit, where=scope)
        return _Found(hits, truncated, rescore)

    return run
