"""The JATS parser as a whole: what it accepts and refuses, several articles, real files."""

import gc
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from eagle_rag.adapters.documents.jats import JatsParser
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, Source

Parse = Callable[..., ParsedDocument]

ARTICLE = "<article><front/><body><p>{}</p></body></article>"


def source(data: bytes | str, name: str = "a.xml") -> Source:
    raw = data.encode() if isinstance(data, str) else data
    return Source(name, raw, sha256(raw).hexdigest(), "jats")


def text_of(data: bytes | str) -> str:
    return JatsParser().parse(source(data)).documents[0].text


def refusal(data: bytes | str, **options: int) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        JatsParser(**options).parse(source(data))
    assert caught.value.remedy
    return caught.value.reason


@pytest.mark.parametrize(
    ("name", "data", "accepted"),
    [
        ("a.xml", '<?xml version="1.0"?><!DOCTYPE article PUBLIC "x" "y">', True),
        ("a.xml", "\ufeff<!-- c --><article article-type='x'>", True),
        ("a.xml", "<pmc-articleset><article>", True),
        ("a.xml", "<j:article xmlns:j='u'>", True),
        ("a.nxml", "anything", True),
        ("a.xml", "<!DOCTYPE html><html><article>", True),
        ("a.html", "<!DOCTYPE html><html><article>", False),
        ("a.xml", "<PubmedArticleSet>", False),
        ("a.txt", "An article", False),
        ("a.xml", "", False),
    ],
)
def test_an_article_is_recognised_by_name_or_first_tags(
    name: str, data: str, *, accepted: bool
) -> None:
    assert JatsParser().accepts(source(data, name)) is accepted


def test_utf16_files_are_recognised_and_read() -> None:
    data = '<?xml version="1.0" encoding="UTF-16"?>' + ARTICLE.format("caf\u00e9 \u03b1")
    encoded = source(data.encode("utf-16"))
    assert JatsParser().accepts(encoded)
    assert JatsParser().parse(encoded).documents[0].text == "caf\u00e9 \u03b1"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "windows-1252", "utf-8"])
def test_the_declared_encoding_is_honoured(encoding: str) -> None:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' + ARTICLE.format("caf\u00e9")
    assert text_of(declared.encode(encoding)) == "caf\u00e9"


def test_a12_an_entity_bomb_is_refused() -> None:
    bomb = '<!DOCTYPE article [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>' + ARTICLE.format("&b;")
    assert refusal(bomb) == "entity-declaration"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY x PUBLIC "a" "http://example.org/x">',
        '<!ENTITY % x "y">',
        f'<!ENTITY x "{"long " * 40}">',
    ],
)
def test_a12_entities_that_read_files_or_fill_memory_are_refused(declaration: str) -> None:
    assert refusal(f"<!DOCTYPE article [{declaration}]>" + ARTICLE.format("x")) == (
        "entity-declaration"
    )


def test_a12_a_bomb_behind_a_long_comment_or_another_encoding_is_refused() -> None:
    bomb = '<!DOCTYPE article [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]>' + ARTICLE.format("&b;")
    assert refusal(f"<!-- {'x' * 5000} <a> -->{bomb}") == "entity-declaration"
    utf16 = f'<?xml version="1.0" encoding="UTF-16"?>{bomb}'.encode("utf-16")
    assert refusal(utf16) == "entity-declaration"


def test_trivial_entities_and_character_names_become_characters() -> None:
    head = '<!DOCTYPE article PUBLIC "x" "y.dtd" [<!ENTITY drug "osimertinib">'
    head += '<!ENTITY pic SYSTEM "f1.gif" NDATA gif>]>'
    body = "&drug; &alpha;<italic>&beta;</italic>&nbsp;&unknown; end &lt;"
    assert text_of(head + ARTICLE.format(body)) == "osimertinib \u03b1\u03b2\u00a0&unknown; end <"


def test_a12_an_external_dtd_is_not_loaded(tmp_path: Path) -> None:
    dtd = tmp_path / "a.dtd"
    dtd.write_text('<!ENTITY secret "leaked">')
    article = f'<!DOCTYPE article SYSTEM "{dtd}">' + ARTICLE.format("x &secret;")
    assert text_of(article) == "x &secret;"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("%PDF-1.7", "not-xml"),
        ("<!DOCTYPE html><html><body><article/></body></html>", "html"),
        ('<?xml version="1.0"?>\n<!-- saved --><HTML><body>', "html"),
        ('<html xmlns="http://www.w3.org/1999/xhtml"><article><front/></article></html>', "html"),
        ("<article><front>", "xml-syntax"),
        ('<?xml version="1.0" encoding="nonsense"?><article/>', "xml-syntax"),
        ("<PubmedArticleSet/>", "not-jats"),
        ("<article><title>DocBook</title></article>", "not-jats"),
        ("<dblp><article><author>A</author></article></dblp>", "not-jats"),
    ],
)
def test_a12_what_is_no_article_is_refused_by_reason(data: str, reason: str) -> None:
    assert refusal(data) == reason


