"""Tables of JATS: grids with spans resolved and header paths, never prose."""

import tracemalloc
from collections.abc import Callable

import pytest

from eagle_rag.model.document import BlockKind, ParsedDocument

Parse = Callable[..., ParsedDocument]

WRAP = "<table-wrap id='t1'><label>Table 1.</label><caption><p>Cap.</p></caption>{}</table-wrap>"
SIMPLE = "<table><thead><tr><th>Arm</th><th>HR</th></tr></thead><tbody>{}</tbody></table>"


def test_headers_and_stubs_become_paths(parse_jats: Parse) -> None:
    table = SIMPLE.format("<tr><td>A</td><td>0.5</td></tr><tr><td>B</td><td>0.9</td></tr>")
    (found,) = parse_jats(WRAP.format(table)).tables
    assert found.rows == (("A", "0.5"), ("B", "0.9"))
    assert found.column_paths == (("Arm",), ("HR",))
    assert found.row_paths == (("A",), ("B",))
    assert (found.key, found.label, found.no_cells) == ("t1", "Table 1", False)


def test_spans_repeat_their_text_in_every_cell_they_cover(parse_jats: Parse) -> None:
    table = (
        "<table><thead><tr><th rowspan='2'>Arm</th><th colspan='2'>Survival</th></tr>"
        "<tr><th>OS</th><th>PFS</th></tr></thead><tbody><tr><th rowspan='2'>Drug</th><td>1</td>"
        "<td>2</td></tr><tr><td>3</td><td>4</td></tr></tbody></table>"
    )
    (found,) = parse_jats(WRAP.format(table)).tables
    assert found.column_paths == (("Arm",), ("Survival", "OS"), ("Survival", "PFS"))
    assert found.rows == (("Drug", "1", "2"), ("Drug", "3", "4"))
    assert found.row_paths == (("Drug",), ("Drug",))


def test_leading_rows_of_headers_serve_where_there_is_no_thead(parse_jats: Parse) -> None:
    table = "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>"
    (found,) = parse_jats(WRAP.format(table)).tables
    assert found.column_paths == (("A",), ("B",))
    assert found.rows == (("1", "2"),)


def test_short_rows_are_filled_and_odd_spans_ignored(parse_jats: Parse) -> None:
    table = (
        "<table><tbody><tr><td colspan='x'>1</td><td colspan='0'>2</td><td>3</td></tr>"
        "<tr><td>4</td></tr></tbody></table>"
    )
    (found,) = parse_jats(WRAP.format(table)).tables
    assert found.rows == (("1", "2", "3"), ("4", "", ""))
    assert found.column_paths == ((), (), ())


def test_a_row_span_below_missing_cells_keeps_its_column(parse_jats: Parse) -> None:
    table = (
        "<table><tbody><tr><td>1</td><td>2</td><td rowspan='2'>3</td></tr><tr><td>4</td></tr>"
        "</tbody></table>"
    )
    (found,) = parse_jats(WRAP.format(table)).tables
    assert found.rows == (("1", "2", "3"), ("4", "", "3"))


def test_a12_a_table_that_only_fills_memory_has_no_cells(parse_jats: Parse) -> None:
    row = "<tr>" + "<td colspan='1000' rowspan='1000'>x</td>" * 60 + "</tr>"
    (found,) = parse_jats(WRAP.format(f"<table><tbody>{row * 60}</tbody></table>")).tables
    assert found.no_cells


def test_cells_follow_the_rule_of_the_text(parse_jats: Parse) -> None:
    cell = "<td><p>10<sup>6</sup></p>\n <p>H<sub>2</sub>O</p></td><td> \n b\n c</td>"
    (found,) = parse_jats(WRAP.format(SIMPLE.format(f"<tr>{cell}</tr>"))).tables
    assert found.rows == (("10^6 H2O", "b c"),)


def test_cals_tables_are_grids_too(parse_jats: Parse) -> None:
    table = (
        "<oasis:table><oasis:tgroup cols='3'><oasis:colspec colname='c1'/>"
        "<oasis:colspec colname='c2'/><oasis:colspec colname='c3'/><oasis:thead><oasis:row>"
        "<oasis:entry>Arm</oasis:entry><oasis:entry namest='c2' nameend='c3'>OS</oasis:entry>"
        "</oasis:row></oasis:thead><oasis:tbody><oasis:row><oasis:entry morerows='1'>A"
        "</oasis:entry><oasis:entry>1</oasis:entry><oasis:entry>2</oasis:entry></oasis:row>"
        "<oasis:row><oasis:entry>3</oasis:entry><oasis:entry>4</oasis:entry></oasis:row>"
        "</oasis:tbody></oasis:tgroup></oasis:table>"
    )
    document = parse_jats(WRAP.format(table))
    (found,) = document.tables
    assert found.rows == (("A", "1", "2"), ("A", "3", "4"))
    assert found.column_paths == (("Arm",), ("OS",), ("OS",))
    assert document.text == "Table 1. Cap."


