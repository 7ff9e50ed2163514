"""Loading plugins: discovery, order, and every check that needs no call of a hook.

Running hooks is the bus's business (``eagle_rag.kernel.bus``).
"""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import entry_points
from typing import Any, Protocol

import pluggy

from eagle_rag.errors import EagleError, PluginError, UnknownName
from eagle_rag.hooks import HOOKS, PROJECT, HookSpecs
from eagle_rag.kernel.sections import PluginSettings
from eagle_rag.ports.plugins import Plugin, PluginContext

__all__ = [
    "CORE",
    "CORE_PRIORITY",
    "ENTRY_POINT_GROUP",
    "Implementation",
    "LoadedPlugins",
    "PluginCard",
    "PluginEntry",
    "check_plugin",
    "hook_parameters",
    "installed_entries",
    "load_order",
    "load_plugins",
]

CORE = "core"
CORE_PRIORITY = -1000
ENTRY_POINT_GROUP = "eagle_rag.plugins"
_MARK = f"{PROJECT}_impl"
_log = logging.getLogger(__name__)


class PluginEntry(Protocol):
    """What is needed of an installed entry point."""

    @property
    def name(self) -> str:
        """Name under which the plugin is enabled."""
        ...

    @property
    def value(self) -> str:
        """``module:callable``, for messages."""
        ...

    def load(self) -> Any:  # noqa: ANN401 - importlib.metadata says nothing about what is loaded
        """Import and return the callable."""
        ...


@dataclass(frozen=True, slots=True)
class Implementation:
    """One plugin's method for one hook.

    Args:
        hook: Name of the hook.
        plugin: Name of the plugin.
        namespace: Its namespace.
        priority: Higher runs first.
        function: The bound method.
        parameters: The spec's parameters it takes; it may leave some out.
    """

    hook: str
    plugin: str
    namespace: str
    priority: int
    function: Callable[..., object]
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PluginCard:
    """What ``eagle plugins`` shows of a loaded plugin."""

    name: str
    namespace: str
    version: str
    priority: int
    depends_on: tuple[str, ...]
    hooks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoadedPlugins:
    """Plugins that passed every check.

    Args:
        plugins: In load order, the core first.
        implementations: All hook implementations, by priority (higher first), then plugin name.
    """

    plugins: tuple[Plugin, ...]
    implementations: tuple[Implementation, ...]

    @property
    def cards(self) -> tuple[PluginCard, ...]:
        """What was loaded, in load order."""
        return tuple(
            PluginCard(
                plugin.name,
                plugin.namespace,
                plugin.version,
                plugin.priority,
                plugin.depends_on,
                tuple(each.hook for each in self.implementations if each.plugin == plugin.name),
            )
            for plugin in self.plugins
        )


def installed_entries() -> tuple[PluginEntry, ...]:
    """Return the entry points of installed plugins, by name; nothing is imported."""
    return tuple(sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name))


def load_plugins(
    settings: PluginSettings,
    core: Plugin,
    *,
    context_for: Callable[[Plugin], PluginContext],
    discover: Callable[[], Iterable[PluginEntry]] = installed_entries,
) -> LoadedPlugins:
    """Load the core and the enabled plugins, and let each register what it brings.

    Args:
        settings: Which plugins, and the namespace of this instance.
        core: The core's own defaults.
        context_for: Makes the context handed to ``on_load``.
        discover: Where entry points come from.

    Raises:
        UnknownName: An enabled plugin is not installed.
        PluginError: A plugin does not load or breaks the contract; it is named, with what to do.
    """
    wanted = tuple(name for name in settings.enabled if name != CORE)
    plugins = [core, *_instances(wanted, discover)]
    for plugin in plugins:
        check_plugin(plugin)
    _refuse_twins(plugins)
    _refuse_other_namespaces(plugins, settings.default_namespace)
    ordered = load_order(plugins)
    implementations = _registered(ordered)
    for plugin in ordered:
        _call_on_load(plugin, context_for(plugin))
    return LoadedPlugins(ordered, implementations)


