"""Proving the index: every passage is its document's characters, every row has its passage.

A passage id is a content hash over document, offsets and text, so recomputing it from what is stored
proves all of them at once, in the registry and in every collection.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

import numpy as np

from eagle_rag.errors import EagleError, RegistryError, StoreError, VectorSpaceMismatch
from eagle_rag.ingest.probe import probe_collection
from eagle_rag.ingest.recover import clear_pending_rows
from eagle_rag.ingest.verify_pictures import check_pictures, orphan_pictures
from eagle_rag.ingest.verify_rows import (
    ExpectedRows,
    expected_rows,
    row_problem,
    row_subject,
)
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import BlockKind
from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.records import DocumentView
from eagle_rag.model.results import VerifyProblem, VerifyReport
from eagle_rag.ops.ids import passage_id
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import AssetStore, CollectionStore

__all__ = ["LexemesOf", "Proofs", "Rewrite", "verify_index"]

_NORM_TOLERANCE = 1e-3
_HEADINGS = frozenset({BlockKind.TITLE, BlockKind.HEADING})
_LOST_REGISTRY = (
    "{rows} rows belong to documents that the registry, which holds none, never heard of; it may have"
    " been lost: restore registry.db, or delete the data folder and ingest again"
)

_LOST_PICTURES = "pictures of a document that the registry, which holds none, never heard of"

Rewrite = Callable[[DocumentView], None]
LexemesOf = Callable[[DocumentView], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Proofs:
    """What a verify compares with besides registry and store, and how it mends.

    Args:
        rewrite: Writes the rows of a document anew; given, problems are repaired where that is
            possible without the source.
        lexemes_of: Computes the search tokens of a document's passages, or ``None`` when it was
            ingested under other settings.
        assets: The pictures of this namespace; ``None`` leaves them out.
    """

    rewrite: Rewrite | None = None
    lexemes_of: LexemesOf = lambda _: None
    assets: AssetStore | None = None


@dataclass(slots=True)
class _Findings:
    documents: int = 0
    passages: int = 0
    rows: int = 0
    problems: list[VerifyProblem] = field(default_factory=list)
    live: dict[str, ExpectedRows] = field(default_factory=dict)
    # Documents whose rows must be written anew, with the problems that are gone then.
    rewriting: dict[str, list[VerifyProblem]] = field(default_factory=dict)
    # Documents whose stored text is not what was committed: no row can be written from it.
    damaged: set[str] = field(default_factory=set)
    unreadable: bool = False

    def add(self, kind: str, where: str, message: str, *, repaired: bool = False) -> None:
        self.problems.append(VerifyProblem(kind, where, message, repaired=repaired))

    def add_rows(self, kind: str, where: str, message: str, *, document_id: str) -> None:
        """Note a problem of rows that writing the document's rows anew mends."""
        problem = VerifyProblem(kind, where, message)
        self.rewriting.setdefault(document_id, []).append(problem)


def verify_index(
    registry: Registry,
    store: CollectionStore,
    *,
    namespace: str,
    proofs: Proofs | None = None,
    on_document: Callable[[int], None] = lambda _: None,
) -> VerifyReport:
    """Check every live document, every row, every index and every picture; nobody else may be writing.

    Args:
        registry: The registry.
        store: The store of this namespace.
        namespace: Which documents.
        proofs: What else is compared, and how it is mended.
        on_document: Called with the number of documents checked so far.
    """
    findings = _Findings()
    proofs = proofs or Proofs()
    rewrite = proofs.rewrite
    repair = rewrite is not None
    pending = _check_pending(registry, store, findings, namespace=namespace, proofs=proofs)
    for identity, version in registry.iter_live(namespace):
        findings.live[identity] = _check_live(
            registry, (namespace, identity, version), findings=findings, proofs=proofs
        )
        findings.documents += 1
        on_document(findings.documents)
    for collection in store.collections():
        _check_collection(store, collection, findings=findings, pending=pending, repair=repair)
    _check_missing(findings)
    if proofs.assets is not None:
        _check_orphans(proofs.assets, findings, pending=pending, repair=repair)
    if rewrite is not None:
        _rewrite(registry, store, findings, namespace=namespace, rewrite=rewrite)
    for problems in findings.rewriting.values():
        findings.problems.extend(problems)
    problems = sorted(findings.problems, key=lambda item: (item.kind, item.where))
    return VerifyReport(findings.documents, findings.passages, findings.rows, tuple(problems))


