"""SciFact through the product: nDCG@10 and recall@100 of BM25, dense and hybrid search.

    python benchmarks/scifact.py DATA [--index DIR] [--set search.key=value ...]
    python benchmarks/scifact.py DATA --index OTHER --profile embedded --rerank none domain

DATA holds ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` (query, document, score, split). Every
abstract is ingested as a Markdown file (its title a heading) by the same engine that users have, and each
of the 300 test claims is a search for 100 documents. Published for comparison, on the same split:
BM25 0.679 (Anserini, multifield; BEIR leaderboard) and all-MiniLM-L6-v2 0.645 (MTEB), both nDCG@10.

The profile is ``core`` unless another is named; an index holds what one profile makes of the corpus, so give
each its own. ``--rerank`` asks every claim once under each policy named, over one index in one run, and compares
each with the first, claim by claim.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eagle_rag import Engine, SearchRequest, load_settings, open_engine
from eagle_rag.model.query import SearchMode

PUBLISHED = {"lexical": 0.679, "dense": 0.645}
DEPTH = 100
MODES: tuple[SearchMode, ...] = ("lexical", "dense", "hybrid")
POLICIES = ("auto", "none", "domain", "general")
RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the claims got in one mode under one policy.

    Args:
        gains: nDCG@10 of each claim, claims by id; shape ``(claims,)``.
        recalls: Recall@100 likewise.
        elapsed_ms: Median time of a search.
    """

    gains: NDArray[np.float64]
    recalls: NDArray[np.float64]
    elapsed_ms: float


def read_judgments(path: Path) -> dict[str, dict[str, int]]:
    """Return the test split: query id -> document id -> relevance."""
    judgments: dict[str, dict[str, int]] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        query, document, score, split = line.split("\t")
        if split == "test":
            judgments.setdefault(query, {})[document] = int(score)
    return judgments


def ndcg(ranked: list[str], relevant: dict[str, int], depth: int = 10) -> float:
    """Return nDCG with gain = relevance and discount log2(rank + 1) (Jarvelin and Kekalainen, 2002)."""
    gains = [relevant.get(document, 0) for document in ranked[:depth]]
    ideal = sorted(relevant.values(), reverse=True)[:depth]
    best = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(ideal))
    found = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
    return found / best if best else 0.0


def recall(ranked: list[str], relevant: dict[str, int], depth: int = DEPTH) -> float:
    """Return the share of relevant documents among the first ``depth``."""
    wanted = {document for document, score in relevant.items() if score > 0}
    return len(wanted & set(ranked[:depth])) / len(wanted)


def ingest(engine: Engine, corpus: Path) -> None:
    """Write every abstract to a file and ingest the folder."""
    with tempfile.TemporaryDirectory() as folder:
        for line in corpus.read_text("utf-8").splitlines():
            item = json.loads(line)
            name = Path(folder) / f"{item['_id']}.md"
            title = " ".join(item["title"].split())
            name.write_text(f"---\ntitle: {json.dumps(title)}\n---\n\n{item['text']}\n", "utf-8")
        report = engine.ingest([Path(folder)])
    if report.refused:
        sys.exit(f"{len(report.refused)} refused, first: {report.refused[0]}")


def evaluate(
    engine: Engine, queries: dict[str, str], judgments: dict[str, dict[str, int]], mode: SearchMode
) -> Outcome:
    """Search for every judged claim."""
    names = {record.document_id: Path(record.source_uri).stem for record in engine.documents()}
    scores: list[tuple[float, float]] = []
    times: list[float] = []
    for query, relevant in sorted(judgments.items()):
        started = time.perf_counter()
        results = engine.search(SearchRequest(queries[query], top_k=DEPTH, mode=mode))
        times.append((time.perf_counter() - started) * 1000)
        ranked = [names[hit.document_id] for hit in results.hits]
        scores.append((ndcg(ranked, relevant), recall(ranked, relevant)))
    gains, recalls = np.array(scores).T
    return Outcome(gains, recalls, sorted(times)[len(times) // 2])


def difference(outcome: Outcome, first: Outcome) -> str:
    """Return the mean difference of nDCG@10, its 95 % interval, and how many claims rose and fell.

    The interval is the percentile bootstrap over claims, paired (Efron and Tibshirani, 1993, chapter 13).
    """
    changes = outcome.gains - first.gains
    rng = np.random.default_rng(17)
    drawn = rng.integers(0, len(changes), (RESAMPLES, len(changes)))
    low, high = np.percentile(changes[drawn].mean(axis=1), (2.5, 97.5))
    return (
        f"{changes.mean():+.4f} (95 %: {low:+.4f} to {high:+.4f}), "
        f"{int((changes > 0).sum())} claims up, {int((changes < 0).sum())} down"
    )


def measure(
    overrides: Mapping[str, object],
    policies: Sequence[str],
    queries: dict[str, str],
    judgments: dict[str, dict[str, int]],
) -> None:
    """Print what each policy gives in each mode, then what the later ones change."""
    print(f"{'':17} nDCG@10  recall@100  published nDCG@10  ms a query (median)")
    outcomes: dict[tuple[str, SearchMode], Outcome] = {}
    for policy in policies:
        engine = open_engine(load_settings(overrides={**overrides, "rerank.policy": policy}))
        try:
            for mode in MODES:
                found = outcomes[policy, mode] = evaluate(engine, queries, judgments, mode)
                published = f"{PUBLISHED[mode]:.3f}" if mode in PUBLISHED else "-"
                print(
                    f"{mode:8} {policy:8} {found.gains.mean():.4f}   {found.recalls.mean():.4f}"
                    f"      {published:>9}          {found.elapsed_ms:.1f}"
                )
        finally:
            engine.close()
    first, *others = policies
    for policy in others:
        for mode in MODES:
            changed = difference(outcomes[policy, mode], outcomes[first, mode])
            print(f"{mode}, {policy} - {first}: nDCG@10 {changed}")


def main() -> None:
    """Ingest if needed, then evaluate every mode under every policy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--index", type=Path, default=Path(".eagle/scifact"))
    parser.add_argument("--profile", default="core", help="profile of the settings; core")
    parser.add_argument(
        "--rerank", nargs="+", choices=POLICIES, default=["auto"], help="rerank.policy; auto"
    )
    parser.add_argument("--set", action="append", default=[], help="setting, key=JSON")
    options = parser.parse_args()
    overrides: dict[str, object] = {"data_dir": str(options.index), "profile": options.profile}
    for assignment in options.set:
        key, _, value = assignment.partition("=")
        overrides[key] = json.loads(value)
    engine = open_engine(load_settings(overrides=overrides))
    try:
        ingest(engine, options.data / "corpus.jsonl")
        counts = engine.stats()
    finally:
        engine.close()
    lines = (options.data / "queries.jsonl").read_text("utf-8").splitlines()
    queries = {item["_id"]: item["text"] for item in map(json.loads, lines)}
    judgments = read_judgments(options.data / "qrels.tsv")
    print(f"{counts.documents} documents, {counts.passages} passages, {len(judgments)} queries")
    measure(overrides, options.rerank, queries, judgments)


if __name__ == "__main__":
    main()
