"""Hybrid search beside the sum of its bare parts, in one run, on the same queries.

    python benchmarks/hybrid_overhead.py INDEX [--rows 100000] [--queries 60] [--repeats 3]

INDEX is the data folder of an index made with the default encoder. When it holds fewer than ``--rows``
passages it is copied and filled up: rows are repeated with their vectors disturbed and renormalised, so
that sizes and token statistics stay real, and belong to no document, so that search must drop them. For each query, alternately:

- bare parts: tokenising and ``InferenceSession.run`` of the query, one LanceDB vector query and one LanceDB
  full-text query (same parameters, same columns, same limit, nothing of ours around them), one after the
  other;
- the product: ``Engine.search`` in hybrid mode, ten documents with text, clause and metadata.

Prints the medians and the ratio of the medians; the bar is 1.5.
"""

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import lancedb
import numpy as np
from lancedb.query import MatchQuery

from eagle_rag import Engine, SearchRequest, load_settings, open_engine
from eagle_rag.adapters.encoders.minilm import MinilmCheckpoint
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ops.tokens import tokenize

COLLECTION = "eagle_text"
LIMIT = 100
QUESTIONS = (
    "what is known about tumour suppressor genes in colorectal cancer",
    "resistance to tyrosine kinase inhibitors in lung cancer",
    "gene expression during embryonic development of the mouse",
    "insulin signalling and glucose uptake in muscle",
    "risk factors for cardiovascular disease in women",
    "antibiotic resistance of staphylococcus in hospitals",
    "regulation of apoptosis by mitochondrial proteins",
    "quality of life after treatment for breast cancer",
    "neural circuits for learning and memory in flies",
    "vaccination and immune response in children",
)


def fill(engine: Engine, rows: int) -> None:
    """Repeat rows under new ids, vectors disturbed, until there are enough."""
    rng = np.random.default_rng(7)
    have, turn = engine.store.count(COLLECTION), 0
    original = list(engine.store.scan(COLLECTION))
    while have < rows:
        turn += 1
        for batch in original:
            copies = [_disturbed(row, turn, rng) for row in batch[: rows - have]]
            if copies:
                engine.store.upsert(COLLECTION, copies)
            have += len(copies)
    engine.store.optimize(COLLECTION)


def _disturbed(row: StoredPassage, turn: int, rng: np.random.Generator) -> StoredPassage:
    noise = row.vector + rng.normal(0, 0.02, row.vector.shape).astype(np.float32)
    vector = (noise / np.linalg.norm(noise)).astype(np.float32)
    # Rows of documents that do not exist: every arm finds them, search has to drop them again.
    return replace(
        row,
        row_id=f"{row.row_id}-{turn}",
        passage_id=f"{row.passage_id}-{turn}",
        document_id=f"{row.document_id}-{turn}",
        vector=vector,
    )


def bare_parts(engine: Engine, table: lancedb.table.Table) -> dict[str, Callable[[str], object]]:
    """Return the parts as functions of the query."""
    import onnxruntime

    checkpoint = MinilmCheckpoint()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(checkpoint.model(), options)
    tokenizer = checkpoint.tokenizer()
    names = {entry.name for entry in session.get_inputs()}
    encoder = engine.kernel.encoders.text("minilm")
    vectors = {query: encoder.encode_query(query).vectors[0] for query in QUESTIONS}
    columns = ["row_id", "passage_id", "document_id", "version", "kb_name"]

    def encode(query: str) -> object:
        ids = np.array([tokenizer.encode(query).ids], dtype=np.int64)
        values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": ids * 0}
        return session.run(None, {name: values[name] for name in names})

    def dense(query: str) -> object:
        found = table.search(vectors[query], vector_column_name="vector").distance_type("cosine")
        found = found.nprobes(65_536).ef(2 * LIMIT).limit(LIMIT)
        return found.select([*columns, "_distance"]).to_arrow()

    def lexical(query: str) -> object:
        tokens = " ".join(dict.fromkeys(tokenize(query)))
        found = table.search(MatchQuery(tokens, "lexemes"), query_type="fts")
        return found.limit(LIMIT).select([*columns, "_score"]).to_arrow()

    return {"encode": encode, "dense": dense, "lexical": lexical}


def timed(function: Callable[[str], object], query: str) -> float:
    """Return how long one call takes, in ms."""
    started = time.perf_counter()
    function(query)
    return (time.perf_counter() - started) * 1000


def questions(count: int) -> Iterator[str]:
    """Yield the questions in turn."""
    yield from (QUESTIONS[number % len(QUESTIONS)] for number in range(count))


def main() -> None:
    """Measure and print; exit with 1 above 1.5."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--filled", type=Path, default=Path(".eagle/bench-filled"))
    options = parser.parse_args()
    folder = options.index
    engine = open_engine(load_settings(overrides={"data_dir": str(folder)}))
    if engine.store.count(COLLECTION) < options.rows:
        engine.close()
        if not options.filled.exists():
            shutil.copytree(folder, options.filled)
        folder = options.filled
        engine = open_engine(load_settings(overrides={"data_dir": str(folder)}))
        fill(engine, options.rows)
    place = next((folder / "store").rglob(f"{COLLECTION}.lance")).parent
    parts = bare_parts(engine, lancedb.connect(place).open_table(COLLECTION))
    rows = engine.store.count(COLLECTION)
    print(f"{rows} rows, {options.repeats} repeats of {options.queries} queries, medians in ms")
    for query in questions(len(QUESTIONS)):
        engine.search(SearchRequest(query))
        for part in parts.values():
            part(query)
    ratios: list[float] = []
    for _ in range(options.repeats):
        times: dict[str, list[float]] = {name: [] for name in (*parts, "product")}
        for query in questions(options.queries):
            for name, part in parts.items():
                times[name].append(timed(part, query))
            times["product"].append(timed(lambda text: engine.search(SearchRequest(text)), query))
        medians = {name: statistics.median(found) for name, found in times.items()}
        bare = sum(medians[name] for name in parts)
        ratios.append(medians["product"] / bare)
        listed = ", ".join(f"{name} {medians[name]:.1f}" for name in parts)
        print(
            f"{listed}; sum {bare:.1f}; hybrid search {medians['product']:.1f}; {ratios[-1]:.2f}x"
        )
    engine.close()
    ratio = statistics.median(ratios)
    print(f"hybrid search takes {ratio:.2f}x the sum of its bare parts (bar: 1.5)")
    sys.exit(1 if ratio > 1.5 else 0)


if __name__ == "__main__":
    main()
