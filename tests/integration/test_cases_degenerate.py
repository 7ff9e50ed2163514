"""CASES H: empty, tiny and absurd input has a defined result or a clear error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import InvalidInput, InvalidQuery, NotFound
from eagle_rag.model.query import FusionMethod, SearchMode, SearchRequest
from eagle_rag.testing.articles import jats_article, pubmed_record, write_files

MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")
FUSIONS: tuple[FusionMethod, ...] = ("rrf", "weighted", "min-max")


@pytest.mark.parametrize("mode", MODES)
def test_h1_an_index_nobody_wrote_to_answers_with_nothing_and_says_why(
    engine: Engine, mode: SearchMode
) -> None:
    results = engine.search(SearchRequest("kinase", mode=mode))
    assert (results.hits, results.trace.degraded) == ((), True)
    assert "nothing was ingested" in " ".join(event.message for event in results.trace.events)


def test_h1_an_index_nobody_wrote_to_is_clean_and_counts_zero(engine: Engine) -> None:
    report = engine.verify()
    assert (report.clean, report.documents, engine.stats().documents) == (True, 0, 0)


def test_h1_an_empty_folder_is_an_ingest_of_nothing(engine: Engine, tmp_path: Path) -> None:
    report = engine.ingest([write_files(tmp_path / "in", {})])
    assert (report.added, report.refused, report.unchanged) == ((), (), 0)
    assert engine.search(SearchRequest("kinase")).hits == ()


def test_h1_a_path_that_is_not_there_is_refused_and_the_rest_goes_on(
    engine: Engine, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})
    report = engine.ingest([tmp_path / "absent", folder])
    assert [refusal.reason for refusal in report.refused] == ["absent"]
    assert len(report.added) == 1


@pytest.mark.parametrize(
    "data", [b"", b" \n\t ", b"\xef\xbb\xbf"], ids=["0 bytes", "space", "mark"]
)
@pytest.mark.parametrize("name", ["a.txt", "a.xml", "a.md", "a.html", "a.nxml"])
def test_h1_an_empty_file_is_refused_as_empty(
    engine: Engine, tmp_path: Path, name: str, data: bytes
) -> None:
    report = engine.ingest([write_files(tmp_path / "in", {name: data})])
    assert [refusal.reason for refusal in report.refused] == ["empty"]


def test_h1_an_article_of_a_title_alone_can_be_found_by_it(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.xml": jats_article("Kinase alone", [])})])
    hits = engine.search(SearchRequest("kinase")).hits
    assert [hit.text for hit in hits] == ["Kinase alone"]
    assert engine.verify().clean


def test_h1_an_article_without_title_and_text_is_refused(engine: Engine, tmp_path: Path) -> None:
    report = engine.ingest([write_files(tmp_path / "in", {"a.xml": jats_article("", [])})])
    assert [refusal.reason for refusal in report.refused] == ["no-text"]


def test_a_record_without_full_text_is_refused_where_the_setting_says_so(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"ingest.abstract_only": "refuse"})
    record = f"<PubmedArticleSet>{pubmed_record('1', 'A', 'B.')}</PubmedArticleSet>"
    files: dict[str, bytes | str] = {
        "a.xml": record,
        "b.xml": jats_article("Full", ["Text of the body."]),
    }
    report = engine.ingest([write_files(tmp_path / "in", files)])
    assert [refusal.reason for refusal in report.refused] == ["abstract-only"]
    assert len(report.added) == 1


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (SearchRequest("kinase", top_k=0), "top_k must be at least 1, got 0"),
        (SearchRequest("kinase", top_k=-1), "top_k must be at least 1, got -1"),
        (SearchRequest("kinase", offset=-1), "offset must be at least 0, got -1"),
        (SearchRequest("kinase", top_k=10_001), "at most 10,000, got 10,001"),
    ],
)
def test_h1_a_page_of_no_meaning_is_refused_with_the_value(
    engine: Engine, request_: SearchRequest, message: str
) -> None:
    with pytest.raises(InvalidQuery, match=message):
        engine.search(request_)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", FUSIONS)
def test_h1_more_results_than_documents_gives_all_of_them(
    engine: Engine, tmp_path: Path, mode: SearchMode, fusion: FusionMethod
) -> None:
    files = {f"{n}.txt": f"Kinase number {n}.\n" for n in range(3)}
    engine.ingest([write_files(tmp_path / "in", dict(files))])
    results = engine.search(SearchRequest("kinase", top_k=1_000, mode=mode, fusion=fusion))
    assert [hit.rank for hit in results.hits] == [1, 2, 3]
    assert not results.trace.degraded
    assert engine.search(SearchRequest("kinase", offset=3, mode=mode, fusion=fusion)).hits == ()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fusion", FUSIONS)
def test_h1_a_corpus_of_one_token_is_searched(
    engine: Engine, tmp_path: Path, mode: SearchMode, fusion: FusionMethod
) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "kinase"})])
    hits = engine.search(SearchRequest("kinase", mode=mode, fusion=fusion)).hits
    assert [hit.text for hit in hits] == ["kinase"]
    assert hits[0].clause is not None


@pytest.mark.parametrize("text", ["—", "1", "🧬", "a", "the of and"])
def test_h1_a_document_without_a_searchable_word_is_kept_and_verified(
    engine: Engine, tmp_path: Path, text: str
) -> None:
    report = engine.ingest([write_files(tmp_path / "in", {"a.txt": text})])
    assert len(report.added) == 1
    assert engine.show(report.added[0]).text == text
    assert engine.verify().clean


@pytest.mark.parametrize("kb_name", ["", " "])
def test_a_knowledge_base_without_a_name_is_refused(
    engine: Engine, tmp_path: Path, kb_name: str
) -> None:
    with pytest.raises(InvalidInput, match="needs a name"):
        engine.ingest([tmp_path], kb_name=kb_name)


@pytest.mark.parametrize("identifier", ["", "0", "10.5555/none", "doc1_", "'; --", "x" * 10_000])
def test_an_identifier_nobody_has_is_not_found(engine: Engine, identifier: str) -> None:
    with pytest.raises(NotFound, match="no document"):
        engine.show(identifier)
    with pytest.raises(NotFound, match="no document"):
        engine.delete(identifier)
