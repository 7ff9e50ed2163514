"""A plugin and what it is given when it is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.encoders import EncoderCatalog, PairScorer, TextEncoder, VisualEncoder

__all__ = ["DecisionLog", "EncoderFactory", "Plugin", "PluginContext", "PluginRegistrar"]

EncoderFactory = Callable[[], TextEncoder | VisualEncoder | PairScorer]


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


@dataclass(frozen=True, slots=True)
class PluginContext:
    """Handed to ``Plugin.on_load``.

    Args:
        namespace: The plugin's namespace.
        options: ``plugins.options.<namespace>`` of the settings, as configured.
        registrar: Registers encoders and collections.
        encoders: Encoders of all plugins, for use at run time.
        audit: Decisions.
    """

    namespace: str
    options: Mapping[str, Any]
    registrar: PluginRegistrar
    encoders: EncoderCatalog
    audit: DecisionLog


class Plugin(Protocol):
    """A plugin is an object with these attributes, plus methods named after hooks.

    The entry point (group ``eagle_rag.plugins``) names a callable without arguments that returns it.
    Hook methods are decorated with ``eagle_rag.hooks.hookimpl``.
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
