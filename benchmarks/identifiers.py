"""Exact names rank their exact document first, on real papers.

    python benchmarks/identifiers.py INDEX [--sample 400] [--seed 7]

Takes names that occur in exactly one document of the index in their whole form (variants, cell lines,
alleles, compound and trial numbers; found by scanning the documents' texts with a regular expression of
this script's own), asks for each as it is written and in the spellings of CASES C1 and C3 (other hyphens,
Greek by name, no-break space, full width), and counts how often the first result is that document. Also
checks that every first hit carries clause offsets that cut exactly the clause, and that BM25 scores equal
``bm25s`` (method ``lucene``) over the same tokens to 1e-4 relative (that
method leaves out the constant factor k1 + 1 of Robertson and Zaragoza, 2009, which is put back).
"""

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import bm25s
import numpy as np

from eagle_rag import Engine, SearchRequest, load_settings, open_engine
from eagle_rag.model.query import SearchMode
from eagle_rag.ops.tokens import tokenize

NAME = re.compile(
    r"(?<![\w-])(?:[pcg]\.[A-Z]?\d+[A-Z_>]\w*|[A-Z]\d{2,4}[A-Z]|[A-Z]{2,5}-\d{2,4}|rs\d{4,}|NCT\d{8}"
    r"|HLA-[A-Z]+\d?\*\d\d:\d\d|[A-Z]{2,5}\d?-[\u03b1-\u03c9]|IL-\d+/IL-\d+)(?![\w-])"
)
VARIANTS: dict[str, Callable[[str], str]] = {
    "as written": str,
    "U+2010 hyphen": lambda name: name.replace("-", "\u2010"),
    "U+2011 hyphen": lambda name: name.replace("-", "\u2011"),
    "U+2212 minus": lambda name: name.replace("-", "\u2212"),
    "full width": lambda name: "".join(
        chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in name
    ),
    "lower case": str.lower,
    "soft hyphen": lambda name: name[:2] + "\u00ad" + name[2:],
}


MODES: tuple[SearchMode, ...] = ("lexical", "hybrid")
K1 = 1.2
QUESTIONS = (
    "what is known about MET amplification after osimertinib?",
    "EGFR T790M resistance to gefitinib",
    "tumour suppressor p53 and apoptosis in colorectal cancer",
)


def unique_names(engine: Engine) -> dict[str, str]:
    """Return ``name -> document id`` of names whose whole form is a token of one document only."""
    homes: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, str] = {}
    for record in engine.documents():
        text = engine.show(record.document_id).text
        for token in set(tokenize(text)):
            homes[token].add(record.document_id)
        for name in set(NAME.findall(text)):
            spelled.setdefault(tokenize(name)[0], name)
    return {
        name: next(iter(homes[token]))
        for token, name in sorted(spelled.items())
        if len(homes[token]) == 1
    }


def first_hit_problem(engine: Engine, query: str, expected: str, mode: SearchMode) -> str:
    """Return what is wrong with the first result, or an empty string."""
    hits = engine.search(SearchRequest(query, top_k=1, mode=mode)).hits
    if not hits:
        return "nothing found"
    hit = hits[0]
    if hit.document_id != expected:
        return f"first is {hit.document_id}, not {expected}"
    if hit.clause is None:
        return "no clause"
    cut = hit.text[hit.clause.start - hit.start : hit.clause.end - hit.start]
    if cut != hit.clause.text or not hit.clause.terms:
        return "clause offsets do not cut the clause, or no term in it"
    return ""


def bm25_difference(engine: Engine, queries: list[str]) -> float:
    """Return the largest relative difference between our BM25 scores and those of bm25s."""
    # The default profile has its passages in the plugin's collection.
    home = max(engine.store.collections(), key=engine.store.count)
    rows = [row for batch in engine.store.scan(home) for row in batch]
    vocabulary: dict[str, int] = {}
    ids = [
        [vocabulary.setdefault(token, len(vocabulary)) for token in row.lexemes.split()]
        for row in rows
    ]
    retriever = bm25s.BM25(method="lucene", k1=K1, b=0.75)
    retriever.index((ids, vocabulary), show_progress=False)
    position = {row.row_id: number for number, row in enumerate(rows)}
    worst = 0.0
    for query in queries:
        tokens = tuple(dict.fromkeys(tokenize(query)))
        known = [token for token in tokens if token in vocabulary]
        if not known:
            continue
        scores = retriever.get_scores(known)
        for hit in engine.store.search_lexical(home, tokens, limit=100):
            theirs = float(scores[position[hit.row_id]]) * (K1 + 1.0)
            worst = max(worst, abs(hit.score - theirs) / theirs)
    return worst


def main() -> None:
    """Print how often the exact document is first, by spelling and mode."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("index", type=Path, help="data folder of an index (eagle --data-dir)")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args()
    overrides = {
        "data_dir": str(options.index),
        "collections.eagle_text.encoder": options.encoder,
    }
    engine = open_engine(load_settings(overrides=overrides))
    names = unique_names(engine)
    rng = np.random.default_rng(options.seed)
    chosen = sorted(rng.choice(sorted(names), size=min(options.sample, len(names)), replace=False))
    print(f"{len(names)} names occur in one document only; {len(chosen)} of them are asked for")
    failed = 0
    for mode in MODES:
        for spelling, change in VARIANTS.items():
            problems = Counter[str]()
            for name in chosen:
                problem = first_hit_problem(engine, change(name), names[name], mode)
                if problem:
                    problems[f"{change(name)!r}: {problem}"] += 1
            failed += len(problems)
            print(f"{mode:8} {spelling:14} {len(chosen) - len(problems)}/{len(chosen)} first")
            for problem in list(problems)[:3]:
                print(f"    {problem}")
    worst = bm25_difference(engine, [*chosen[:100], *QUESTIONS])
    print(f"BM25 against bm25s: largest relative difference {worst:.2e}")
    engine.close()
    sys.exit(1 if failed or worst > 1e-4 else 0)


if __name__ == "__main__":
    main()