def _check_pending(
    registry: Registry,
    store: CollectionStore,
    findings: _Findings,
    *,
    namespace: str,
    proofs: Proofs,
) -> frozenset[str]:
    """Return the documents of pending versions, whose rows nobody need explain."""
    repair = proofs.rewrite is not None
    found = registry.pending(namespace)
    for pending in found:
        where = f"{pending.document_id}@{pending.version}"
        message = f"rows of a version that is not served ({pending.state}) were not cleared"
        findings.add("pending-version", where, message, repaired=repair)
    if repair:
        clear_pending_rows(
            registry,
            store,
            namespace=namespace,
            states=("writing", "clearing"),
            assets=proofs.assets,
        )
    return frozenset(pending.document_id for pending in found)


def _check_live(
    registry: Registry,
    live: tuple[str, str, int],
    *,
    findings: _Findings,
    proofs: Proofs,
) -> ExpectedRows:
    namespace, identity, version = live
    try:
        view = registry.view(namespace, identity)
        broken = _check_document(view, findings)
        _check_registry(registry, view, findings=findings, broken=broken)
        pictures = check_pictures(view, proofs.assets)
        for kind, where, message in pictures.problems:
            findings.add(kind, where, message)
        return expected_rows(
            view,
            proofs.lexemes_of(view),
            pictures=pictures.anchors,
            picture_rows=pictures.rows,
        )
    except RegistryError as error:
        findings.add("damaged-document", identity, str(error))
        return ExpectedRows(version, ("", "", "", None), None, set())


def _check_registry(
    registry: Registry, view: DocumentView, *, findings: _Findings, broken: set[str]
) -> None:
    identity = view.record.document_id
    if broken:
        findings.damaged.add(identity)
    for passage in registry.damaged_passages(identity):
        findings.damaged.add(identity)
        if passage not in broken:
            findings.add("text-mismatch", passage, "the passage is not what was committed")
    for value in registry.missing_identifiers(identity):
        message = f"the document has the id {value} and cannot be found by it; ingest it again"
        findings.add("missing-identifier", identity, message)
    for citation in view.citations:
        if not 0 <= citation.start <= citation.end <= len(view.text):
            message = f"a citation at {citation.start}-{citation.end} is outside the text"
            findings.add("wrong-span", identity, message)


def _check_document(view: DocumentView, findings: _Findings) -> set[str]:
    """Return the passages that are not their characters."""
    text = view.text
    broken: set[str] = set()
    for passage in view.passages:
        findings.passages += 1
        cut = text[passage.start : passage.end]
        proof = passage_id(passage.document_id, passage.start, passage.end, cut)
        if cut != passage.text or proof != passage.id:
            message = f"characters {passage.start}-{passage.end} are not the passage's text"
            findings.add("text-mismatch", passage.id, message)
            broken.add(passage.id)
    for start, end in _uncovered(view):
        message = (
            f"characters {start}-{end} are not in exactly one passage: {text[start:end][:60]!r}"
        )
        findings.add("uncovered-text", view.record.document_id, message)
    return broken


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
    findings: _Findings,
    pending: Collection[str],
    repair: bool,
) -> None:
    try:
        schema = store.describe(collection)
    except VectorSpaceMismatch as error:
        findings.add("vector-space", collection, str(error))
        return
    if schema is None:
        return
    try:
        wrong = _check_rows(store, schema, findings)
    except StoreError as error:
        _replace_collection(store, collection, error, findings=findings, repair=repair)
        return
    unknown = {key: rows for key, rows in wrong.items() if key[0] not in pending}
    if unknown and not findings.live:
        message = _LOST_REGISTRY.format(rows=sum(unknown.values()))
        findings.add("lost-registry", collection, message)
        wrong = {key: rows for key, rows in wrong.items() if key not in unknown}
    for identity, version in sorted(wrong):
        message = f"collection {collection!r} holds rows of a version that is not live"
        kind = "stale-row" if identity in findings.live else "orphan-row"
        if repair:
            store.delete(collection, _version_rows(identity, version))
        findings.add(kind, f"{identity}@{version}", message, repaired=repair)
    _check_arms(store, schema, findings=findings, repair=repair)


