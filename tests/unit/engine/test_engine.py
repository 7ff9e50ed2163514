"""The engine as a caller sees it, beyond the cases of the integration tests."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from eagle_rag.engine import Engine, open_engine
from eagle_rag.errors import InvalidQuery, NotFound, UnknownName
from eagle_rag.kernel.settings import load_settings
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import jats_article, pubmed_record, write_files


def test_opening_writes_nothing(tmp_path: Path) -> None:
    engine = open_engine(load_settings(overrides={"data_dir": str(tmp_path / "x")}, environ={}))
    engine.plugins()
    engine.close()
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_encoder_is_refused_with_those_that_exist(
    make_engine: Callable[..., Engine],
) -> None:
    with pytest.raises(UnknownName, match="'gpt'; known: hash, minilm"):
        make_engine({"collections.eagle_text.encoder": "gpt"})


def test_closing_twice_is_fine_and_the_index_is_there_when_opened_again(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine()
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})])
    engine.search(SearchRequest("kinase"))
    engine.close()
    engine.close()
    assert len(make_engine().search(SearchRequest("kinase")).hits) == 1


def test_show_prefers_the_full_text_of_a_work(engine: Engine, tmp_path: Path) -> None:
    record = f"<PubmedArticleSet>{pubmed_record('31', 'A', 'An abstract.')}</PubmedArticleSet>"
    article = jats_article("A", ["The full text."], ids={"pmid": "31"})
    engine.ingest([write_files(tmp_path / "in", {"a.xml": record, "b.xml": article})])
    assert engine.show("31").record.full_text


def test_the_listing_names_plugins_encoders_and_collections(engine: Engine) -> None:
    listing = engine.plugins()
    assert [card.name for card in listing.plugins] == ["core"]
    assert [card.label for card in listing.encoders] == ["hash", "minilm"]
    assert [(item.name, item.default_encoder) for item in listing.collections] == [
        ("eagle_text", "hash")
    ]


def test_threads_may_search_one_engine_at_once(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})])
    found: list[int] = []

    def search() -> None:
        for _ in range(10):
            found.append(len(engine.search(SearchRequest("kinase")).hits))  # noqa: PERF401 - one at a time

    threads = [Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert found == [1] * 40


def test_a_reader_sees_what_another_engine_wrote(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    reader, writer = make_engine(), make_engine()
    assert reader.search(SearchRequest("kinase")).hits == ()
    writer.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})])
    reader._refreshed = 0.0
    assert len(reader.search(SearchRequest("kinase")).hits) == 1


def test_many_files_go_through_worker_processes_to_the_same_documents(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    files = {
        f"{n:02}.xml": jats_article(f"Paper {n}", [f"Kinase {n}."], ids={"doi": f"10.5555/{n}"})
        for n in range(40)
    }
    folder = write_files(tmp_path / "in", dict(files))
    engine = make_engine()
    report = engine.ingest([folder])
    other = make_engine({"data_dir": str(tmp_path / "few")})
    alone = [
        identity for name in sorted(files)[:5] for identity in other.ingest([folder / name]).added
    ]
    assert list(report.added[:5]) == alone
    assert len(report.added) == 40


def test_a10_links_are_those_of_the_document_that_show_gives(
    engine: Engine, tmp_path: Path
) -> None:
    files = {
        "p.xml": jats_article("Paper", ["It fell."], ids={"doi": "10.5555/p"}),
        "e.xml": jats_article(
            "Erratum",
            ["It rose."],
            ids={"doi": "10.5555/e"},
            article_type="correction",
            related={"corrected-article": "10.5555/p"},
        ),
    }
    engine.ingest([write_files(tmp_path / "linked", files)], kb_name="linked")
    erratum = engine.show("10.5555/e").record.document_id
    assert engine.links("doi:10.5555/P") == (("erratum_in", erratum),)
    assert engine.links("10.5555/p", kb_names=("linked",)) == (("erratum_in", erratum),)
    for scope in ((), ("default",)):
        with pytest.raises(NotFound):
            engine.links("10.5555/p", kb_names=scope)


def test_an_id_of_a_hundred_thousand_characters_is_not_echoed_whole(
    make_engine: Callable[..., Engine],
) -> None:
    engine = make_engine({"store.kind": "memory"})
    for ask in (engine.show, engine.delete, engine.passage):
        with pytest.raises(NotFound) as caught:
            ask("x" * 100_000)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("asked", ["aspirin", None, {"query": "aspirin"}])
def test_a_search_that_is_given_no_request_says_how_to_write_one(
    make_engine: Callable[..., Engine], asked: Any
) -> None:
    engine = make_engine({"store.kind": "memory"})
    with pytest.raises(InvalidQuery, match="a search takes a SearchRequest") as caught:
        engine.search(asked)
    assert "SearchRequest(" in str(caught.value)
