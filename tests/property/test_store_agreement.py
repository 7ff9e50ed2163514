"""LanceDB and the oracle find the same rows with the same scores, whatever was done before."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag.adapters.lance import DenseIndex, LanceStore
from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_rows import NASTY, make_row, make_schema

_NAME = "c"
_SCHEMA = make_schema(_NAME, dim=3, extra_fields=("drug",))

_components = st.integers(-3, 3)
_vectors = st.tuples(_components, _components, _components).filter(any)
_tokens = st.lists(st.sampled_from(["a", "b", "B", "b-b", "c", "\u03b1", "c.1"]), max_size=6)
_kbs = st.sampled_from(["one", "two", *NASTY])
_drugs = st.sampled_from([None, "x", "it's", "é"])
_years = st.one_of(st.none(), st.integers(1999, 2003))


@st.composite
def _rows(draw: st.DrawFn) -> StoredPassage:
    return make_row(
        f"r{draw(st.integers(0, 30)):02d}",
        draw(_vectors),
        " ".join(draw(_tokens)),
        document_id=f"d{draw(st.integers(0, 4))}",
        kb_name=draw(_kbs),
        year=draw(_years),
        extra=(("drug", draw(_drugs)),),
    )


_batches = st.lists(_rows(), max_size=20, unique_by=lambda row: row.row_id)
_operators = st.sampled_from(["eq", "ne", "lt", "le", "gt", "ge"])
_numbers = st.one_of(st.integers(1998, 2004), st.sampled_from([2000.0, 2000.5, -1e9, 2.0**62]))
_leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(Compare, st.just("kb_name"), _operators, _kbs),
    st.builds(Compare, st.just("drug"), _operators, st.sampled_from(["x", "it's", "é"])),
    st.builds(Compare, st.just("year"), _operators, _numbers),
    st.builds(OneOf, st.just("year"), st.lists(_numbers, max_size=3).map(tuple)),
    st.builds(
        OneOf,
        st.just("document_id"),
        st.lists(st.sampled_from(["d0", "d1", "d4", "none"]), max_size=3).map(tuple),
    ),
)
_filters: st.SearchStrategy[Filter] = st.recursive(
    _leaves,
    lambda parts: st.one_of(
        st.builds(AllOf, st.lists(parts, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(parts, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
_wheres = st.one_of(st.none(), _filters)


@contextmanager
def _stores(index: DenseIndex, metric: str = "cosine") -> Iterator[tuple[CollectionStore, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        stores = (LanceStore(Path(folder), index=index), MemoryStore())
        for store in stores:
            store.ensure(replace(_SCHEMA, spec=replace(_SCHEMA.spec, metric=metric)))
        yield stores
        for store in stores:
            store.close()


def _agree(found: tuple[StoreHit, ...], wanted: tuple[StoreHit, ...], *, limit: int) -> None:
    """Compare a cut list with the uncut one of the oracle.

    float32 may order two rows differently whose scores differ in the seventh digit.
    """
    by_id = {hit.row_id: hit for hit in wanted}
    assert len(found) == min(limit, len(wanted))
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    keys = [(-hit.score, hit.row_id) for hit in found]
    assert keys == sorted(keys)
    for hit, best in zip(found, wanted, strict=False):
        assert hit.score == pytest.approx(best.score, rel=1e-4, abs=1e-5)
        assert replace(hit, score=0.0, rank=1) == replace(by_id[hit.row_id], score=0.0, rank=1)
        assert hit.score == pytest.approx(by_id[hit.row_id].score, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("flat_rows", [10_000, 1])
@pytest.mark.parametrize("metric", ["cosine", "ip"])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    first=_batches, second=_batches, gone=_filters, where=_wheres, query=_vectors, tokens=_tokens
)
def test_lancedb_agrees_with_the_oracle_after_optimize(  # noqa: PLR0913  # each is drawn
    *,
    flat_rows: int,
    metric: str,
    first: list[StoredPassage],
    second: list[StoredPassage],
    gone: Filter,
    where: Filter | None,
    query: tuple[int, int, int],
    tokens: list[str],
) -> None:
    vector = np.array(query, dtype=np.float32)
    with _stores(DenseIndex(flat_rows=flat_rows), metric) as (lance, oracle):
        for store in (lance, oracle):
            store.upsert(_NAME, first)
            store.optimize(_NAME)
            store.upsert(_NAME, second)
            store.delete(_NAME, gone)
            store.optimize(_NAME)
        assert lance.count(_NAME, where=where) == oracle.count(_NAME, where=where)
        for limit in (3, 100):
            _agree(
                lance.search_dense(_NAME, vector, limit=limit, where=where),
                oracle.search_dense(_NAME, vector, limit=100, where=where),
                limit=limit,
            )
            _agree(
                lance.search_lexical(_NAME, tokens, limit=limit, where=where),
                oracle.search_lexical(_NAME, tokens, limit=100, where=where),
                limit=limit,
            )


@settings(max_examples=40, deadline=None, derandomize=True)
@given(first=_batches, second=_batches, gone=_filters, where=_wheres, query=_vectors)
def test_lancedb_agrees_with_the_oracle_before_optimize(
    *,
    first: list[StoredPassage],
    second: list[StoredPassage],
    gone: Filter,
    where: Filter | None,
    query: tuple[int, int, int],
) -> None:
    """Which rows are found never depends on indexes; BM25 scores may, and are not compared."""
    vector = np.array(query, dtype=np.float32)
    with _stores(DenseIndex(flat_rows=1)) as (lance, oracle):
        for store in (lance, oracle):
            store.upsert(_NAME, first)
            store.optimize(_NAME)
            store.upsert(_NAME, second)
            store.delete(_NAME, gone)
        _agree(
            lance.search_dense(_NAME, vector, limit=5, where=where),
            oracle.search_dense(_NAME, vector, limit=100, where=where),
            limit=5,
        )
        found = lance.search_lexical(_NAME, ["b", "c"], limit=100, where=where)
        wanted = oracle.search_lexical(_NAME, ["b", "c"], limit=100, where=where)
        assert {hit.row_id for hit in found} == {hit.row_id for hit in wanted}
        scanned = {row.row_id: row for batch in lance.scan(_NAME, where=where) for row in batch}
        expected = {row.row_id: row for batch in oracle.scan(_NAME, where=where) for row in batch}
        assert scanned == expected
