"""Evidence is read once a version of a document, however often its passages are scored."""

from dataclasses import replace

from eagle_biomed.evidence import EvidenceReader
from eagle_rag.model.query import Candidate
from eagle_rag.testing.query_side import Texts, candidate, passage


def read(reader: EvidenceReader, *candidates: Candidate) -> list[str]:
    return [each.text for each in reader.read(candidates, kb_names=None)]


def test_a_passage_is_read_once() -> None:
    texts = Texts({"a": passage("a", "MET"), "b": passage("b", "EGFR")})
    reader = EvidenceReader(texts, None)
    a, b = candidate("a"), candidate("b")
    assert read(reader, a) == ["MET"]
    assert read(reader, b, a, a) == ["EGFR", "MET", "MET"]
    assert texts.asked == [("a",), ("b",)]


def test_a_passage_of_a_newer_version_is_read_anew() -> None:
    texts = Texts({"a": passage("a", "MET")})
    reader = EvidenceReader(texts, None)
    old = candidate("a")
    assert read(reader, old) == ["MET"]
    texts.held["a"] = passage("a", "MET", tags={"primary_drugs": "savolitinib"})
    (found,) = reader.read([replace(old, version=old.version + 1)], kb_names=None)
    assert found.primary_drugs == ("savolitinib",)


def test_a_passage_that_could_not_be_read_is_asked_for_again() -> None:
    texts = Texts()
    reader = EvidenceReader(texts, None)
    assert read(reader, candidate("a")) == [""]
    texts.held["a"] = passage("a", "MET")
    assert read(reader, candidate("a")) == ["MET"]


def test_the_oldest_passages_are_let_go() -> None:
    many = 3_000
    texts = Texts({f"p{at}": passage(f"p{at}", str(at)) for at in range(many)})
    reader = EvidenceReader(texts, None)
    read(reader, *(candidate(f"p{at}") for at in range(many)))
    texts.asked.clear()
    assert read(reader, candidate(f"p{many - 1}"), candidate("p0")) == [str(many - 1), "0"]
    assert texts.asked == [("p0",)]
