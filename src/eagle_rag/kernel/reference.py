"""Reference pages made from the code, so that they cannot fall behind it.

``python -m eagle_rag.kernel.reference docs`` writes them; a contract test compares.
"""

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

from eagle_rag import hooks
from eagle_rag.hooks import HOOKS, HookSpecs
from eagle_rag.kernel.layers import KeyInfo, env_name, known_keys
from eagle_rag.kernel.sections import BUILT_IN_COLLECTIONS, BUILT_IN_ENCODERS
from eagle_rag.kernel.settings import DEFAULT_FILE, Settings, profiles

__all__ = ["configuration_page", "hooks_page", "main"]

_MADE = "<!-- Made by `python -m eagle_rag.kernel.reference docs`; change the docstrings, not this. -->"


def hooks_page() -> str:
    """Return ``docs/hooks.md``: every hook with its signature, mode, policy and contract."""
    introduction = inspect.cleandoc(hooks.__doc__ or "").partition("\n")[2].strip()
    parts = ["# Hooks", _MADE, _markdown(introduction)]
    for hook, rule in HOOKS.items():
        function = getattr(HookSpecs, hook)
        subject = f" of `{rule.subject}`" if rule.subject else ""
        parts.append(f"## `{hook}`")
        parts.append(f"```python\n{_signature(hook, function)}\n```")
        parts.append(f"Mode **{rule.mode}**{subject}, policy **{rule.policy}**.")
        parts.append(_markdown(inspect.cleandoc(function.__doc__ or "")))
    return "\n\n".join(parts) + "\n"


def configuration_page() -> str:
    """Return ``docs/configuration.md``: every key with default, environment name and reason."""
    parts = ["# Configuration", _MADE, _introduction()]
    section = None
    for info in known_keys(Settings):
        head = info.path[0] if len(info.path) > 1 else ""
        if head != section:
            section = head
            title = f"## `{head}`" if head else "## General"
            parts.append(f"{title}\n\n| key | type | default | why |\n|---|---|---|---|")
        parts[-1] += f"\n{_row(info)}"
    return "\n\n".join(parts) + "\n"


def main(folder: str) -> None:
    """Write both pages into a folder."""
    for name, text in (("hooks.md", hooks_page()), ("configuration.md", configuration_page())):
        (Path(folder) / name).write_text(text, encoding="utf-8")


def _introduction() -> str:
    encoders = ", ".join(f"`{name}`" for name in BUILT_IN_ENCODERS)
    collections = ", ".join(f"`{name}`" for name in BUILT_IN_COLLECTIONS)
    return inspect.cleandoc(f"""
        Later wins: defaults < profile < file < environment < flags. `eagle config show` prints what is
        in force and where each value came from, without secrets. A key nobody documented here is
        refused by name, in every place.

        - **Profile**: `EAGLE_RAG_PROFILE`, one of {", ".join(f"`{name}`" for name in profiles())}.
        - **File**: YAML, `--config` or `EAGLE_RAG_CONFIG`, else `{DEFAULT_FILE}` in the working directory.
        - **Environment**: `EAGLE_RAG_` and the key in capitals, `__` for each dot
          (`EAGLE_RAG_ROUTER__RRF_K=10`). Lists as `a,b` or JSON. Labels become lower case. An empty
          variable counts as unset. `PLUGIN_NAMESPACE` sets `plugins.default_namespace`.
        - Mappings merge key by key; lists are replaced whole. `<name>` is a label you choose. Built in:
          encoders {encoders}; collection {collections}.
        - `EAGLE_RAG_CONFIG` and what tests use (`EAGLE_RAG_TEST_DATA` and the like) are no settings.
        """)


def _row(info: KeyInfo) -> str:
    field = info.field
    default = field.get_default(call_default_factory=True)
    why = str(field.description or "").replace("|", "\\|")
    key = f"`{info.key}`<br>`{env_name(info.path)}`"
    return f"| {key} | {_type(field.annotation)} | {_shown(default)} | {why} |"


def _shown(value: object) -> str:
    if value is None:
        return "unset"
    if isinstance(value, tuple):
        value = list(value)
    return "empty" if value == "" else f"`{value}`"


def _type(annotation: Any) -> str:  # noqa: ANN401 - annotations have no common type
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is UnionType:
        return " or ".join(_type(inner) for inner in arguments if inner is not type(None))
    if origin is Annotated:
        return _type(arguments[0])
    names = {
        bool: "yes or no",
        int: "integer",
        tuple: "list",
        dict: "mapping",
        str: "text",
        Path: "path",
        float: "number",
    }
    kind = origin or annotation
    return names.get(kind) or str(kind.__name__)


def _signature(hook: str, function: Callable[..., object]) -> str:
    signature = inspect.signature(function)
    parameters = [each for name, each in signature.parameters.items() if name != "self"]
    given = ", ".join(f"{each.name}: {_name(each.annotation)}" for each in parameters)
    return f"def {hook}(self, {given}) -> {_name(signature.return_annotation)}"


def _name(annotation: Any) -> str:  # noqa: ANN401 - annotations have no common type
    return re.sub(r"\b(?:\w+\.)+(?=[A-Z])", "", inspect.formatannotation(annotation))


def _markdown(text: str) -> str:
    """Return a Google-style docstring as Markdown: literals and indented definitions."""
    lines = []
    for line in text.replace("``", "`").splitlines():
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        term, colon, rest = stripped.partition(": ")
        if indent == 4 and colon and " " not in term:  # noqa: PLR2004 - one level of a docstring
            lines.append(f"- **{term}**: {rest}")
        elif not indent and stripped.endswith(":"):
            lines.append(f"**{stripped.removesuffix(':')}**\n")
        else:
            lines.append(f"  {stripped}" if indent else stripped)
    return "\n".join(lines)


if __name__ == "__main__":
    main(sys.argv[1])
