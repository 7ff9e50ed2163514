"""Structures a line: SMILES lists, tables, InChI lists."""

import io

import pytest

from eagle_biomed.formats.molecules_records import RawRecord
from eagle_biomed.formats.molecules_signs import structure_column, table_delimiter
from eagle_biomed.formats.smiles_tables import read_inchi_list, read_smiles_list, read_table
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source


def _list(text: str) -> list[tuple[int, str, str]]:
    records = read_smiles_list(io.StringIO(text, newline=""))
    return [(each.number, each.structure, each.title) for each in records]


def _table(text: str) -> list[RawRecord]:
    stream = io.StringIO(text, newline="")
    return list(read_table(stream, Source("a.csv", text.encode(), "")))


def test_a_line_is_a_structure_white_space_and_a_name() -> None:
    assert _list("CCO\tethyl alcohol\nCN  methylamine\r\nC") == [
        (1, "CCO", "ethyl alcohol"),
        (2, "CN", "methylamine"),
        (3, "C", ""),
    ]


def test_header_comments_and_empty_lines_are_no_records() -> None:
    assert _list("SMILES Name\n# made by hand\n\nCCO a\n") == [(1, "CCO", "a")]


def test_o2_an_empty_smiles_is_a_record_without_structure() -> None:
    assert _list("CCO a\n\tnameless\nCN b\n")[1] == (2, "", "nameless")


def test_what_extended_smiles_says_between_bars_is_no_name() -> None:
    assert _list("C[C@H](F)Cl |o1:1| a name") == [(1, "C[C@H](F)Cl", "a name")]


def test_inchi_lines_may_carry_a_key_and_a_name() -> None:
    line = "InChI=1S/CH4/h1H4 VNWKTOKETHGBQD-UHFFFAOYSA-N marsh gas\n"

    (record,) = read_inchi_list(io.StringIO(line, newline=""))

    assert (record.kind, record.structure, record.title) == (
        "inchi",
        "InChI=1S/CH4/h1H4",
        "marsh gas",
    )


@pytest.mark.parametrize(
    ("header", "column"),
    [
        (["id", "smiles"], (1, "smiles")),
        (["Canonical SMILES", "Isomeric SMILES"], (1, "smiles")),
        (["InChI", "smiles"], (1, "smiles")),
        (["Standard InChI", "name"], (0, "inchi")),
        (["x", "my_drug_smiles"], (1, "smiles")),
        (["smile", "inchikey", "name"], None),
    ],
)
def test_the_column_of_structures_is_found_by_its_name(
    header: list[str], column: tuple[int, str] | None
) -> None:
    assert structure_column(header) == column


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_under_which_the_header_makes_sense(delimiter: str) -> None:
    assert table_delimiter(delimiter.join(['"Name, full"', "SMILES", "x"])) == delimiter


def test_a_row_gives_its_other_cells_as_fields() -> None:
    (record,) = _table('name,smiles,dose,empty\n"acid, strong",CC(=O)O,5 mg,\n')

    assert record.structure == "CC(=O)O"
    assert record.fields == (("name", "acid, strong"), ("dose", "5 mg"))


def test_o1_rows_are_numbered_without_the_header_and_empty_rows() -> None:
    records = _table("smiles\nCCO\n\nCN\n")

    assert [each.number for each in records] == [1, 2]


def test_o2_an_empty_cell_is_a_record_without_structure() -> None:
    assert [each.structure for each in _table("name,smiles\na,\nb,CCO\n")] == ["", "CCO"]


def test_a_row_longer_than_the_header_is_a_problem_of_that_row() -> None:
    records = _table("name,smiles\nx,CCO,more\ny,CN\n")

    assert [bool(each.problem) for each in records] == [True, False]


def test_a_quotation_mark_that_is_never_closed_does_not_swallow_the_memory() -> None:
    records = _table('smiles,name\n"CCO,' + "x" * 300_000 + "\nCN,b\n")

    assert records[0].problem
    assert records[-1].structure == "CN"


def test_a_table_without_a_column_of_structures_is_refused() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _table("name,dose\na,1\n")

    assert caught.value.reason == "no-structure-column"
