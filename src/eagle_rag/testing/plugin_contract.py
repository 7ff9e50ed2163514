"""The contract every plugin keeps, as tests its author inherits.

::

    from eagle_rag.testing.plugin_contract import PluginContract


    class TestMyPlugin(PluginContract):
        def make_plugin(self) -> MyPlugin:
            return MyPlugin()
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eagle_rag.hooks import HOOKS
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.kernel.collections import CollectionRegistry, Registrar, configured_profile
from eagle_rag.kernel.core_plugin import CorePlugin
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.plugins import LoadedPlugins, check_plugin, load_plugins
from eagle_rag.kernel.sections import CollectionSettings, PluginSettings
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.document import Block, BlockKind, ParsedDocument, Section, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import Passage
from eagle_rag.model.query import QueryContext, SearchRequest
from eagle_rag.model.results import TraceEvent
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.ports.plugins import Plugin, PluginContext
from eagle_rag.testing.plugin_services import offline_services

__all__ = ["LoadedForTest", "PluginContract", "sample_document", "sample_passages"]

_TEXT = "Osimertinib in lung cancer\n\nEGFR T790M was found in 12 of 40 patients. Aspirin was not given."
_TITLE_END = _TEXT.index("\n")
_BODY = _TEXT.rindex("\n") + 1


@dataclass(frozen=True, slots=True)
class LoadedForTest:
    """A plugin loaded beside the core, and all it registered.

    Args:
        loaded: What the loader returned.
        bus: Its hooks, bound to its namespace.
        encoders: Its encoders, and a ``stand-in`` that cannot be used.
        collections: Its collections, and the core's ``eagle_text``.
        events: What the bus recorded.
    """

    loaded: LoadedPlugins
    bus: BoundBus
    encoders: EncoderRegistry
    collections: CollectionRegistry
    events: list[TraceEvent] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Entry:
    plugin: Plugin

    @property
    def name(self) -> str:
        return self.plugin.name

    @property
    def value(self) -> str:
        return type(self.plugin).__qualname__

    def load(self) -> Any:  # noqa: ANN401 - an entry point loads anything
        return lambda: self.plugin


class PluginContract:
    """Inherit in a test class and implement ``make_plugin``; set ``options`` when it needs any."""

    options: Mapping[str, Any] = {}

    def make_plugin(self) -> Plugin:
        """Return a fresh plugin, as its entry point does."""
        raise NotImplementedError

    def load(self) -> LoadedForTest:
        """Load a fresh plugin the way the engine does."""
        plugin = self.make_plugin()
        events: list[TraceEvent] = []
        audit, encoders = AuditLog(100), EncoderRegistry()
        collections = CollectionRegistry(encoders)
        encoders.register_encoder(EncoderCard("stand-in", "text", 8, "hash"), _no_encoder)
        text = CollectionSettings(encoder="stand-in")
        collections.register_collection(configured_profile("eagle_text", text, encoders))
        registrar = Registrar(encoders, collections)
        loaded = load_plugins(
            PluginSettings(enabled=(plugin.name,), default_namespace=plugin.namespace),
            CorePlugin(()),
            context_for=lambda each: PluginContext(
                each.namespace,
                self.options,
                registrar,
                encoders,
                audit,
                offline_services(),
                collections,
            ),
            discover=lambda: (_Entry(plugin),),
        )
        bus = HookBus(loaded.implementations, audit).bind(plugin.namespace, events.append)
        return LoadedForTest(loaded, bus, encoders, collections, events)

    def test_attributes_and_hook_methods_keep_the_contract(self) -> None:
        """Names, types, hook names and parameters are what the loader wants."""
        check_plugin(self.make_plugin())

    def test_it_loads_and_implements_a_hook_or_registers_something(self) -> None:
        """A plugin that brings nothing is a mistake in its entry point or its decorators."""
        state = self.load()
        hooks = state.loaded.cards[-1].hooks
        brought = len(state.encoders.cards()) > 1 or len(state.collections.profiles()) > 1
        _expect(bool(hooks) or brought, "the plugin implements no hook and registers nothing")
        _expect(set(hooks) <= set(HOOKS), f"unknown hooks: {sorted(set(hooks) - set(HOOKS))}")

    def test_collections_name_registered_encoders_of_their_dimension(self) -> None:
        """Found at start-up in production; found here before."""
        self.load().collections.validate_all()

    def test_loading_twice_registers_the_same(self) -> None:
        """Worker processes load plugins again and must see the same."""
        one, two = self.load(), self.load()
        _expect(one.loaded.cards == two.loaded.cards, "the second load has other hooks")
        _expect(one.encoders.cards() == two.encoders.cards(), "the second load has other encoders")
        _expect(
            one.collections.profiles() == two.collections.profiles(),
            "the second load has other collections",
        )

    def test_chunk_only_adds_tags_and_gives_the_same_twice(self) -> None:
        """The bus refuses more; a tag that depends on anything else breaks unchanged re-ingest."""
        bus, document, passages = self.load().bus, sample_document(), sample_passages()
        first = bus.chunk(document, passages)
        _expect(first == bus.chunk(document, passages), "chunk is not deterministic")

    def test_decisions_point_at_given_passages_and_fitting_collections(self) -> None:
        """A decision for a collection nobody registered would fail in the middle of an ingest."""
        state, passages = self.load(), sample_passages()
        ordinals = {passage.ordinal for passage in passages}
        for decision in state.bus.classify_chunk(sample_document(), passages):
            _expect(decision.target in ordinals, f"no passage {decision.target}")
            state.collections.validate_plan(decision.collection, decision.encoder)

    def test_query_hooks_do_not_fail_on_ordinary_and_odd_queries(self) -> None:
        """A failing query hook degrades every answer of its namespace."""
        state = self.load()
        for query in ("EGFR T790M osimertinib", "?", "\u03b1" * 500, "x' OR 1=1 --"):
            context = QueryContext(SearchRequest(query), state.bus.namespace, tuple(query.split()))
            state.bus.query_assemble(context)
            state.bus.query_dense_expand(context, None)
        _expect(not state.events, "; ".join(event.message for event in state.events))


def sample_document() -> ParsedDocument:
    """Return a document of a title and one paragraph."""
    return ParsedDocument(
        "sample.txt",
        "",
        "0" * 64,
        "text",
        DocumentMetadata(title=_TEXT[:_TITLE_END]),
        _TEXT,
        sections=(
            Section(0, ("Title",), SectionKind.TITLE, 0, _TITLE_END),
            Section(1, ("Results",), SectionKind.RESULTS, _BODY, len(_TEXT)),
        ),
        blocks=(
            Block(BlockKind.TITLE, 0, _TITLE_END, 0),
            Block(BlockKind.PARAGRAPH, _BODY, len(_TEXT), 1),
        ),
    )


def sample_passages() -> tuple[Passage, ...]:
    """Return the two passages of ``sample_document``."""
    return (
        _passage(0, "Title", SectionKind.TITLE, end=_TITLE_END),
        _passage(1, "Results", SectionKind.RESULTS, start=_BODY),
    )


def _passage(
    ordinal: int, title: str, kind: SectionKind, *, start: int = 0, end: int = len(_TEXT)
) -> Passage:
    identifier = f"psg1_{ordinal:032x}"
    text = _TEXT[start:end]
    return Passage(identifier, "doc1_sample", ordinal, ordinal, (title,), kind, start, end, text)


def _no_encoder() -> TextEncoder:
    message = "the stand-in encoder of the contract tests cannot encode"
    raise NotImplementedError(message)


def _expect(condition: bool, message: str) -> None:  # noqa: FBT001 - reads like assert
    if not condition:
        raise AssertionError(message)
