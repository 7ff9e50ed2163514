"""Running the tools that plugins registered."""

from collections.abc import Mapping

from eagle_rag.engine.library import EngineLibrary, ScopedLibrary
from eagle_rag.errors import InvalidInput
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.ops.excerpts import excerpt
from eagle_rag.ports.tools import Tool, ToolAnswer, ToolParameter, ToolValue

__all__ = ["Toolbox"]

_SCOPE = "kb_name"
_KINDS: dict[str, type] = {"text": str, "integer": int, "flag": bool}


class Toolbox:
    """The tools of one engine.

    Args:
        registry: What plugins registered.
        library: What tools may read.
    """

    def __init__(self, registry: ToolRegistry, library: EngineLibrary) -> None:
        self._registry = registry
        self._library = library

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools by name."""
        return self._registry.tools()

    def run(self, name: str, arguments: Mapping[str, ToolValue]) -> ToolAnswer:
        """Run a tool.

        Args:
            name: Its name on the command line.
            arguments: By parameter name; what is left out takes its default. ``kb_name`` narrows what
                the tool sees, whether it has such a parameter or not.

        Raises:
            UnknownName: No plugin brings the tool.
            InvalidInput: An argument is missing, unknown, or of the wrong kind.
        """
        tool = self._registry.tool(name)
        scope = str(arguments.get(_SCOPE, "") or "")
        library = ScopedLibrary(self._library, (scope,)) if scope else self._library
        return tool.run(_complete(tool, arguments), library)


def _complete(tool: Tool, arguments: Mapping[str, ToolValue]) -> dict[str, ToolValue]:
    known = {parameter.name: parameter for parameter in tool.parameters}
    unknown = sorted(set(arguments) - known.keys() - {_SCOPE})
    if unknown:
        message = f"tool {tool.name!r} has no argument {unknown[0]!r}; it has {', '.join(known)}"
        raise InvalidInput(message)
    return {
        name: _value(tool, parameter, arguments.get(name, parameter.default))
        for name, parameter in known.items()
    }


def _value(tool: Tool, parameter: ToolParameter, value: ToolValue | None) -> ToolValue:
    if value is None:
        message = f"tool {tool.name!r} needs {parameter.name!r}"
        raise InvalidInput(message, remedy=f"for example: {tool.example}")
    if type(value) is not _KINDS[parameter.kind]:
        message = f"{parameter.name} takes {parameter.kind}, got {excerpt(repr(value))}"
        raise InvalidInput(message)
    if parameter.choices and value not in parameter.choices:
        message = f"{parameter.name} is one of {', '.join(parameter.choices)}, not {excerpt(repr(value))}"
        raise InvalidInput(message)
    return value
