"""Measure what the vector store adapter costs on top of the bare engine.

Synthetic rows are written once into ``--cache`` through the adapter and optimized. Then, in one
process and alternating call by call, so that load on the machine hits both alike:

- dense: the bare LanceDB call with the adapter's own settings, and ``search_dense``
- lexical: the bare full text call, and ``search_lexical``
- dense under a filter of 20 and of 5,000 documents
- writing: ``upsert`` of one document of 60 rows (a fresh collection of its own, dropped afterwards)

Prints medians in milliseconds, the ratio of ours to bare, and memory.

    python benchmarks/store_parts.py --cache FOLDER [--rows 100000] [--dim 384] [--queries 60]
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from eagle_rag.errors import StoreError
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.filters import OneOf
from eagle_rag.model.passage import FloatArray, StoredPassage, VectorSpec
from eagle_rag.ports.stores import CollectionStore

__all__ = ["main"]

_LIMIT = 50
_DOCUMENT_ROWS = 60
_TEXT = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 15
_WORDS = 60_000
_NAME = "passages"
_SCRATCH = "scratch"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see the module's docstring."""
    options = _options(arguments)
    started = time.perf_counter()
    from eagle_rag.adapters.lance import LanceStore

    print(f"import of the adapter and lancedb: {time.perf_counter() - started:.2f} s")
    folder = options.cache / f"{options.rows}x{options.dim}"
    store = LanceStore(folder)
    schema = CollectionSchema(_NAME, VectorSpec("synthetic", "0" * 64, options.dim))
    if store.describe(_NAME) is None or store.count(_NAME) < options.rows:
        store.drop(_NAME)
        store.ensure(schema)
        _fill(store, options.rows, options.dim)
    _report_memory("before the first search")
    _compare(store, folder, options)
    _filters(store, options)
    _report_memory("after searching")
    _writes(store, options.dim)
    _report_memory("at the end")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, required=True, help="where the rows are kept")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--queries", type=int, default=60)
    return parser.parse_args(arguments)


