"""Hook specifications, rules, pages and template stay in step."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from eagle_rag.hooks import HOOKS, HookSpecs
from eagle_rag.kernel.layers import KeyInfo, env_name, known_keys
from eagle_rag.kernel.reference import configuration_page, hooks_page, main
from eagle_rag.kernel.settings import Settings

ROOT = Path(__file__).parents[2]
_WRITE = "run: python -m eagle_rag.kernel.reference docs"


def _doc(hook: str) -> str:
    return inspect.cleandoc(getattr(HookSpecs, hook).__doc__ or "")


def test_every_specification_has_a_rule_and_every_rule_a_specification() -> None:
    specified = {name for name in vars(HookSpecs) if not name.startswith("_")}
    assert specified == set(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hooks_docstring_says_when_what_and_its_rule(hook: str) -> None:
    text = _doc(hook)
    folded = " ".join(text.split()).lower()
    assert f"mode {HOOKS[hook].mode}" in folded
    assert f"policy {HOOKS[hook].policy}" in folded
    assert "called" in folded or re.search(r"as ``\w+``", folded), (
        "says neither when nor like whom"
    )


@pytest.mark.parametrize("hook", HOOKS)
def test_a_transformed_subject_is_a_parameter(hook: str) -> None:
    rule = HOOKS[hook]
    parameters = inspect.signature(getattr(HookSpecs, hook)).parameters
    assert (rule.mode == "transform") == bool(rule.subject)
    assert not rule.subject or rule.subject in parameters


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_an_entry_on_the_page(hook: str) -> None:
    assert f"\n## `{hook}`\n" in (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8")


def test_the_hooks_page_is_what_the_code_says() -> None:
    assert (ROOT / "docs" / "hooks.md").read_text(encoding="utf-8") == hooks_page(), _WRITE


def test_the_configuration_page_is_what_the_code_says() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == configuration_page(), _WRITE


@pytest.mark.parametrize("info", list(known_keys(Settings)), ids=lambda info: info.key)
def test_every_key_says_why_and_stands_on_the_page_with_its_variable(info: KeyInfo) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert info.field.description, f"{info.key} has no description"
    assert f"| `{info.key}`<br>`{env_name(info.path)}` |" in page


def test_the_pages_are_written_where_asked(tmp_path: Path) -> None:
    main(str(tmp_path))
    assert (tmp_path / "hooks.md").read_text(encoding="utf-8") == hooks_page()
    assert (tmp_path / "configuration.md").read_text(encoding="utf-8") == configuration_page()


@pytest.mark.parametrize("hook", HOOKS)
def test_the_plugin_template_lists_every_hook(hook: str) -> None:
    source = ROOT / "plugins_template" / "src" / "eagle_example" / "plugin.py"
    assert f"    @hookimpl\n    def {hook}(" in source.read_text(encoding="utf-8")


def test_the_plugin_template_passes_its_own_tests() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT / "plugins_template",
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stdout + result.stderr
