"""Tools are given every argument, checked, and a library no wider than asked for."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.engine import open_engine
from eagle_rag.engine.toolbox import Toolbox
from eagle_rag.errors import InvalidInput, UnknownName
from eagle_rag.kernel.settings import load_settings
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.ports.services import Library
from eagle_rag.ports.tools import Tool, ToolAnswer, ToolParameter, ToolValue
from eagle_rag.testing.articles import jats_article, write_files

if TYPE_CHECKING:
    from eagle_rag.engine import Engine


def _run(arguments: Mapping[str, ToolValue], library: Library) -> ToolAnswer:
    records = list(library.of_format("jats"))
    passages = [passage.text for each in records for passage in library.passages(each.document_id)]
    found = [each.document_id for each in library.find("10.5555/a")]
    nearest = [hit.document_id for hit in library.nearest("eagle_text", "kinase", limit=5)]
    data = {"passages": passages, "found": found, "nearest": nearest, "arguments": dict(arguments)}
    return ToolAnswer(data)


TOOL = Tool(
    "lab.find",
    "lab_find",
    "Find.",
    "eagle lab find x",
    (
        ToolParameter("word", "A word."),
        ToolParameter("top_k", "How many.", "integer", 5),
        ToolParameter("mode", "How.", default="exact", choices=("exact", "similar")),
    ),
    _run,
)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator["Engine"]:
    overrides = {
        "profile": "core",
        "data_dir": str(tmp_path / "data"),
        "collections.eagle_text.encoder": "hash",
    }
    engine = open_engine(load_settings(overrides=overrides, environ={}))
    yield engine
    engine.close()


def _toolbox(engine: "Engine") -> Toolbox:
    registry = ToolRegistry()
    registry.register_tool(TOOL)
    return Toolbox(registry, engine._library)


def test_i6_a_tool_sees_only_the_knowledge_base_asked_for(
    engine: "Engine", tmp_path: Path
) -> None:
    ids = {"doi": "10.5555/a"}
    mine = write_files(tmp_path / "a", {"a.xml": jats_article("A", ["The kinase fell."], ids=ids)})
    theirs = write_files(
        tmp_path / "b", {"b.xml": jats_article("B", ["The kinase rose."], ids=ids)}
    )
    (one,) = engine.ingest([mine], kb_name="mine").added
    (other,) = engine.ingest([theirs], kb_name="theirs").added
    toolbox = _toolbox(engine)
    everything = toolbox.run("lab.find", {"word": "x"}).data
    assert everything["found"] == sorted((one, other))
    assert everything["nearest"] in ([one, other], [other, one])
    narrowed = toolbox.run("lab.find", {"word": "x", "kb_name": "mine"}).data
    assert (narrowed["found"], narrowed["nearest"]) == ([one], [one])
    assert narrowed["passages"] == ["The kinase fell."]
    nothing = toolbox.run("lab.find", {"word": "x", "kb_name": "nobody"}).data
    assert (nothing["found"], nothing["nearest"], nothing["passages"]) == ([], [], [])


def test_g2_a_deleted_document_is_gone_from_the_library(engine: "Engine", tmp_path: Path) -> None:
    folder = write_files(tmp_path / "a", {"a.xml": jats_article("A", ["The kinase fell."])})
    (one,) = engine.ingest([folder]).added
    before = engine._library.generation()
    engine.delete(one)
    assert engine._library.passages(one) == ()
    assert engine._library.nearest("eagle_text", "kinase", limit=3) == ()
    assert engine._library.generation() != before


def test_what_nothing_was_written_to_is_an_unknown_collection(engine: "Engine") -> None:
    with pytest.raises(UnknownName, match="eagle_none"):
        engine._library.nearest("eagle_none", "kinase", limit=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "needs 'word'"),
        ({"word": "x", "size": 1}, "no argument 'size'"),
        ({"word": "x", "top_k": "5"}, "takes integer"),
        ({"word": "x", "top_k": True}, "takes integer"),
        ({"word": "x", "mode": "fuzzy"}, "one of exact, similar"),
    ],
)
def test_a_wrong_argument_is_named(
    engine: "Engine", arguments: dict[str, ToolValue], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        _toolbox(engine).run("lab.find", arguments)
