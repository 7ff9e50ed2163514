"""Pictures by their first bytes; ids of rows and names of files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.ops.pictures import picture_file, picture_key, picture_type, row_id


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"BM" + b"\0" * 12 + b"\x28\0\0\0", "image/bmp"),
        (b"BM is the name of a journal", ""),
        (b"RIFF\0\0\0\0WAVE", ""),
        (b"<svg/>", ""),
        (b"\x89PN", ""),
        (b"", ""),
    ],
)
def test_the_first_bytes_say_what_a_picture_is(data: bytes, media_type: str) -> None:
    assert picture_type(data) == media_type


@given(st.text(), st.integers(0, 2**40))
def test_the_key_is_read_back_from_the_row_whatever_it_is(key: str, version: int) -> None:
    assert picture_key(row_id("psg1_x", version, key), "psg1_x", version) == key


@pytest.mark.parametrize("row", ["psg1_x@1", "psg1_x#f@2", "psg1_y#f@1", "", "other@1"])
def test_a_row_of_anything_else_has_no_key(row: str) -> None:
    assert picture_key(row, "psg1_x", 1) == ""


@given(st.text(), st.text())
def test_a_file_name_is_plain_whatever_the_key_is(key: str, media_type: str) -> None:
    name = picture_file(key, media_type)
    assert name.isascii()
    assert "/" not in name
    assert name.count(".") == 1
    assert len(name) <= 41
