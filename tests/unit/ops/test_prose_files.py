"""A text that mentions markup is a text; markup saved as a text is markup."""

import pytest

from eagle_rag.ops.markup import is_prose_file


@pytest.mark.parametrize("name", ["a.txt", "A.TXT", "dir/a.md", "a.text", "a.markdown"])
@pytest.mark.parametrize(
    "data",
    [
        b"JATS articles begin with <article xmlns:xlink> tags.",
        b"# Tags\n\n<article> and <PubmedArticleSet> and <html>",
        b"<b>bold</b> <article>",
        b"<articles> are not <article>",
        b"",
    ],
)
def test_a_text_that_mentions_tags_is_prose(name: str, data: bytes) -> None:
    assert is_prose_file(name, data)


@pytest.mark.parametrize(
    "data",
    [
        b'<?xml version="1.0"?><article/>',
        b"\xef\xbb\xbf\n  <article article-type='x'>",
        b"<!DOCTYPE article>",
        b"<PubmedArticleSet>",
        b"<html>",
        "\ufeff<?xml version='1.0'?>".encode("utf-16-le"),
    ],
)
def test_markup_named_as_a_text_is_markup(data: bytes) -> None:
    assert not is_prose_file("a.txt", data)


def test_other_names_say_nothing() -> None:
    assert not is_prose_file("a.xml", b"plain words")
    assert not is_prose_file("txt", b"plain words")