def _vectors(rng: np.random.Generator, count: int, dim: int) -> FloatArray:
    # Around a few hundred centres, as embeddings of a corpus lie; the centres are the same always.
    centres = np.random.default_rng(1).standard_normal((300, dim))
    vectors = centres[rng.integers(0, 300, count)] + 0.9 * rng.standard_normal((count, dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def _document(rng: np.random.Generator, number: int, dim: int) -> list[StoredPassage]:
    vectors = _vectors(rng, _DOCUMENT_ROWS, dim)
    words = rng.zipf(1.25, (_DOCUMENT_ROWS, 110)) % _WORDS
    return [
        StoredPassage(
            row_id=f"psg1_{number:08d}{place:04d}@1",
            passage_id=f"psg1_{number:08d}{place:04d}",
            document_id=f"doc{number}",
            version=1,
            namespace="core",
            kb_name=f"kb{number % 40}",
            text=_TEXT,
            lexemes=" ".join(f"w{word}" for word in words[place]),
            vector=vectors[place],
            path="Results > Cohort",
            section_kind="results",
            chunk_type="text",
            source_type="jats",
            source_chunk_id=f"psg1_{number:08d}{place:04d}",
            start=place * 900,
            end=place * 900 + len(_TEXT),
            year=1990 + number % 35,
        )
        for place in range(_DOCUMENT_ROWS)
    ]


def _fill(store: CollectionStore, rows: int, dim: int) -> None:
    rng = np.random.default_rng(0)
    started = time.perf_counter()
    batch: list[StoredPassage] = []
    for number in range(-(-rows // _DOCUMENT_ROWS)):
        batch += _document(rng, number, dim)
        if len(batch) >= 6_000:
            store.upsert(_NAME, batch)
            batch = []
    if batch:
        store.upsert(_NAME, batch)
    written = time.perf_counter()
    store.optimize(_NAME)
    print(
        f"wrote {rows} rows in {written - started:.0f} s, "
        f"optimized in {time.perf_counter() - written:.0f} s"
    )


def _compare(store: CollectionStore, folder: Path, options: argparse.Namespace) -> None:
    import lancedb
    from lancedb.query import MatchQuery

    table = lancedb.connect(folder).open_table(_NAME)
    kinds = [f"{index.columns[0]}: {index.index_type}" for index in table.list_indices()]
    print(f"{table.count_rows()} rows x {options.dim}, top {_LIMIT}; indexes: {', '.join(kinds)}")
    rng = np.random.default_rng(2)
    vectors = _vectors(rng, options.queries, options.dim)
    words = rng.zipf(1.25, (options.queries, 6)) % _WORDS
    tokens = [[f"w{word}" for word in row] for row in words]

    def bare_dense(number: int) -> None:
        query = table.search(vectors[number], vector_column_name="vector", query_type="vector")
        query.distance_type("cosine").nprobes(65_536).ef(128)  # type: ignore[attr-defined]  # a vector builder
        query.select(["row_id", "_distance"]).limit(_LIMIT).to_arrow()

    def bare_lexical(number: int) -> None:
        query = MatchQuery(" ".join(tokens[number]), "lexemes")  # type: ignore[call-arg]  # pydantic defaults
        table.search(query, query_type="fts").select(["row_id", "_score"]).limit(_LIMIT).to_arrow()

    def our_dense(number: int) -> None:
        store.search_dense(_NAME, vectors[number], limit=_LIMIT)

    def our_lexical(number: int) -> None:
        store.search_lexical(_NAME, tokens[number], limit=_LIMIT)

    for name, bare, ours in (
        ("dense", bare_dense, our_dense),
        ("lexical", bare_lexical, our_lexical),
    ):
        theirs, own = _alternate(options.queries, (bare, ours))
        print(f"{name}: bare {theirs:.2f} ms, ours {own:.2f} ms, ratio {own / theirs:.2f}")


def _filters(store: CollectionStore, options: argparse.Namespace) -> None:
    vectors = _vectors(np.random.default_rng(3), options.queries, options.dim)
    for count in (20, 5_000):
        where = OneOf("document_id", tuple(f"doc{number}" for number in range(count)))

        def search(number: int, where: OneOf = where) -> None:
            store.search_dense(_NAME, vectors[number], limit=_LIMIT, where=where)

        (median,) = _alternate(options.queries, (search,))
        print(f"dense within {count} documents: {median:.2f} ms")


def _writes(store: CollectionStore, dim: int) -> None:
    """Time one document a commit, into an empty collection and into the filled one."""
    rng = np.random.default_rng(4)
    schema = store.describe(_NAME)
    if schema is None:
        message = f"collection {_NAME!r} is gone"
        raise StoreError(message)
    store.drop(_SCRATCH)
    store.ensure(CollectionSchema(_SCRATCH, schema.spec))
    for name in (_SCRATCH, _NAME):
        documents = [_document(rng, 10_000_000 + number, dim) for number in range(20)]
        upsert = partial(_upsert, store, name, documents)
        (new,) = _alternate(20, (upsert,))
        (again,) = _alternate(20, (upsert,))
        print(f"upsert of {_DOCUMENT_ROWS} rows into {name}: new {new:.1f}, again {again:.1f} ms")
        ids = tuple(document[0].document_id for document in documents)
        store.delete(name, OneOf("document_id", ids))
    started = time.perf_counter()
    store.optimize(_NAME)
    print(f"optimize of {_NAME}: {time.perf_counter() - started:.1f} s")
    store.drop(_SCRATCH)


def _upsert(
    store: CollectionStore, name: str, documents: list[list[StoredPassage]], number: int
) -> None:
    store.upsert(name, documents[number])


def _alternate(rounds: int, calls: Sequence[Callable[[int], None]]) -> tuple[float, ...]:
    """Return the median of each call in milliseconds; the first two rounds warm up."""
    times: list[list[float]] = [[] for _ in calls]
    for number in range(rounds):
        for call, measured in zip(calls, times, strict=True):
            started = time.perf_counter()
            call(number)
            measured.append((time.perf_counter() - started) * 1000)
    return tuple(statistics.median(measured[2:]) for measured in times)


def _report_memory(when: str) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        now = int(file.read().split()[1]) * resource.getpagesize() // 2**20
    print(f"memory {when}: {now} MB, peak {peak} MB")


if __name__ == "__main__":
    raise SystemExit(main())
