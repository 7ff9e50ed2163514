"""CASES A12, G6, I5, O1, O3, H1: damaged files end in documents or typed refusals; the short version.

``benchmarks/fuzz_parsers.py`` is the long one; this runs its machinery on a few inputs of every format.
"""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.model.document import Block, BlockKind, ParsedDocument, Section, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import Passage

for _library in ("docx", "gemmi", "nibabel", "PIL", "pptx", "pydicom", "pypdfium2", "rdkit"):
    pytest.importorskip(_library, reason=f"the formats need {_library}")
pytest.importorskip("resource", reason="limits of processes are those of POSIX")

_FOLDER = Path(__file__).parents[2] / "benchmarks"
_MUTATIONS = 10  # of each format
_FIRST = 100_000  # numbers that the long version does not come to


def _script(name: str) -> ModuleType:
    sys.path.insert(0, str(_FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(_FOLDER))


fuzz = _script("fuzz_parsers")
process = _script("fuzz_process")
CORPORA = fuzz.gather(None)


@pytest.fixture(scope="module")
def runner() -> Iterator[object]:
    made = process.Runner()
    yield made
    made.close()


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_g6_a_damaged_file_is_read_or_refused_with_a_reason(name: str, runner: object) -> None:
    seeds = CORPORA[name].seeds
    donors = [content for each in CORPORA.values() for _, content in each.seeds]
    inputs = [fuzz.Input(0, "as it is", file, content) for file, content in seeds[:1]]
    inputs += [
        fuzz.mutated(number, name, seeds, donors=donors)
        for number in range(_FIRST, _FIRST + _MUTATIONS)
    ]
    results = [runner.run(each.name, each.data) for each in inputs]  # type: ignore[attr-defined]  # of a script

    assert [result.problem for result in results] == [""] * len(results)
    assert results[0].documents >= 1
    assert results[0].pipeline == name


def _prepared(**changes: object) -> PreparedDocument:
    text = "One. Two."
    document = ParsedDocument(
        "a.txt", "", "d", "text", DocumentMetadata(title="a"), text,
        sections=(Section(0, (), SectionKind.BODY, 0, 9),),
        blocks=(Block(BlockKind.PARAGRAPH, 0, 4, 0), Block(BlockKind.PARAGRAPH, 5, 9, 0)),
    )  # fmt: skip
    passage = Passage("p", "d", 0, 0, (), SectionKind.BODY, 0, 9, text)
    whole = PreparedDocument("d", "w", document, (passage,), ("",), ("",))
    document_changes = {key: value for key, value in changes.items() if key == "blocks"}
    changed = replace(document, **document_changes)  # type: ignore[arg-type]  # names are checked at run time
    passages = changes.get("passages", whole.passages)
    return replace(whole, document=changed, passages=passages)  # type: ignore[arg-type]  # likewise


def test_the_harness_takes_a_sound_document() -> None:
    assert process.broken_document(_prepared()) == ""


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (((0, 4),), "after the last block"),
        (((0, 4), (4, 9)), "white space"),
        (((0, 4), (3, 9)), "out of order"),
        (((0, 2), (5, 9)), "in no block"),
        (((0, 4), (5, 90)), "out of order"),
    ],
)
def test_the_harness_tells_a_broken_document(
    blocks: tuple[tuple[int, int], ...], told: str
) -> None:
    made = tuple(Block(BlockKind.PARAGRAPH, start, end, 0) for start, end in blocks)
    assert told in process.broken_document(_prepared(blocks=made))


def test_the_harness_tells_a_passage_that_is_not_its_text() -> None:
    passage = replace(_prepared().passages[0], text="Other.")
    assert "passage 0 is not text" in process.broken_document(_prepared(passages=(passage,)))
