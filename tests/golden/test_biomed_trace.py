"""The whole query path over the sample corpus, hashed: traces, plans and first hits of seven questions.

One question a workflow through the biomedical plugin with its merged rerank, one through the core alone, and one
whose arms reach so little that the documents of its drug come by injection.
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
# Twenty rows an arm reach all of so small a library, and nothing is left to inject.
_NARROW = _BIOMED | {"plugins.options.biomed.collection_recall_top_k": 2}
_INJECTED = "progression of tumours in patients given venetoclax"
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
def narrow(make_shared_engine: Callable[..., Engine], biomed: Engine) -> Engine:
    """Return an engine on the same index, of two rows an arm."""
    assert biomed.documents()
    return make_shared_engine(_NARROW)


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


def _all_traced(biomed: Engine, narrow: Engine, core: Engine) -> dict[str, Any]:
    traced = {workflow: _traced(biomed, question) for workflow, question in _QUESTIONS.items()}
    return traced | {
        "injected": _traced(narrow, _INJECTED),
        "off-namespace": _traced(core, _OFF_NAMESPACE),
    }


def _golden() -> dict[str, Any]:
    golden: dict[str, Any] = json.loads(_GOLDEN.read_text("utf-8"))
    return golden


def test_seven_questions_go_their_way_through_the_query_path(
    biomed: Engine, narrow: Engine, core: Engine
) -> None:
    traced = _all_traced(biomed, narrow, core)
    if os.environ.get("EAGLE_RAG_UPDATE_GOLDEN"):
        _GOLDEN.write_text(json.dumps(traced, ensure_ascii=False, indent=1) + "\n", "utf-8")

    known = _golden()

    assert sorted(traced) == sorted(known)
    for name, expected in known.items():
        assert traced[name] == expected, name


def test_the_golden_file_pins_a_hit_that_only_the_supplement_brought() -> None:
    """A change of the sample or of the defaults would else take it away, and nobody would see it."""
    brought = [hit for hit in _golden()["injected"]["hits"] if "injected" in hit["parts"]]
    assert brought
    for hit in brought:
        assert hit["parts"]["injected"] == 1.0
        assert hit["parts"]["supplement"] > 0
        kinds = [arm.split()[0].split("/")[0] for arm in hit["arms"]]
        assert kinds == ["supplement", "inject", "rerank_merged"]
    assert any(hit["parts"]["entity"] == 1.0 for hit in brought)


def test_the_golden_file_pins_hits_that_arms_found_beside_it() -> None:
    found = [hit for hit in _golden()["injected"]["hits"] if "injected" not in hit["parts"]]
    assert found
    assert all(any("/plan " in arm for arm in hit["arms"]) for hit in found)


def test_each_question_is_of_its_workflow(biomed: Engine) -> None:
    for workflow, question in _QUESTIONS.items():
        trace = "\n".join(_traced(biomed, question)["trace"])
        assert f"biomed-{workflow}:" in trace
