"""The share of right sections must itself be trusted: another document's section, or another section, is a miss."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from eagle_rag import Engine, SearchRequest, load_settings, open_engine
from eagle_rag.sample import record_paths

FOLDER = Path(__file__).parents[3] / "benchmarks"

VULPEXA = "99000000-0000-4000-8000-000000000001"
TRIAL = "nct09900001"
WANTED = ("vulpexa-label-version-2.xml", "NCT09900001.json")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("section_queries", FOLDER / "section_queries.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "section_queries", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    settings = load_settings(
        environ={}, overrides={"data_dir": str(tmp_path_factory.mktemp("index"))}
    )
    opened = open_engine(settings)
    opened.ingest([path for path in record_paths() if path.name in WANTED])
    yield opened
    opened.close()


def test_every_question_is_in_one_group_and_has_an_answer(script: ModuleType) -> None:
    questions = script.read_questions()

    assert {each.group for each in questions} == {"seen", script.HELD_OUT}
    assert len({each.id for each in questions}) == len(questions)
    assert len({each.text.casefold() for each in questions}) == len(questions)
    assert all(each.expected for each in questions)


def test_a_wide_pattern_does_not_take_every_held_out_section_for_right(script: ModuleType) -> None:
    held_out = [each for each in script.read_questions() if each.group == script.HELD_OUT]

    taken = [each.id for each in held_out if each.section.search("Abstract > Background")]

    assert len(held_out) == 24
    assert taken == []


def ask(script: ModuleType, engine: Engine, expected: str, section: str) -> Any:
    question = script.Question(
        "label-01",
        "held-out",
        "VULPEXA capsules",
        frozenset({expected}),
        re.compile(section, re.I),
    )
    (answer,) = script.ask(engine, (question,))
    return answer


def test_the_first_hit_counts_when_document_and_section_are_right(
    script: ModuleType, engine: Engine
) -> None:
    answer = ask(script, engine, VULPEXA, ".")

    assert (answer.document, answer.section, answer.rank) == (True, True, 1)


def test_the_right_document_at_another_section_is_no_right_section(
    script: ModuleType, engine: Engine
) -> None:
    answer = ask(script, engine, VULPEXA, "heading that no label has")

    assert (answer.document, answer.section, answer.rank) == (True, False, 0)


def test_the_right_section_of_another_document_is_no_right_section(
    script: ModuleType, engine: Engine
) -> None:
    first = engine.search(SearchRequest("VULPEXA capsules", top_k=1)).hits[0].section_path[-1]

    answer = ask(script, engine, TRIAL, f"^{re.escape(first)}$")

    assert (answer.document, answer.section, answer.rank) == (False, False, 0)


def test_a_document_that_the_index_lacks_ends_the_run(script: ModuleType, engine: Engine) -> None:
    with pytest.raises(SystemExit, match="label-01 nct00000000"):
        ask(script, engine, "nct00000000", ".")


def test_a_passage_at_rank_four_is_not_among_the_first_three(script: ModuleType) -> None:
    question = script.read_questions()[0]
    answers = [
        script.Answer(question, ((), ()), document=True, section=rank == 1, rank=rank)
        for rank in (1, 3, 4, 0)
    ]

    shares = script.measure(answers)

    assert (shares.document, shares.section, shares.within) == (1.0, 0.25, 0.5)
