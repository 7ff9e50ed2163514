"""Proving the index: every passage is its document's characters, every row has its passage.

A passage id is a content hash over document, offsets and text, so recomputing it from what is stored
proves all of them at once, in the registry and in every collection.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

import numpy as np

from eagle_rag.errors import RegistryError, VectorSpaceMismatch
from eagle_rag.ingest.recover import clear_pending_rows
from eagle_rag.model.document import BlockKind
from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.records import DocumentView
from eagle_rag.model.results import VerifyProblem, VerifyReport
from eagle_rag.ops.ids import passage_id
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionStore

__all__ = ["Rewrite", "verify_index"]

_NORM_TOLERANCE = 1e-3
_HEADINGS = frozenset({BlockKind.TITLE, BlockKind.HEADING})
Rewrite = Callable[[DocumentView], None]


@dataclass(slots=True)
class _Live:
    version: int
    passages: frozenset[str] | None  # None: its text cannot be read
    missing: set[str]


@dataclass(slots=True)
class _Findings:
    documents: int = 0
    passages: int = 0
    rows: int = 0
    problems: list[VerifyProblem] = field(default_factory=list)

    def add(self, kind: str, where: str, message: str) -> None:
        self.problems.append(VerifyProblem(kind, where, message))


def verify_index(
    registry: Registry,
    store: CollectionStore,
    *,
    namespace: str,
    rewrite: Rewrite | None = None,
    on_document: Callable[[int], None] = lambda _: None,
) -> VerifyReport:
    """Check every live document and every row; nobody else may be writing.

    Args:
        registry: The registry.
        store: The store of this namespace.
        namespace: Which documents.
        rewrite: Writes the rows of a document anew; given, problems are repaired where that is
            possible without the source.
        on_document: Called with the number of documents checked so far.
    """
    findings = _Findings()
    _check_pending(registry, store, findings, namespace=namespace, repair=rewrite is not None)
    live: dict[str, _Live] = {}
    for identity, version in registry.iter_live(namespace):
        try:
            view = registry.view(namespace, identity)
        except RegistryError as error:
            findings.add("text-mismatch", identity, str(error))
            live[identity] = _Live(version, None, set())
        else:
            _check_document(view, findings)
            ids = frozenset(passage.id for passage in view.passages)
            live[identity] = _Live(version, ids, set(ids))
        findings.documents += 1
        on_document(findings.documents)
    for collection in store.collections():
        _check_collection(
            store, collection, live=live, findings=findings, repair=rewrite is not None
        )
    _check_missing(registry, namespace, live=live, findings=findings, rewrite=rewrite)
    problems = tuple(sorted(findings.problems, key=lambda item: (item.kind, item.where)))
    return VerifyReport(findings.documents, findings.passages, findings.rows, problems)


def _check_pending(
    registry: Registry,
    store: CollectionStore,
    findings: _Findings,
    *,
    namespace: str,
    repair: bool,
) -> None:
    for pending in registry.pending(namespace):
        where = f"{pending.document_id}@{pending.version}"
        message = f"rows of a version that is not served ({pending.state}) were not cleared"
        findings.problems.append(VerifyProblem("pending-version", where, message, repaired=repair))
    if repair:
        clear_pending_rows(registry, store, namespace=namespace, states=("writing", "clearing"))


def _check_document(view: DocumentView, findings: _Findings) -> None:
    text = view.text
    for passage in view.passages:
        findings.passages += 1
        cut = text[passage.start : passage.end]
        proof = passage_id(passage.document_id, passage.start, passage.end, cut)
        if cut != passage.text or proof != passage.id:
            message = f"characters {passage.start}-{passage.end} are not the passage's text"
            findings.add("text-mismatch", passage.id, message)
    for start, end in _uncovered(view):
        message = (
            f"characters {start}-{end} are not in exactly one passage: {text[start:end][:60]!r}"
        )
        findings.add("uncovered-text", view.record.document_id, message)


def _uncovered(view: DocumentView) -> Iterator[tuple[int, int]]:
    """Yield blocks of prose that passages do not cover, or cover more than once.

    Headings and the title are in no passage, unless the document has nothing else.
    """
    prose = [block for block in view.blocks if block.kind not in _HEADINGS] or list(view.blocks)
    spans = sorted((passage.start, passage.end) for passage in view.passages)
    yield from ((after[0], before[1]) for before, after in pairwise(spans) if after[0] < before[1])
    following = 0
    for block in prose:
        while following < len(spans) and spans[following][1] <= block.start:
            following += 1
        position = block.start
        for start, end in takewhile(lambda span: span[0] < block.end, spans[following:]):  # noqa: B023 - used at once
            if view.text[position:start].strip():
                yield position, start
            position = max(position, end)
        if view.text[position : block.end].strip():
            yield position, block.end


def _check_collection(
    store: CollectionStore,
    collection: str,
    *,
    live: dict[str, _Live],
    findings: _Findings,
    repair: bool,
) -> None:
    try:
        schema = store.describe(collection)
    except VectorSpaceMismatch as error:
        findings.add("vector-space", collection, str(error))
        return
    normalized = schema is not None and schema.spec.normalized
    wrong: dict[tuple[str, int], str] = {}
    seen: set[str] = set()
    for batch in store.scan(collection):
        if normalized:
            _check_norms(batch, findings)
        for row in batch:
            findings.rows += 1
            problem = _row_problem(row, live, seen)
            if problem is None:
                seen.add(row.passage_id)
                live[row.document_id].missing.discard(row.passage_id)
            elif problem in ("orphan-row", "stale-row"):
                wrong[row.document_id, row.version] = problem
            else:
                findings.add(
                    problem, row.row_id, f"row of collection {collection!r} is not its passage"
                )
    for (identity, version), problem in sorted(wrong.items()):
        message = f"collection {collection!r} holds rows of a version that is not live"
        if repair:
            store.delete(collection, _version_rows(identity, version))
        findings.problems.append(
            VerifyProblem(problem, f"{identity}@{version}", message, repaired=repair)
        )


def _row_problem(row: StoredPassage, live: dict[str, _Live], seen: set[str]) -> str | None:
    state = live.get(row.document_id)
    if state is None:
        return "orphan-row"
    if state.version != row.version:
        return "stale-row"
    if row.passage_id in seen:
        return "duplicate-row"
    proof = passage_id(row.document_id, row.start, row.end, row.text)
    known = state.passages is None or row.passage_id in state.passages
    return None if known and proof == row.passage_id else "text-mismatch"


def _check_norms(batch: tuple[StoredPassage, ...], findings: _Findings) -> None:
    norms = np.linalg.norm(np.stack([row.vector for row in batch]), axis=1)
    for position in np.flatnonzero(~(np.abs(norms - 1.0) < _NORM_TOLERANCE)):
        row = batch[int(position)]
        message = f"its vector has length {norms[position]:.4f}, the collection's have length 1"
        findings.add("vector-space", row.row_id, message)


def _version_rows(identity: str, version: int) -> AllOf:
    return AllOf((Compare("document_id", "eq", identity), Compare("version", "eq", version)))


def _check_missing(
    registry: Registry,
    namespace: str,
    *,
    live: dict[str, _Live],
    findings: _Findings,
    rewrite: Rewrite | None,
) -> None:
    for identity, state in sorted(live.items()):
        if not state.missing:
            continue
        if rewrite is not None:
            rewrite(registry.view(namespace, identity))
        findings.problems.extend(
            VerifyProblem(
                "missing-row",
                passage,
                f"passage of {identity} is in no collection, so no search finds it",
                repaired=rewrite is not None,
            )
            for passage in sorted(state.missing)
        )