@pytest.mark.parametrize("place", ["paragraph", "floats", "back"])
def test_a3_a_table_anywhere_is_an_object_and_not_prose(parse_jats: Parse, place: str) -> None:
    wrap = WRAP.format(SIMPLE.format("<tr><td>cell</td><td>1</td></tr>"))
    document = {
        "paragraph": lambda: parse_jats(f"<p>Before {wrap} after.</p>"),
        "floats": lambda: parse_jats("<p>T.</p>", rest=f"<floats-group>{wrap}</floats-group>"),
        "back": lambda: parse_jats("<p>T.</p>", back=f"<sec>{wrap}</sec>"),
    }[place]()
    assert document.tables[0].rows == (("cell", "1"),)
    assert "cell" not in document.text
    assert document.text.endswith("\n\nTable 1. Cap.")


def test_a3_a_table_that_is_only_a_picture_says_so(parse_jats: Parse) -> None:
    (found,) = parse_jats(WRAP.format('<graphic xlink:href="t1.gif"/>')).tables
    assert found.no_cells
    assert found.graphics == ("t1.gif",)
    assert found.rows == found.column_paths == found.row_paths == ()


def test_a3_picture_and_cells_as_alternatives_give_the_cells(parse_jats: Parse) -> None:
    table = SIMPLE.format("<tr><td>a</td><td>b</td></tr>")
    wrap = WRAP.format(f'<alternatives><graphic xlink:href="t"/>{table}</alternatives>')
    document = parse_jats(wrap)
    assert document.tables[0].rows == (("a", "b"),)
    assert document.text == "Table 1. Cap."


def test_a3_a_table_without_wrap_is_an_object(parse_jats: Parse) -> None:
    document = parse_jats(f"<p>See {SIMPLE.format('<tr><td>a</td><td>b</td></tr>')} there.</p>")
    assert document.tables[0].key == "table-1"
    assert document.text == "See there."


def test_several_tables_in_one_wrap_are_all_kept(parse_jats: Parse) -> None:
    table = SIMPLE.format("<tr><td>a</td><td>b</td></tr>")
    assert [t.key for t in parse_jats(WRAP.format(table * 2)).tables] == ["t1", "t1-2"]


def test_table_footnotes_are_footnote_blocks_of_the_caption(parse_jats: Parse) -> None:
    document = parse_jats(
        WRAP.format("<table-wrap-foot><fn><label>a</label><p>P &lt; 0.05.</p></fn><p>Plain.</p>"
        "</table-wrap-foot>")
    )  # fmt: skip
    assert document.text == "Table 1. Cap.\n\na P < 0.05.\n\nPlain."
    assert [b.kind for b in document.blocks[1:]] == [BlockKind.FOOTNOTE] * 2
    caption = document.tables[0].caption
    assert caption is not None
    assert document.text[caption.start : caption.end] == "Table 1. Cap."


@pytest.mark.parametrize(
    "rows",
    [
        '<tr><th rowspan="65534" colspan="1000"/></tr>' * 400,
        "<tr>" + '<td rowspan="1000" colspan="1000"/>' * 50 + "</tr>",
        ("<tr>" + '<td rowspan="1000" colspan="1000"/>' * 50 + "</tr>") * 50,
        "<tr><td rowspan='900'/></tr>" + "<tr/>" * 900 + "<tr>" + "<td/>" * 1000 + "</tr>",
        "<tr><td/></tr>" * 999 + "<tr>" + "<td/>" * 1000 + "</tr>",
    ],
)
def test_a12_a_grid_far_larger_than_its_cells_is_left_out_with_a_warning(
    parse_jats: Parse, rows: str
) -> None:
    tracemalloc.start()
    try:
        document = parse_jats(WRAP.format(f"<table><tbody>{rows}</tbody></table>"))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [table.no_cells for table in document.tables] == [True]
    assert "spans more cells" in " ".join(document.warnings)
    assert peak < 20_000_000


def test_a_long_table_without_spans_keeps_its_cells(parse_jats: Parse) -> None:
    rows = ("<tr>" + "<td>1</td>" * 20 + "</tr>") * 1000
    document = parse_jats(WRAP.format(f"<table><tbody>{rows}</tbody></table>"))
    (table,) = document.tables
    assert (len(table.rows), len(table.rows[0])) == (1000, 20)
    assert not [warning for warning in document.warnings if "cells" in warning]
