"""Markdown: the reader's text, its sections, and the front matter."""

import pytest

from eagle_rag.adapters.documents.markdown import MarkdownParser
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, Source

FILE = """---
title: "A trial: X"
authors: [Anna Meyer, {name: Ben Schulz}]
date: 2020-05-06
doi: https://doi.org/10.1000/ABC
pmid: 123
keywords: EGFR, lung
---

Methods
=======

Area 1.73 m<sup>2</sup>, P<0.001, *in* **vivo** `code x`, [link](http://a.b) and
wrapped line.

## Patients

- one

  still one
- two

> quoted

```python
def f():
    return 1
```

| Drug | Dose |
|------|------|
| X    | **1** |

<div><p>From HTML.</p></div>

# References

1. Doe J. Lung. 2001;1:2.
2. Roe K. 1999.
"""


def parse(data: str) -> ParsedDocument:
    (document,) = MarkdownParser().parse(Source("a.md", data.encode(), "d")).documents
    return document


def block_texts(document: ParsedDocument) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_the_text_is_what_a_reader_sees() -> None:
    document = parse(FILE)
    found = [(block.kind, document.text[block.start : block.end]) for block in document.blocks]
    assert found == [
        (BlockKind.TITLE, "A trial: X"),
        (BlockKind.HEADING, "Methods"),
        (
            BlockKind.PARAGRAPH,
            "Area 1.73 m^2, P<0.001, in vivo code x, link and wrapped line.",
        ),
        (BlockKind.HEADING, "Patients"),
        (BlockKind.LIST_ITEM, "one"),
        (BlockKind.LIST_ITEM, "still one"),
        (BlockKind.LIST_ITEM, "two"),
        (BlockKind.QUOTE, "quoted"),
        (BlockKind.PARAGRAPH, "def f():\n    return 1"),
        (BlockKind.PARAGRAPH, "From HTML."),
    ]


def test_both_kinds_of_headings_open_sections() -> None:
    assert [s.path for s in parse(FILE).sections] == [(), ("Methods",), ("Methods", "Patients")]


def test_the_front_matter_is_the_metadata() -> None:
    found = parse(FILE).metadata
    assert (found.title, found.published, found.year) == ("A trial: X", "2020-05-06", 2020)
    assert (found.ids.doi, found.ids.pmid) == ("10.1000/abc", "123")
    assert [author.family for author in found.authors] == ["Meyer", "Schulz"]
    assert found.keywords == ("EGFR", "lung")


def test_tables_are_grids_and_references_are_aside() -> None:
    document = parse(FILE)
    assert document.tables[0].rows == (("X", "1"),)
    assert document.tables[0].column_paths == (("Drug",), ("Dose",))
    assert [reference.year for reference in document.references] == [2001, 1999]


def test_the_first_heading_is_the_title_without_front_matter() -> None:
    document = parse("# The title\n\nText.\n\n## Results\n\nMore.")
    assert document.metadata.title == "The title"
    assert [s.path for s in document.sections] == [(), (), ("Results",)]


def test_broken_front_matter_is_reported_and_the_text_kept() -> None:
    document = parse("---\ntitle: [x\n---\n\nText.")
    assert document.text == "Text."
    assert "front matter" in document.warnings[0]


@pytest.mark.parametrize(
    "text", ["---\n\nText.", "---\njust words\n---\n\nText.", "---\n---\n\nText."]
)
def test_a_rule_is_no_front_matter(text: str) -> None:
    assert parse(text).text.endswith("Text.")


def test_an_alias_bomb_in_the_front_matter_costs_nothing() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    document = parse("---\n" + "\n".join([*lines, "title: T", "keywords: *i"]) + "\n---\nText.")
    assert (document.metadata.title, document.metadata.keywords) == ("T", ())


def test_d1_no_character_is_normalised() -> None:
    text = "a\u0308 \ufb01 x\u00a0y\u2009z \U0001f9ec"
    assert parse(text).text == text


def test_deep_lists_are_whole_or_refused() -> None:
    def nested(depth: int) -> str:
        return "\n".join(f"{'  ' * level}- item {level}" for level in range(depth))

    assert len(block_texts(parse(nested(100)))) == 100
    with pytest.raises(UnreadableDocument) as caught:
        parse(nested(200))
    assert caught.value.reason == "nested-too-deep"


@pytest.mark.parametrize(
    ("data", "reason"), [("", "empty"), ("---\nx: 1\n---\n", "empty"), ("a\0", "binary")]
)
def test_h1_files_without_text_are_refused(data: str, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data)
    assert caught.value.reason == reason


def test_h1_a_title_alone_is_a_document() -> None:
    assert parse("---\ntitle: T\n---\n").text == "T"


@pytest.mark.parametrize(
    ("uri", "accepted"), [("a.MD", True), ("a.markdown", True), ("a.txt", False)]
)
def test_markdown_is_known_by_its_name(uri: str, *, accepted: bool) -> None:
    assert MarkdownParser().accepts(Source(uri, b"# x", "")) is accepted


@pytest.mark.parametrize(
    "value",
    [
        "[" * 20_000,
        '!!int ""',
        "!!bool maybe",
        "!!timestamp x",
        ":".join("1" * 2000) + ".5",
        '"\\x"',
    ],
)
def test_front_matter_that_yaml_cannot_read_is_reported_and_the_text_kept(value: str) -> None:
    document = parse(f"---\ntitle: {value}\n---\n\nText.")
    assert document.text == "Text."
    assert document.warnings[0].startswith("the front matter is not")


@pytest.mark.parametrize("value", ["0x" + "f" * 5000, "1:" + "1:" * 5000 + "1"])
def test_a_number_too_long_to_write_out_is_no_title(value: str) -> None:
    assert parse(f"---\ntitle: {value}\n---\n\nText.").metadata.title == ""


def test_g6_brackets_that_nothing_closes_are_characters_and_cost_little() -> None:
    """100,000 of them take the Markdown library half a minute when it looks for links."""
    document = parse("[" * 100_000 + " end")
    assert document.text.endswith("[ end")
    assert len(document.text) == 100_004


def test_g6_a_million_lines_are_refused_at_sight() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse("x\n" * 1_000_000)
    assert caught.value.reason == "too-large"
