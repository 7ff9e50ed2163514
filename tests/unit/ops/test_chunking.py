"""Cutting documents into passages."""

import re

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.model.document import Block, BlockKind, ParsedDocument, Section, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.chunking import cut_passages

HEADING, PARAGRAPH, CAPTION = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.CAPTION


def document(*blocks: tuple[BlockKind, int, str], gap: str = "\n\n") -> ParsedDocument:
    """Build a document from ``(kind, section, text)``."""
    text, placed = "", []
    for kind, section, content in blocks:
        text += gap if text else ""
        placed.append(Block(kind, len(text), len(text) + len(content), section))
        text += content
    count = max((section for _, section, _ in blocks), default=-1) + 1
    sections = tuple(
        Section(number, (f"S{number}",), SectionKind.BODY, 0, len(text)) for number in range(count)
    )
    return ParsedDocument(
        "a.xml", "", "0" * 64, "jats", DocumentMetadata(), text, sections, tuple(placed)
    )


def sentences(count: int, words: int = 15) -> str:
    """Return sentences of about ``6 * words`` characters."""
    return " ".join(f"Number {number} " + "has a " * words + "word." for number in range(count))


def test_a_passage_is_the_characters_it_points_at() -> None:
    doc = document((PARAGRAPH, 0, sentences(40)), (PARAGRAPH, 1, "Last one."))
    passages = cut_passages(doc, "doc1_a")
    assert len(passages) > 3
    assert all(doc.text[item.start : item.end] == item.text for item in passages)
    assert [item.ordinal for item in passages] == list(range(len(passages)))


def test_passages_are_whole_sentences_of_about_the_target() -> None:
    passages = cut_passages(document((PARAGRAPH, 0, sentences(60))), "doc1_a")
    assert all(re.fullmatch(r"Number .*word\.", item.text) for item in passages)
    assert all(750 < len(item.text) < 1050 for item in passages)


def test_no_passage_crosses_a_section() -> None:
    doc = document((PARAGRAPH, 0, "One."), (PARAGRAPH, 1, "Two."), (PARAGRAPH, 0, "Three."))
    assert [(item.section, item.text) for item in cut_passages(doc, "d")] == [
        (0, "One."),
        (1, "Two."),
        (0, "Three."),
    ]


def test_a_passage_carries_its_section() -> None:
    (passage,) = cut_passages(document((PARAGRAPH, 0, "One.")), "doc1_a")
    assert (passage.section_path, passage.section_kind) == (("S0",), SectionKind.BODY)
    assert (passage.document_id, passage.tags) == ("doc1_a", ())
    assert passage.id.startswith("psg1_")


def test_short_paragraphs_of_a_section_share_a_passage() -> None:
    (passage,) = cut_passages(document((PARAGRAPH, 0, "One."), (PARAGRAPH, 0, "Two.")), "d")
    assert passage.text == "One.\n\nTwo."


def test_headings_are_in_no_passage_and_part_the_prose_around_them() -> None:
    doc = document(
        (BlockKind.TITLE, 0, "Title"),
        (PARAGRAPH, 0, "One."),
        (HEADING, 0, "Heading"),
        (PARAGRAPH, 0, "Two."),
    )
    assert [item.text for item in cut_passages(doc, "d")] == ["One.", "Two."]


def test_h1_a_title_alone_is_its_passage() -> None:
    (passage,) = cut_passages(document((BlockKind.TITLE, 0, "Only a title")), "d")
    assert passage.text == "Only a title"


def test_h1_an_empty_document_has_no_passages() -> None:
    assert cut_passages(document(), "d") == ()


def test_a_section_a_little_over_the_target_is_halved_not_left_with_a_tail() -> None:
    passages = cut_passages(document((PARAGRAPH, 0, sentences(12))), "d")
    lengths = [len(item.text) for item in passages]
    assert len(lengths) == 2
    assert min(lengths) > 0.8 * max(lengths)


def test_a_paragraphs_end_is_preferred_to_a_sentences() -> None:
    doc = document((PARAGRAPH, 0, sentences(9)), (PARAGRAPH, 0, sentences(10)))
    middle = len(doc.text) // 2
    after = doc.text.index("word.", doc.blocks[0].end) + len("word.")
    assert after - middle <= middle - doc.blocks[0].end < 2 * (after - middle)
    assert cut_passages(doc, "d")[0].end == doc.blocks[0].end


def test_blocks_without_full_stops_are_cut_between_them() -> None:
    doc = document(*((BlockKind.LIST_ITEM, 0, "item " * 20 + str(n)) for n in range(30)), gap="\n")
    ends = {block.end for block in doc.blocks}
    passages = cut_passages(doc, "d")
    assert len(passages) > 2
    assert all(item.end in ends for item in passages)


def test_a_sentence_up_to_one_and_a_half_targets_stays_whole() -> None:
    text = "word " * 250 + "end."
    (passage,) = cut_passages(document((PARAGRAPH, 0, text)), "d")
    assert passage.text == text


def test_a_short_sentence_before_a_long_one_is_a_passage() -> None:
    text = "Short one here. Long " + "word " * 230 + "end."
    passages = cut_passages(document((PARAGRAPH, 0, text)), "d", target_chars=800)
    assert [item.text[:5] for item in passages] == ["Short", "Long "]


@pytest.mark.parametrize(
    ("piece", "ending"),
    [("some words here; and, then ", ";"), ("some words, and then ", ","), ("words ", "s")],
)
def test_a_very_long_sentence_is_cut_at_the_best_place_inside(piece: str, ending: str) -> None:
    passages = cut_passages(document((PARAGRAPH, 0, piece * 400 + "end.")), "d")
    assert all(item.text.endswith(ending) for item in passages[:-1])
    assert max(len(item.text) for item in passages) <= 1.5 * 900


def test_text_without_white_space_is_cut_but_never_before_a_combining_mark() -> None:
    text = "aae\u0301\u0323" * 1000
    passages = cut_passages(document((PARAGRAPH, 0, text)), "d")
    assert "".join(item.text for item in passages) == text
    assert len(passages) > 3
    assert all(item.text[0] in "ae" for item in passages)


def test_c4_text_in_which_every_character_clings_to_the_one_before_is_cut_all_the_same() -> None:
    passages = cut_passages(document((PARAGRAPH, 0, "a" + "\u0301" * 5000)), "d")
    assert len(passages) > 3


def test_a_long_gap_inside_a_block_is_in_no_passage() -> None:
    doc = document((PARAGRAPH, 0, "one" + " " * 5000 + "two"))
    assert [item.text for item in cut_passages(doc, "d")] == ["one", "two"]


@pytest.mark.parametrize("target", [0, 49])
def test_h1_a_target_that_holds_no_sentence_is_refused(target: int) -> None:
    with pytest.raises(InvalidInput, match=f"at least 50, got {target}"):
        cut_passages(document(), "d", target_chars=target)


def test_d1_offsets_are_code_points_also_beyond_the_basic_plane() -> None:
    doc = document((PARAGRAPH, 0, "\U0001d6fc rose.\r\n\tFell."), (PARAGRAPH, 1, "e\u0301."))
    for item in cut_passages(doc, "d"):
        assert doc.text[item.start : item.end] == item.text


def test_d2_a_passage_over_several_paragraphs_spans_all_their_text() -> None:
    doc = document(*((PARAGRAPH, 0, f"Paragraph {number}.") for number in range(5)))
    (passage,) = cut_passages(doc, "d")
    assert (passage.start, passage.end) == (doc.blocks[0].start, doc.blocks[-1].end)