def load_order(plugins: Sequence[Plugin]) -> tuple[Plugin, ...]:
    """Return plugins so that each comes after what it depends on; the core first, ties by name.

    Raises:
        PluginError: A dependency is missing, or the dependencies form a cycle.
    """
    by_name = {plugin.name: plugin for plugin in plugins}
    graph: dict[str, set[str]] = {}
    for plugin in plugins:
        for needed in plugin.depends_on:
            if needed not in by_name:
                message = f"plugin {plugin.name!r} depends on {needed!r}, which is not enabled"
                raise PluginError(message, remedy=f"add {needed} to plugins.enabled")
        graph[plugin.name] = set(plugin.depends_on)
        if plugin.name != CORE and CORE in by_name:
            graph[plugin.name].add(CORE)
    sorter = TopologicalSorter(graph)
    try:
        sorter.prepare()
    except CycleError as error:
        message = f"plugins depend on each other in a circle: {' -> '.join(error.args[1])}"
        raise PluginError(message, remedy="remove one depends_on, or disable one") from error
    ordered: list[Plugin] = []
    while sorter.is_active():
        for name in sorted(sorter.get_ready()):
            ordered.append(by_name[name])
            sorter.done(name)
    return tuple(ordered)


def check_plugin(plugin: Plugin) -> None:
    """Check attributes and hook methods, calling none of them.

    Raises:
        PluginError: Something is missing, misspelt or of the wrong type; it is named.
    """
    _check_attributes(plugin)
    for attribute, static in inspect.getmembers_static(plugin):
        function = getattr(static, "__func__", static)
        options = getattr(function, _MARK, None) if callable(function) else None
        if options is not None:
            _check_hook(plugin, attribute, options)
        elif attribute in HOOKS:
            message = f"plugin {plugin.name!r} has a method {attribute!r} that is not marked"
            raise PluginError(message, remedy="decorate it with eagle_rag.hooks.hookimpl")


def hook_parameters(hook: str) -> tuple[str, ...]:
    """Return the parameter names of a hook's specification, in order."""
    return tuple(inspect.signature(getattr(HookSpecs, hook)).parameters)[1:]


def _instances(
    wanted: Sequence[str], discover: Callable[[], Iterable[PluginEntry]]
) -> list[Plugin]:
    if not wanted:
        return []
    found: dict[str, list[PluginEntry]] = {}
    for entry in discover():
        found.setdefault(entry.name, []).append(entry)
    plugins = []
    for name in wanted:
        entries = found.get(name, [])
        if not entries:
            remedy = f"install the package that brings it, or take {name} out of plugins.enabled"
            kind = "plugin"
            raise UnknownName(kind, name, (CORE, *sorted(found)), remedy=remedy)
        if len(entries) > 1:
            homes = " and ".join(sorted(entry.value for entry in entries))
            message = f"plugin {name!r} is installed twice: {homes}"
            raise PluginError(message, remedy="uninstall one of the packages")
        plugins.append(_instance(entries[0]))
    return plugins


def _instance(entry: PluginEntry) -> Plugin:
    try:
        plugin: Plugin = entry.load()()
    except Exception as error:
        message = (
            f"plugin {entry.name!r} ({entry.value}) does not load: {type(error).__name__}: {error}"
        )
        raise PluginError(message, remedy="repair or disable it") from error
    name = getattr(plugin, "name", None)
    if name != entry.name:
        message = f"plugin {entry.name!r} ({entry.value}) calls itself {name!r}"
        raise PluginError(message, remedy="name and entry point must be the same")
    return plugin


_ATTRIBUTES: Mapping[str, type] = {
    "name": str,
    "namespace": str,
    "version": str,
    "depends_on": tuple,
    "priority": int,
}


def _check_attributes(plugin: Plugin) -> None:
    name = getattr(plugin, "name", type(plugin).__name__)
    for attribute, expected in _ATTRIBUTES.items():
        value = getattr(plugin, attribute, None)
        if not isinstance(value, expected) or (expected is str and not value):
            message = (
                f"plugin {name!r} needs {attribute} of type {expected.__name__}, got {value!r}"
            )
            raise PluginError(message, remedy="see eagle_rag.ports.plugins.Plugin")
    if not callable(getattr(plugin, "on_load", None)):
        message = f"plugin {name!r} has no method on_load"
        raise PluginError(message, remedy="see eagle_rag.ports.plugins.Plugin")
    if plugin.name != CORE and plugin.priority <= CORE_PRIORITY:
        message = f"plugin {name!r} has priority {plugin.priority}, behind the core's defaults"
        raise PluginError(message, remedy=f"choose a priority above {CORE_PRIORITY}")


