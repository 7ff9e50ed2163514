"""A plugin and what it is given when it is loaded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.query import CollectionQueryPlan, RerankPolicy
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.encoders import EncoderCatalog, PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.services import (
    EncoderRuntimes,
    JsonModel,
    Library,
    NameLookup,
    PassageTexts,
    XmlReader,
)
from eagle_rag.ports.tools import Tool

__all__ = [
    "CollectionCatalog",
    "DecisionLog",
    "EncoderFactory",
    "Plugin",
    "PluginContext",
    "PluginRegistrar",
    "PluginServices",
]

EncoderFactory = Callable[[], TextEncoder | VisualEncoder | PairScorer]


class CollectionCatalog(Protocol):
    """The registry of collections as plugins see it, the core's and all plugins'."""

    def profiles(self) -> tuple[CollectionProfile, ...]:
        """Return all profiles by name."""
        ...

    def plans(
        self, collections: Sequence[str], *, recall_top_k: int
    ) -> tuple[CollectionQueryPlan, ...]:
        """Return the plan of each collection with its default encoder, in the order given.

        ``router.hybrid_text_collections`` is heeded.

        Raises:
            UnknownName: Nobody registered one of them.
        """
        ...


class DecisionLog(Protocol):
    """Where decisions are recorded; never fails the caller."""

    def log_decision(self, event: AuditEvent) -> None:
        """Record one decision."""
        ...


class PluginRegistrar(Protocol):
    """What a plugin may register while it is loaded; registering costs nothing."""

    def register_encoder(self, card: EncoderCard, factory: EncoderFactory) -> None:
        """Register an encoder; ``factory`` is called on first use.

        Raises:
            PluginError: The label is taken.
        """
        ...

    def register_collection(self, profile: CollectionProfile) -> None:
        """Register a collection.

        Raises:
            PluginError: The name is taken by another profile.
            ValueError: Its default encoder is registered with another dimension.
        """
        ...

    def register_tool(self, tool: Tool) -> None:
        """Register a read-only command.

        Raises:
            PluginError: One of its names is taken, or says that it changes something.
        """
        ...

    def register_rerank_policy(self, policy: RerankPolicy, *, encoder: str = "") -> None:
        """Say who reranks the queries of this namespace where ``rerank.policy`` is ``auto``.

        Args:
            policy: ``domain``: this plugin's ``rerank_merged``.
            encoder: Label of the cross-encoder that it asks, so that ``eagle doctor`` can look whether it
                answers; empty for none.

        Raises:
            PluginError: Another policy is registered.
        """
        ...


@dataclass(frozen=True, slots=True)
class PluginServices:
    """What the core does for plugins.

    Args:
        read_xml: Reads XML safely.
        runtimes: Opens checkpoints.
        json_model: A language model, or ``None`` when ``llm`` is not configured.
        library: The live documents; ``None`` in a worker process, which only parses.
        cache_dir: Folder of this workspace and namespace for files that can be made anew; created by
            who writes into it. ``None`` where nothing may be written.
        texts: The text of live passages; ``None`` in a worker process.
        names: Live documents by name; ``None`` in a worker process.
    """

    read_xml: XmlReader
    runtimes: EncoderRuntimes
    json_model: JsonModel | None = None
    library: Library | None = None
    cache_dir: Path | None = None
    texts: PassageTexts | None = None
    names: NameLookup | None = None


@dataclass(frozen=True, slots=True)
class PluginContext:
    """Handed to ``Plugin.on_load``.

    Args:
        namespace: The plugin's namespace.
        options: ``plugins.options.<namespace>`` of the settings, as configured.
        registrar: Registers encoders and collections.
        encoders: Encoders of all plugins, for use at run time.
        audit: Decisions.
        services: What the core does for plugins.
        collections: Collections of the core and of all plugins, for use at run time; ``None`` where
            nothing is searched.
    """

    namespace: str
    options: Mapping[str, Any]
    registrar: PluginRegistrar
    encoders: EncoderCatalog
    audit: DecisionLog
    services: PluginServices
    collections: CollectionCatalog | None = None


class Plugin(Protocol):
    """A plugin is an object with these attributes, plus methods named after hooks.

    The entry point (group ``eagle_rag.plugins``) names a callable without arguments that returns it.
    Hook methods are decorated with ``eagle_rag.hooks.hookimpl``. A plugin may also have
    ``isolated_pipelines: tuple[str, ...]``: formats whose parser can die or run on for ever on a hostile
    file, as some C libraries do; their sources are read in worker processes however few they are. And
    ``search_options: tuple[str, ...]``: keys of its options that only searching reads, so that changing them
    makes no ingest read its files again.
    """

    @property
    def name(self) -> str:
        """Unique name, such as ``biomed``."""
        ...

    @property
    def namespace(self) -> str:
        """Namespace whose queries and documents it handles; no two plugins share one."""
        ...

    @property
    def version(self) -> str:
        """Version shown by ``eagle plugins``; part of the configuration digest."""
        ...

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Names of plugins that must be loaded before."""
        ...

    @property
    def priority(self) -> int:
        """Higher runs first; the core's defaults have -1000."""
        ...

    def on_load(self, context: PluginContext) -> None:
        """Register what the plugin brings."""
        ...
