import hashlib
import sys
import zipfile
from io import BytesIO

import docx
import pptx
import pytest
from docx.document import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.layout_signs import OLE, accepts_docx, accepts_pptx
from eagle_biomed.formats.office import parse_docx, parse_pptx
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind, Source


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


TOOLS = FormatTools(_no_xml)


def source_of(data: bytes, name: str = "report_of_rest.docx") -> Source:
    return Source(name, data, hashlib.sha256(data).hexdigest())


def bytes_of(document: Document) -> bytes:
    stream = BytesIO()
    document.save(stream)
    return stream.getvalue()


def read(document: Document) -> ParsedDocument:
    return parse_docx(source_of(bytes_of(document)), TOOLS).documents[0]


def kinds(document: ParsedDocument) -> list[tuple[BlockKind, str]]:
    return [(b.kind, document.text[b.start : b.end]) for b in document.blocks]


def test_styles_give_title_sections_lists_and_captions() -> None:
    word = docx.Document()
    word.add_heading("A trial of rest", 0)
    word.add_heading("Methods", 1)
    word.add_heading("Drugs", 2)
    word.add_paragraph("We gave it.")
    word.add_paragraph("daily", style="List Bullet")
    word.add_paragraph("Figure 1: A curve.", style="Caption")

    document = read(word)

    assert document.metadata.title == "A trial of rest"
    assert kinds(document) == [
        (BlockKind.TITLE, "A trial of rest"),
        (BlockKind.HEADING, "Methods"),
        (BlockKind.HEADING, "Drugs"),
        (BlockKind.PARAGRAPH, "We gave it."),
        (BlockKind.LIST_ITEM, "daily"),
        (BlockKind.CAPTION, "Figure 1: A curve."),
    ]
    assert document.sections[2].path == ("Methods", "Drugs")
    assert document.sections[2].kind is SectionKind.METHODS
    assert document.figures[0].label == "Figure 1"


