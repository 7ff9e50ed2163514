"""The registry of tools."""

from dataclasses import replace
from typing import Any

import pytest

from eagle_rag.errors import PluginError, UnknownName
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.ports.tools import Tool, ToolAnswer

TOOL = Tool("lab.find", "lab_find", "Find.", "eagle lab find", (), lambda *_: ToolAnswer({}))


def test_tools_are_listed_by_name() -> None:
    registry = ToolRegistry()
    other = replace(TOOL, name="a.find", agent_name="a_find")
    registry.register_tool(TOOL)
    registry.register_tool(other)
    assert registry.tools() == (other, TOOL)
    assert registry.tool("lab.find") is TOOL


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "already registered"),
        ({"name": "lab.other"}, "already registered"),
        ({"name": "lab"}, "group.command"),
        ({"name": "lab.x", "agent_name": "Lab-X"}, "snake_case"),
        ({"name": "lab.mail", "agent_name": "lab_send_email"}, "tools only read"),
        ({"name": "lab.sql", "agent_name": "lab_execute_sql_now"}, "tools only read"),
    ],
)
def test_a_tool_that_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    registry = ToolRegistry()
    registry.register_tool(TOOL)
    with pytest.raises(PluginError, match=said):
        registry.register_tool(replace(TOOL, **changes))


def test_an_unknown_tool_names_the_known_ones() -> None:
    registry = ToolRegistry()
    registry.register_tool(TOOL)
    with pytest.raises(UnknownName, match=r"lab\.find"):
        registry.tool("lab.lose")
