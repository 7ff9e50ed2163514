"""Commands that plugins bring: ``eagle <group> <command>``, and ``eagle tools`` that lists them.

``eagle --help`` loads no plugin, so it only names ``eagle tools``. A group the command line does not
know is looked for among the tools of the plugins that are enabled.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from eagle_rag.surfaces.cli.hints import warn_of_unknown_kbs
from eagle_rag.surfaces.cli.output import print_json, print_rows, print_table, say
from eagle_rag.surfaces.cli.session import Session

if TYPE_CHECKING:
    from eagle_rag.ports.tools import Tool, ToolParameter

__all__ = ["PluginGroup", "register"]

_TYPES: dict[str, type] = {"text": str, "integer": int, "flag": bool}
_SCOPE = "kb_name"


class PluginGroup(TyperGroup):
    """The command line's own commands, then those of plugins."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - typer keeps click to itself
        """Return a command by name; ``None`` when nobody brings it."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name.startswith("-"):
            return own
        return _plugin_group(_session(ctx.params), cmd_name)


def _session(params: dict[str, Any]) -> Session:
    config, data_dir = params.get("config"), params.get("data_dir")
    return Session.from_options(
        None if config is None else Path(config),
        None if data_dir is None else Path(data_dir),
        params.get("profile"),
        tuple(params.get("settings") or ()),
    )


def _plugin_group(session: Session, name: str) -> Any:  # noqa: ANN401 - as above
    with session.engine() as engine:
        tools = [tool for tool in engine.toolbox.tools() if tool.name.partition(".")[0] == name]
    if not tools:
        return None
    group = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        help="Brought by a plugin; `eagle tools` lists what plugins bring.",
    )
    group.callback()(_nothing)
    for tool in tools:
        group.command(tool.name.partition(".")[2], help=_help(tool))(_command(tool))
    return typer.main.get_command(group)


def _nothing() -> None:
    """Keep a group of one command a group."""


def _help(tool: "Tool") -> str:
    return f"{tool.summary}\n\nExample: {tool.example}"


def _command(tool: "Tool") -> Callable[..., None]:
    def command(**given: Any) -> None:  # noqa: ANN401 - what typer parsed
        context, as_json = given.pop("context"), given.pop("as_json")
        session: Session = context.find_root().obj
        arguments = {name: value for name, value in given.items() if value is not None}
        with session.engine() as engine:
            answer = engine.toolbox.run(tool.name, arguments)
            if not answer.rows and arguments.get(_SCOPE):
                warn_of_unknown_kbs(engine, (arguments[_SCOPE],))
        if as_json:
            print_json(dict(answer.data))
        elif answer.rows:
            print_table(answer.columns, answer.rows)
        else:
            say("Nothing found.")
        for note in answer.notes:
            say(note)

    parameters = [
        inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(_parameter(each) for each in tool.parameters),
    ]
    if _SCOPE not in {each.name for each in tool.parameters}:
        option = typer.Option(None, "--kb", help="Only this knowledge base.")
        parameters.append(_keyword(_SCOPE, str | None, option))
    off: Any = False
    parameters.append(
        _keyword("as_json", bool, typer.Option(off, "--json", help="JSON on stdout."))
    )
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(parameter: "ToolParameter") -> inspect.Parameter:
    kind: Any = _TYPES[parameter.kind]
    default: Any = ... if parameter.default is None else parameter.default
    if parameter.positional:
        return _keyword(parameter.name, kind, typer.Argument(default, help=parameter.help))
    name = "--kb" if parameter.name == _SCOPE else "--" + parameter.name.replace("_", "-")
    return _keyword(parameter.name, kind, typer.Option(default, name, help=parameter.help))


def _keyword(name: str, kind: Any, default: Any) -> inspect.Parameter:  # noqa: ANN401 - typer's own markers
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
    )


def tools(
    context: typer.Context,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="JSON on stdout.")] = False,
) -> None:
    """List the commands that plugins bring.

    Example: eagle tools
    """
    session: Session = context.obj
    with session.engine() as engine:
        found = engine.toolbox.tools()
    if as_json:
        print_json(
            [
                {"name": tool.name, "agent_name": tool.agent_name, "summary": tool.summary}
                for tool in found
            ]
        )
    elif found:
        print_rows(
            (f"eagle {tool.name.replace('.', ' ')}", f"{tool.summary} Example: {tool.example}")
            for tool in found
        )
    else:
        say("no plugin brings a command; `eagle plugins` lists what is enabled")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("tools")(tools)
