import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.layout_signs import accepts_pdf
from eagle_biomed.formats.pdf import parse
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind, Source

Text = tuple[float, float, float, str, str]
"""x, y, size, font (``F`` plain, ``B`` bold), text."""


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


TOOLS = FormatTools(_no_xml)


def pdf_of(pages: Sequence[Sequence[Text]], title: str = "", trailer: str = "") -> bytes:
    """Return a PDF with these lines on its pages."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >>",
        f"<< /Title ({title}) >>",
    ]
    kids = []
    for lines in pages:
        content = "".join(
            f"BT /{font} {size} Tf {x} {y} Td ({text}) Tj ET\n" for x, y, size, font, text in lines
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}endstream")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font "
            f"<< /F 3 0 R /B 4 0 R >> >> /Contents {len(objects)} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    data = "%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(data)
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    data += (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R {trailer} >>\n"
        f"startxref\n{start}\n%%EOF\n"
    )
    return data.encode("latin-1")


def page(*lines: tuple[float, str, str] | str, top: float = 700) -> list[Text]:
    """Return lines set below each other; a plain string is a line of text, empty a gap."""
    found: list[Text] = []
    y = top
    for line in lines:
        size, font, text = (10.0, "F", line) if isinstance(line, str) else line
        y -= 1.2 * size
        if text:
            found.append((72, y, size, font, text))
    return found


def source_of(data: bytes, name: str = "paper.pdf") -> Source:
    return Source(name, data, hashlib.sha256(data).hexdigest())


def read(*pages: Sequence[Text], title: str = "") -> ParsedDocument:
    return parse(source_of(pdf_of(pages, title)), TOOLS).documents[0]


def refusal(data: bytes) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        parse(source_of(data), TOOLS)
    return caught.value


def texts(document: ParsedDocument, kind: BlockKind) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind is kind]


BODY = (
    "The quick brown fox jumps over the lazy dog and then goes",
    "home to rest for a while.",
)


def test_title_headings_and_paragraphs_are_told_by_their_font() -> None:
    document = read(
        page(
            (20, "F", "A trial of rest"), "", (13, "B", "Methods"), "", *BODY, "",
            (10, "B", "Participants"), "", *BODY, "", (13, "B", "Results"), "", *BODY,
        )
    )  # fmt: skip

    assert document.metadata.title == "A trial of rest"
    assert [section.path for section in document.sections] == [
        (), ("Methods",), ("Methods", "Participants"), ("Results",),
    ]  # fmt: skip
    assert [section.kind for section in document.sections] == [
        SectionKind.TITLE, SectionKind.METHODS, SectionKind.METHODS, SectionKind.RESULTS,
    ]  # fmt: skip
    assert texts(document, BlockKind.PARAGRAPH) == [" ".join(BODY)] * 3


def test_numbers_give_the_level_and_capitals_are_headings() -> None:
    document = read(
        page(
            (10, "B", "1 INDICATIONS AND USAGE"), *BODY, (10, "B", "1.1 Adults"), *BODY,
            "WARNINGS AND PRECAUTIONS", *BODY, *BODY, *BODY, *BODY,
        )
    )  # fmt: skip

    assert [section.path for section in document.sections] == [
        ("1 INDICATIONS AND USAGE",),
        ("1 INDICATIONS AND USAGE", "1.1 Adults"),
        ("WARNINGS AND PRECAUTIONS",),
    ]


def test_a_hyphen_at_a_lines_end_goes_before_a_small_letter_only() -> None:
    document = read(
        page("The tumour was hetero-", "geneous in the anti-", "PD-1 group of patients.")
    )

    assert document.text == "The tumour was heterogeneous in the anti-PD-1 group of patients."


def test_pages_are_kept_as_offsets_and_a_sentence_goes_on_over_them() -> None:
    document = read(
        page("The first page ends in the middle of"), page("a sentence. And here it ends.")
    )

    assert len(document.blocks) == 1
    starts = [int(each) for each in dict(document.metadata.properties)["page_starts"].split(",")]
    assert document.text[starts[1] :] == "a sentence. And here it ends."
    assert dict(document.metadata.properties)["pages"] == "2"


def test_a_page_without_text_begins_where_the_next_one_does() -> None:
    document = read(page(*BODY), [], page("Another page here."))

    starts = [int(each) for each in dict(document.metadata.properties)["page_starts"].split(",")]
    assert starts[0] == 0
    assert starts[1] == starts[2]
    assert document.text[starts[2] :] == "Another page here."
    assert document.warnings == ("1 of 3 pages hold no text: they may be pictures",)


def test_running_heads_and_page_numbers_are_dropped() -> None:
    pages = [
        [
            (72.0, 760.0, 8.0, "F", "Journal of Rest 2020"),
            *page(
                f"Text {'abcdef'[number]} stands here.",
                "",
                "It goes on.",
                "",
                "It ends.",
                "",
                f"Last of {'abcdef'[number]}.",
            ),
            (300.0, 30.0, 8.0, "F", f"{number + 1}"),
        ]
        for number in range(6)
    ]

    document = read(*pages)

    assert "Journal" not in document.text
    assert not any(digit in document.text for digit in "0123456789")
    assert document.text.count("It goes on.") == 6


def test_lists_and_captions_are_blocks_of_their_own() -> None:
    document = read(
        page(
            *BODY, "- first thing of all", "- second thing", "Table 2. Doses of the drug.",
            "", "", *BODY, "Figure 1: A curve of it.",
        )
    )  # fmt: skip

    assert texts(document, BlockKind.LIST_ITEM) == ["- first thing of all", "- second thing"]
    assert [table.label for table in document.tables] == ["Table 2"]
    assert document.tables[0].no_cells
    assert [figure.label for figure in document.figures] == ["Figure 1"]
    span = document.figures[0].caption
    assert span is not None
    assert document.text[span.start : span.end] == "Figure 1: A curve of it."


def test_references_are_entries_and_not_text() -> None:
    document = read(
        page(
            (13, "B", "Results"), "", *BODY, "", (13, "B", "References"), "",
            "1. Smith A, Jones B. A study of rest. J Rest. 2020;1:1-9.", "",
            "2. Brown C. Another study of rest. J Rest. 2021;2:3-4.",
        )
    )  # fmt: skip

    assert "Smith" not in document.text
    assert len(document.references) == 2
    assert document.references[1].year == 2021


def test_the_title_among_the_properties_is_used_unless_it_is_a_file_name() -> None:
    assert read(page(*BODY), title="On the rest of foxes").metadata.title == "On the rest of foxes"
    assert read(page(*BODY), title="draft v2 final.docx").metadata.title == "Paper"


def test_a_label_is_called_by_its_product_and_its_text_stays_as_it_was() -> None:
    document = read(
        page(
            (20, "F", "HIGHLIGHTS OF PRESCRIBING INFORMATION"), "",
            "These highlights do not include all the information needed to use ZORB safely and",
            "effectively. See full prescribing information for ZORB.",
            "ZORB (zorbanib) tablets, for oral use", "", *BODY,
        ),
    )  # fmt: skip

    assert document.metadata.title == "ZORB (zorbanib) tablets, for oral use"
    assert texts(document, BlockKind.TITLE) == ["HIGHLIGHTS OF PRESCRIBING INFORMATION"]


def test_the_heading_of_an_abstract_is_no_title() -> None:
    assert read(page((13, "B", "Abstract"), "", *BODY)).metadata.title == "Paper"
    assert read(page(*BODY), title="Untitled document").metadata.title == "Paper"


def test_a_scan_is_refused_with_the_remedy() -> None:
    error = refusal(pdf_of([[], page("Stamp 7")]))

    assert error.reason == "no-text"
    assert "OCR" in error.remedy


def test_an_encrypted_file_is_refused() -> None:
    code = "41" * 32
    encrypt = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{code}> /U <{code}> /P -4 >> /ID [<41><41>]"
    )

    assert refusal(pdf_of([page(*BODY)], trailer=encrypt)).reason == "encrypted"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7", b"%PDF-1.4\nno objects", b"\0" * 500])
def test_damage_is_refused(data: bytes) -> None:
    assert refusal(data).reason == "pdf-syntax"


def test_more_pages_than_a_book_has_are_refused() -> None:
    assert refusal(pdf_of([[]] * 3001)).reason == "too-large"


def test_without_the_extra_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    monkeypatch.setitem(sys.modules, "pypdfium2.raw", None)
    monkeypatch.delitem(sys.modules, "eagle_biomed.formats.pdf_lines", raising=False)

    error = refusal(pdf_of([page(*BODY)]))

    assert error.reason == "extra-missing"
    assert error.remedy == "pip install 'eagle-rag[documents]'"


def test_a_web_page_under_a_pdfs_name_is_left_to_the_core() -> None:
    assert not accepts_pdf(source_of(b"<html>404</html>"))
    assert accepts_pdf(source_of(b"%PDF-1.4", "no-ending"))


def test_real_files_are_documents_with_pages_and_sections() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data sets")
    (path,) = Path(folder, "labels_fda_spl").rglob("*.pdf")

    document = parse(source_of(path.read_bytes()), TOOLS).documents[0]

    starts = [int(each) for each in dict(document.metadata.properties)["page_starts"].split(",")]
    assert starts == sorted(starts)
    assert len(starts) == 30
    assert ("2 DOSAGE AND ADMINISTRATION", "2.3 Renal Impairment") in {
        section.path for section in document.sections
    }
    assert [table.label for table in document.tables][:3] == ["Table 1", "Table 2", "Table 3"]
    before = 0
    for block in document.blocks:
        assert not document.text[before : block.start].strip()
        before = block.end
