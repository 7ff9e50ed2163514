"""The tool ``compounds.search``: its arguments, its answer, its table."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from eagle_biomed.compound_tools import MAX_TOP_K, compound_tool
from eagle_biomed.entities import Entity, ResolvedEntity
from eagle_rag.errors import InvalidInput
from eagle_rag.model.collection import StoreHit
from eagle_rag.ports.tools import ToolAnswer, ToolValue

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

Make = Callable[..., "FakeLibrary"]
HIT_KEYS = {
    "compound_id",
    "name",
    "smiles",
    "inchikey",
    "score",
    "match",
    "document_id",
    "passage_id",
    "path",
    "kb_name",
    "start",
    "end",
}


@dataclass(frozen=True)
class Context:
    """What the tool needs of a plugin's context."""

    services: Any
    collections: Any = None


class Names:
    """An ontology of nothing."""

    entities: Mapping[str, Entity] = {}

    def smiles_of(self, name: str) -> str:
        del name
        return ""

    def resolve_entity(self, entity: str) -> ResolvedEntity:
        return ResolvedEntity(entity, found=False)


def _run(library: "FakeLibrary", collections: object = None, **given: ToolValue) -> ToolAnswer:
    context: Any = Context(SimpleNamespace(library=library, cache_dir=None), collections)
    names: Any = Names
    tool = compound_tool(context, names)
    arguments = {each.name: each.default for each in tool.parameters} | given
    return tool.run({key: value for key, value in arguments.items() if value is not None}, library)


def test_an_answer_is_json_and_its_table_fits(make_library: Make) -> None:
    answer = _run(make_library(("CCO", "ethanol"), "CCCO"), smiles_or_name="CCO", similar=True)
    data = json.loads(json.dumps(answer.data))
    assert set(data) == {"query", "smiles", "mode", "collection", "encoder", "hits", "notes"}
    assert set(data["hits"][0]) == HIT_KEYS
    assert all(len(row) == len(answer.columns) for row in answer.rows)
    assert answer.rows[0][:3] == ("exact", "1.000", "ethanol")


@pytest.mark.parametrize("mode", ["similar", "substructure", "exact"])
def test_a_flag_chooses_how_compounds_are_compared(make_library: Make, mode: str) -> None:
    given: dict[str, ToolValue] = {mode: True}
    answer = _run(make_library("CCO", "CCCO"), smiles_or_name="CCO", **given)
    assert answer.data["mode"] == mode


def test_people_are_told_which_encoder_and_programs_one_word(make_library: Make) -> None:
    library = make_library("CCO", "CCCO")
    near = next(key for key, each in library.texts.items() if "SMILES: CCCO\n" in each)
    library.filled, library.rows = True, (StoreHit("r", f"psg1_{near}", near, 1, "a", 0.857, 1),)
    profile = SimpleNamespace(name="eagle_chemical", default_encoder="morgan")
    collections = SimpleNamespace(profiles=lambda: (profile,))
    answer = _run(library, collections, smiles_or_name="CCO")
    assert [row[:2] for row in answer.rows] == [("exact", "1.000"), ("morgan", "0.857")]
    hits = json.loads(json.dumps(answer.data))["hits"]
    assert [hit["match"] for hit in hits] == ["exact", "encoder"]
    assert (answer.data["mode"], answer.data["encoder"]) == ("learned", "morgan")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"smiles_or_name": " "}, "empty"),
        ({"smiles_or_name": "CCO", "top_k": 0}, "at least 1, got 0"),
        ({"smiles_or_name": "CCO", "exact": True, "similar": True}, "exclude each other"),
        ({"smiles_or_name": "nothing known"}, "neither a structure"),
    ],
)
def test_wrong_arguments_are_named(
    make_library: Make, given: dict[str, ToolValue], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        _run(make_library("CCO"), **given)


def test_no_more_than_fifty_are_shown_and_it_is_said(make_library: Make) -> None:
    library = make_library(*("C" * length + "O" for length in range(1, 61)))
    answer = _run(library, smiles_or_name="CO", substructure=True, top_k=60)
    assert len(answer.rows) == MAX_TOP_K
    assert "at most 50 compounds are shown; 60 were asked for" in answer.notes


def test_the_index_outlives_a_question(make_library: Make) -> None:
    library = make_library("CCO", "CCCO", "CCCCO")
    context: Any = Context(SimpleNamespace(library=library, cache_dir=None))
    names: Any = Names
    tool = compound_tool(context, names)
    arguments = {each.name: each.default for each in tool.parameters}
    arguments |= {"smiles_or_name": "CCO", "similar": True, "top_k": 1}
    given = {key: value for key, value in arguments.items() if value is not None}
    tool.run(given, library)
    library.read.clear()
    tool.run(given, library)
    assert set(library.read) == {next(key for key in library.records if "lfqscw" in key)}
