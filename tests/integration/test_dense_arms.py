"""Several dense arms at once: three text collections, each with an encoder's own vectors, fused by rank.

The documents are so that each collection has rows. The fused ranking is worked out again from the ranks of
the arms alone, by the slow and obvious way.
"""

from collections.abc import Callable, Mapping
from math import fsum

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import Hit, SearchResults
from eagle_rag.testing.articles import write_files

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
TEXTS = ("eagle_text_biomed", "eagle_text_medcpt", "eagle_text")
_AT = "plugins.options.biomed"
SETTINGS: dict[str, object] = {
    "profile": "embedded",
    # Two encoders that disagree: sixteen numbers for all words let many of them collide.
    "encoders.narrow.runtime": "hash",
    "encoders.narrow.dim": 16,
    f"{_AT}.encoders.eagle_text_biomed": "hash",
    f"{_AT}.encoders.eagle_text_medcpt": "narrow",
    f"{_AT}.medcpt_dual_search": True,
    f"{_AT}.default_dual_text_search": True,
    f"{_AT}.general_text_search": "dual",
    # Vectors of hashes know no kind of text: who names entities is biomedical.
    f"{_AT}.doc_semantic_router.fusion.weights": {
        "prototype": 0.0, "umls": 1.0, "imrad": 0.0, "entropy": 0.0,
    },
    f"{_AT}.doc_semantic_router.confidence_threshold": 0.01,
    f"{_AT}.doc_semantic_router.llm_margin": 0.0,
    f"{_AT}.tier1": "off",
    "rerank.policy": "none",
    "ingest.workers": 1,
}  # fmt: skip
FILES = {
    "p1.md": "# Osimertinib in EGFR lung cancer\n\n## Methods\n\nPatients with EGFR mutations took it daily.\n\n"
    "## Results\n\nProgression came late with osimertinib in lung cancer, the report says.\n",
    "p2.md": "# Savolitinib\n\n## Results\n\nSavolitinib slowed progression in MET-amplified lung cancer.\n",
    "p3.md": "# Imatinib\n\n## Results\n\nA report of imatinib: T315I came with progression of leukaemia.\n",
    "g1.md": "# Harbour works\n\n## Summary\n\nThe report says that progression of the works slowed.\n",
    "g2.md": "# Board minutes\n\n## Decisions\n\nOffice rent and the progression of salaries were discussed.\n",
    "c.csv": f"name,smiles\naspirin,{ASPIRIN}\nsalicylic acid,OC(=O)c1ccccc1O\nethanol,CCO\n",
}
QUERIES = (
    "progression in lung cancer",
    "report of progression",
    "EGFR",
    f"SMILES {ASPIRIN}",
    f"a report of the compound {ASPIRIN}",
)


@pytest.fixture(scope="module")
def open_library(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[int], Engine]:
    """Return what opens an engine on the library with a constant of the fusion."""
    engine = make_shared_engine(SETTINGS)
    report = engine.ingest([write_files(tmp_path_factory.mktemp("arms"), FILES)])
    assert report.refused == ()
    opened = {60: engine}

    def library(k: int) -> Engine:
        if k not in opened:
            opened[k] = make_shared_engine(SETTINGS | {"router.rrf_k": k})
        return opened[k]

    return library


def search(engine: Engine, query: str) -> SearchResults:
    return engine.search(SearchRequest(query, top_k=50, group_by="passage", explain=True))


def ranks(hit: Hit) -> dict[str, int]:
    return {arm.arm: arm.rank for arm in hit.arms}


def by_rank(found: Mapping[str, float]) -> dict[str, int]:
    """Return ranks from 1: score descending, then passage."""
    ordered = sorted(found, key=lambda passage: (-found[passage], passage))
    return {passage: rank for rank, passage in enumerate(ordered, 1)}


def summed(lists: list[dict[str, int]], k: int) -> dict[str, float]:
    """Return the sum of ``1 / (k + rank)`` over the lists that hold a passage."""
    passages = {passage for each in lists for passage in each}
    return {
        passage: fsum(1 / (k + each[passage]) for each in lists if passage in each)
        for passage in passages
    }


def plan_ranks(hits: tuple[Hit, ...], collection: str, k: int) -> dict[str, int]:
    """Return the ranking of one collection from the ranks of its arms; one arm alone keeps its order."""
    arms = [
        {hit.passage_id: ranks(hit)[name] for hit in hits if name in ranks(hit)}
        for name in (f"{collection}/{arm}" for arm in ("lexical", "identifier", "dense"))
    ]
    filled = [each for each in arms if each]
    return filled[0] if len(filled) == 1 else by_rank(summed(filled, k))


