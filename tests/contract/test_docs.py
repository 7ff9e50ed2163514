"""The documentation says what is there: links, commands, settings, snippets, names, sample output."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from eagle_rag.engine import Engine
from eagle_rag.kernel.layers import env_name, known_keys
from eagle_rag.kernel.settings import Settings, load_settings
from eagle_rag.model.results import Hit, IngestReport, VerifyReport
from eagle_rag.sample import record_paths, sample_paths
from eagle_rag.surfaces.cli.main import app
from eagle_rag.surfaces.cli.session import Session

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "eagle_rag"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
CLI = ROOT / "docs" / "cli.md"
SETTING_PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ARCHITECTURE]
SNIPPET_PAGES = [ROOT / "README.md", ROOT / "docs" / "python.md"]
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Not settings, and documented as such.
_VARIABLES = frozenset(
    f"EAGLE_RAG_{name}" for name in ("CONFIG", "CACHE", "TEST_DATA", "TEST_POSTGRESQL")
)


def _pages() -> list[Path]:
    folders = ("docs", "benchmarks", "examples", "plugins_template", "src", "tests")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.md")]
    hidden = (path for path in found if not any(part[0] == "." for part in path.parts[1:]))
    return [*sorted(ROOT.glob("*.md")), *sorted(hidden)]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", _read(path)), re.MULTILINE)
    slugs = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {slug.replace(" ", "-") for slug in slugs}


@pytest.mark.parametrize("page", _pages(), ids=_name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    prose = _CODE.sub("", _FENCE.sub("", _read(page)))
    for target in _LINK.findall(prose):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{target} is not there"
        assert not anchor or anchor in _anchors(path), f"no heading {anchor!r}"


@pytest.mark.parametrize("page", _pages(), ids=_name)
def test_no_page_names_a_folder_of_the_machine_it_was_written_on(page: Path) -> None:
    assert not re.findall(r"(?<![\w.])/(?:work|tmp|home|root)/", _read(page))


def _commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each ``eagle`` command on a page, without ``eagle`` itself."""
    text = _read(page)
    lines = [line for _, block in _FENCE.findall(text) for line in block.splitlines()]
    lines.extend(line for line in text.splitlines() if line.startswith("    "))
    lines.extend(_CODE.findall(_FENCE.sub("", text)))
    for line in lines:
        shell = shlex.shlex(line.strip(), posix=True, punctuation_chars="|&;<>")
        shell.whitespace_split = True
        try:
            words = list(shell)
        except ValueError:
            continue  # prose with an apostrophe, not a command
        if words[:1] != ["eagle"]:
            continue
        end = next((at for at, word in enumerate(words) if set(word) <= set("|&;<>")), len(words))
        yield [word for word in words[1:end] if word != "..."]


def _mentions_only(words: list[str]) -> bool:
    """Whether a command is only named: ``eagle search``, ``eagle config show``."""
    return all(word.isalpha() and word.islower() for word in words) and len(words) <= 2


def _parse(words: list[str]) -> None:
    """Parse a command without running it, or raise what the command line would say."""
    command: Any = typer.main.get_command(app)
    # Pages are about the default profile, which brings commands of its own; one that is named wins.
    context = command.make_context("eagle", ["--profile", "embedded", *words])
    if "--set" in words:
        assignments = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
        session = Session.from_options(None, None, None, tuple(assignments))
        load_settings(overrides=session.overrides, environ={})
    rest = [*context._protected_args, *context.args]
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, rest)
        if command is None:
            raise AssertionError(f"no command {name!r}")
        if not rest and _mentions_only(words):
            return
        context = command.make_context(name, rest, parent=context)
        rest = [*getattr(context, "_protected_args", []), *context.args]