def _check_rows(
    store: CollectionStore, schema: CollectionSchema, findings: _Findings
) -> dict[tuple[str, int], int]:
    """Return how many rows are of each version that is not live."""
    live = findings.live
    wrong: dict[tuple[str, int], int] = {}
    seen: set[str] = set()
    for batch in store.scan(schema.name):
        if schema.spec.normalized:
            _check_norms(batch, findings)
        for row in batch:
            findings.rows += 1
            problem = row_problem(row, live, seen, collection=schema.name)
            if problem is None or problem[0] == "stale-fields":
                seen.add(row_subject(row))
                live[row.document_id].note(row, schema.name)
            if problem is None:
                continue
            kind, what = problem
            if kind in ("orphan-row", "stale-row"):
                key = (row.document_id, row.version)
                wrong[key] = wrong.get(key, 0) + 1
            else:
                message = f"row of collection {schema.name!r} {what}"
                findings.add_rows(kind, row.row_id, message, document_id=row.document_id)
    return wrong


def _check_norms(batch: tuple[StoredPassage, ...], findings: _Findings) -> None:
    norms = np.linalg.norm(np.stack([row.vector for row in batch]), axis=1)
    for position in np.flatnonzero(~(np.abs(norms - 1.0) < _NORM_TOLERANCE)):
        row = batch[int(position)]
        expected = findings.live.get(row.document_id)
        if expected is not None and expected.version == row.version:
            message = (
                f"its vector has length {norms[position]:.4f}, the collection's have length 1"
            )
            findings.add_rows("vector-space", row.row_id, message, document_id=row.document_id)


def _version_rows(identity: str, version: int) -> AllOf:
    return AllOf((Compare("document_id", "eq", identity), Compare("version", "eq", version)))


def _replace_collection(
    store: CollectionStore,
    collection: str,
    error: StoreError,
    *,
    findings: _Findings,
    repair: bool,
) -> None:
    """Give up a collection whose rows cannot be read; its documents write theirs anew."""
    findings.unreadable = True
    findings.add("broken-store", collection, error.message, repaired=repair)
    if repair:
        store.drop(collection)
        for identity in findings.live:
            findings.rewriting.setdefault(identity, [])


def _check_arms(
    store: CollectionStore, schema: CollectionSchema, *, findings: _Findings, repair: bool
) -> None:
    collection = schema.name
    message = probe_collection(store, collection, schema)
    if message is None:
        return
    repaired = False
    if repair:
        store.rebuild(collection)
        repaired = probe_collection(store, collection, schema) is None
    findings.add("broken-index", collection, message, repaired=repaired)


def _check_missing(findings: _Findings) -> None:
    if findings.unreadable:
        return
    for identity, expected in findings.live.items():
        for passage in sorted(expected.missing):
            message = f"passage of {identity} is in no collection, so no search finds it"
            findings.add_rows("missing-row", passage, message, document_id=identity)
        for collection, passage in sorted(expected.missing_places):
            if passage not in expected.missing:
                message = f"passage of {identity} is not in collection {collection!r}"
                findings.add_rows("missing-row", passage, message, document_id=identity)
        for collection, key in sorted(expected.missing_pictures):
            message = f"picture {key} of {identity} has no row in collection {collection!r}"
            findings.add_rows("missing-row", f"{identity}#{key}", message, document_id=identity)


def _check_orphans(
    assets: AssetStore, findings: _Findings, *, pending: Collection[str], repair: bool
) -> None:
    live = {identity: expected.version for identity, expected in findings.live.items()}
    for identity, version in orphan_pictures(assets, live, pending):
        # As with rows: a registry that holds nothing may have been lost.
        kept = version > 0 and not live
        message = _LOST_PICTURES if kept else "pictures of a version that is not live"
        if repair and not kept:
            assets.delete_version(identity, version)
        where = f"{identity}@{version}"
        findings.add("orphan-picture", where, message, repaired=repair and not kept)


def _rewrite(
    registry: Registry,
    store: CollectionStore,
    findings: _Findings,
    *,
    namespace: str,
    rewrite: Rewrite,
) -> None:
    for identity, problems in sorted(findings.rewriting.items()):
        if findings.live[identity].passages is None or identity in findings.damaged:
            continue
        try:
            view = registry.view(namespace, identity)
            for collection in store.collections():
                store.delete(collection, Compare("document_id", "eq", identity))
            rewrite(view)
        except EagleError as error:
            message = f"its rows could not be written anew: {error}"
            findings.add("missing-row", identity, message)
        else:
            findings.rewriting[identity] = [replace(each, repaired=True) for each in problems]
    if findings.rewriting:
        for collection in store.collections():
            store.optimize(collection)
