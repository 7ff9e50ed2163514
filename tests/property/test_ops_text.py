"""Properties of tokens, sentences, passages and offsets on random text."""

import unicodedata
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from eagle_rag.model.document import Block, BlockKind, ParsedDocument, Section, SectionKind
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.chunking import cut_passages
from eagle_rag.ops.clauses import best_clause, clause_spans
from eagle_rag.ops.offsets import utf8_spans, utf16_spans
from eagle_rag.ops.sentences import boundaries, nearest_boundary, sentence_spans
from eagle_rag.ops.tokens import lexemes, tokenize, tokenize_spans

_FRAGMENTS = st.sampled_from(
    [
        *(
            "The drug",
            "EGFR",
            "T790M",
            "TNF-\u03b1",
            "et al",
            "Fig",
            "e.g",
            "p53",
            "IL-2/IL-15",
            "10^6",
        ),
        *(
            ".",
            ". ",
            ".^12 ",
            "...",
            "; ",
            ", and ",
            " which ",
            ": ",
            "\n",
            "\n\n",
            " ",
            "\u00a0",
            "(",
            ") ",
        ),
        *(
            "e\u0301",
            "\U0001d6fc",
            "\u00ad",
            "\u200b",
            "\u212b",
            "\ufb01",
            "^",
            "+",
            "'s",
            "\u2032",
            "\x00",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(_FRAGMENTS, max_size=60).map("".join))


@given(TEXTS)
def test_tokens_are_not_empty_and_hold_no_white_space(text: str) -> None:
    assert all(token and not any(map(str.isspace, token)) for token in tokenize(text))


@given(TEXTS)
def test_lexemes_spans_and_tokens_agree(text: str) -> None:
    tokens = tokenize(text)
    spans = tokenize_spans(text)
    assert [token for token, _, _ in spans] == tokens == lexemes(text).split()
    assert all(0 <= start < end <= len(text) for _, start, end in spans)


@given(TEXTS, TEXTS)
def test_tokens_of_two_texts_apart_are_the_tokens_of_each(one: str, other: str) -> None:
    assert tokenize(f"{one}\n\u2022\n{other}") == tokenize(one) + tokenize(other)


@given(st.text(st.characters(codec="latin-1"), max_size=80))
def test_c3_tokens_do_not_depend_on_unicode_composition(text: str) -> None:
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(
        unicodedata.normalize("NFC", text)
    )


@given(st.text(st.characters(codec="ascii"), max_size=80))
def test_tokens_do_not_depend_on_case(text: str) -> None:
    assert tokenize(text.upper()) == tokenize(text.lower()) == tokenize(text)


@given(TEXTS)
def test_sentences_are_ordered_and_hold_all_that_is_not_white_space(text: str) -> None:
    reached = 0
    for start, end in sentence_spans(text):
        assert not text[reached:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        reached = end
    assert not text[reached:].strip()


@given(TEXTS, st.integers(0, 200))
def test_the_nearest_boundary_agrees_with_looking_at_all(text: str, ideal: int) -> None:
    cuts = list(boundaries(text, 0, len(text)))
    nearest = min(cuts, key=lambda cut: abs(cut[0] - ideal), default=None)
    assert nearest_boundary(text, 0, len(text), ideal=ideal) == nearest


@given(TEXTS)
def test_clauses_refine_sentences(text: str) -> None:
    clauses = clause_spans(text)
    assert {start for start, _ in sentence_spans(text)} <= {start for start, _ in clauses}
    assert clauses == sorted(clauses)
    assert all(one[1] <= other[0] for one, other in pairwise(clauses))


@given(TEXTS, st.integers(0, 50))
def test_d4_a_clause_and_its_terms_point_at_their_characters(text: str, base: int) -> None:
    tokens = tokenize(text)
    match = best_clause(text, base, tokens[:3])
    assert (match is None) == (not tokens)
    if match is not None:
        assert text[match.start - base : match.end - base] == match.text
        assert all(match.start <= term.start < term.end <= match.end for term in match.terms)


@st.composite
def documents(draw: st.DrawFn) -> ParsedDocument:
    """Draw a document whose blocks keep the parser's promises."""
    contents = draw(
        st.lists(
            st.tuples(
                st.sampled_from(BlockKind),
                st.integers(0, 2),
                st.lists(TEXTS, max_size=8).map(" ".join).map(str.strip).filter(bool),
            ),
            max_size=8,
        )
    )
    text, blocks = "", []
    for kind, section, content in contents:
        text += "\n\n" if text else ""
        blocks.append(Block(kind, len(text), len(text) + len(content), section))
        text += content
    sections = tuple(Section(n, (f"S{n}",), SectionKind.BODY, 0, len(text)) for n in range(3))
    return ParsedDocument("a", "", "0", "jats", DocumentMetadata(), text, sections, tuple(blocks))


@settings(max_examples=300)
@given(documents(), st.integers(50, 200))
def test_passages_hold_all_prose_once_in_order_and_exactly(
    document: ParsedDocument, target: int
) -> None:
    passages = cut_passages(document, "doc1_x", target_chars=target)
    headings = {BlockKind.TITLE, BlockKind.HEADING}
    prose = [block for block in document.blocks if block.kind not in headings]
    reached = 0
    held: set[int] = set()
    for passage in passages:
        assert passage.start >= reached
        assert document.text[passage.start : passage.end] == passage.text == passage.text.strip()
        reached = passage.end
        held.update(range(passage.start, passage.end))
    wanted = {
        place
        for block in prose or document.blocks
        for place in range(block.start, block.end)
        if not document.text[place].isspace()
    }
    assert {place for place in held if not document.text[place].isspace()} == wanted
    assert passages == cut_passages(document, "doc1_x", target_chars=target)
    assert len({passage.id for passage in passages}) == len(passages)


@given(documents(), st.integers(50, 200))
def test_a_passage_belongs_to_one_section_and_is_not_much_longer_than_the_target(
    document: ParsedDocument, target: int
) -> None:
    for passage in cut_passages(document, "doc1_x", target_chars=target):
        inside = [
            block.section
            for block in document.blocks
            if block.start < passage.end and passage.start < block.end
        ]
        assert set(inside) == {passage.section}
        assert len(passage.text) <= 1.5 * target


@given(TEXTS, st.data())
def test_d1_spans_point_at_the_same_text_in_every_encoding(text: str, data: st.DataObject) -> None:
    offsets = st.integers(0, len(text))
    spans = [
        (min(pair), max(pair))
        for pair in data.draw(st.lists(st.tuples(offsets, offsets), max_size=5))
    ]
    wide, narrow = text.encode("utf-16-le"), text.encode()
    for (start, end), (a, b), (c, d) in zip(
        spans, utf16_spans(text, spans), utf8_spans(text, spans), strict=True
    ):
        assert wide[2 * a : 2 * b].decode("utf-16-le") == text[start:end]
        assert narrow[c:d].decode() == text[start:end]
