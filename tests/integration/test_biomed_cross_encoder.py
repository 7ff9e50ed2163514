"""Tier 2 with a cross-encoder that answers, from question to hits: what it said, and the final score by hand."""

from collections.abc import Callable

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import Hit
from eagle_rag.testing.articles import write_files

SETTINGS: dict[str, object] = {
    "plugins.options.biomed.retrieval_scoring.drug_entity.w_sec": 0.10,  # the reference's
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "plugins.options.biomed.domain_rerank_encoder": "pairs",
    "encoders.pairs.modality": "rerank",
    "encoders.pairs.runtime": "hash",
    "rerank.policy": "domain",
    "ingest.workers": 1,
}
FILES = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\nC797S arose in a fifth of patients.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\nT315I arose in a third of patients.\n",
    "c.md": "# Sleep\n\n## Results\n\nResistance to sleep arose in nurses on night shifts.\n",
    "d.md": "# TAGRISSO tablets\n\n## Dosage and administration\n\nTake one tablet of 80 mg daily.\n",
    "e.md": "# Two cohorts\n\n## Methods\n\nPatients of both sexes were seen every month.\n",
}
# Entity match, section match and penalty of each, for the drug and the section of each question.
SIGNALS = {
    "Resistance to osimertinib": (1.0, 0.0, 0.0),
    "Resistance to imatinib": (0.0, 0.0, 1.0),
    "Sleep": (0.0, 0.0, 0.0),
    "TAGRISSO tablets": (1.0, 1.0, 0.0),
    "Two cohorts": (0.0, 0.0, 0.0),
}
# Weights of ce_norm, entity, section and penalty, from the reference's table.
DRUG = (0.35, 0.35, 0.10, 3.0)
LABEL = (0.30, 0.20, 0.35, 2.5)
QUESTIONS = [
    ("dosage of osimertinib and resistance", DRUG),
    ("osimertinib drug label dosage in patients", LABEL),
]


@pytest.fixture(scope="module")
def engine(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Engine:
    engine = make_shared_engine(SETTINGS)
    folder = write_files(tmp_path_factory.mktemp("pairs"), FILES)
    assert engine.ingest([folder]).refused == ()
    return engine


def hits(engine: Engine, query: str) -> tuple[Hit, ...]:
    """Return every passage of the library, explained."""
    results = engine.search(SearchRequest(query, explain=True, group_by="passage"))
    assert not results.trace.degraded
    assert {hit.title for hit in results.hits} == set(SIGNALS)
    return results.hits


@pytest.mark.parametrize("query", [query for query, _ in QUESTIONS])
def test_the_raw_score_is_what_the_cross_encoder_says_of_query_and_passage(
    engine: Engine, query: str
) -> None:
    scorer = engine.kernel.encoders.rerank("pairs")
    for hit in hits(engine, query):
        parts = dict(hit.parts)
        assert [parts["ce_raw"]] == scorer.score_pairs(query, [hit.text]).tolist()
        assert not {"fused", "stand_in"} & parts.keys()


@pytest.mark.parametrize(("query", "weights"), QUESTIONS)
def test_the_final_score_is_the_weighted_sum_over_the_scores_of_the_cross_encoder(
    engine: Engine, query: str, weights: tuple[float, ...]
) -> None:
    found = hits(engine, query)
    scorer = engine.kernel.encoders.rerank("pairs")
    raw = {hit.title: float(scorer.score_pairs(query, [hit.text])[0]) for hit in found}
    least, most = min(raw.values()), max(raw.values())
    w_ce, w_entity, w_section, w_penalty = weights
    expected = {}
    for title, (entity, section, penalty) in SIGNALS.items():
        norm = (raw[title] - least) / (most - least)
        expected[title] = (
            norm,
            w_ce * norm + w_entity * entity + w_section * section - w_penalty * penalty,
        )

    shown = {hit.title: dict(hit.parts) for hit in found}
    assert {title: (each["ce_norm"], each["final"]) for title, each in shown.items()} == {
        title: pytest.approx(pair) for title, pair in expected.items()
    }
    order = sorted(expected, key=lambda title: -expected[title][1])
    assert [hit.title for hit in found] == order
    assert [hit.score for hit in found] == [dict(hit.parts)["final"] for hit in found]


def test_the_audit_says_who_scored(engine: Engine) -> None:
    hits(engine, QUESTIONS[0][0])
    (scored, *_) = [
        event for event in engine.kernel.audit.recent() if event.category == "rerank_scores"
    ]
    assert (scored.decision, scored.detail) == ("5 candidates by pairs", ())
