"""Tier 2: which text each candidate is scored by, within how many seconds; and questions for molecules alike."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from eagle_biomed.entities import open_ontology
from eagle_biomed.evidence import EvidenceReader
from eagle_biomed.intent import detect_retrieval_intent
from eagle_biomed.pair_scores import PairScores
from eagle_biomed.rerank_merged import MergedReranker
from eagle_rag.model.collection import EncoderCard, StoreHit
from eagle_rag.model.passage import FloatArray
from eagle_rag.model.query import ArmScore, Candidate, QueryContext
from eagle_rag.testing.query_side import (
    Audit,
    Encoders,
    Lookup,
    Shelf,
    Texts,
    candidate,
    context_of,
    ids_of,
    part,
)

CHEMICAL = "eagle_chemical"
OSIMERTINIB = "CCO"  # what it is compared by plays no part
PICTURE = (ArmScore("eagle_medical_radiology/dense", 1, 0.9),)
EXACT = (ArmScore("supplement/exact-structure", 1, 1.0),)


@dataclass
class Reader:
    """A cross-encoder that scores a pair by its words alone, and notes the pairs."""

    values: dict[str, float]
    seen: list[tuple[str, str]] = field(default_factory=list)

    @property
    def card(self) -> EncoderCard:
        """See ``PairScorer``."""
        return EncoderCard("pairs", "rerank", 1, "hash")

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        """See ``PairScorer``."""
        self.seen += [(query, text) for text in texts]
        return np.array([self.values.get(text, -1.0) for text in texts], np.float32)


def tier2(pairs: PairScores, shelf: Shelf | None = None) -> MergedReranker:
    return MergedReranker(
        overrides={},
        pairs=pairs,
        reader=EvidenceReader(Texts(), Lookup()),
        library=shelf,
        names=lambda: open_ontology({}),
        structure=lambda _: OSIMERTINIB,
        audit=Audit(),
    )


def asked(query: str) -> QueryContext:
    return context_of(query, detect_retrieval_intent(query, open_ontology({})), namespace="biomed")


def test_every_candidate_is_scored_by_its_own_text_in_the_merged_order() -> None:
    """Compounds of the query and pictures, which stand between them, are not read."""
    reader = Reader({"of a": 1.0, "of b": 3.0, "of c": 2.0})
    merged = (
        candidate("exact", 9.0, arms=EXACT),
        candidate("a", 0.3),
        candidate("seen", 0.25, arms=PICTURE),
        candidate("b", 0.2),
        candidate("c", 0.1),
    )
    texts = tuple(f"of {each.passage_id}" for each in merged)
    found = tier2(PairScores(Encoders(reader), "pairs")).rerank(asked("lungs"), merged, texts)
    assert reader.seen == [("lungs", text) for text in ("of a", "of b", "of c")]
    assert found is not None
    assert ids_of(found) == ["exact", "b", "c", "a", "seen"]
    assert [part(each, "ce_raw") for each in found[1:4]] == [3.0, 2.0, 1.0]
    assert [part(each, "ce_norm") for each in found[1:4]] == [1.0, 0.5, 0.0]
    assert all("fused" not in dict(each.parts) for each in found)


@pytest.fixture
def clock() -> Callable[[], float]:
    """Return a clock on which every look is a second later."""
    ticks: Iterator[int] = iter(range(1000))
    return lambda: float(next(ticks))


@pytest.mark.parametrize(("budget_s", "reached"), [(None, 20), (60.0, 20), (0.5, 5)])
def test_the_seconds_of_the_context_are_kept(
    clock: Callable[[], float], budget_s: float | None, reached: int
) -> None:
    """Of half a second nothing is left after the first text, which is outside of it, and a trial of four."""
    reader = Reader({})
    merged = tuple(candidate(f"{at:02}", 0.5) for at in range(20))
    context = replace(asked("lungs"), rerank_budget_s=budget_s)
    texts = tuple(f"text {each.passage_id}" for each in merged)
    found = tier2(PairScores(Encoders(reader), "pairs", clock)).rerank(context, merged, texts)
    assert found is not None
    scored = [each.passage_id for each in found if "ce_raw" in dict(each.parts)]
    assert len(reader.seen) == len(scored) == reached
    assert scored == ids_of(merged[:reached])


# What is asked for is osimertinib; the one passage is about it, the other about erlotinib alone.
PAIR = (candidate("it", 0.2, primary_drugs="osimertinib"),
        candidate("other", 0.3, primary_drugs="erlotinib"))  # fmt: skip


def fused(query: str, shelf: Shelf) -> dict[str, Candidate]:
    """Return the candidates of a question without a cross-encoder, by passage."""
    found = tier2(PairScores(Encoders(), ""), shelf).rerank(asked(query), PAIR, ("", ""))
    assert found is not None
    return {each.passage_id: each for each in found}


def near(key: str, cosine: float) -> Shelf:
    return Shelf({CHEMICAL: (StoreHit(key, key, f"doc-{key}", 1, "kb", cosine, 1),)})


@pytest.mark.parametrize(
    "query",
    [
        "drugs related to osimertinib in prescribing information",
        "drugs similar to osimertinib: drug label",
    ],
)
def test_a_question_for_labels_in_words_of_likeness_keeps_entity_and_penalty(query: str) -> None:
    """Standing scores 0.2 and 0.2 are 1 each: 0.30 + 0.20, and 0.30 - 2.5; no structure is compared."""
    shelf = near("other", 0.99)
    assert asked(query).intent.suppress_collections == (CHEMICAL,)
    found = fused(query, shelf)
    assert {key: part(each, "entity") for key, each in found.items()} == {"it": 1.0, "other": 0.0}
    assert {key: part(each, "xdrug") for key, each in found.items()} == {"it": 0.0, "other": 1.0}
    assert {key: each.score for key, each in found.items()} == pytest.approx(
        {"it": 0.50, "other": -2.2}
    )
    assert list(found) == ["it", "other"]
    assert shelf.asked == []


@pytest.mark.parametrize(
    ("query", "workflow"),
    [
        ("drugs similar to osimertinib", "drug_entity"),
        ("osimertinib analogues", "drug_entity"),
        ("compounds similar to osimertinib", "chemical"),
    ],
)
def test_a_question_for_molecules_alike_takes_no_other_molecule_for_noise(
    query: str, workflow: str
) -> None:
    """No passage is preferred for its name, none is punished, and whoever is like it comes first."""
    assert asked(query).intent.workflow == workflow
    found = fused(query, near("other", 0.9))
    for each in found.values():
        assert (part(each, "entity"), part(each, "xdrug")) == (0.0, 0.0)
    assert part(found["other"], "chemical") == found["other"].score == 0.9
    assert list(found) == ["other", "it"]
