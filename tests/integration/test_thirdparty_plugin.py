"""A plugin of somebody else's is installed from its own package and found by its entry point."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_PACKAGE = Path(__file__).with_name("thirdparty_plugin")
_SCRIPT = """
import json, sys
from eagle_rag.errors import EagleError
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import HookBus
from eagle_rag.kernel.collections import CollectionRegistry, Registrar
from eagle_rag.kernel.core_plugin import CorePlugin
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.plugins import installed_entries, load_plugins
from eagle_rag.kernel.settings import load_settings
from eagle_rag.ports.plugins import PluginContext
from eagle_rag.testing.plugin_contract import sample_document, sample_passages
from eagle_rag.testing.plugin_services import offline_services

settings = load_settings()
audit, encoders = AuditLog(10), EncoderRegistry()
collections = CollectionRegistry(encoders)
registrar = Registrar(encoders, collections)
options = settings.plugins.options
def context(plugin):
    return PluginContext(plugin.namespace, options.get(plugin.namespace, {}), registrar, encoders, audit, offline_services())
try:
    loaded = load_plugins(settings.plugins, CorePlugin(()), context_for=context)
except EagleError as error:
    print(json.dumps({"error": str(error)}))
    sys.exit()
bus = HookBus(loaded.implementations, audit).bind(settings.plugins.default_namespace)
passages = bus.chunk(sample_document(), sample_passages())
print(json.dumps({
    "installed": [entry.name for entry in installed_entries()],
    "plugins": [[card.name, card.version, list(card.hooks)] for card in loaded.cards][1:],
    "collections": [profile.name for profile in collections.profiles()],
    "tags": [list(map(list, passage.tags)) for passage in passages],
    "imported": "eagle_echo" in sys.modules,
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the plugin into a folder of its own, offline."""
    pytest.importorskip("hatchling", reason="the plugin's build backend is not installed")
    folder = tmp_path_factory.mktemp("thirdparty")
    shutil.copytree(_PACKAGE, folder / "package")
    target = folder / "site"
    flags = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", "--quiet", *flags]
    subprocess.run(  # noqa: S603 - our own interpreter, our own package
        [*command, "--target", str(target), str(folder / "package")],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target


def _load(site: Path, **variables: str) -> dict[str, object]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EAGLE_RAG_")}
    result = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", _SCRIPT],
        env=kept | {"PYTHONPATH": str(site), "EAGLE_RAG_PROFILE": "core"} | variables,
        cwd=site,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    answer: dict[str, object] = json.loads(result.stdout)
    return answer


def test_an_enabled_plugin_is_loaded_through_its_entry_point(installed: Path) -> None:
    answer = _load(
        installed,
        PLUGIN_NAMESPACE="echo",
        EAGLE_RAG_PLUGINS__ENABLED="echo",
        EAGLE_RAG_PLUGINS__OPTIONS__ECHO__TAG="seen",
    )
    assert answer["plugins"] == [["echo", "1.2.3", ["chunk", "query_assemble"]]]
    assert answer["collections"] == ["eagle_echo"]
    assert answer["tags"] == [[["seen", "yes"]], [["seen", "yes"]]]


def test_an_installed_plugin_that_is_not_enabled_is_not_even_imported(installed: Path) -> None:
    answer = _load(installed)
    assert "echo" in str(answer["installed"])
    assert (answer["plugins"], answer["imported"]) == ([], False)


def test_a_plugin_of_another_namespace_is_refused_with_what_to_set(installed: Path) -> None:
    answer = _load(installed, EAGLE_RAG_PLUGINS__ENABLED="echo")
    assert "set plugins.default_namespace (or PLUGIN_NAMESPACE) to echo" in str(answer["error"])


def _eagle(site: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EAGLE_RAG_")}
    profile = ["--profile", "core", "--set", "plugins.enabled=[echo]"]
    namespace = [
        "--set",
        "plugins.default_namespace=echo",
        "--set",
        "collections.eagle_text.encoder=hash",
    ]
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "eagle_rag.surfaces.cli.main", *profile, *namespace, *arguments],
        env=kept | {"PYTHONPATH": str(site)},
        cwd=site,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_tool_of_a_plugin_is_a_command_and_reads_the_library(installed: Path) -> None:
    (installed / "note.md").write_text("# Note\n\nAspirin was given.\n", encoding="utf-8")
    listed = " ".join(_eagle(installed, "tools").stdout.split())
    assert listed == "eagle echo say Repeat a word. Example: eagle echo say hello --times 2"
    assert _eagle(installed, "ingest", "note.md", "--kb", "mine").returncode == 0
    shown = _eagle(installed, "echo", "say", "hi", "--times", "2")
    assert shown.stdout.split() == ["word", "documents", "hi", "1", "hi", "1"]
    assert shown.stderr.strip() == "said by echo"
    narrowed = _eagle(installed, "echo", "say", "hi", "--kb", "other", "--loud", "--json")
    assert json.loads(narrowed.stdout) == {"words": ["hi"], "documents": [], "loud": True}


def test_a_wrong_argument_of_a_tool_is_wrong_usage(installed: Path) -> None:
    missing = _eagle(installed, "echo", "say")
    assert (missing.returncode, "WORD" in missing.stderr.upper()) == (2, True)
    assert _eagle(installed, "echo", "sing").returncode == 2
    assert "hello --times 2" in " ".join(_eagle(installed, "echo", "say", "--help").stdout.split())
