"""HTML pages: what is text, what is not, and under which headings it stands."""

import pytest

from eagle_rag.adapters.documents.html import HtmlParser
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind, Source

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Site | A trial of X</title>
<meta name="citation_title" content="A trial of X"><meta name="citation_doi" content="doi:10.1000/ABC">
<meta name="citation_author" content="Meyer, Anna"><meta name="citation_author_institution" content="Clinic A">
<meta name="citation_author_institution" content="Clinic B"><meta name="citation_author" content="Ben Schulz">
<meta name="citation_author_orcid" content="https://orcid.org/0000-0002-1825-0097">
<meta name="citation_publication_date" content="2019/3/4"><meta name="citation_pmid" content="123">
<meta name="citation_journal_title" content="Lung"><meta name="citation_firstpage" content="5">
<meta name="citation_lastpage" content="9"><meta name="citation_keywords" content="EGFR; lung">
<style>p {}</style></head><body><nav>Menu</nav><h1>A trial of <i>X</i></h1><h2>Methods</h2>
<p>Area was 1.73 m<sup>2</sup> of CO<sub>2</sub>,<br>P&lt;0.001.</p><h3>Patients</h3>
<div>Loose text <b>bold</b><p>First.</p>between<p>Second.</p></div>
<ul><li>One</li><li><p>Two</p></li></ul><blockquote><p>Quoted.</p></blockquote>
<pre>a  b
  c</pre><dl><dt>Term</dt><dd>Meaning</dd></dl>
