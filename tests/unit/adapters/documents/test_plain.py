"""Plain text: offsets into the file's own characters, headings, titles, refusals."""

import pytest

from eagle_rag.adapters.documents.plain import PlainParser
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind, Source

PAPER = """A trial of drug X in lung cancer

ABSTRACT
We asked whether X works.

1. Introduction

Lung cancer is frequent.

2. Methods

2.1 Patients

Patients had stage IV disease
and gave consent.

Results

It works."""
REFERENCES = "\n".join(
    f"{n}. Smith JA, Doe B. Inhibition of kinase {n} in cancer. J Clin Oncol. {1990 + n};{n}:{n}1-{n}9."
    for n in range(1, 9)
)


def parse(data: str | bytes, *, uri: str = "a.txt") -> ParsedDocument:
    raw = data.encode() if isinstance(data, str) else data
    (document,) = PlainParser().parse(Source(uri, raw, "d")).documents
    return document


def paths(document: ParsedDocument) -> list[tuple[str, ...]]:
    return [section.path for section in document.sections]


def block_texts(document: ParsedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_headings_open_sections_with_full_paths() -> None:
    document = parse(PAPER)
    assert document.metadata.title == "A trial of drug X in lung cancer"
    assert paths(document) == [
        (),
        ("ABSTRACT",),
        ("1. Introduction",),
        ("2. Methods",),
        ("2. Methods", "2.1 Patients"),
        ("Results",),
    ]
    assert [section.kind for section in document.sections] == [
        SectionKind.TITLE,
        SectionKind.ABSTRACT,
        SectionKind.INTRODUCTION,
        SectionKind.METHODS,
        SectionKind.METHODS,
        SectionKind.RESULTS,
    ]


def test_a_heading_line_on_top_of_a_paragraph_is_a_block_of_its_own() -> None:
    document = parse(PAPER)
    assert block_texts(document)[1:3] == ["ABSTRACT", "We asked whether X works."]
    assert document.blocks[1].kind is BlockKind.HEADING


@pytest.mark.parametrize(
    "line",
    [
        "Results of the trial were these and they",
        "EGFR was high",
        "3 mice died",
        "2.5 mg were given.",
    ],
)
def test_running_text_is_no_heading(line: str) -> None:
    document = parse(f"Title\n\n{line}\nmore text follows here.")
    assert [block.kind for block in document.blocks] == [BlockKind.TITLE, BlockKind.PARAGRAPH]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_d1_line_ends_and_tabs_stay_as_they_are(newline: str) -> None:
    text = newline.join(("A title", "", "a\u0308 \U0001f9ec\tcell", "line two", "", "Last."))
    document = parse(text + newline)
    assert document.text == text
    assert block_texts(document) == [
        "A title",
        f"a\u0308 \U0001f9ec\tcell{newline}line two",
        "Last.",
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_honoured_and_not_part_of_the_text(encoding: str) -> None:
    document = parse("TNF-\u03b1 was high.".encode(encoding))
    assert document.text == "TNF-\u03b1 was high."
    assert document.warnings == ()


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"caf\xe9 \x93x\x94.", "caf\xe9 \u201cx\u201d."), (b"\xe9 \x81.", "\xe9 \x81.")],
)
def test_other_encodings_are_read_and_reported(raw: bytes, text: str) -> None:
    document = parse(raw)
    assert document.text == text
    assert document.warnings[0].startswith("not UTF-8 (byte ")


def test_broken_characters_after_a_mark_are_replaced_and_reported() -> None:
    document = parse(b"\xef\xbb\xbfA \xff.")
    assert document.text == "A \ufffd."
    assert "U+FFFD" in document.warnings[0]


def test_the_bibliography_becomes_references_and_leaves_the_text() -> None:
    document = parse(f"{PAPER}\n\nReferences\n\n{REFERENCES}\n")
    assert document.text == PAPER
    assert [reference.key for reference in document.references] == [
        f"ref-{n}" for n in range(1, 9)
    ]
    assert (document.references[2].label, document.references[2].year) == ("3", 1993)


def test_a_file_that_is_only_a_bibliography_is_kept() -> None:
    document = parse(REFERENCES)
    assert document.text == REFERENCES
    assert document.references == ()
    assert "bibliography" in document.warnings[0]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Just one line", "Just one line"),
        ("A title\nover two lines\n\nText.", "A title over two lines"),
        ("This is a sentence.\n\nText.", ""),
        ("Introduction\n\nText.", ""),
        ("x" * 300 + "\n\nText.", ""),
    ],
)
def test_h1_the_title_is_the_first_block_when_it_is_short(text: str, title: str) -> None:
    assert parse(text).metadata.title == title


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\xef\xbb\xbf  ", "empty"),
        (b"abc\0def", "binary"),
        ("abc".encode("utf-16-le"), "binary"),
        (b"\x01\x02\x03 abc", "binary"),
    ],
)
def test_h1_what_is_not_text_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data)
    assert caught.value.reason == reason


def test_a12_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(b"a" * (64 * 1024 * 1024 + 1))
    assert caught.value.reason == "too-large"


def test_blocks_hold_every_character_but_white_space() -> None:
    document = parse(f"\n\n  {PAPER}\n \n\x0cLast page\n\n\n")
    inside = "".join(block_texts(document))
    assert "".join(inside.split()) == "".join(document.text.split())
    assert all(text == text.strip() != "" for text in block_texts(document))


@pytest.mark.parametrize(
    ("uri", "data", "accepted"),
    [
        ("a.TXT", b"<x>", True),
        ("notes", b"Some text", True),
        ("a.csv", b"pmid,year", False),
        ("a/b.tar!/notes", b"Some text", True),
        ("a.xml", b"<article/>", False),
        ("a", b"\0\1", False),
        ("a", b"%PDF-1.4", False),
        ("a", b"", False),
    ],
)
def test_text_is_known_by_name_or_first_bytes(uri: str, data: bytes, *, accepted: bool) -> None:
    assert PlainParser().accepts(Source(uri, data, "")) is accepted


def test_a_million_lines_are_refused_before_they_are_read() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse("a\n" * 1_000_001)
    assert caught.value.reason == "too-large"
    assert "1000002 lines" in caught.value.detail


def test_a_line_longer_than_a_book_is_refused() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse("short\n" + "a b " * 1_000_001)
    assert (caught.value.reason, "4000004 characters in one line" in caught.value.detail) == (
        "too-large",
        True,
    )
