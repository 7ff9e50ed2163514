"""A search with profile ``biomed`` itself; only its encoders, whose weights no package has, are replaced."""

from collections import Counter
from collections.abc import Callable

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import Hit
from eagle_rag.testing.articles import write_files

ALPHA = 0.7  # not the default: then nobody could tell it from its complement
OPTIONS = "plugins.options.biomed"
SETTINGS: dict[str, object] = {
    "profile": "biomed",
    f"{OPTIONS}.encoders.eagle_text_biomed": "hash",
    f"{OPTIONS}.encoders.eagle_text_medcpt": "hash",
    f"{OPTIONS}.encoders.eagle_chemical": "morgan",
    f"{OPTIONS}.encoders.eagle_medical_radiology": "",
    f"{OPTIONS}.encoders.eagle_medical_pathology": "",
    f"{OPTIONS}.domain_rerank_encoder": "",
    f"{OPTIONS}.medcpt_dual_search": True,
    # The two that say nothing of medicine go to the core's collection.
    f"{OPTIONS}.doc_semantic_router.ambiguous_default": "general",
    "router.hybrid_alpha": ALPHA,
    "ingest.workers": 1,
}
FILES = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\n"
    "Resistance arose in a fifth of patients with lung cancer on osimertinib.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\n"
    "Resistance arose in a third of patients with leukaemia on imatinib.\n",
    "c.md": "# Minutes of the town council\n\n"
    "The council voted for a bridge against the resistance of residents.\n",
    "d.md": "# Cooking with beans\n\nSoak them overnight; resistance of the skin tells old beans.\n",
}
MEDICAL, COMMON = ("eagle_text_biomed", "eagle_text_medcpt"), ("eagle_text",)
QUERY = "resistance to osimertinib in patients"


@pytest.fixture(scope="module")
def found(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Hit, ...]:
    """Return every hit of one query."""
    engine = make_shared_engine(SETTINGS)
    folder = write_files(tmp_path_factory.mktemp("profile"), FILES)
    assert engine.ingest([folder]).refused == ()
    results = engine.search(SearchRequest(QUERY, explain=True))
    assert not results.trace.degraded
    return results.hits


def searched(hit: Hit) -> tuple[str, ...]:
    """Return the collections that have a hit, sorted."""
    plans = (arm.arm.removesuffix("/plan") for arm in hit.arms if arm.arm.endswith("/plan"))
    return tuple(sorted(plans))


def test_what_is_medicine_is_found_in_its_collections_and_the_rest_in_the_cores(
    found: tuple[Hit, ...],
) -> None:
    assert Counter(map(searched, found)) == {MEDICAL: 2, COMMON: 2}
    assert found[0].title == "Resistance to osimertinib"


def test_each_collection_of_texts_combines_cosine_and_words_by_alpha(
    found: tuple[Hit, ...],
) -> None:
    for hit in found:
        parts, arms = dict(hit.parts), {arm.arm: arm.score for arm in hit.arms}
        for name in searched(hit):
            dense, sparse = parts[f"{name}/dense"], parts[f"{name}/sparse"]
            assert parts[f"{name}/combined"] == pytest.approx(ALPHA * dense + (1 - ALPHA) * sparse)
            assert dense == pytest.approx(max(0.0, arms[f"{name}/dense"]))
            assert arms[f"{name}/plan"] == parts[f"{name}/combined"]


@pytest.mark.parametrize("collection", [*MEDICAL, *COMMON])
def test_the_words_of_a_collection_count_by_the_best_bm25_score_in_it(
    found: tuple[Hit, ...], collection: str
) -> None:
    """Which needs a BM25 arm: the profile lists the collections that have one."""
    held = [hit for hit in found if collection in searched(hit)]
    scores = {
        hit.title: arm.score
        for hit in held
        for arm in hit.arms
        if arm.arm == f"{collection}/lexical"
    }
    assert len(scores) == 2
    shares = {hit.title: dict(hit.parts)[f"{collection}/sparse"] for hit in held}
    assert shares == pytest.approx(
        {title: score / max(scores.values()) for title, score in scores.items()}
    )


def test_the_profile_reranks_by_the_plugin(found: tuple[Hit, ...]) -> None:
    """Without a cross-encoder, by the score that stands in, entity, section and penalty."""
    for hit in found:
        assert dict(hit.parts).keys() >= {"ce_norm", "fused", "entity", "section", "xdrug"}
        assert hit.score == dict(hit.parts)["final"]
    assert found[-1].title == "Resistance to imatinib"
