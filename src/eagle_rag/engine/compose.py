"""From settings to objects: the only place that knows which adapter stands behind which port."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from eagle_rag.adapters.documents.html import HtmlParser
from eagle_rag.adapters.documents.jats import JatsParser
from eagle_rag.adapters.documents.markdown import MarkdownParser
from eagle_rag.adapters.documents.plain import PlainParser
from eagle_rag.adapters.documents.pubmed import PubmedParser
from eagle_rag.engine.services import plugin_services
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.kernel.collections import CollectionRegistry, Registrar, configured_profile
from eagle_rag.kernel.core_plugin import CorePlugin, CoreServices
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.pictures import PictureLimits
from eagle_rag.kernel.plugins import LoadedPlugins, load_plugins
from eagle_rag.kernel.rerank_policy import RerankWishes, ResolvedPolicy, resolve_rerank_policy
from eagle_rag.kernel.settings import Settings
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ports.documents import DocumentParser
from eagle_rag.ports.plugins import Plugin, PluginContext
from eagle_rag.ports.services import Library, NameLookup, PassageTexts
from eagle_rag.ports.stores import AssetStore, CollectionStore, CollectionWriter

__all__ = [
    "Kernel",
    "build_kernel",
    "collection_schemas",
    "config_digest",
    "open_assets",
    "open_store",
    "parsers",
    "scope_name",
]

# Raised whenever parsing, cutting or tokenising changes what an unchanged file becomes.
_PREPARE_REVISION = 3


@dataclass(frozen=True, slots=True)
class Kernel:
    """Plugins, hooks, encoders, collections and tools of one process."""

    bus: HookBus
    encoders: EncoderRegistry
    collections: CollectionRegistry
    audit: AuditLog
    loaded: LoadedPlugins
    tools: ToolRegistry
    reranking: RerankWishes

    def rerank_policy(self, settings: Settings) -> ResolvedPolicy:
        """Return who reranks the queries of this instance, and why."""
        bus = self.bus.bind(settings.plugins.default_namespace)
        return resolve_rerank_policy(
            settings.rerank.policy,
            self.reranking.wish,
            has_reranker=bool(bus.implements("rerank_merged")),
            has_encoder=settings.rerank.encoder is not None,
        )


def parsers(settings: Settings) -> tuple[DocumentParser, ...]:
    """Return the core's parsers in the order they are asked; plain text takes what is left."""
    limit = settings.ingest.max_file_bytes
    return (
        JatsParser(size_limit_bytes=limit),
        PubmedParser(),
        HtmlParser(),
        MarkdownParser(),
        PlainParser(),
    )


def build_kernel(
    settings: Settings,
    *,
    writer: Callable[[], CollectionWriter] | None = None,
    library: Library | None = None,
    texts: PassageTexts | None = None,
    names: NameLookup | None = None,
) -> Kernel:
    """Load plugins and register encoders and collections; no weight is loaded.

    Args:
        settings: The settings.
        writer: Gives the store on first write; ``None`` in a worker process, which only parses.
        library: The live documents for plugins; ``None`` in a worker process.
        texts: The text of live passages for plugins; ``None`` in a worker process.
        names: Live documents by name for plugins; ``None`` in a worker process.

    Raises:
        PluginError, UnknownName, VectorSpaceMismatch: The settings name what does not fit.
    """
    from eagle_rag.engine.encoders import configured_encoders

    audit = AuditLog(settings.audit.ring_size, jsonl_path=settings.audit.jsonl_path)
    encoders = EncoderRegistry()
    collections = CollectionRegistry(
        encoders, hybrid_text_collections=settings.router.hybrid_text_collections
    )
    for card, factory in configured_encoders(settings.encoders):
        encoders.register_encoder(card, factory)
    for name, collection in sorted(settings.collections.items()):
        collections.register_collection(configured_profile(name, collection, encoders))
    tools, reranking = ToolRegistry(), RerankWishes()
    registrar = Registrar(encoders, collections, tools, reranking)
    plugin_side = plugin_services(settings, library, texts=texts, names=names)
    services = None
    if writer is not None:
        targets = collections.profiles()
        plans = collections.plans(
            [profile.name for profile in targets], recall_top_k=settings.router.recall_top_k
        )
        services = CoreServices(
            _LazyWriter(writer),
            encoders,
            targets,
            plans,
            picture_plans=lambda: collections.plans(
                collections.filled_by("visual"), recall_top_k=settings.router.recall_top_k
            ),
        )

    def context_for(plugin: Plugin) -> PluginContext:
        options = settings.plugins.options.get(plugin.namespace, {})
        return PluginContext(
            plugin.namespace, options, registrar, encoders, audit, plugin_side, collections
        )

    limits = PictureLimits(settings.ingest.max_pictures, settings.ingest.max_picture_bytes)
    core = CorePlugin(parsers(settings), services, limits=limits)
    loaded = load_plugins(settings.plugins, core, context_for=context_for)
    collections.validate_all()
    bus = HookBus(loaded.implementations, audit)
    return Kernel(bus, encoders, collections, audit, loaded, tools, reranking)


