"""The hook bus: calls implementations in order, merges what they return, and knows who failed.

One typed method a hook; the rules are in ``eagle_rag.hooks``. The bus walks the implementations
itself, because pluggy loses every result and the plugin's name when one implementation raises. What
a value must keep is in ``eagle_rag.kernel.contracts``.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from eagle_rag.errors import EagleError, HookFailed, PluginError
from eagle_rag.hooks import HOOKS
from eagle_rag.kernel.contracts import (
    check_candidates,
    check_enriched,
    check_items,
    check_type,
    stamp_arm,
)
from eagle_rag.kernel.plugins import CORE, Implementation
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
from eagle_rag.model.records import AuditEvent
from eagle_rag.model.results import TraceEvent
from eagle_rag.ports.plugins import DecisionLog

__all__ = ["BoundBus", "HookBus", "Recorder"]

Recorder = Callable[[TraceEvent], None]
Arguments = dict[str, object]
T = TypeVar("T")
_Check = Callable[[object, Implementation], T]
_Table = dict[str, tuple[Implementation, ...]]


class HookBus:
    """All hook implementations of all plugins; ``bind`` gives the bus one document or query uses.

    Args:
        implementations: In any order; they are called by priority (higher first), then plugin name.
        audit: Where failures are recorded.
    """

    def __init__(self, implementations: Sequence[Implementation], audit: DecisionLog) -> None:
        self._implementations = sorted(
            implementations, key=lambda each: (-each.priority, each.plugin)
        )
        self._audit = audit
        self._tables: dict[str, _Table] = {}

    def bind(self, namespace: str, recorder: Recorder | None = None) -> "BoundBus":
        """Return the bus of a namespace: its plugins and the core's defaults.

        Args:
            namespace: The plugin namespace in force.
            recorder: Called with a trace event whenever an implementation is left out. Give each
                query its own, such as ``list.append``: bound buses share nothing else that changes.
        """
        table = self._tables.get(namespace)
        if table is None:
            table = self._tables[namespace] = self._table(namespace)
        return BoundBus(namespace, table, self._audit, recorder)

    def _table(self, namespace: str) -> _Table:
        served = {CORE, namespace}
        return {
            hook: tuple(
                each
                for each in self._implementations
                if each.hook == hook and each.namespace in served
            )
            for hook in HOOKS
        }


class BoundBus:
    """The hooks as methods, for one namespace and one recorder; cheap to make."""

    __slots__ = ("_audit", "_recorder", "_table", "namespace")

    def __init__(
        self, namespace: str, table: _Table, audit: DecisionLog, recorder: Recorder | None
    ) -> None:
        self.namespace = namespace
        self._table = table
        self._audit = audit
        self._recorder = recorder

    def implements(self, hook: str) -> tuple[str, ...]:
        """Return the names of the plugins that implement a hook here, in calling order."""
        return tuple(each.plugin for each in self._table[hook])

    def ingest_route_selectors(self, source: Source) -> str | None:
        """Return the format name the first plugin chose, or ``None``."""
        return self._first("ingest_route_selectors", {"source": source}, _plain(str))

    def parse(self, source: Source) -> ParseOutcome | None:
        """Return what the first plugin parsed, or ``None`` when the pipeline is nobody's."""
        return self._first("parse", {"source": source}, _plain(ParseOutcome))

    def chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...]:
        """Return the passages with every plugin's tags.

        Raises:
            PluginError: A plugin changed more than tags.
        """
        return self._enriched("chunk", document, passages)

    def annotate(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...]:
        """Return the passages with every plugin's further tags; raises as ``chunk`` does."""
        return self._enriched("annotate", document, passages)

    def _enriched(
        self, hook: str, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[Passage, ...]:
        for each in self._table[hook]:
            check = partial(check_enriched, passages)
            changed = self._call(each, {"document": document, "passages": passages}, check)
            passages = passages if changed is None else changed
        return passages

    def ingest_visual_extract(
        self, document: ParsedDocument, source: Source
    ) -> tuple[VisualAsset, ...]:
        """Return the assets of all plugins, in calling order."""
        found = self._all(
            "ingest_visual_extract",
            {"document": document, "source": source},
            _tuple_of(VisualAsset),
        )
        return tuple(asset for assets in found for asset in assets)

    def classify_chunk(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Return the decisions of all plugins, in calling order, stamped with the plugin's name."""
        return self._decisions("classify_chunk", {"document": document, "passages": passages})

    def classify_visual(
        self, document: ParsedDocument, assets: tuple[VisualAsset, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Return the decisions on pictures, as ``classify_chunk`` does."""
        return self._decisions("classify_visual", {"document": document, "assets": assets})

    def embed_text(self, encoder: str, texts: Sequence[str]) -> EncodedBatch | None:
        """Return the vectors of the first plugin that knows the encoder, or ``None``."""
        arguments: Arguments = {"encoder": encoder, "texts": texts}
        return self._first("embed_text", arguments, _plain(EncodedBatch))

    def embed_visual(self, encoder: str, images: Sequence[bytes]) -> EncodedBatch | None:
        """Return the vectors of pictures, as ``embed_text`` does."""
        arguments: Arguments = {"encoder": encoder, "images": images}
        return self._first("embed_visual", arguments, _plain(EncodedBatch))

    def upsert_vectors(self, collection: str, rows: Sequence[StoredPassage]) -> int | None:
        """Return how many rows the first plugin wrote, or ``None`` when the collection is nobody's."""
        arguments: Arguments = {"collection": collection, "rows": rows}
        return self._first("upsert_vectors", arguments, _plain(int))

    def query_assemble(self, context: QueryContext) -> tuple[QueryAddition, ...]:
        """Return the additions of all plugins, in calling order, stamped."""

        def check(value: object, each: Implementation) -> QueryAddition:
            return replace(check_type(QueryAddition, value, each), plugin=each.plugin)

        return tuple(self._all("query_assemble", {"context": context}, check))

    def classify_query(self, context: QueryContext) -> RouteDecision | None:
        """Return the first plugin's decision, stamped, or ``None``."""

        def check(value: object, each: Implementation) -> RouteDecision:
            return replace(check_type(RouteDecision, value, each), plugin=each.plugin)

        return self._first("classify_query", {"context": context}, check)

    def query_dense_expand(
        self, context: QueryContext, plan: CollectionQueryPlan | None
    ) -> ExpandedQuery | None:
        """Return the first plugin's expansion, or ``None``."""
        arguments: Arguments = {"context": context, "plan": plan}
        return self._first("query_dense_expand", arguments, _plain(ExpandedQuery))

    def rerank(
        self,
        context: QueryContext,
        plan: CollectionQueryPlan,
        expanded: ExpandedQuery,
        candidates: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the first plugin's order of one plan, or ``None``.

        Each candidate gets an arm ``<collection>/rerank/<plugin>``.
        """

        def check(value: object, each: Implementation) -> tuple[Candidate, ...]:
            return stamp_arm(
                check_candidates(candidates, value, each),
                f"{plan.collection}/rerank/{each.plugin}",
            )

        arguments: Arguments = {
            "context": context,
            "plan": plan,
            "expanded": expanded,
            "candidates": candidates,
        }
        return self._first("rerank", arguments, check)

    def retrieve_supplement(
        self, context: QueryContext, plans: tuple[CollectionQueryPlan, ...]
    ) -> tuple[tuple[Candidate, ...], ...]:
        """Return one ranking a plugin, in calling order, with arm ``supplement/<plugin>``."""

        def check(value: object, each: Implementation) -> tuple[Candidate, ...]:
            return stamp_arm(check_candidates(None, value, each), f"supplement/{each.plugin}")

        return tuple(self._all("retrieve_supplement", {"context": context, "plans": plans}, check))

    def rrf_post_merge(
        self,
        context: QueryContext,
        merged: tuple[Candidate, ...],
        supplement: tuple[Candidate, ...],
    ) -> tuple[Candidate, ...] | None:
        """Return the first plugin's ranking, made of candidates of either, or ``None``.

        What comes from the supplement alone gets an arm ``inject/<plugin>``.
        """
        given = {item.passage_id for item in merged}

        def check(value: object, each: Implementation) -> tuple[Candidate, ...]:
            ranking = check_candidates((*merged, *supplement), value, each)
            stamped = stamp_arm(ranking, f"inject/{each.plugin}")
            return tuple(
                old if old.passage_id in given else new
                for old, new in zip(ranking, stamped, strict=True)
            )

        arguments: Arguments = {"context": context, "merged": merged, "supplement": supplement}
        return self._first("rrf_post_merge", arguments, check)

    def rerank_merged(
        self, context: QueryContext, merged: tuple[Candidate, ...], texts: tuple[str, ...]
    ) -> tuple[Candidate, ...] | None:
        """Return the first plugin's order, with arm ``rerank_merged/<plugin>``, or ``None``."""

        def check(value: object, each: Implementation) -> tuple[Candidate, ...]:
            return stamp_arm(check_candidates(merged, value, each), f"rerank_merged/{each.plugin}")

        arguments: Arguments = {"context": context, "merged": merged, "texts": texts}
        return self._first("rerank_merged", arguments, check)

    def _decisions(self, hook: str, arguments: Arguments) -> tuple[ChunkDecision, ...]:
        def check(value: object, each: Implementation) -> tuple[ChunkDecision, ...]:
            decisions = check_items(ChunkDecision, value, each)
            return tuple(replace(decision, plugin=each.plugin) for decision in decisions)

        found = self._all(hook, arguments, check)
        return tuple(decision for decisions in found for decision in decisions)

    def _first(self, hook: str, arguments: Arguments, check: _Check[T]) -> T | None:
        for each in self._table[hook]:
            value = self._call(each, arguments, check)
            if value is not None:
                return value
        return None

    def _all(self, hook: str, arguments: Arguments, check: _Check[T]) -> list[T]:
        found = (self._call(each, arguments, check) for each in self._table[hook])
        return [value for value in found if value is not None]

    def _call(self, each: Implementation, arguments: Arguments, check: _Check[T]) -> T | None:
        """Call one implementation; ``None`` when it abstains, or failed and may be left out."""
        try:
            value = each.function(**{name: arguments[name] for name in each.parameters})
            return None if value is None else check(value, each)
        except Exception as error:
            degrade = HOOKS[each.hook].policy == "degrade"
            failure = _named(error, each)
            if degrade or isinstance(failure, PluginError):
                self._record(each, failure, degrade=degrade)
            if degrade:
                return None
            if failure is error:
                raise
            raise failure from error

    def _record(self, each: Implementation, failure: EagleError, *, degrade: bool) -> None:
        detail = (("error", str(failure)), ("hook", each.hook))
        decision = "left out" if degrade else "raised"
        self._audit.log_decision(
            AuditEvent("hook_failure", each.plugin, each.hook, decision, detail)
        )
        if degrade and self._recorder is not None:
            message = f"{failure}; left out"
            self._recorder(TraceEvent(each.hook, message, degraded=True, plugin=each.plugin))


def _named(error: Exception, each: Implementation) -> EagleError:
    """Return an error that names plugin and hook.

    The package's own errors pass as they are, so that callers can tell an unreadable document or an
    absent encoder from a bug; plugin and hook are added as a note.
    """
    if isinstance(error, EagleError):
        error.add_note(f"raised by plugin {each.plugin!r} in hook {each.hook!r}")
        return error
    return HookFailed(each.plugin, each.hook, error)


def _plain(expected: type[T]) -> _Check[T]:
    return lambda value, each: check_type(expected, value, each)


def _tuple_of(expected: type[T]) -> _Check[tuple[T, ...]]:
    return lambda value, each: check_items(expected, value, each)