def _check_hook(plugin: Plugin, attribute: str, options: Mapping[str, Any]) -> None:
    hook = options["specname"] or attribute
    where = f"plugin {plugin.name!r}, hook {hook!r}"
    if hook not in HOOKS:
        near = get_close_matches(hook, HOOKS, n=1)
        remedy = f"did you mean {near[0]}?" if near else "docs/hooks.md lists every hook"
        message = f"plugin {plugin.name!r} implements unknown hook {hook!r}"
        raise PluginError(message, remedy=remedy)
    if options["wrapper"] or options["hookwrapper"]:
        message = f"{where}: wrappers are not supported"
        raise PluginError(message, remedy="write a plain implementation")
    function = getattr(plugin, attribute)
    if inspect.iscoroutinefunction(function):
        message = f"{where}: hooks are synchronous"
        raise PluginError(message, remedy="write def, not async def")
    known = hook_parameters(hook)
    for parameter in inspect.signature(function).parameters.values():
        named = parameter.kind in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}
        if not named or parameter.name not in known:
            message = f"{where}: unknown parameter {parameter.name!r}"
            raise PluginError(message, remedy=f"the hook gives {', '.join(known)}")


def _refuse_twins(plugins: Sequence[Plugin]) -> None:
    names: set[str] = set()
    namespaces: dict[str, str] = {}
    for plugin in plugins:
        if plugin.name in names:
            message = f"plugin {plugin.name!r} is enabled twice"
            raise PluginError(message, remedy="list it once in plugins.enabled")
        names.add(plugin.name)
        if plugin.namespace in namespaces:
            first = namespaces[plugin.namespace]
            message = f"plugins {first!r} and {plugin.name!r} share namespace {plugin.namespace!r}"
            raise PluginError(message, remedy="disable one of them")
        namespaces[plugin.namespace] = plugin.name


def _refuse_other_namespaces(plugins: Sequence[Plugin], default: str) -> None:
    for plugin in plugins:
        if plugin.namespace not in {CORE, default}:
            message = (
                f"plugin {plugin.name!r} serves namespace {plugin.namespace!r}, "
                f"this instance serves {default!r}"
            )
            remedy = (
                f"set plugins.default_namespace (or PLUGIN_NAMESPACE) to {plugin.namespace}, "
                "or take it out of plugins.enabled"
            )
            raise PluginError(message, remedy=remedy)
    if default not in {plugin.namespace for plugin in plugins}:
        message = f"no enabled plugin serves namespace {default!r}"
        remedy = f"add the plugin of {default} to plugins.enabled, or serve the namespace {CORE}"
        raise PluginError(message, remedy=remedy)


def _registered(plugins: Sequence[Plugin]) -> tuple[Implementation, ...]:
    registry = pluggy.PluginManager(PROJECT)
    registry.add_hookspecs(HookSpecs)
    for plugin in plugins:
        registry.register(plugin, name=plugin.name)
    found = [
        Implementation(
            hook,
            each.plugin.name,
            each.plugin.namespace,
            each.plugin.priority,
            each.function,
            tuple(inspect.signature(each.function).parameters),
        )
        for hook in HOOKS
        for each in getattr(registry.hook, hook).get_hookimpls()
    ]
    return tuple(sorted(found, key=lambda each: (-each.priority, each.plugin)))


def _call_on_load(plugin: Plugin, context: PluginContext) -> None:
    try:
        plugin.on_load(context)
    except EagleError:
        raise
    except Exception as error:
        message = f"plugin {plugin.name!r} failed in on_load: {type(error).__name__}: {error}"
        raise PluginError(message, remedy="repair or disable it") from error
    _log.debug("loaded plugin %s %s", plugin.name, plugin.version)