@pytest.mark.parametrize("page", _pages(), ids=_name)
def test_every_command_on_a_page_parses(page: Path) -> None:
    for words in _commands(page):
        shared = [word for word in words if word not in {"[shared options]", "[options]"}]
        if shared and not any(word.startswith("[") or word == "COMMAND" for word in shared):
            if "--help" in shared:
                shared.remove("--help")
            try:
                if shared:
                    _parse(shared)
            except Exception as error:  # noqa: BLE001 - the parser's own errors; the test says which line
                pytest.fail(f"eagle {shlex.join(words)}: {error}")


def test_commands_are_really_checked() -> None:
    assert sum(1 for _ in _commands(CLI)) > 20
    with pytest.raises(Exception, match="No such option"):
        _parse(["search", "x", "--absent"])
    with pytest.raises(Exception, match="No such option"):
        _parse(["compounds", "search", "aspirin", "--absent"])
    with pytest.raises(Exception, match="No such command"):
        _parse(["absent"])


def _option_names(command: Any) -> set[str]:
    return {name for each in command.params for name in each.opts if name.startswith("-")}


def test_the_command_page_names_every_command_and_option() -> None:
    text = _read(CLI)
    top: Any = typer.main.get_command(app)
    commands = {name: each for name, each in top.commands.items() if not hasattr(each, "commands")}
    for name in top.commands:
        assert re.search(rf"^## `eagle {name}\b", text, re.MULTILINE), f"no section for {name}"
    for name, command in [("eagle", top), *commands.items()]:
        missing = [each for each in _option_names(command) if f"`{each}" not in text]
        assert not missing, f"{name}: {missing}"


@pytest.mark.parametrize("shape", [Hit, IngestReport, VerifyReport])
def test_the_command_page_explains_every_field_of_the_json(shape: type) -> None:
    text = _read(CLI)
    missing = [each.name for each in fields(shape) if f"`{each.name}`" not in text]
    assert not missing


def _setting_patterns() -> list[re.Pattern[str]]:
    keys = [re.escape(info.key).replace("<name>", r"[\w<>]+") for info in known_keys(Settings)]
    sections = [key.rpartition(r"\.")[0] for key in keys if r"\." in key]
    known = {*keys, *sections, r"plugins\.options\.[\w<>]+"}
    return [re.compile(key) for key in sorted(known)]


@pytest.mark.parametrize("page", SETTING_PAGES, ids=_name)
def test_every_setting_on_a_page_exists(page: Path) -> None:
    patterns = _setting_patterns()
    nested = {info.path[0] for info in known_keys(Settings) if len(info.path) > 1}
    for code in _CODE.findall(_FENCE.sub("", _read(page))):
        key = code.partition("=")[0]
        is_setting = re.fullmatch(r"[a-z_]+(\.[a-z_<>]+)+", key) and key.split(".")[0] in nested
        if is_setting and not re.search(r"\.(py|md|yaml|db|lock)$", key):
            assert any(each.fullmatch(key) for each in patterns), f"no setting {key!r}"


@pytest.mark.parametrize("page", SETTING_PAGES, ids=_name)
def test_every_environment_variable_on_a_page_exists(page: Path) -> None:
    named = {env_name(info.path) for info in known_keys(Settings)} | _VARIABLES
    known = [re.compile(re.escape(name).replace("<NAME>", "[A-Z<>]+")) for name in named]
    for variable in re.findall(r"\bEAGLE_RAG_[A-Z0-9_<>]*[A-Z0-9>]", _read(page)):
        assert any(each.fullmatch(variable) for each in known), f"no variable {variable}"


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """Return a folder with the sample corpus in ``papers``."""
    papers = tmp_path / "papers"
    papers.mkdir()
    for path in sample_paths():
        shutil.copy(path, papers)
    return tmp_path


def _run(arguments: list[str], folder: Path, *, code: int = 0) -> str:
    """Run Python in a folder with the hashing encoder; return what it printed."""
    environ = {name: value for name, value in os.environ.items() if "EAGLE" not in name}
    done = subprocess.run(  # noqa: S603 - this interpreter, arguments of this file
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**environ, "EAGLE_RAG_COLLECTIONS__EAGLE_TEXT__ENCODER": "hash"},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", SNIPPET_PAGES, ids=_name)
def test_the_python_on_a_page_runs(page: Path, workplace: Path) -> None:
    blocks = [block for language, block in _FENCE.findall(_read(page)) if language == "python"]
    assert blocks
    script = workplace / "snippet.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    assert "MET amplification after osimertinib" in _run([str(script)], workplace)


