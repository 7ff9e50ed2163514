"""The oracle's BM25 agrees with an independent implementation."""

import bm25s  # type: ignore[import-untyped]  # it ships no types
import numpy as np
import pytest

from eagle_rag.adapters.memory_store import bm25


def test_the_oracle_s_bm25_agrees_with_bm25s() -> None:
    """bm25s leaves the constant factor k1 + 1 out of Lucene's formula; it changes no order."""
    rng = np.random.default_rng(7)
    documents = {
        f"d{number}": " ".join(f"w{word % 40}" for word in rng.zipf(1.5, rng.integers(1, 30)))
        for number in range(200)
    }
    corpus = [text.split() for text in documents.values()]
    index = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    index.index(corpus, show_progress=False)
    query = ["w1", "w3", "w17"]
    wanted = index.get_scores(query) * 2.2
    found = bm25(documents, query)
    assert [found.get(key, 0.0) for key in documents] == pytest.approx(list(wanted), rel=1e-4)
    assert len(found) > 100
