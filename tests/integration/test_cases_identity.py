"""CASES E2 and A10 where identifiers mislead, and what hooks and settings may not do in silence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag import SearchRequest
from eagle_rag.errors import ConfigurationError, InvalidInput
from eagle_rag.ingest.prepare import PrepareConfig, prepare_source
from eagle_rag.kernel.settings import load_settings
from eagle_rag.model.document import Source
from eagle_rag.testing.articles import (
    jats_article,
    pubmed_deletions,
    pubmed_record,
    write_files,
)

if TYPE_CHECKING:
    from eagle_rag.engine import Engine
    from eagle_rag.kernel.bus import BoundBus

DOI = {"doi": "10.5555/main"}
MAIN = jats_article("Main text", ["The kinase fell in patients."], ids=DOI)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s1.xml", jats_article("Supplement 1", ["The kinase fell in mice."], ids=DOI)),
        (
            "s1.html",
            (
                '<html><head><meta name="citation_doi" content="10.5555/main"><title>S1</title></head>'
                "<body><p>The kinase fell in mice.</p></body></html>"
            ),
        ),
    ],
)
def test_e2_a_supplement_with_the_doi_of_its_main_text_does_not_replace_it(
    engine: "Engine", tmp_path: Path, name: str, content: bytes | str
) -> None:
    folder = write_files(tmp_path / "in", {"main.xml": MAIN, name: content})
    first = engine.ingest([folder])
    again = engine.ingest([folder])

    assert (len(first.added), len(first.replaced)) == (2, 0)
    assert (again.unchanged, len(again.added), len(again.replaced)) == (2, 0, 0)
    passages = engine.search(SearchRequest("kinase fell", group_by="passage")).hits
    assert {hit.text for hit in passages} == {
        "The kinase fell in patients.",
        "The kinase fell in mice.",
    }
    assert len(engine.search(SearchRequest("kinase fell")).hits) == 1  # one work
    assert engine.verify().clean


def test_e2_a_new_version_under_another_file_name_replaces_the_old_one(
    engine: "Engine", tmp_path: Path
) -> None:
    engine.ingest([write_files(tmp_path / "one", {"main.xml": MAIN})])
    corrected = jats_article("Main  Text.", ["The kinase rose in patients."], ids=DOI)
    report = engine.ingest([write_files(tmp_path / "two", {"main_v2.xml": corrected})])
    assert len(report.replaced) == 1
    assert [hit.text for hit in engine.search(SearchRequest("kinase")).hits] == [
        "The kinase rose in patients."
    ]


def test_a10_a_medline_deletion_takes_the_record_and_leaves_the_full_text(
    engine: "Engine", tmp_path: Path
) -> None:
    record = pubmed_record("31234567", "Paper", "The kinase fell in an abstract.")
    files: dict[str, bytes | str] = {
        "full.xml": jats_article("Paper", ["The kinase fell."], ids={"pmid": "31234567"}),
        "medline1.xml": f"<PubmedArticleSet>{record}</PubmedArticleSet>",
        "medline2.xml": f"<PubmedArticleSet>{pubmed_deletions('31234567')}</PubmedArticleSet>",
    }
    report = engine.ingest([write_files(tmp_path / "in", files)])
    assert len(report.deleted) == 1
    assert [record.format for record in engine.documents()] == ["jats"]


def test_every_configured_collection_gets_every_passage(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    """A second collection that is searched but never filled would be a silent gap."""
    engine = make_engine({"collections.second": {"encoder": "hash"}})
    engine.ingest([write_files(tmp_path / "in", {"main.xml": MAIN})])
    assert {name: engine.store.count(name) for name in engine.store.collections()} == {
        "eagle_text": 1,
        "second": 1,
    }
    results = engine.search(SearchRequest("kinase", explain=True))
    assert {arm.arm for arm in results.hits[0].arms} >= {"eagle_text/lexical", "second/lexical"}


def test_every_decision_is_in_the_audit_log(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    engine = make_engine({"audit.jsonl_path": str(path)})
    engine.ingest([write_files(tmp_path / "in", {"main.xml": MAIN})])
    results = engine.search(SearchRequest("kinase"))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["category"] for line in lines] == [
        "classify_chunk",
        "route_query",
        "rerank_t2_passthrough",
    ]
    assert lines[1]["subject"] == "kinase"
    assert lines[1]["decision"] == "eagle_text by core-default"
    assert "eagle_text by core-default" in [event.message for event in results.trace.events]


def test_a_rerank_policy_without_a_reranker_is_said(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    engine = make_engine({"rerank.policy": "domain"})
    engine.ingest([write_files(tmp_path / "in", {"main.xml": MAIN})])
    results = engine.search(SearchRequest("kinase"))
    assert results.hits
    assert results.trace.degraded


def test_settings_of_the_packaged_encoder_take_effect(
    make_engine: Callable[..., "Engine"],
) -> None:
    engine = make_engine(
        {"encoders.minilm.query_prefix": "query: ", "encoders.minilm.max_tokens": 16}
    )
    encoder = engine.kernel.encoders.text("minilm")
    assert encoder.spec.query_prefix == "query: "
    assert encoder.encode_documents(["word " * 40]).truncated == (0,)


def test_a_packaged_encoder_of_another_dimension_is_refused(
    make_engine: Callable[..., "Engine"],
) -> None:
    with pytest.raises(ConfigurationError, match="has 384 dimensions, not 128"):
        make_engine({"encoders.minilm.dim": 128})


def test_truncate_dim_of_a_local_encoder_is_refused() -> None:
    overrides = {"encoders.mine": {"runtime": "hash", "dim": 8, "truncate_dim": 8}}
    with pytest.raises(ConfigurationError, match="truncate_dim is for runtime http"):
        load_settings(environ={}, overrides=overrides)


def test_an_error_of_ours_from_a_hook_refuses_the_document_and_names_plugin_and_hook(
    engine: "Engine", make_bus: Callable[..., "BoundBus"]
) -> None:
    def chunk(**_: object) -> None:
        message = "the tag is wrong"
        raise InvalidInput(message)

    bus = make_bus(engine, chunk=chunk)
    config = PrepareConfig("ns", "kb", 900, "title", "none", refuse_abstracts=False)
    prepared = prepare_source(bus, Source("main.xml", MAIN, "digest"), config)
    assert [refusal.reason for refusal in prepared.refusals] == ["plugin-failed"]
    assert "the tag is wrong" in prepared.refusals[0].message
    assert "in hook 'chunk'" in prepared.refusals[0].message
