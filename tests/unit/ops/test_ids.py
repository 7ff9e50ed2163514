"""Content-hash ids."""

from hashlib import sha256

from eagle_rag.ops.ids import document_id, passage_id


def test_a_passage_id_is_the_documented_hash() -> None:
    expected = sha256("doc1_a\n3\n7\n\u03b1bcd".encode()).hexdigest()[:32]
    assert passage_id("doc1_a", 3, 7, "\u03b1bcd") == f"psg1_{expected}"


def test_a_passage_id_depends_on_all_of_its_parts() -> None:
    ids = {
        passage_id("d", 0, 1, "a"),
        passage_id("e", 0, 1, "a"),
        passage_id("d", 1, 2, "a"),
        passage_id("d", 0, 2, "a"),
        passage_id("d", 0, 1, "b"),
    }
    assert len(ids) == 5


def test_g8_the_same_key_is_one_document_in_each_knowledge_base() -> None:
    assert document_id("biomed", "a", "x.xml") == document_id("biomed", "a", "x.xml")
    assert document_id("biomed", "a", "x.xml") != document_id("biomed", "b", "x.xml")


def test_no_two_triples_share_an_id_by_concatenation() -> None:
    assert document_id("a", "bc", "d") != document_id("ab", "c", "d")
    assert document_id("a", "1:b", "") != document_id("a", "1", ":b")


def test_lone_surrogates_have_an_id() -> None:
    assert passage_id("d", 0, 1, "\ud800").startswith("psg1_")
    assert document_id("n", "kb", "\udc80").startswith("doc1_")
