"""``eagle doctor``: is everything there that the settings ask for?"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from eagle_rag import __version__
from eagle_rag.engine.compose import Kernel, scope_name
from eagle_rag.engine.models import probe_encoder, score_probe, stand_in_of
from eagle_rag.errors import EagleError
from eagle_rag.ingest.probe import probe_collection
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.records import RegistryStats
from eagle_rag.ports.registry import Registry
from eagle_rag.ports.stores import CollectionStore

__all__ = ["Checkable", "DoctorCheck", "check_engine"]

_LOW_DISK_BYTES = 1 << 30


class Checkable(Protocol):
    """What is checked: an engine."""

    settings: Settings

    @property
    def kernel(self) -> Kernel:
        """Plugins, encoders, collections."""
        ...

    @property
    def registry(self) -> Registry:
        """The registry."""
        ...

    @property
    def store(self) -> CollectionStore:
        """The store."""
        ...

    def stats(self) -> RegistryStats:
        """Count what is live."""
        ...


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One check: its name, whether it passed, and one sentence."""

    name: str
    ok: bool
    message: str


def check_engine(engine: Checkable) -> tuple[DoctorCheck, ...]:
    """Run every check; one that fails does not stop the next."""
    checks: list[tuple[str, Callable[[Checkable], str]]] = [
        ("versions", _versions),
        ("data folder", _data_dir),
        ("registry", _registry),
        ("store", _store),
        ("plugins", _plugins),
        ("audit", _audit),
        ("rerank", _rerank),
    ]
    results = [_checked(name, check, engine) for name, check in checks]
    results.extend(
        _checked(f"collection {profile.name}", partial(_collection, name=profile.name), engine)
        for profile in engine.kernel.collections.profiles()
    )
    return tuple(results)


def _checked(name: str, check: Callable[[Checkable], str], engine: Checkable) -> DoctorCheck:
    try:
        return DoctorCheck(name, ok=True, message=check(engine))
    except (EagleError, OSError) as error:
        return DoctorCheck(name, ok=False, message=str(error))


def _versions(_: Checkable) -> str:
    python = ".".join(map(str, sys.version_info[:3]))
    return f"eagle-rag {__version__}, Python {python}"


def _data_dir(engine: Checkable) -> str:
    folder = engine.settings.data_dir
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".doctor"
    probe.write_bytes(b"ok")
    probe.unlink()
    free = shutil.disk_usage(folder).free
    if free < _LOW_DISK_BYTES:
        message = f"{folder} has {free >> 20} MB left"
        raise EagleError(message, remedy="free some space before the next ingest")
    return f"{folder.resolve()} is writable, {free >> 30} GB free"


def _registry(engine: Checkable) -> str:
    stats = engine.stats()
    pending = len(engine.registry.pending(scope_name(engine.settings)))
    rows = sum(engine.store.count(name) for name in engine.store.collections())
    if rows and not stats.documents and not pending:
        message = f"the registry holds no document, the store holds {rows} rows; it may be lost"
        remedy = "restore registry.db, or delete the data folder and ingest again"
        raise EagleError(message, remedy=remedy)
    notes = [f"{pending} versions wait to be cleared, the next ingest does it"] if pending else []
    if not stats.documents:
        notes.extend(_elsewhere(engine))
    return "; ".join((f"{stats.documents} documents, {stats.passages} passages", *notes))


def _elsewhere(engine: Checkable) -> list[str]:
    """Return a sentence for each place whose documents the settings in force do not show."""
    plugins, workspace = engine.settings.plugins, engine.settings.workspace
    notes: list[str] = []
    for scope, count in sorted(engine.registry.namespaces().items()):
        place, _, namespace = scope.rpartition("/")
        changes = [] if namespace == plugins.default_namespace else [_namespace_option(namespace)]
        if place != workspace:
            changes.append(f"--set workspace={place}")
        where = f"namespace {namespace}" + (f" of workspace {place}" if place != workspace else "")
        notes.append(f"the registry holds {count} documents of {where}; use {' '.join(changes)}")
    return notes


def _namespace_option(namespace: str) -> str:
    if namespace == "core":  # as every index was before the default profile had a plugin
        return "--profile core"
    return f"a profile whose plugins.default_namespace is {namespace}"


def _store(engine: Checkable) -> str:
    counts: list[str] = []
    for name in engine.store.collections():
        schema = engine.store.describe(name)
        broken = None if schema is None else probe_collection(engine.store, name, schema)
        if broken is not None:
            message = f"collection {name!r} cannot be searched: {broken}"
            raise EagleError(message, remedy="run `eagle verify --repair`")
        counts.append(f"{name}: {engine.store.count(name)} rows")
    return ", ".join(counts) or "no collection yet; `eagle ingest` makes them"


def _plugins(engine: Checkable) -> str:
    return ", ".join(f"{card.name} {card.version}" for card in engine.kernel.loaded.cards)


def _audit(engine: Checkable) -> str:
    stats = engine.kernel.audit.stats()
    if stats.sink_failures:
        message = f"{stats.sink_failures} decisions were not recorded: {stats.last_failure}"
        raise EagleError(message, remedy="check audit.jsonl_path")
    return "decisions are recorded"


def _rerank(engine: Checkable) -> str:
    """Say who reranks, and try the cross-encoder that is asked; a search would only be degraded by it."""
    kernel, settings = engine.kernel, engine.settings
    resolved = kernel.rerank_policy(settings)
    wish = kernel.reranking.wish
    label = ""
    if resolved.policy == "general":
        label = settings.rerank.encoder or ""
        if not label:
            message = (
                f"policy general ({resolved.reason}), and rerank.encoder names no cross-encoder"
            )
            raise EagleError(message, remedy="set rerank.encoder, or rerank.policy to none")
    elif resolved.policy == "domain":
        bus = kernel.bus.bind(settings.plugins.default_namespace)
        if not bus.implements("rerank_merged"):
            message = f"policy domain ({resolved.reason}), and no enabled plugin brings a reranker"
            raise EagleError(message, remedy="enable its plugin, or set rerank.policy to auto")
        label = "" if wish is None else wish.encoder
    about = f"policy {resolved.policy} ({resolved.reason})"
    if not label:
        return about if resolved.policy == "none" else f"{about}, no cross-encoder"
    score_probe(kernel.encoders, label)
    instead = stand_in_of(kernel.encoders, label)
    return f"{about}, {label} is ready{f', but {instead}' if instead else ''}"


def _collection(engine: Checkable, *, name: str) -> str:
    profile = engine.kernel.collections.profile(name)
    if not profile.default_encoder:
        return "no encoder fills it in this profile: nothing is written to it; configure one or ignore it"
    encoders = engine.kernel.encoders
    batch = probe_encoder(encoders, profile.default_encoder)
    dim = batch.vectors.shape[1]
    schema = engine.store.describe(name)
    instead = stand_in_of(encoders, profile.default_encoder)
    ready = f"{profile.default_encoder} is ready ({dim}-d){f', but {instead}' if instead else ''}"
    if schema is None:
        return f"empty; {ready}"
    if schema.spec != batch.spec:
        message = f"was built by {schema.spec}, the settings name {batch.spec}"
        raise EagleError(message, remedy="use the encoder that built it, or build a new index")
    return f"{engine.store.count(name)} rows, {ready}"
