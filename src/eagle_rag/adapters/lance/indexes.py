"""Which indexes a collection has, and when they are built.

Dense, by size, because the cheapest index that is quick enough is also the most exact:

1. few rows: none; every query reads all vectors from disk. Exact.
2. more: flat lists held in memory (``IVF_FLAT``), all of them scanned. Exact, built in seconds.
3. beyond ``exact_floats``: ``IVF_HNSW_FLAT``. Approximate, built in minutes.

Rows not yet in an index are searched beside it in all three cases.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Literal

from lancedb.index import FTS, HnswFlat, IvfFlat
from lancedb.table import Table

from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import VectorSpec

__all__ = ["DenseIndex", "Distance", "build_lexical", "drop_dense", "optimize_steps"]

Distance = Literal["cosine", "dot"]

_MAX_SEGMENTS = 8
"""Every ``optimize`` adds a segment of the new rows; beyond this many one query visits too many."""

_PARTITION_ROWS = 4096
"""The engine splits larger partitions by itself, later and with a warning for each."""


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """When which dense index is built.

    Args:
        flat_rows: Up to this many rows there is no index.
        exact_floats: Up to this many numbers (rows times dimension) the index is exact and scanned
            whole; the default is 320 MB, about 20 ms a query on two cores.
        m: Neighbours a vector has in the HNSW graph.
        ef_construction: Candidates considered for each while the graph is built.
    """

    flat_rows: int = 10_000
    exact_floats: int = 80_000_000
    m: int = 20
    ef_construction: int = 300

    def choose(self, rows: int, dim: int) -> str | None:
        """Return the engine's name of the index that a collection of this size wants."""
        if rows <= self.flat_rows:
            return None
        return "IvfFlat" if rows * dim <= self.exact_floats else "IvfHnswFlat"


def build_lexical(table: Table) -> None:
    """Build the BM25 index of ``lexemes``: white space only, tokens are taken as they are."""
    table.create_index(
        "lexemes",
        config=FTS(
            base_tokenizer="whitespace",
            stem=False,
            lower_case=False,
            remove_stop_words=False,
            ascii_folding=False,
            max_token_length=None,
        ),
        replace=True,
    )


def drop_dense(table: Table) -> None:
    """Remove the dense index, if there is one; the next ``optimize`` builds it."""
    for index in table.list_indices():
        if index.columns == ["vector"]:
            table.drop_index(index.name)


def optimize_steps(
    table: Table, policy: DenseIndex, *, schema: CollectionSchema, retain: timedelta
) -> Iterator[Callable[[], None]]:
    """Yield what optimizes a table: compact it, drop old versions, bring its indexes up to date.

    Each step is a commit of its own, so that one that loses to another process's is repeated alone.
    The BM25 index is rebuilt rather than extended: the engine keeps counting deleted rows in its
    statistics otherwise, and scores would depend on history. That takes seconds.
    """
    yield partial(table.optimize, cleanup_older_than=retain)
    if schema.hybrid:
        yield partial(build_lexical, table)
    yield partial(_optimize_dense, table, policy, schema.spec)


def _optimize_dense(table: Table, policy: DenseIndex, spec: VectorSpec) -> None:
    rows = table.count_rows()
    wanted = policy.choose(rows, spec.dim)
    if wanted is None:
        return
    found = [index for index in table.list_indices() if index.columns == ["vector"]]
    if found and found[0].index_type == wanted and (found[0].num_segments or 1) <= _MAX_SEGMENTS:
        return
    distance: Distance = "cosine" if spec.metric == "cosine" else "dot"
    config = (
        IvfFlat(distance_type=distance, num_partitions=1 + rows // _PARTITION_ROWS)
        if wanted == "IvfFlat"
        else HnswFlat(
            distance_type=distance,
            num_partitions=1,
            m=policy.m,
            ef_construction=policy.ef_construction,
        )
    )
    table.create_index("vector", config=config, replace=True)
