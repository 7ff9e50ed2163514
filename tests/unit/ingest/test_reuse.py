"""A new version of a paper costs what changed in it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

SENTENCE = "Osimertinib was given to every patient of cohort {0} until progression. "


def _paper(path: Path, changed: str) -> None:
    sections = "".join(
        f"<sec><title>Part {number}</title><p>{SENTENCE.format(number) * 8}</p></sec>"
        for number in range(4)
    )
    path.write_text(
        "<article><front><article-meta><article-id pub-id-type='pmid'>99000042</article-id>"
        "<title-group><article-title>Reuse</article-title></title-group></article-meta></front>"
        f"<body>{sections}<sec><title>Last</title><p>{changed}</p></sec></body></article>"
    )


def _encoded(engine: "Engine") -> list[str]:
    """Count the texts that reach the encoder."""
    encoder = engine.kernel.encoders.text("hash")
    texts: list[str] = []
    original = encoder.encode_documents

    def counting(batch: list[str]) -> object:
        texts.extend(batch)
        return original(batch)

    encoder.encode_documents = counting  # type: ignore[method-assign, assignment]  # a spy on our own fake
    return texts


def test_a_new_version_encodes_only_passages_with_new_text(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    engine = make_engine()
    paper = tmp_path / "paper.xml"
    _paper(paper, "Savolitinib was added later.")
    engine.ingest([paper])
    before = {row.text: row.vector for batch in engine.store.scan("eagle_text") for row in batch}
    texts = _encoded(engine)

    _paper(paper, "Capmatinib was added later.")
    report = engine.ingest([paper])

    assert len(report.replaced) == 1
    assert texts == ["Capmatinib was added later."]
    after = {row.text: row.vector for batch in engine.store.scan("eagle_text") for row in batch}
    assert len(after) == len(before)
    assert all(np.array_equal(after[text], before[text]) for text in after.keys() & before.keys())
    assert engine.verify().clean


def test_passages_of_a_truncated_version_are_encoded_again(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    """Which passages were cut is not kept, and the count of the new version must be right."""
    engine = make_engine({"encoders.hash.max_tokens": 20})
    paper = tmp_path / "paper.xml"
    _paper(paper, "Savolitinib was added later.")
    first = engine.ingest([paper])
    _paper(paper, "Capmatinib was added later.")
    second = engine.ingest([paper])

    assert first.truncated == second.truncated > 0