def test_the_examples_run(workplace: Path) -> None:
    examples = ROOT / "examples"
    question = "MET amplification after osimertinib"
    printed = _run([str(examples / "cite.py"), "papers", question], workplace)
    assert "10.5555/njto.2025.0114" in printed
    eagle = ["-m", "eagle_rag.surfaces.cli.main", "search", question, "--json"]
    hits = _run(eagle, workplace)
    (workplace / "hits.json").write_text(hits, encoding="utf-8")
    assert ": ok" in _run([str(examples / "check_hits.py"), "hits.json"], workplace)
    broken = json.loads(hits)
    broken["hits"][0]["text"] += "!"
    (workplace / "hits.json").write_text(json.dumps(broken), encoding="utf-8")
    checked = _run([str(examples / "check_hits.py"), "hits.json"], workplace, code=1)
    assert "say something else now" in checked


@pytest.mark.parametrize("page", [ARCHITECTURE, *SNIPPET_PAGES], ids=_name)
def test_every_file_a_page_names_exists(page: Path) -> None:
    for code in _CODE.findall(_FENCE.sub("", _read(page))):
        if re.fullmatch(r"[\w./]+(\.py|\.toml|\.md|/)", code) and not code.startswith(
            (".", "papers")
        ):
            places = [
                SOURCE,
                ROOT,
                SOURCE / "adapters" / "documents",
                SOURCE.parent / "eagle_biomed",
            ]
            places.append(places[-1] / "formats")
            assert any((place / code).exists() for place in places), f"no file {code}"


def test_every_function_the_architecture_names_is_defined() -> None:
    source = "\n".join(_read(path) for path in (ROOT / "src").rglob("*.py"))
    named = re.findall(r"`(?:(\w+)\.)?(\w+)\(\)`", _read(ARCHITECTURE))
    assert len(named) > 20
    for owner, function in named:
        assert re.search(rf"\bdef {function}\(", source), f"nobody defines {function}"
        assert not owner or re.search(rf"^class {owner}\b", source, re.MULTILINE), owner


def test_every_class_the_glossary_names_is_defined() -> None:
    source = "\n".join(_read(path) for path in SOURCE.rglob("*.py"))
    glossary = _read(ROOT / "docs" / "glossary.md")
    for name in re.findall(r"`([A-Z]\w+)`", glossary):
        assert re.search(rf"^class {name}\b", source, re.MULTILINE), name


def test_every_page_is_in_the_index_of_pages() -> None:
    index = _read(ROOT / "docs" / "index.md")
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    missing = [page for page in pages if f"({page})" not in index and page != "index.md"]
    assert not missing


@pytest.mark.parametrize("page", [ROOT / "README.md", CLI], ids=_name)
def test_passages_shown_on_a_page_are_those_of_the_sample(
    page: Path, make_shared_engine: Callable[..., Engine]
) -> None:
    # Ids hold the namespace: they are those of the default profile.
    engine = make_shared_engine(
        {"profile": "embedded", "plugins.options.biomed.encoders.eagle_text_biomed": "hash"}
    )
    engine.ingest([*sample_paths(), *record_paths()])
    text = _read(page)
    shown = re.findall(r"characters (\d+)-(\d+) of (doc1_\w+) \| (psg1_\w+) \| .*\n +(.+)", text)
    assert shown, "run `make demo` and paste what it prints"
    for start, end, document, passage, words in shown:
        found = engine.passage(passage, document_id=document).passage
        assert (found.start, found.end) == (int(start), int(end))
        assert found.text.startswith(words)
    for document in re.findall(r"doc1_\w{32}", text):
        assert engine.documents(document), f"no {document} in the sample"
