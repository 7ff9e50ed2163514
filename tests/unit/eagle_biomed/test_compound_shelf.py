"""The index follows the library: it reads what changed, forgets what went, and starts from its file."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_biomed.compound_shelf import CompoundShelf
from eagle_biomed.compound_store import FILE_NAME, read_rows

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

    from eagle_biomed.compound_index import CompoundIndex

Make = Callable[..., "FakeLibrary"]
MANY = tuple("C" * length + "O" for length in range(1, 121))


def _documents(index: "CompoundIndex") -> set[str]:
    return {each.decode() for each in index.rows.documents}


def test_nothing_is_read_while_the_library_does_not_change(make_library: Make) -> None:
    library = make_library("CCO", "CCN")
    shelf = CompoundShelf(library, None)
    first = shelf.index()
    library.read.clear()
    assert shelf.index() is first
    assert library.read == []


def test_only_what_is_new_or_changed_is_read(make_library: Make) -> None:
    library = make_library("CCO", "CCN", "CCC", "CCCC")
    shelf = CompoundShelf(library, None)
    shelf.index()
    library.read.clear()
    new, changed = library.add("CCS"), library.add("CCO", "ethanol")
    index = shelf.index()
    assert library.read == sorted((new, changed))
    assert _documents(index) == set(library.records)
    assert shelf.named("Ethanol") == (changed,)


def test_g2_a_deleted_compound_leaves_memory_and_file(make_library: Make, tmp_path: Path) -> None:
    library = make_library(*MANY)
    shelf = CompoundShelf(library, tmp_path)
    shelf.index()
    gone = library.add("c1ccc2c(c1)cccc2", "SECRETNAME")
    shelf.index()
    assert shelf.named("secretname") == (gone,)
    library.remove(gone)
    assert gone not in _documents(shelf.index())
    assert shelf.named("secretname") == ()
    kept = (tmp_path / FILE_NAME).read_bytes()
    assert b"SECRETNAME" not in kept
    assert gone.encode() not in kept


def test_a_second_process_reads_no_document_again(make_library: Make, tmp_path: Path) -> None:
    library = make_library(*MANY)
    first = CompoundShelf(library, tmp_path).index()
    library.read.clear()
    second = CompoundShelf(library, tmp_path).index()
    assert library.read == []
    assert _documents(second) == _documents(first)


def test_a_second_process_catches_up_with_what_came_and_went(
    make_library: Make, tmp_path: Path
) -> None:
    library = make_library(*MANY)
    CompoundShelf(library, tmp_path).index()
    library.remove(next(iter(library.records)))
    new = library.add("CCS")
    library.read.clear()
    assert _documents(CompoundShelf(library, tmp_path).index()) == set(library.records)
    assert library.read == [new]


def test_a_damaged_file_is_made_anew(make_library: Make, tmp_path: Path) -> None:
    library = make_library(*MANY)
    CompoundShelf(library, tmp_path).index()
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-100])
    assert _documents(CompoundShelf(library, tmp_path).index()) == set(library.records)
    rows = read_rows(tmp_path)
    assert rows is not None
    assert len(rows) == len(MANY)


def test_a_compounds_own_name_comes_before_a_synonym_of_another(make_library: Make) -> None:
    library = make_library()
    library.add("CCO", "x", synonyms=("wood spirit",))
    own = library.add("c1ccccc1CO", "Wood-Spirit")
    assert CompoundShelf(library, None).named("wood spirit")[0] == own


def test_eight_threads_build_one_index(make_library: Make) -> None:
    library = make_library(*MANY)
    shelf = CompoundShelf(library, None)
    library.read.clear()
    with ThreadPoolExecutor(8) as pool:
        indexes = list(pool.map(lambda _: shelf.index(), range(8)))
    assert all(index is indexes[0] for index in indexes)
    assert len(library.read) == len(MANY)


def test_searching_while_the_library_changes_sees_whole_states(make_library: Make) -> None:
    library = make_library(*MANY)
    shelf = CompoundShelf(library, None)
    states = {frozenset(library.records)}

    def change(number: int) -> None:
        library.add("N" + "C" * (number + 1))
        states.add(frozenset(library.records))

    seen: list[frozenset[str]] = []
    with ThreadPoolExecutor(8) as pool:
        for number in range(20):
            change(number)
            looks = pool.map(lambda _: frozenset(_documents(shelf.index())), range(8))
            seen.extend(looks)
    assert set(seen) <= states
    assert seen[-1] == frozenset(library.records)


@pytest.mark.parametrize("kept", [True, False])
def test_an_empty_library_is_an_empty_index(
    make_library: Make, tmp_path: Path, *, kept: bool
) -> None:
    shelf = CompoundShelf(make_library(), tmp_path if kept else None)
    assert len(shelf.index().rows) == 0
