"""The kept index: the same after a round trip, made anew when it is damaged."""

import logging
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from eagle_biomed.compound_index import Blob, CompoundRows, empty_rows
from eagle_biomed.compound_store import FILE_NAME, make_rows, read_rows, write_rows

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

Make = Callable[..., "FakeLibrary"]
SALT = "CC(=O)[O-].[Na+]"


def _equal(left: CompoundRows, right: CompoundRows) -> bool:
    for each in fields(CompoundRows):
        mine, other = getattr(left, each.name), getattr(right, each.name)
        if isinstance(mine, Blob):
            if list(mine.items()) != list(other.items()):
                return False
        elif not np.array_equal(mine, other):
            return False
    return True


def _rows(library: "FakeLibrary") -> CompoundRows:
    return make_rows(library.of_format("compound"))[0]


@pytest.mark.parametrize("compounds", [(), ("CCO",), ("CCO", SALT, "c1ccccc1")])
def test_what_was_written_is_read(
    make_library: Make, tmp_path: Path, compounds: tuple[str, ...]
) -> None:
    rows = _rows(make_library(*compounds)) if compounds else empty_rows()
    write_rows(tmp_path, rows)
    kept = read_rows(tmp_path)
    assert kept is not None
    assert _equal(rows, kept)
    assert [each.name for each in tmp_path.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "header", "foreign"])
def test_a_damaged_file_is_no_index_and_is_reported(
    make_library: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    write_rows(tmp_path, _rows(make_library("CCO", SALT)))
    path = tmp_path / FILE_NAME
    whole = bytearray(path.read_bytes())
    if damage == "flipped":
        whole[-8] ^= 255
    elif damage == "header":
        whole[30] ^= 255
    changed = {"cut": bytes(whole[: len(whole) // 2]), "empty": b"", "foreign": b"\0" * 200}
    path.write_bytes(changed.get(damage, bytes(whole)))
    with caplog.at_level(logging.WARNING):
        assert read_rows(tmp_path) is None
    assert "made anew" in caplog.text


def test_a_file_of_another_recipe_is_left_alone(make_library: Make, tmp_path: Path) -> None:
    write_rows(tmp_path, _rows(make_library("CCO")))
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b"morgan-2-", b"morgan-9-", 1))
    assert read_rows(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_no_error(
    make_library: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way", encoding="ascii")
    with caplog.at_level(logging.WARNING):
        write_rows(blocked, _rows(make_library("CCO")))
    assert "was not kept" in caplog.text


def test_a_structure_that_cannot_be_read_again_is_counted(make_library: Make) -> None:
    library = make_library("CCO", "CCN")
    document_id = next(iter(library.records))
    record = library.records[document_id]
    broken = (("smiles", "not a structure"),)
    library.records[document_id] = replace(
        record, metadata=replace(record.metadata, properties=broken)
    )
    rows, unreadable = make_rows(library.of_format("compound"))
    assert (len(rows), unreadable) == (1, 1)
