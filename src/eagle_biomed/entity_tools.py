"""The tool ``entities.show``: what the ontology knows of a gene, drug, disease or pathway."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from eagle_rag.errors import InvalidInput
from eagle_rag.ops.excerpts import excerpt
from eagle_rag.ports.services import Library
from eagle_rag.ports.tools import Tool, ToolAnswer, ToolParameter, ToolValue

if TYPE_CHECKING:
    from eagle_biomed.entities import Ontology

__all__ = ["entity_tool"]


def entity_tool(names: "Callable[[], Ontology]") -> Tool:
    """Return the tool; the ontology is opened with its first run."""

    def run(arguments: Mapping[str, ToolValue], library: Library) -> ToolAnswer:
        del library  # the ontology is no document, so it is the same for every knowledge base
        return _run(names(), str(arguments["entity"]))

    return Tool(
        name="entities.show",
        agent_name="biomed_query_entities",
        summary="Show the names, pathways and related drugs of a gene, drug, disease or pathway.",
        example="eagle entities show HER2",
        parameters=(
            ToolParameter("entity", "A name in any spelling, such as imatinib.", positional=True),
            ToolParameter(
                "kb_name", "Accepted for agents; the ontology is the same in all.", default=""
            ),
        ),
        run=run,
    )


def _run(ontology: "Ontology", entity: str) -> ToolAnswer:
    if not entity.strip():
        message = "entity is empty"
        raise InvalidInput(message, remedy="give the name of a gene, drug, disease or pathway")
    resolved = ontology.resolve_entity(entity)
    data = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(resolved).items()
    }
    if not resolved.found:
        note = f"{excerpt(entity)!r} is not in the ontology"
        return ToolAnswer(data, notes=(note,))
    shown = (
        ("entity", resolved.entity),
        ("CUI", resolved.cui),
        ("aliases", ", ".join(resolved.aliases)),
        ("pathways", ", ".join(resolved.pathways)),
        ("related drugs", ", ".join(resolved.related_drugs)),
    )
    return ToolAnswer(data, ("what", "value"), tuple(row for row in shown if row[1]))
