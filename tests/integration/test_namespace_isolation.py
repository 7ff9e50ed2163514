"""A query off a plugin's namespace is answered as if the plugin were not there, byte for byte."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.hooks import HOOKS
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.model.query import SearchRequest
from eagle_rag.retrieve.pipeline import SearchConfig, SearchPipeline
from eagle_rag.surfaces.schemas import results_json
from eagle_rag.testing.articles import write_files

if TYPE_CHECKING:
    from eagle_rag.engine import Engine
    from eagle_rag.kernel.plugins import Implementation

FILES = {
    "a.txt": "Osimertinib inhibits EGFR T790M.\n\nIts boxed warning names the heart.\n",
    "b.txt": "Venetoclax and azacitidine were combined. CC(=O)Oc1ccccc1C(=O)O is aspirin.\n",
    "c.txt": "Kinases fell. Everything else was as before.\n",
}
QUERIES = (
    "boxed warning of osimertinib",
    "SMILES CC(=O)Oc1ccccc1C(=O)O",
    "venetoclax combined with azacitidine",
    "Tagrisso",
    "what fell",
)


@pytest.fixture
def engines(make_engine: Callable[..., "Engine"], tmp_path: Path) -> tuple["Engine", "Engine"]:
    """Return an engine of the core with documents, and one of the biomedical namespace."""
    core = make_engine({"store.kind": "memory"})
    core.ingest([write_files(tmp_path / "in", dict(FILES))])
    return core, make_engine(
        {
            "plugins.enabled": ["biomed"],
            "plugins.default_namespace": "biomed",
            "plugins.options.biomed.encoders": {
                "eagle_text_biomed": "hash",
                "eagle_text_medcpt": "",
                "eagle_chemical": "morgan",
                "eagle_medical_radiology": "",
                "eagle_medical_pathology": "",
            },
        }
    )


def _answer(
    engine: "Engine", implementations: tuple["Implementation", ...], query: str
) -> tuple[str, list[str]]:
    audit = AuditLog(100)
    services = replace(engine._searcher()._services, audit=audit)
    pipeline = SearchPipeline(HookBus(implementations, audit), services)
    config = SearchConfig(rerank_policy="domain")
    results = pipeline.search(SearchRequest(query, explain=True), config, namespace="core")
    value = results_json(results)
    for event in value["trace"]:
        event["elapsed_ms"] = None
    return json.dumps(value), [repr(event) for event in audit.recent()]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_off_the_namespace_is_answered_as_by_the_core_alone(
    engines: tuple["Engine", "Engine"], query: str
) -> None:
    core, biomed = engines
    alone = core.kernel.loaded.implementations
    plugin = tuple(
        each for each in biomed.kernel.loaded.implementations if each.plugin == "biomed"
    )
    assert plugin
    assert _answer(core, (*plugin, *alone), query) == _answer(core, alone, query)


def test_no_hook_of_a_plugin_is_called_off_its_namespace(
    engines: tuple["Engine", "Engine"],
) -> None:
    core, biomed = engines
    both = (*biomed.kernel.loaded.implementations, *core.kernel.loaded.implementations)
    bus = HookBus(both, AuditLog(1))
    assert bus.bind("biomed").implements("rerank_merged") or bus.bind("biomed").implements("chunk")
    assert {name for hook in HOOKS for name in bus.bind("core").implements(hook)} == {"core"}