def test_documents_are_in_the_collection_of_their_kind(
    open_library: Callable[[int], Engine],
) -> None:
    """Else the lists would be of one collection, and nothing would be fused."""
    engine = open_library(60)
    titles = {each.document_id: each.metadata.title for each in engine.documents()}
    found = {
        name: sorted(
            {titles[row.document_id] for batch in engine.store.scan(name) for row in batch}
        )
        for name in TEXTS
    }
    biomedical = [
        *("Imatinib", "Osimertinib in EGFR lung cancer", "Savolitinib"),
        *("aspirin", "ethanol", "salicylic acid"),
    ]
    assert found == {
        "eagle_text_biomed": biomedical,
        "eagle_text_medcpt": biomedical,
        "eagle_text": ["Board minutes", "Harbour works"],
    }


@pytest.mark.parametrize("query", QUERIES)
def test_explain_shows_the_plan_of_each_text_collection(
    open_library: Callable[[int], Engine], query: str
) -> None:
    results = search(open_library(60), query)
    said = [event.message for event in results.trace.events if event.stage == "plan"]
    encoders = ("hash", "narrow", "hash")
    for collection, encoder in zip(TEXTS, encoders, strict=True):
        (plan,) = [each for each in said if each.startswith(f"{collection} with {encoder} by ")]
        assert not plan.endswith(": 0 candidates")
    assert not results.trace.degraded


@pytest.mark.parametrize("k", [60, 10])
@pytest.mark.parametrize("query", QUERIES)
def test_the_fused_score_is_the_sum_of_reciprocal_ranks_of_the_plans(
    open_library: Callable[[int], Engine], query: str, k: int
) -> None:
    """From the arms up: ranks of arms to a ranking of each collection, those to the ranking of all."""
    hits = search(open_library(k), query).hits
    collections = (*TEXTS, "eagle_chemical") if ASPIRIN in query else TEXTS
    plans = {name: plan_ranks(hits, name, k) for name in collections}
    for name, expected in plans.items():
        plan = {h.passage_id: ranks(h)[f"{name}/plan"] for h in hits if f"{name}/plan" in ranks(h)}
        assert plan == expected
    fused = summed(list(plans.values()), k)
    places = by_rank(fused)
    for hit in hits:
        (arm,) = [each for each in hit.arms if each.arm == "fused"]
        assert arm.score == pytest.approx(fused[hit.passage_id], abs=1e-12)
        assert arm.rank == places[hit.passage_id]


# Ranks in eagle_text_biomed, eagle_text_medcpt, eagle_text and eagle_chemical; 0: not in that list.
BY_HAND = [
    (3, "aspirin", (1, 1, 0, 1), 0.0491803279),  # 3/61
    (3, "salicylic acid", (2, 3, 0, 2), 0.0481310804),  # 1/62 + 1/63 + 1/62
    (3, "ethanol", (3, 2, 0, 3), 0.0478750640),  # 1/63 + 1/62 + 1/63
    (1, "Imatinib", (1, 1, 0, 0), 0.0327868852),  # 2/61
    (1, "Savolitinib", (3, 3, 0, 0), 0.0317460317),  # 2/63
    (1, "Harbour works", (0, 0, 1, 0), 0.0163934426),  # 1/61
    (1, "Board minutes", (0, 0, 2, 0), 0.0161290323),  # 1/62
]


@pytest.mark.parametrize(("query", "title", "expected", "score"), BY_HAND)
def test_hits_have_the_score_worked_out_by_hand_from_their_ranks(
    open_library: Callable[[int], Engine],
    query: int,
    title: str,
    expected: tuple[int, ...],
    score: float,
) -> None:
    hits = search(open_library(60), QUERIES[query]).hits
    hit = next(each for each in hits if each.title == title)
    lists = (*TEXTS, "eagle_chemical")
    assert tuple(ranks(hit).get(f"{name}/plan", 0) for name in lists) == expected
    fused = next(arm.score for arm in hit.arms if arm.arm == "fused")
    assert fused == pytest.approx(score, abs=5e-11)


@pytest.mark.parametrize("query", QUERIES)
def test_the_two_encoders_do_not_agree(open_library: Callable[[int], Engine], query: str) -> None:
    """Else the second list would be the first one twice, and this file would show little."""
    hits = search(open_library(60), query).hits
    first, second = (
        {hit.passage_id: ranks(hit).get(f"{name}/dense") for hit in hits} for name in TEXTS[:2]
    )
    assert first != second
