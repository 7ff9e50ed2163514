"""Commands a plugin brings: the command line and the agents' surfaces show them alike. Read-only."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from eagle_rag.ports.services import Library

__all__ = ["Tool", "ToolAnswer", "ToolParameter", "ToolValue"]

ToolValue = str | int | bool


@dataclass(frozen=True, slots=True)
class ToolParameter:
    """One argument of a tool.

    Args:
        name: Lower case, words joined by ``_``; an option ``--top-k`` on the command line.
        help: One sentence.
        kind: ``text``, ``integer`` or ``flag``.
        default: ``None``: it must be given.
        positional: Stands without its name on the command line.
        choices: What it may be; empty for anything.
    """

    name: str
    help: str
    kind: Literal["text", "integer", "flag"] = "text"
    default: ToolValue | None = None
    positional: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool found.

    Args:
        data: The whole answer, JSON-ready.
        columns: Heads of the table shown to people.
        rows: Its rows, as long as ``columns``.
        notes: What a reader should know: a degradation, a limit; one sentence each.
    """

    data: Mapping[str, object]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A read-only command.

    Args:
        name: ``group.command`` on the command line, such as ``compounds.search``.
        agent_name: Name for agents, such as ``biomed_retrieve_compounds``.
        summary: One sentence that says what it does.
        example: A command line that works.
        parameters: Its arguments.
        run: Called with every argument by name and the library; raises errors of ``eagle_rag.errors``.
            An argument ``kb_name`` narrows the library before it is called.
    """

    name: str
    agent_name: str
    summary: str
    example: str
    parameters: tuple[ToolParameter, ...]
    run: Callable[[Mapping[str, ToolValue], Library], ToolAnswer]
