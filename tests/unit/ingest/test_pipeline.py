"""Committing: what plugins break, what deletions race with, what a crash leaves behind."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.adapters.registry.registry import SqlRegistry
from eagle_rag.engine import Engine
from eagle_rag.engine.compose import collection_schemas
from eagle_rag.errors import PluginError, RegistryError, StoreError
from eagle_rag.ingest.pipeline import IngestPipeline
from eagle_rag.ingest.prepare import PreparedSource, prepare_source
from eagle_rag.ingest.rows import CommitConfig
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import ParsedDocument, Source
from eagle_rag.model.passage import ChunkDecision, Passage, StoredPassage
from eagle_rag.model.results import IngestEvent, IngestReport
from eagle_rag.testing.articles import jats_article

MakeBus = Callable[..., BoundBus]


def source(number: int, text: str = "Kinase fell.") -> Source:
    """Return an article as a source."""
    data = jats_article(f"Paper {number}", [text], ids={"doi": f"10.5555/{number}"})
    return Source(f"{number}.xml", data, f"{number}-{text}")


class Run:
    """Ingests sources with a bus of one's own into an engine's registry and store."""

    def __init__(self, engine: Engine, bus: BoundBus) -> None:
        self.engine, self.bus = engine, bus
        self.events: list[IngestEvent] = []
        self.schemas = collection_schemas(engine.kernel)
        for schema in self.schemas.values():
            engine.store.ensure(schema)
        self.on_commit: Callable[[IngestPipeline, IngestEvent], None] = lambda *_: None

    def __call__(self, *sources: Source) -> IngestReport:
        """Prepare and commit."""
        engine = self.engine
        config = CommitConfig("default/core", "default", "digest", self.schemas)
        pipeline = IngestPipeline(
            self.bus,
            engine.registry,
            store=engine.store,
            config=config,
            audit=engine.kernel.audit,
            on_event=self._on_event,
        )
        self._pipeline = pipeline
        return pipeline.run(self._prepared(sources))

    def _prepared(self, sources: Sequence[Source]) -> list[PreparedSource]:
        config = self.engine.prepare_config("default")
        return [prepare_source(self.bus, each, config) for each in sources]

    def _on_event(self, event: IngestEvent) -> None:
        self.events.append(event)
        if event.kind == "committed":
            self.on_commit(self._pipeline, event)

    def dois(self) -> list[str]:
        """Return the DOIs of what is live."""
        return sorted(record.metadata.ids.doi for record in self.engine.documents())


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine({"store.kind": "memory"})


def _failing_on(number: int) -> Callable[..., None]:
    def chunk(document: ParsedDocument, passages: tuple[Passage, ...]) -> None:
        if document.metadata.title == f"Paper {number}":
            message = f"cannot tag {len(passages)}"
            raise ZeroDivisionError(message)

    return chunk


@pytest.mark.parametrize("hook", ["chunk", "classify_chunk"])
def test_g6_a_plugin_that_fails_on_one_document_costs_that_document_only(
    engine: Engine, make_bus: MakeBus, hook: str
) -> None:
    run = Run(engine, make_bus(engine, **{hook: _failing_on(2)}))
    report = run(source(1), source(2), source(3))
    assert [(item.source_uri, item.reason) for item in report.refused] == [
        ("2.xml", "plugin-failed")
    ]
    assert f"'lab-{hook}'" in report.refused[0].message
    assert run.dois() == ["10.5555/1", "10.5555/3"]


def test_g6_an_encoder_plugin_that_fails_on_one_text_costs_that_document_only(
    engine: Engine, make_bus: MakeBus
) -> None:
    def embed_text(encoder: str, texts: Sequence[str]) -> None:
        if any("poison" in text for text in texts):
            raise ValueError(encoder)

    run = Run(engine, make_bus(engine, embed_text=embed_text))
    report = run(source(1), source(2, "Some poison."), source(3))
    assert [item.source_uri for item in report.refused] == ["2.xml"]
    assert run.dois() == ["10.5555/1", "10.5555/3"]
    assert engine.registry.pending("default/core") == ()


def test_a_document_refused_for_a_plugin_is_tried_again(engine: Engine, make_bus: MakeBus) -> None:
    Run(engine, make_bus(engine, chunk=_failing_on(2)))(source(1), source(2))
    known = engine.registry.sources("default/core", "default")
    assert sorted(known) == ["1.xml"]
    assert Run(engine, make_bus(engine))(source(1), source(2)).unchanged == 1


def test_a_decision_for_a_collection_nobody_registered_is_refused(
    engine: Engine, make_bus: MakeBus
) -> None:
    def classify_chunk(passages: tuple[Passage, ...], **_: object) -> tuple[ChunkDecision, ...]:
        return tuple(ChunkDecision(each.ordinal, "nowhere", "hash") for each in passages)

    report = Run(engine, make_bus(engine, classify_chunk=classify_chunk))(source(1))
    assert "'nowhere'" in report.refused[0].message
    assert engine.documents() == ()


def test_an_upsert_hook_that_loses_rows_ends_the_ingest_and_acknowledges_nothing(
    engine: Engine, make_bus: MakeBus
) -> None:
    run = Run(engine, make_bus(engine, upsert_vectors=lambda **_: 0))
    with pytest.raises(StoreError, match="0 of 1 rows"):
        run(source(1))
    assert (run.events, engine.documents()) == ([], ())
    after = Run(engine, make_bus(engine))(source(1))
    assert (len(after.added), after.recovered) == (1, 1)


def test_tags_of_a_plugin_reach_the_registry(engine: Engine, make_bus: MakeBus) -> None:
    def chunk(passages: tuple[Passage, ...], **_: object) -> tuple[Passage, ...]:
        return tuple(replace(each, tags=(("drug", "osimertinib"),)) for each in passages)

    Run(engine, make_bus(engine, chunk=chunk))(source(1))
    assert engine.show("10.5555/1").passages[0].tags == (("drug", "osimertinib"),)


def test_g3_a_deletion_between_the_rows_and_the_commit_leaves_no_row(
    engine: Engine, make_bus: MakeBus
) -> None:
    Run(engine, make_bus(engine))(source(1))

    def upsert_vectors(collection: str, rows: Sequence[StoredPassage]) -> None:
        assert (collection, len(rows)) == ("eagle_text", 1)
        engine.delete("10.5555/1")

    report = Run(engine, make_bus(engine, upsert_vectors=upsert_vectors))(source(1, "Changed."))
    assert [item.reason for item in report.refused] == ["deleted"]
    assert engine.documents() == ()
    assert engine.store.count("eagle_text") == 0
    assert engine.registry.pending("default/core") == ()
    assert engine.registry.sources("default/core", "default") == {}


def test_g3_a_document_kept_deleted_is_not_even_written(engine: Engine, make_bus: MakeBus) -> None:
    run = Run(engine, make_bus(engine))
    run(source(1), source(2))
    gone = engine.show("10.5555/2").record.document_id

    def on_commit(pipeline: IngestPipeline, _: IngestEvent) -> None:
        pipeline.keep_deleted(gone)

    run.on_commit = on_commit
    long = "Kinase fell. " * 20_000
    report = run(source(1, long), source(2, "Changed."))
    assert [item.source_uri for item in report.refused] == ["2.xml"]
    assert engine.show("10.5555/2").text.endswith("Kinase fell."), "the live one is the caller's"
    assert engine.registry.pending("default/core") == ()


def test_a_registry_that_fails_ends_the_ingest(engine: Engine, make_bus: MakeBus) -> None:
    class Full(SqlRegistry):
        def commit_version(self, version: int, new: object) -> None:
            message = f"no space left for version {version} of {type(new).__name__}"
            raise RegistryError(message)

    assert isinstance(engine.registry, SqlRegistry)
    run = Run(engine, make_bus(engine))
    engine._registry = Full(engine.registry._database)
    with pytest.raises(RegistryError, match="no space left"):
        run(source(1))
    assert [event.kind for event in run.events] == []


def test_the_store_is_compacted_after_so_many_documents(engine: Engine, make_bus: MakeBus) -> None:
    assert isinstance(engine.store, MemoryStore)
    run = Run(engine, make_bus(engine))
    run(*(source(number) for number in range(3)))
    assert [event.kind for event in run.events] == ["committed"] * 3 + ["optimized"]
    run.events.clear()
    run(source(0))
    assert [event.kind for event in run.events] == ["unchanged"]


def test_the_second_of_two_versions_in_one_run_stands(engine: Engine, make_bus: MakeBus) -> None:
    run = Run(engine, make_bus(engine))
    report = run(source(1), source(1, "Changed."))
    assert (len(report.added), len(report.replaced)) == (1, 1)
    assert "Changed." in engine.show("10.5555/1").text


def test_an_unroutable_plugin_error_is_a_refusal(engine: Engine, make_bus: MakeBus) -> None:
    def parse(**_: object) -> None:
        raise PluginError("broken", remedy="mend it")

    report = Run(engine, make_bus(engine, parse=parse))(source(1))
    assert [item.reason for item in report.refused] == ["plugin-failed"]


def test_where_rows_went_is_audited(engine: Engine, make_bus: MakeBus) -> None:
    Run(engine, make_bus(engine))(source(1))
    assert isinstance(engine.registry, SqlRegistry)
    event = engine.registry.audit()[0]
    assert (event.category, event.plugin) == ("classify_chunk", "core")
    assert event.decision == "eagle_text by core-default"
