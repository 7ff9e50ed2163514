"""Discovery, order, and the refusals a plugin author meets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from eagle_rag.errors import EagleError, EncoderLoadError, PluginError, UnknownName
from eagle_rag.hooks import HOOKS, hookimpl
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.collections import CollectionRegistry, Registrar
from eagle_rag.kernel.core_plugin import CorePlugin
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.plugins import (
    LoadedPlugins,
    PluginEntry,
    check_plugin,
    hook_parameters,
    installed_entries,
    load_order,
    load_plugins,
)
from eagle_rag.kernel.sections import PluginSettings
from eagle_rag.model.document import ParseOutcome, Source
from eagle_rag.model.query import QueryAddition, QueryContext
from eagle_rag.ports.plugins import Plugin, PluginContext
from eagle_rag.testing.plugin_services import offline_services


class Lab:
    """A plugin with everything a plugin needs; tests change one thing."""

    version = "1"

    def __init__(self, name: str = "lab", namespace: str = "lab", *needs: str) -> None:
        self.name = name
        self.namespace = namespace
        self.depends_on = needs
        self.priority = 100
        self.loaded: list[PluginContext] = []

    def on_load(self, context: PluginContext) -> None:
        self.loaded.append(context)

    @hookimpl
    def query_assemble(self, context: QueryContext) -> QueryAddition | None:
        return QueryAddition(note=context.namespace)


@dataclass(frozen=True)
class Entry:
    """An entry point that loads a factory."""

    name: str
    factory: Callable[[], Plugin]
    value: str = "lab.plugin:Lab"

    def load(self) -> Any:
        return self.factory


def _load(
    *plugins: Plugin, enabled: tuple[str, ...] | None = None, namespace: str = "lab"
) -> LoadedPlugins:
    entries = [Entry(plugin.name, lambda plugin=plugin: plugin) for plugin in plugins]  # type: ignore[misc]  # a default binds the loop's value
    names = tuple(plugin.name for plugin in plugins) if enabled is None else enabled
    return _load_entries(*entries, enabled=names, namespace=namespace)


def _load_entries(
    *entries: PluginEntry, enabled: tuple[str, ...] = ("lab",), namespace: str = "lab"
) -> LoadedPlugins:
    encoders = EncoderRegistry()
    registrar = Registrar(encoders, CollectionRegistry(encoders))
    return load_plugins(
        PluginSettings(enabled=enabled, default_namespace=namespace),
        CorePlugin(()),
        context_for=lambda each: PluginContext(
            each.namespace, {}, registrar, encoders, AuditLog(1), offline_services()
        ),
        discover=lambda: entries,
    )


def test_the_core_alone_asks_nobody_for_entry_points() -> None:
    def discover() -> tuple[PluginEntry, ...]:
        raise AssertionError("nothing is enabled")

    loaded = load_plugins(
        PluginSettings(), CorePlugin(()), context_for=_no_context, discover=discover
    )
    assert [card.name for card in loaded.cards] == ["core"]


def _no_context(plugin: Plugin) -> PluginContext:
    encoders = EncoderRegistry()
    registrar = Registrar(encoders, CollectionRegistry(encoders))
    return PluginContext(
        plugin.namespace, {}, registrar, encoders, AuditLog(1), offline_services()
    )


def test_an_enabled_plugin_is_loaded_after_the_core_and_told() -> None:
    lab = Lab()
    loaded = _load(lab)
    assert [card.name for card in loaded.cards] == ["core", "lab"]
    assert loaded.cards[1].hooks == ("query_assemble",)
    assert lab.loaded[0].namespace == "lab"


def test_naming_the_core_changes_nothing() -> None:
    assert [plugin.name for plugin in _load(Lab(), enabled=("core", "lab")).plugins] == [
        "core",
        "lab",
    ]


def test_a_plugin_that_is_not_enabled_is_not_loaded() -> None:
    def factory() -> Plugin:
        raise AssertionError("must not be loaded")

    entry = Entry("lab", factory)
    assert len(_load_entries(entry, enabled=(), namespace="core").plugins) == 1


def test_a_namespace_that_no_enabled_plugin_serves_is_refused() -> None:
    with pytest.raises(PluginError, match="no enabled plugin serves namespace 'lab'"):
        _load_entries(enabled=())


def test_an_enabled_plugin_that_is_not_installed_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="unknown plugin 'absent'; known: core, lab"):
        _load(Lab(), enabled=("absent",))


def test_two_packages_with_one_plugin_name_are_refused() -> None:
    entries = (Entry("lab", Lab, "one:Lab"), Entry("lab", Lab, "two:Lab"))
    with pytest.raises(PluginError, match="installed twice: one:Lab and two:Lab"):
        _load_entries(*entries)


def test_a_plugin_that_does_not_import_is_named() -> None:
    def factory() -> Plugin:
        raise RuntimeError("half installed")

    with pytest.raises(
        PluginError, match=r"'lab' \(lab.plugin:Lab\) does not load: RuntimeError: half"
    ):
        _load_entries(Entry("lab", factory))


def test_a_plugin_that_calls_itself_otherwise_is_refused() -> None:
    with pytest.raises(PluginError, match="calls itself 'other'"):
        _load_entries(Entry("lab", lambda: Lab("other")))


def test_a_plugin_enabled_twice_is_refused() -> None:
    with pytest.raises(PluginError, match="enabled twice"):
        _load(Lab(), enabled=("lab", "lab"))


def test_two_plugins_of_one_namespace_are_refused() -> None:
    with pytest.raises(PluginError, match="'lab' and 'lab2' share namespace 'lab'"):
        _load(Lab(), Lab("lab2", "lab"))


def test_nobody_but_the_core_serves_the_cores_namespace() -> None:
    with pytest.raises(PluginError, match="'core' and 'lab' share namespace 'core'"):
        _load(Lab("lab", "core"))


def test_a_plugin_of_another_namespace_is_refused_with_what_to_set() -> None:
    with pytest.raises(
        PluginError, match="serves namespace 'lab', this instance serves 'core'"
    ) as caught:
        _load(Lab(), namespace="core")
    assert "PLUGIN_NAMESPACE" in caught.value.remedy


def test_dependencies_come_first_and_ties_go_by_name() -> None:
    plugins: list[Plugin] = [Lab("a", "a", "c"), Lab("b", "b"), Lab("c", "c"), CorePlugin(())]
    assert [plugin.name for plugin in load_order(plugins)] == ["core", "b", "c", "a"]


def test_the_order_does_not_depend_on_the_core_being_there() -> None:
    assert [plugin.name for plugin in load_order([Lab("b"), Lab("a", "a", "b")])] == ["b", "a"]


def test_a_missing_dependency_is_named() -> None:
    with pytest.raises(PluginError, match="'lab' depends on 'umls', which is not enabled"):
        _load(Lab("lab", "lab", "umls"))


def test_a_circle_of_dependencies_is_drawn() -> None:
    with pytest.raises(PluginError, match=r"circle: (a -> b -> a|b -> a -> b)"):
        load_order([Lab("a", "a", "b"), Lab("b", "b", "a")])


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("name", ""),
        ("namespace", None),
        ("version", 1),
        ("depends_on", ["core"]),
        ("priority", "9"),
    ],
)
def test_a_wrong_attribute_is_refused_by_name(attribute: str, value: object) -> None:
    lab = Lab()
    setattr(lab, attribute, value)
    with pytest.raises(PluginError, match=f"needs {attribute} of type"):
        check_plugin(lab)


def test_a_plugin_without_on_load_is_refused() -> None:
    lab = Lab()
    lab.on_load = None  # type: ignore[assignment,method-assign]  # the mistake under test
    with pytest.raises(PluginError, match="no method on_load"):
        check_plugin(lab)


def test_a_plugin_cannot_hide_behind_the_core() -> None:
    lab = Lab()
    lab.priority = -1000
    with pytest.raises(PluginError, match="behind the core's defaults"):
        check_plugin(lab)


class Misspelt(Lab):
    @hookimpl
    def query_asemble(self) -> None: ...


class WrongParameter(Lab):
    @hookimpl
    def parse(self, sauce: Source) -> ParseOutcome | None: ...


class Unmarked(Lab):
    def parse(self, source: Source) -> ParseOutcome | None: ...


class Wrapper(Lab):
    @hookimpl(wrapper=True)
    def parse(self, source: Source) -> Any:
        del source
        return (yield)


class Async(Lab):
    @hookimpl
    async def parse(self, source: Source) -> ParseOutcome | None: ...


class Variadic(Lab):
    @hookimpl
    def parse(self, **everything: object) -> ParseOutcome | None: ...


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (Misspelt, "unknown hook 'query_asemble'. did you mean query_assemble"),
        (WrongParameter, "hook 'parse': unknown parameter 'sauce'. the hook gives source"),
        (Unmarked, "method 'parse' that is not marked"),
        (Wrapper, "wrappers are not supported"),
        (Async, "hooks are synchronous"),
        (Variadic, "unknown parameter 'everything'"),
    ],
)
def test_a_wrong_hook_method_is_refused_by_name(plugin: type[Lab], message: str) -> None:
    with pytest.raises(PluginError) as caught:
        _load(plugin())
    assert message in str(caught.value)


class Renamed(Lab):
    @hookimpl(specname="parse")
    def read(self, source: Source) -> ParseOutcome | None: ...

    @staticmethod
    @hookimpl
    def ingest_route_selectors(source: Source) -> str | None: ...


def test_a_method_of_another_name_and_a_static_one_may_implement_a_hook() -> None:
    assert _load(Renamed()).cards[1].hooks == ("ingest_route_selectors", "parse", "query_assemble")


def test_an_unknown_hook_without_a_near_one_points_to_the_page() -> None:
    class Far(Lab):
        @hookimpl
        def xyzzy(self) -> None: ...

    with pytest.raises(PluginError, match=r"docs/hooks\.md"):
        check_plugin(Far())


class Failing(Lab):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def on_load(self, context: PluginContext) -> None:
        super().on_load(context)
        raise self.error


def test_an_on_load_that_fails_names_the_plugin() -> None:
    with pytest.raises(PluginError, match="'lab' failed in on_load: KeyError: 'x'"):
        _load(Failing(KeyError("x")))


def test_errors_of_ours_pass_through_on_load() -> None:
    with pytest.raises(EncoderLoadError, match="no weights") as caught:
        _load(Failing(EncoderLoadError("no weights")))
    assert isinstance(caught.value, EagleError)


def test_implementations_are_ordered_by_priority_then_name() -> None:
    loaded = _load(Lab())
    first, *rest = (each.plugin for each in loaded.implementations)
    assert first == "lab"
    assert set(rest) == {"core"}


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_parameters(hook: str) -> None:
    assert "self" not in hook_parameters(hook)
    assert hook_parameters(hook)


def test_installed_entries_are_ordered_by_name() -> None:
    names = [entry.name for entry in installed_entries()]
    assert names == sorted(names)
