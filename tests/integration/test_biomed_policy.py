"""Who reranks biomedical questions: the plugin's options, the core's setting above them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import ConfigurationError
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import write_files

_FILES: dict[str, str | bytes] = {
    "a.md": "# Resistance to osimertinib\n\n## Results\n\nC797S arose in a fifth of patients.\n",
    "b.md": "# Resistance to imatinib\n\n## Results\n\nT315I arose in a third of patients.\n",
}
_SMALL: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "encoders.pairs.modality": "rerank",
    "encoders.pairs.runtime": "hash",
    "ingest.workers": 1,
}
_OPTION = "plugins.options.biomed"


@pytest.mark.parametrize(
    ("settings", "category"),
    [
        ({}, "rerank_t2_domain"),
        ({f"{_OPTION}.rerank_policy": "domain"}, "rerank_t2_domain"),
        ({f"{_OPTION}.rerank_policy": "none"}, "rerank_t2_passthrough"),
        (
            {f"{_OPTION}.rerank_policy": "general", "rerank.encoder": "pairs"},
            "rerank_t2_general",
        ),
        (
            {
                f"{_OPTION}.rerank_policy": None,
                f"{_OPTION}.use_general_rerank": True,
                "rerank.encoder": "pairs",
            },
            "rerank_t2_general",
        ),
        ({f"{_OPTION}.rerank_policy": "domain", "rerank.policy": "none"}, "rerank_t2_passthrough"),
        ({f"{_OPTION}.rerank_policy": "none", "rerank.policy": "domain"}, "rerank_t2_domain"),
    ],
)
def test_the_policy_of_the_options_is_followed_unless_the_cores_is_set(
    make_engine: Callable[..., Engine],
    tmp_path: Path,
    settings: dict[str, object],
    category: str,
) -> None:
    engine = make_engine({**_SMALL, **settings})
    engine.ingest([write_files(tmp_path / "in", dict(_FILES))])
    results = engine.search(SearchRequest("osimertinib resistance"))
    assert not results.trace.degraded
    logged = {event.category for event in engine.kernel.audit.recent()}
    assert {each for each in logged if each.startswith("rerank_t2_")} == {category}


def test_general_without_a_cross_encoder_is_said_and_nothing_is_injected(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({**_SMALL, f"{_OPTION}.rerank_policy": "general"})
    engine.ingest([write_files(tmp_path / "in", dict(_FILES))])
    results = engine.search(SearchRequest("osimertinib resistance", explain=True))
    assert results.trace.degraded
    assert results.hits
    assert all("injected" not in dict(hit.parts) for hit in results.hits)


@pytest.mark.parametrize(
    ("option", "value", "unchanged"),
    [
        ("rerank_policy", "none", 2),
        ("supplement_min_new", 0, 2),
        ("tier1", "off", 2),
        ("retrieval_scoring.drug_entity.w_ce", 1.0, 2),
        ("doc_semantic_router.llm_margin", 0.5, 0),
    ],
)
def test_an_option_that_only_searching_reads_makes_no_ingest_read_files_again(
    make_engine: Callable[..., Engine], tmp_path: Path, option: str, value: object, unchanged: int
) -> None:
    folder = write_files(tmp_path / "in", dict(_FILES))
    first = make_engine(_SMALL)
    first.ingest([folder])
    first.close()
    report = make_engine({**_SMALL, f"{_OPTION}.{option}": value}).ingest([folder])
    assert report.unchanged == unchanged


def test_an_unknown_encoder_whose_query_should_be_rewritten_is_refused_by_name(
    make_engine: Callable[..., Engine],
) -> None:
    with pytest.raises(ConfigurationError, match="expand_encoders names no encoder: 'nope'"):
        make_engine({**_SMALL, f"{_OPTION}.expand_encoders": ["nope"]})
