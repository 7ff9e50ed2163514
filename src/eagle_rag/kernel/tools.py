"""The registry of tools: read-only commands that plugins bring."""

import re

from eagle_rag.errors import PluginError, UnknownName
from eagle_rag.ports.tools import Tool

__all__ = ["ToolRegistry"]

_NAME = re.compile(r"[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*")
_AGENT_NAME = re.compile(r"[a-z][a-z0-9_]*")
# A retrieval layer answers; what changes something, or acts for somebody, is not its business.
_ACTS = ("execute_sql", "send_email", "mutate_", "write_db", "delete_", "update_", "insert_")


class ToolRegistry:
    """Tools by name."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def register_tool(self, tool: Tool) -> None:
        """Register a tool.

        Raises:
            PluginError: One of its names is taken, malformed, or says that it changes something.
        """
        if not _NAME.fullmatch(tool.name) or not _AGENT_NAME.fullmatch(tool.agent_name):
            message = (
                f"tool {tool.name!r} ({tool.agent_name!r}) is not named group.command (snake_case)"
            )
            raise PluginError(message, remedy="rename it")
        acts = next((word for word in _ACTS if word in tool.agent_name), None)
        if acts is not None:
            message = f"tool {tool.agent_name!r} says that it acts ({acts!r}); tools only read"
            raise PluginError(message, remedy="take it out: this is a retrieval layer")
        agents = {each.agent_name for each in self._tools.values()}
        if tool.name in self._tools or tool.agent_name in agents:
            message = f"tool {tool.name!r} ({tool.agent_name!r}) is already registered"
            raise PluginError(message, remedy="choose another name")
        self._tools[tool.name] = tool

    def tool(self, name: str) -> Tool:
        """Return one tool by its command line name.

        Raises:
            UnknownName: Nobody registered it.
        """
        found = self._tools.get(name)
        if found is None:
            kind = "tool"
            remedy = "enable the plugin that brings it"
            raise UnknownName(kind, name, tuple(sorted(self._tools)), remedy=remedy)
        return found

    def tools(self) -> tuple[Tool, ...]:
        """Return all tools by name."""
        return tuple(self._tools[name] for name in sorted(self._tools))
