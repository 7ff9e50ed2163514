"""What each rerank policy logs, and what it leaves in the scores of the hits.

Which setting leads to which policy: ``test_biomed_policy``.
"""

from collections.abc import Callable

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import write_files

SETTINGS: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "plugins.options.biomed.domain_rerank_encoder": "",
    "encoders.pairs.modality": "rerank",
    "encoders.pairs.runtime": "hash",
    "rerank.encoder": "pairs",
    "ingest.workers": 1,
}
FILES = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\nC797S arose in a fifth of patients.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\nT315I arose in a third of patients.\n",
    "c.md": "# Sleep\n\n## Results\n\nResistance to sleep arose in nurses on night shifts.\n",
}
QUERY = "resistance to osimertinib"
DOMAIN = ("ce_norm", "entity", "final", "fused", "section", "xdrug")  # no cross-encoder


@pytest.fixture(scope="module")
def library(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Engine]:
    """Return what opens an engine of a policy on one small library."""
    folder = write_files(tmp_path_factory.mktemp("policy"), FILES)
    assert make_shared_engine(SETTINGS).ingest([folder]).refused == ()
    return lambda policy: make_shared_engine(SETTINGS | {"rerank.policy": policy})


@pytest.mark.parametrize(
    ("policy", "logged"),
    [
        (
            "domain",
            [
                ("rerank_scores", "biomed", "3 candidates by fused"),
                ("rerank_t2_domain", "core", "3 of 3 candidates reranked by the plugin"),
            ],
        ),
        ("general", [("rerank_t2_general", "core", "3 of 3 candidates reranked by pairs")]),
        ("none", [("rerank_t2_passthrough", "core", "the fused order stands")]),
    ],
)
def test_a_policy_logs_its_own_decision_and_no_other(
    library: Callable[[str], Engine], policy: str, logged: list[tuple[str, str, str]]
) -> None:
    engine = library(policy)
    engine.search(SearchRequest(QUERY))
    events = [
        (event.category, event.plugin, event.decision)
        for event in engine.kernel.audit.recent()
        if event.category.startswith("rerank")
    ]
    assert sorted(events) == logged


@pytest.mark.parametrize(
    ("policy", "parts", "score"),
    [("domain", DOMAIN, "final"), ("general", ("ce_raw",), "ce_raw"), ("none", (), "")],
)
def test_the_score_of_a_hit_is_that_of_the_policy(
    library: Callable[[str], Engine], policy: str, parts: tuple[str, ...], score: str
) -> None:
    """With nobody to rerank it is the fused one."""
    hits = library(policy).search(SearchRequest(QUERY, explain=True)).hits
    assert len(hits) == len(FILES)
    for hit in hits:
        assert tuple(name for name, _ in hit.parts) == parts
        fused = next(arm.score for arm in hit.arms if arm.arm == "fused")
        assert hit.score == (dict(hit.parts)[score] if score else fused)
