"""Texts in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.adapters.registry.texts import (
    CHUNK_CHARACTERS,
    DamagedText,
    cut_text,
    digest_text,
    join_chunks,
    pack_blocks,
    split_text,
    unpack_blocks,
    unpack_chunk,
)
from eagle_rag.model.document import Block, BlockKind

TEXTS = st.text(max_size=50).map(lambda text: text * 300)


@given(TEXTS)
def test_d1_a_text_comes_back_as_it_was(text: str) -> None:
    assert join_chunks(split_text(text)) == text


@given(TEXTS, st.data())
def test_d1_a_cut_is_a_slice_of_the_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    pieces = dict(enumerate(unpack_chunk(piece) for piece in split_text(text)))
    assert cut_text(pieces, start, end) == text[start:end]


def test_a_cut_needs_only_the_pieces_it_touches() -> None:
    pieces = dict(enumerate(["a" * CHUNK_CHARACTERS, "b" * CHUNK_CHARACTERS, "c"]))
    del pieces[0]
    assert cut_text(pieces, CHUNK_CHARACTERS * 2 - 1, CHUNK_CHARACTERS * 2 + 1) == "bc"
    with pytest.raises(DamagedText, match="piece 0"):
        cut_text(pieces, 0, 1)


def test_an_empty_text_has_no_pieces() -> None:
    assert split_text("") == []
    assert join_chunks([]) == ""


def test_blocks_come_back_as_they_were() -> None:
    blocks = (Block(BlockKind.TITLE, 0, 4, 0), Block(BlockKind.PARAGRAPH, 6, 9, 1))
    assert unpack_blocks(pack_blocks(blocks)) == blocks


def test_a_digest_tells_texts_apart() -> None:
    assert digest_text("a") != digest_text("b")