def test_a_table_is_a_grid_with_its_merged_cells_repeated_and_its_caption() -> None:
    word = docx.Document()
    word.add_paragraph("Table 1. Doses", style="Caption")
    table = word.add_table(3, 3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"r{row}c{column}"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "group"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "dose"

    document = read(word)

    (found,) = document.tables
    assert found.rows == (("group", "r1c1", "r1c2"), ("group", "r2c1", "r2c2"))
    assert found.column_paths == (("r0c0",), ("dose",), ("dose",))
    assert found.row_paths == (("group",), ("group",))
    assert found.label == "Table 1"
    assert found.caption is not None
    assert document.text[found.caption.start : found.caption.end] == "Table 1. Doses"
    assert "r1c1" not in document.text


def test_a_caption_below_its_table_is_the_tables_and_one_further_off_is_not() -> None:
    word = docx.Document()
    word.add_table(1, 1).cell(0, 0).text = "x"
    word.add_paragraph("Table 1. Near", style="Caption")
    word.add_table(1, 1).cell(0, 0).text = "y"
    word.add_paragraph("Text between.")
    word.add_paragraph("Table 9. Far", style="Caption")

    assert [table.label for table in read(word).tables] == ["Table 1", ""]


def test_without_heading_styles_known_words_and_bold_lines_are_headings() -> None:
    word = docx.Document()
    word.add_paragraph("Introduction")
    word.add_paragraph("Rest is good.")
    word.add_paragraph().add_run("Of foxes").bold = True
    word.add_paragraph("They rest.")

    headings = [text for kind, text in kinds(read(word)) if kind is BlockKind.HEADING]

    assert headings == ["Introduction", "Of foxes"]


def test_what_an_office_program_writes_as_title_is_none() -> None:
    word = docx.Document()
    word.core_properties.title = "Word Document"
    word.add_paragraph("We gave it.")
    slides = pptx.Presentation()
    slides.core_properties.title = "PowerPoint Presentation"
    for shown in ("Contents", "Rest in foxes"):
        slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = shown
    stream = BytesIO()
    slides.save(stream)

    deck = parse_pptx(source_of(stream.getvalue(), "deck.pptx"), TOOLS).documents[0]

    assert read(word).metadata.title == "Report of rest"
    assert deck.metadata.title == "Rest in foxes"
    assert "PowerPoint" not in deck.text


def test_a_label_in_word_is_called_by_its_product() -> None:
    word = docx.Document()
    word.core_properties.title = ""
    word.add_heading("HIGHLIGHTS OF PRESCRIBING INFORMATION", 0)
    word.add_paragraph("These highlights do not include all the information needed to use ZORB.")
    word.add_paragraph("ZORB (zorbanib) tablets, for oral use")

    assert read(word).metadata.title == "ZORB (zorbanib) tablets, for oral use"


def test_references_are_entries_and_not_text() -> None:
    word = docx.Document()
    word.add_heading("Results", 1)
    word.add_paragraph("It helped.")
    word.add_heading("References", 1)
    word.add_paragraph("1. Smith A. A study of rest. J Rest. 2020;1:1-9.")

    document = read(word)

    assert document.text == "Results\n\nIt helped."
    assert document.references[0].year == 2020


def test_inserted_text_is_kept_and_deleted_text_is_not() -> None:
    word = docx.Document()
    paragraph = word.add_paragraph("kept ")
    for tag, text_tag, text in (("w:ins", "w:t", "inserted"), ("w:del", "w:delText", "deleted")):
        change, run, content = OxmlElement(tag), OxmlElement("w:r"), OxmlElement(text_tag)
        content.text = text
        run.append(content)
        change.append(run)
        paragraph._p.append(change)
    assert paragraph._p.findall(qn("w:del"))

    assert read(word).text == "kept inserted"


def test_slides_are_sections_with_their_number_title_and_notes() -> None:
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Aims"
    slide.placeholders[1].text = "to rest\nto heal"
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    table = show.slides.add_slide(show.slide_layouts[5])
    table.shapes.title.text = "Doses"
    cells = table.shapes.add_table(2, 2, 0, 0, 9000, 9000).table
    cells.cell(0, 0).text, cells.cell(1, 0).text, cells.cell(1, 1).text = "drug", "a", "5 mg"
    cells.cell(0, 0).merge(cells.cell(0, 1))
    stream = BytesIO()
    show.save(stream)

    document = parse_pptx(source_of(stream.getvalue(), "talk.pptx"), TOOLS).documents[0]

    assert document.metadata.title == "Aims"
    assert [section.path for section in document.sections] == [
        ("Slide 1: Aims",), ("Slide 1: Aims", "Notes"), ("Slide 2: Doses",),
    ]  # fmt: skip
    assert kinds(document)[1:3] == [
        (BlockKind.LIST_ITEM, "to rest"),
        (BlockKind.LIST_ITEM, "to heal"),
    ]
    assert "Say this slowly." in document.text
    assert document.tables[0].rows == (("a", "5 mg"),)
    assert document.tables[0].column_paths == (("drug",), ("drug",))


def refusal(data: bytes, name: str = "x.docx") -> UnreadableDocument:
    parse = parse_pptx if name.endswith("pptx") else parse_docx
    with pytest.raises(UnreadableDocument) as caught:
        parse(source_of(data, name), TOOLS)
    return caught.value


@pytest.mark.parametrize("name", ["x.docx", "x.pptx"])
@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "office-syntax"), (b"PK\x03\x04 damaged", "office-syntax"), (OLE, "encrypted")],
)
def test_damaged_and_encrypted_files_are_refused(name: str, data: bytes, reason: str) -> None:
    assert refusal(data, name).reason == reason


def test_a_zip_bomb_is_refused_by_what_it_unpacks_to() -> None:
    stream = BytesIO(bytes_of(docx.Document()))
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/footnotes.xml", b" " * (65 << 20))

    assert refusal(stream.getvalue()).reason == "too-large"


def test_another_zip_under_the_name_is_refused() -> None:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "text")

    assert refusal(stream.getvalue()).reason == "office-syntax"
    assert refusal(stream.getvalue(), "x.pptx").reason == "office-syntax"


def test_a_file_without_text_is_refused() -> None:
    assert refusal(bytes_of(docx.Document())).reason == "no-text"


@pytest.mark.parametrize(
    ("name", "library", "reader"),
    [("x.docx", "docx", "office_word"), ("x.pptx", "pptx", "office_slides")],
)
def test_without_the_extra_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, library: str, reader: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"eagle_biomed.formats.{reader}", raising=False)

    error = refusal(b"PK\x03\x04", name)

    assert error.reason == "extra-missing"
    assert error.remedy == "pip install 'eagle-rag[documents]'"


def test_files_are_told_by_their_members_where_the_name_says_nothing() -> None:
    data = bytes_of(docx.Document())

    assert accepts_docx(source_of(data, "attachment"))
    assert not accepts_pptx(source_of(data, "attachment"))
