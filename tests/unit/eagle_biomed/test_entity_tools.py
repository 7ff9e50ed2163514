"""The tool ``entities.show`` answers as the reference says."""

import json
from functools import lru_cache
from typing import TYPE_CHECKING

import pytest

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.entity_tools import entity_tool
from eagle_rag.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.eagle_biomed.conftest import FakeLibrary

    from eagle_rag.ports.tools import ToolAnswer


@lru_cache(maxsize=1)
def _names() -> Ontology:
    return open_ontology({})


@pytest.fixture
def show(make_library: "Callable[..., FakeLibrary]") -> "Callable[[str], ToolAnswer]":
    """Run the tool."""
    library = make_library()
    return lambda entity: entity_tool(_names).run({"entity": entity, "kb_name": ""}, library)


@pytest.mark.parametrize("name", ["HER2", "her-2", "ErbB2"])
def test_an_entity_is_shown_by_any_of_its_names(
    show: "Callable[[str], ToolAnswer]", name: str
) -> None:
    data = json.loads(json.dumps(show(name).data))
    assert set(data) == {"entity", "found", "cui", "aliases", "pathways", "related_drugs"}
    assert (data["entity"], data["found"], data["cui"]) == ("HER2", True, "C0242957")
    assert "trastuzumab" in data["related_drugs"]


def test_an_unknown_entity_is_not_found_and_no_error(
    show: "Callable[[str], ToolAnswer]",
) -> None:
    answer = show("blorbozumab")
    assert (answer.data["entity"], answer.data["found"]) == ("blorbozumab", False)
    assert answer.rows == ()
    assert "not in the ontology" in answer.notes[0]


def test_a_note_tells_the_beginning_of_a_name_of_any_length(
    show: "Callable[[str], ToolAnswer]",
) -> None:
    (note,) = show("x" * 100_000).notes
    assert note == f"'{'x' * 79}\u2026' is not in the ontology"


def test_an_empty_name_is_refused(show: "Callable[[str], ToolAnswer]") -> None:
    with pytest.raises(InvalidInput, match="entity is empty"):
        show("  ")
