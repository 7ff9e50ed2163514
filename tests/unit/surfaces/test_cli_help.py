"""Help: every command has an example that names options it has."""

import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from eagle_rag.surfaces.cli.main import app

COMMANDS = (
    "search", "show", "demo", "ingest", "verify", "delete", "stats", "plugins", "doctor",
    "tools", "config show", "models list", "models check", "models export",
)  # fmt: skip


def _help(*words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--help"], prog_name="eagle")
    assert done.exit_code == 0
    return done.output


def test_every_command_is_among_those_tested_here() -> None:
    found: list[str] = []
    for name, command in getattr(get_command(app), "commands").items():  # noqa: B009 - a group, typed as a command
        inner = getattr(command, "commands", None)
        found.extend(f"{name} {each}" for each in inner) if inner else found.append(name)
    assert sorted(found) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_shows_an_example_with_options_it_has(command: str) -> None:
    text = _help(*command.split())
    example = re.search(r"Example: (eagle .*)", text)
    assert example is not None
    assert example[1].startswith(f"eagle {command}")
    known = set(re.findall(r"(?<![\w-])(--?[\w-]+)", text.replace(example[0], "")))
    assert set(re.findall(r"(?<!\S)(--?[a-z][\w-]*)", example[1])) <= known


def test_the_shared_options_are_explained_at_the_top() -> None:
    text = _help()
    assert all(option in text for option in ("--data-dir", "--config", "--profile", "--set"))
    assert "Example: eagle ingest" in text


def test_no_command_at_all_shows_the_help() -> None:
    assert "Usage: eagle" in CliRunner().invoke(app, [], prog_name="eagle").output