class _LazyWriter:
    """A ``CollectionWriter`` that opens the store on the first write."""

    def __init__(self, opened: Callable[[], CollectionWriter]) -> None:
        self._opened = opened

    def upsert(self, collection: str, rows: Sequence[StoredPassage]) -> None:
        """See ``CollectionWriter.upsert``."""
        self._opened().upsert(collection, rows)

    def delete(self, collection: str, where: Filter) -> None:
        """See ``CollectionWriter.delete``."""
        self._opened().delete(collection, where)


def open_store(settings: Settings) -> CollectionStore:
    """Return the store of the settings' workspace and namespace."""
    if settings.store.kind == "memory":
        from eagle_rag.adapters.memory_store import MemoryStore

        return MemoryStore()
    from eagle_rag.adapters.lance.store import LanceStore

    return LanceStore(
        settings.store_path / settings.workspace / settings.plugins.default_namespace
    )


def open_assets(settings: Settings) -> AssetStore:
    """Return the pictures of the settings' workspace and namespace."""
    from eagle_rag.adapters.assets import AssetFolder

    place = settings.data_dir / "assets" / settings.workspace
    return AssetFolder(place / settings.plugins.default_namespace)


def scope_name(settings: Settings) -> str:
    """Return the registry's namespace: workspace and plugin namespace, so that neither leaks."""
    return f"{settings.workspace}/{settings.plugins.default_namespace}"


def collection_schemas(kernel: Kernel) -> dict[str, CollectionSchema]:
    """Return the schema of every registered collection that an encoder fills, by name.

    Raises:
        EncoderLoadError: An encoder's weights are missing, so its vector space is unknown.
    """
    schemas: dict[str, CollectionSchema] = {}
    for profile in kernel.collections.profiles():
        if not profile.default_encoder:
            continue
        visual = kernel.encoders.card(profile.default_encoder).modality == "visual"
        catalog = kernel.encoders
        label = profile.default_encoder
        spec = catalog.visual(label).spec if visual else catalog.text(label).spec
        schemas[profile.name] = CollectionSchema(
            profile.name,
            spec,
            hybrid=profile.hybrid_enabled,
            extra_fields=tuple(sorted(profile.extra_output_fields)),
        )
    return schemas


def config_digest(
    settings: Settings, kernel: Kernel, schemas: Mapping[str, CollectionSchema]
) -> str:
    """Return a digest of everything but the source that shapes what an ingest writes."""
    shaping = {
        "revision": _PREPARE_REVISION,
        "passages": settings.passages.model_dump(mode="json"),
        "abstracts": settings.ingest.abstract_only,
        "pictures": (settings.ingest.max_pictures, settings.ingest.max_picture_bytes),
        "plugins": [(card.name, card.version) for card in kernel.loaded.cards],
        "options": _ingest_options(settings, kernel),
        "windows": {
            card.label: card.max_tokens
            for card in kernel.encoders.cards()
            if card.modality != "rerank"
        },
        "schemas": {name: asdict(schema) for name, schema in sorted(schemas.items())},
    }
    encoded = json.dumps(shaping, sort_keys=True, default=str).encode()
    return hashlib.sha256(encoded).hexdigest()


def _ingest_options(settings: Settings, kernel: Kernel) -> dict[str, dict[str, object]]:
    """Return the options of each plugin but those that it says only searching reads."""
    searching = {
        plugin.namespace: frozenset(getattr(plugin, "search_options", ()))
        for plugin in kernel.loaded.plugins
    }
    options = settings.model_dump(mode="json")["plugins"]["options"]
    return {
        namespace: {
            key: value
            for key, value in (given or {}).items()
            if key not in searching.get(namespace, frozenset())
        }
        for namespace, given in options.items()
    }