def test_a12_html_is_also_known_by_its_root_below_a_long_prolog() -> None:
    assert refusal(f"<!--{'x' * 6000}--><html><body/></html>") == "html"


def test_a12_a_file_over_the_limit_is_refused_unread() -> None:
    assert refusal(ARTICLE.format("x"), size_limit_bytes=20) == "too-large"


def test_every_article_of_a_set_is_a_document_of_its_own() -> None:
    def article(pmcid: str, text: str) -> str:
        return (
            f'<article><front><article-meta><article-id pub-id-type="pmc">{pmcid}</article-id>'
            f"</article-meta></front><body><p>{text}</p></body></article>"
        )

    data = f"<pmc-articleset>{article('1', 'One')}{article('1', 'Two')}{article('', 'Three')}"
    documents = JatsParser().parse(source(f"{data}</pmc-articleset>")).documents
    assert [document.text for document in documents] == ["One", "Two", "Three"]
    assert [document.member for document in documents] == ["PMC1", "PMC1-2", "article-3"]
    assert len({document.digest for document in documents}) == len(documents)


def test_a_single_article_has_the_digest_of_its_file() -> None:
    file = source(ARTICLE.format("x"))
    (document,) = JatsParser().parse(file).documents
    assert (document.digest, document.member, document.format) == (file.digest, "", "jats")


def test_elements_in_a_namespace_are_read_like_any_others() -> None:
    data = (
        '<OAI-PMH xmlns="http://oai"><record><article xmlns="http://jats" '
        'xmlns:mml="http://www.w3.org/1998/Math/MathML"><front/><body><p>In '
        "<mml:math><mml:mi>x</mml:mi></mml:math>.</p></body></article></record></OAI-PMH>"
    )
    assert text_of(data) == "In x."


def test_comments_and_processing_instructions_are_not_text() -> None:
    assert text_of(ARTICLE.format("a<!-- no -->b<?no no?>c")) == "abc"


def test_parsing_leaves_nothing_for_the_garbage_collector() -> None:
    """A reference cycle a document would keep whole XML trees alive in a long ingest."""
    gc.collect()
    gc.disable()
    try:
        JatsParser().parse(source(ARTICLE.format("x<sup>2</sup>")))
        assert gc.collect() == 0
    finally:
        gc.enable()


def check_blocks(document: ParsedDocument) -> None:
    """Hold every promise of the model about blocks, sections and citations."""
    text, end = document.text, 0
    for number, block in enumerate(document.blocks):
        assert text[end : block.start] == ("\n\n" if number else "")
        own = text[block.start : block.end]
        assert own == own.strip() != ""
        assert document.sections[block.section].start <= block.start
        assert block.end <= document.sections[block.section].end
        end = block.end
    assert end == len(text)
    assert [section.ordinal for section in document.sections] == list(
        range(len(document.sections))
    )
    keys = {reference.key for reference in document.references}
    assert len(keys) == len(document.references)
    starts = [block.start for block in document.blocks]
    for citation in document.citations:
        assert set(citation.references) <= keys
        block = document.blocks[sum(start <= citation.start for start in starts) - 1]
        assert block.start <= citation.start < citation.end <= block.end


def test_a_mixed_article_keeps_all_promises(parse_jats: Parse) -> None:
    check_blocks(
        parse_jats(
            "<p> \u2009A<list><list-item><p>B <xref rid='r'> 1 </xref></p></list-item></list></p>"
            "<sec><title> T </title><fig><label>F</label><caption><p>C<fn><p>N</p></fn></p>"
            "</caption></fig><p/></sec>",
            back="<ref-list><ref id='r'><note/></ref></ref-list>",
        )
    )


@pytest.mark.slow
def test_real_articles_keep_all_promises() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked test data")
    files = sorted(Path(folder).glob("xml/*.xml"))[::20]
    assert files
    for path in files:
        for document in JatsParser().parse(source(path.read_bytes(), path.name)).documents:
            check_blocks(document)
            assert document.full_text
