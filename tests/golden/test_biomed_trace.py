"""The whole query path over the sample corpus, hashed: traces, plans and first hits of six questions.

One question a workflow through the biomedical plugin with its merged rerank, and one through the core alone.
After a change that is meant to alter them, write the golden file anew and review its diff:
``EAGLE_RAG_UPDATE_GOLDEN=1 python -m pytest tests/golden``.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import Hit
from eagle_rag.sample import record_paths, sample_paths

_GOLDEN = Path(__file__).with_name("biomed_trace.json")
_BIOMED = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "rerank.policy": "domain",
    "plugins.options.biomed.domain_rerank_encoder": "",  # else the trace depends on what is installed
}
_CORE = {"profile": "core"}
_QUESTIONS = {
    "chemical": "compound HMPL-013",
    "regulatory": "VULPEXA prescribing information: warnings about QTc prolongation",
    "combination": "osimertinib plus savolitinib and Fruzaqla after MET amplification",
    "drug_entity": "AZD9291 resistance by C797S",
    "general": "tumour DNA clearing from plasma in MSI-high colorectal cancer",
}
_OFF_NAMESPACE = "AZD9291 resistance by C797S"
_TOP_K = 5
_DIGITS = 4


@pytest.fixture(scope="module")
def biomed(make_shared_engine: Callable[..., Engine]) -> Engine:
    """Return an engine with the plugin and the whole sample."""
    engine = make_shared_engine(_BIOMED)
    report = engine.ingest([*sample_paths(), *record_paths()])
    assert report.refused == ()
    return engine


@pytest.fixture(scope="module")
def core(make_shared_engine: Callable[..., Engine]) -> Engine:
    """Return an engine without any plugin, and the sample's papers."""
    engine = make_shared_engine(_CORE)
    assert engine.ingest(list(sample_paths())).refused == ()
    return engine


def _hit(hit: Hit) -> dict[str, Any]:
    return {
        "passage": f"{hit.title} | {' > '.join(hit.section_path)} | {hit.start}-{hit.end}",
        "score": round(hit.score, _DIGITS),
        "arms": [f"{arm.arm} {arm.rank} {round(arm.score, _DIGITS)}" for arm in hit.arms],
        "parts": {name: round(value, _DIGITS) for name, value in hit.parts},
    }


def _traced(engine: Engine, question: str) -> dict[str, Any]:
    """Return what a question's answer and its trace say; without times."""
    results = engine.search(SearchRequest(question, top_k=_TOP_K, explain=True))
    return {
        "query": question,
        "trace": [
            " | ".join((event.stage, event.plugin, "degraded" * event.degraded, event.message))
            for event in results.trace.events
        ],
        "hits": [_hit(hit) for hit in results.hits],
    }


def _all_traced(biomed: Engine, core: Engine) -> dict[str, Any]:
    traced = {workflow: _traced(biomed, question) for workflow, question in _QUESTIONS.items()}
    return traced | {"off-namespace": _traced(core, _OFF_NAMESPACE)}


def test_six_questions_go_their_way_through_the_query_path(biomed: Engine, core: Engine) -> None:
    traced = _all_traced(biomed, core)
    if os.environ.get("EAGLE_RAG_UPDATE_GOLDEN"):
        _GOLDEN.write_text(json.dumps(traced, ensure_ascii=False, indent=1) + "\n", "utf-8")

    known = json.loads(_GOLDEN.read_text("utf-8"))

    assert sorted(traced) == sorted(known)
    for name, expected in known.items():
        assert traced[name] == expected, name


def test_each_question_is_of_its_workflow(biomed: Engine) -> None:
    for workflow, question in _QUESTIONS.items():
        trace = "\n".join(_traced(biomed, question)["trace"])
        assert f"biomed-{workflow}:" in trace


def test_the_core_alone_names_no_plugin(core: Engine) -> None:
    traced = json.dumps(_traced(core, _OFF_NAMESPACE), ensure_ascii=False)

    assert "biomed" not in traced
