"""The core's defaults, called as the bus calls them."""

from collections.abc import Sequence

import numpy as np
import pytest

from eagle_rag.errors import UnknownName
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.kernel.collections import CollectionRegistry, Registrar
from eagle_rag.kernel.core_plugin import CorePlugin, CoreServices
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.plugins import load_plugins
from eagle_rag.kernel.sections import PluginSettings
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.document import ParseOutcome, Source
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import ChunkDecision, EncodedBatch, StoredPassage, VectorSpec
from eagle_rag.model.query import (
    CollectionQueryPlan,
    ExpandedQuery,
    QueryAddition,
    QueryContext,
    RouteDecision,
    SearchRequest,
)
from eagle_rag.ports.plugins import PluginContext
from eagle_rag.testing.plugin_contract import sample_document, sample_passages
from eagle_rag.testing.plugin_services import offline_services

CARD = EncoderCard("tiny", "text", 2, "hash")
PLAN = CollectionQueryPlan("eagle_text", "tiny")
CONTEXT = QueryContext(SearchRequest("egfr"), "core", ("egfr",))


class Parser:
    """Accepts one ending."""

    def __init__(self, name: str) -> None:
        self.format = name

    def accepts(self, source: Source) -> bool:
        return source.uri.endswith(self.format)

    def parse(self, source: Source) -> ParseOutcome:
        return ParseOutcome((), deleted_pmids=(self.format, source.uri))


class Store:
    """Keeps rows."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, StoredPassage]] = []

    def upsert(self, collection: str, rows: Sequence[StoredPassage]) -> None:
        self.rows.extend((collection, row) for row in rows)

    def delete(self, collection: str, where: Filter) -> None:
        raise AssertionError((collection, where))


class Tiny:
    """Encodes everything to zero."""

    card = CARD
    spec = VectorSpec("tiny", "0" * 64, 2)

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        return EncodedBatch(np.zeros((len(texts), 2), np.float32), self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        return self.encode_documents([text])


def _bus(plugin: CorePlugin) -> BoundBus:
    encoders = EncoderRegistry()
    registrar = Registrar(encoders, CollectionRegistry(encoders))
    loaded = load_plugins(
        PluginSettings(),
        plugin,
        context_for=lambda each: PluginContext(
            each.namespace, {}, registrar, encoders, AuditLog(1), offline_services()
        ),
    )
    return HookBus(loaded.implementations, AuditLog(1)).bind("core")


def _full(store: Store, *plans: CollectionQueryPlan) -> BoundBus:
    encoders = EncoderRegistry()
    encoders.register_encoder(CARD, Tiny)
    target = CollectionProfile("eagle_text", 2, "tiny", chunk_type="prose")
    return _bus(CorePlugin((), CoreServices(store, encoders, (target,), plans)))


def test_the_first_parser_that_accepts_is_chosen_and_parses() -> None:
    bus = _bus(CorePlugin((Parser("xml"), Parser("l"))))
    source = Source("a.xml", b"", "0")
    assert bus.ingest_route_selectors(source) == "xml"
    routed = Source("a.xml", b"", "0", "l")
    assert bus.parse(routed) == ParseOutcome((), deleted_pmids=("l", "a.xml"))


def test_a_source_nobody_accepts_is_left_alone() -> None:
    bus = _bus(CorePlugin((Parser("xml"),)))
    assert bus.ingest_route_selectors(Source("a.pdf", b"", "0")) is None
    assert bus.parse(Source("a.pdf", b"", "0", "pdf")) is None


def test_every_passage_goes_to_the_default_collection() -> None:
    found = _full(Store()).classify_chunk(sample_document(), sample_passages())
    assert found == tuple(
        ChunkDecision(
            at, "eagle_text", "tiny", chunk_type="prose", rule="core-default", plugin="core"
        )
        for at in (0, 1)
    )


def test_texts_are_encoded_by_the_registered_encoder() -> None:
    batch = _full(Store()).embed_text("tiny", ["a", "b"])
    assert batch is not None
    assert batch.vectors.shape == (2, 2)


def test_an_unknown_encoder_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: tiny"):
        _full(Store()).embed_text("huge", ["a"])


def test_rows_are_written_and_counted() -> None:
    store = Store()
    row = StoredPassage(
        "p@1", "p", "d", 1, "core", "kb", "t", "t", np.zeros(2, np.float32), "", "body", "text",
        "text", "p", 0, 1,
    )  # fmt: skip
    assert _full(store).upsert_vectors("eagle_text", [row]) == 1
    assert store.rows == [("eagle_text", row)]


def test_a_query_goes_to_the_configured_plans() -> None:
    decision = _full(Store(), PLAN).classify_query(CONTEXT)
    assert decision == RouteDecision((PLAN,), rule="core-default", plugin="core")


def test_without_plans_the_core_abstains() -> None:
    assert _full(Store()).classify_query(CONTEXT) is None


def test_additions_reach_both_arms() -> None:
    context = QueryContext(
        SearchRequest("egfr"),
        "core",
        ("egfr",),
        additions=(
            QueryAddition(dense_suffix="[her1]", lexical_terms=("her1", "erbb1")),
            QueryAddition(lexical_terms=("her1",)),
        ),
    )
    expanded = _full(Store()).query_dense_expand(context, PLAN)
    assert expanded == ExpandedQuery("egfr [her1]", ("her1", "erbb1"))


def test_in_a_worker_everything_but_parsing_abstains() -> None:
    bus = _bus(CorePlugin((Parser("xml"),)))
    assert bus.classify_chunk(sample_document(), sample_passages()) == ()
    assert bus.embed_text("tiny", ["a"]) is None
    assert bus.upsert_vectors("eagle_text", []) is None
    assert bus.classify_query(CONTEXT) is None
    assert bus.query_dense_expand(CONTEXT, None) == ExpandedQuery("egfr")