<figure id="f1"><img src="a.png"><figcaption>Figure 1. A curve.</figcaption></figure>
<table><caption>Table 1. Doses.</caption><tr><th>Drug</th><th colspan="2">Dose</th></tr>
<tr><td rowspan="2">X</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>
<h2>References</h2><ol><li>Doe J. Lung. 2001;1:2. doi:10.1000/x</li><li>Roe K. 1999.</li></ol>
<h2>Appendix</h2><p>More.</p><aside>Advert</aside><p hidden>secret</p><div style="display: none">x1</div>
<footer>Imprint</footer><script>var a;</script></body></html>"""


def parse(data: str | bytes) -> ParsedDocument:
    raw = data.encode() if isinstance(data, str) else data
    (document,) = HtmlParser().parse(Source("a.html", raw, "d")).documents
    return document


def block_texts(document: ParsedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_blocks_come_in_reading_order_with_their_kinds() -> None:
    document = parse(PAGE)
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        (BlockKind.TITLE, "A trial of X"),
        (BlockKind.HEADING, "Methods"),
        (BlockKind.PARAGRAPH, "Area was 1.73 m^2 of CO2,\nP<0.001."),
        (BlockKind.HEADING, "Patients"),
        (BlockKind.PARAGRAPH, "Loose text bold"),
        (BlockKind.PARAGRAPH, "First."),
        (BlockKind.PARAGRAPH, "between"),
        (BlockKind.PARAGRAPH, "Second."),
        (BlockKind.LIST_ITEM, "One"),
        (BlockKind.LIST_ITEM, "Two"),
        (BlockKind.QUOTE, "Quoted."),
        (BlockKind.PARAGRAPH, "a  b\n  c"),
        (BlockKind.LIST_ITEM, "Term"),
        (BlockKind.LIST_ITEM, "Meaning"),
        (BlockKind.CAPTION, "Figure 1. A curve."),
        (BlockKind.CAPTION, "Table 1. Doses."),
        (BlockKind.HEADING, "Appendix"),
        (BlockKind.PARAGRAPH, "More."),
    ]
    assert document.text == "\n\n".join(text for _, text in found)


def test_a1_headings_give_full_section_paths() -> None:
    document = parse(PAGE)
    found = [(section.path, section.kind) for section in document.sections]
    assert found == [
        ((), SectionKind.TITLE),
        (("Methods",), SectionKind.METHODS),
        (("Methods", "Patients"), SectionKind.METHODS),
        (("Methods", "Patients", "Figure 1"), SectionKind.CAPTION),
        (("Methods", "Patients", "Table 1"), SectionKind.CAPTION),
        (("Appendix",), SectionKind.APPENDIX),
    ]


def test_citation_tags_are_the_front_matter() -> None:
    found = parse(PAGE).metadata
    assert (found.title, found.journal, found.published) == ("A trial of X", "Lung", "2019-03-04")
    assert (found.ids.doi, found.ids.pmid, found.pages) == ("10.1000/abc", "123", "5-9")
    assert found.keywords == ("EGFR", "lung")
    meyer, schulz = found.authors
    assert (meyer.family, meyer.given, meyer.affiliations) == (
        "Meyer",
        "Anna",
        ("Clinic A", "Clinic B"),
    )
    assert (schulz.family, schulz.orcid) == ("Schulz", "0000-0002-1825-0097")


def test_tables_are_grids_with_spans_resolved() -> None:
    (table,) = parse(PAGE).tables
    assert table.rows == (("X", "1", "2"), ("X", "3", "4"))
    assert table.column_paths == (("Drug",), ("Dose",), ("Dose",))
    assert table.label == "Table 1"


def test_figures_name_their_caption_and_picture() -> None:
    document = parse(PAGE)
    (figure,) = document.figures
    assert figure.caption is not None
    assert document.text[figure.caption.start : figure.caption.end] == "Figure 1. A curve."
    assert (figure.key, figure.label, figure.graphics) == ("f1", "Figure 1", ("a.png",))


def test_the_bibliography_is_not_in_the_text() -> None:
    first, second = parse(PAGE).references
    assert (first.doi, first.year, second.year) == ("10.1000/x", 2001, 1999)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>T</title>", "H"),
        ('<meta property="og:title" content="O">', "H"),
        ('<meta name="DC.Title" content="D">', "D"),
    ],
)
def test_the_title_is_the_tags_then_the_first_heading(head: str, title: str) -> None:
    assert (
        parse(f"<html><head>{head}</head><body><h1>H</h1><p>x</p></body></html>").metadata.title
        == title
    )


def test_h1_a_page_title_without_heading_stands_before_the_text() -> None:
    document = parse("<html><head><title>Only title</title></head><body></body></html>")
    assert (document.metadata.title, document.text) == ("Only title", "Only title")


def test_a_repeated_title_heading_is_no_second_title() -> None:
    document = parse("<h1>T</h1><p>a</p><h2>T</h2><p>b</p>")
    assert block_texts(document) == ["T", "a", "b"]


@pytest.mark.parametrize(
    "data",
    [
        b'<meta charset="iso-8859-1"><p>\x93caf\xe9\x94</p>',
        '<meta http-equiv="Content-Type" content="text/html; charset=utf-8"><p>\u201ccaf\xe9\u201d</p>'.encode(),
        '<?xml version="1.0" encoding="koi8-r"?><p>&#8220;caf&#233;&#8221;</p>'.encode("koi8-r"),
        "<p>\u201ccaf\xe9\u201d</p>".encode("utf-16"),
        '<meta charset="utf-16"><p>\u201ccaf\xe9\u201d</p>'.encode(),
    ],
)
def test_the_charset_is_honoured_as_browsers_do(data: bytes) -> None:
    document = parse(data)
    assert document.text == "\u201ccaf\xe9\u201d"
    assert document.warnings == ()


def test_a_charset_that_does_not_fit_is_reported() -> None:
    document = parse(b'<meta charset="utf-8"><p>caf\xe9</p>')
    assert document.text == "caf\xe9"
    assert len(document.warnings) == 2


def test_d1_no_character_is_normalised() -> None:
    text = "a\u0308 \ufb01 \u00a0x\u2009y \u00ad \U0001f9ec"
    assert parse(f"<p>{text}</p>").text == text


def test_a_table_that_arranges_the_page_is_read_as_text() -> None:
    document = parse(
        '<table role="presentation"><tr><td><p>Left.</p></td><td>Right.</td></tr></table>'
    )
    assert block_texts(document) == ["Left.", "Right."]
    nested = parse(
        "<table><tr><td>Menu</td><td><table><tr><td>1</td></tr></table></td></tr></table>"
    )
    assert block_texts(nested) == ["Menu"]
    assert nested.tables[0].rows == (("1",),)
    long = parse(f"<table><tr><td>{'word ' * 100}</td></tr></table>")
    assert long.tables == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "empty"),
        ("<!-- nothing -->", "empty"),
        ("<html><body><script>x</script></body></html>", "empty"),
        ("<p>a\0b</p>", "binary"),
        ("<div>" * 300 + "x", "nested-too-deep"),
    ],
)
def test_a12_pages_that_cannot_be_read_whole_are_refused(data: str, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("uri", "data", "accepted"),
    [("a.HTM", b"", True), ("a", b"<!DOCTYPE html>", True), ("a.xml", b"<article/>", False)],
)
def test_pages_are_known_by_name_or_first_bytes(uri: str, data: bytes, *, accepted: bool) -> None:
    assert HtmlParser().accepts(Source(uri, data, "")) is accepted


@pytest.mark.parametrize("name", ["undefined", "punycode", "idna", "unicode_escape", "hex", "x"])
def test_g6_a_declared_encoding_of_no_document_is_told_and_passed_over(name: str) -> None:
    page = f'<html><head><meta charset="{name}"><title>T</title></head><body><p>Caf\u00e9 \\x41</p></body></html>'
    source = Source("a.html", page.encode(), "d")

    document = HtmlParser().parse(source).documents[0]

    assert "Caf\u00e9 \\x41" in document.text
    assert "does not fit" in document.warnings[0]


def test_g6_a_million_paragraphs_are_refused_at_sight() -> None:
    source = Source("a.html", b"<html><body>" + b"<p>x</p>" * 1_000_000, "d")
    with pytest.raises(UnreadableDocument) as caught:
        HtmlParser().parse(source)
    assert caught.value.reason == "too-large"
