"""CASES G: re-ingest, deletion, paging, corrupt files, knowledge bases; one process."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import IndexLocked, NotFound
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import IngestEvent
from eagle_rag.testing.articles import jats_article, write_files

LONG = [f"Paragraph {n} on kinase inhibitors. {'It says little more. ' * 20}" for n in range(12)]


def paper(number: int, body: Sequence[str] = ("Kinase inhibitors help.",)) -> bytes:
    """Return an article with a DOI of its own."""
    return jats_article(f"Paper {number}", body, ids={"doi": f"10.5555/{number}"})


def rows(engine: Engine) -> int:
    """Return how many rows the store holds."""
    return sum(engine.store.count(name) for name in engine.store.collections())


def test_g1_a_shorter_version_leaves_no_passage_behind(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.xml": paper(1, LONG)})])
    report = engine.ingest([write_files(tmp_path / "in", {"a.xml": paper(1, LONG[:2])})])
    view = engine.show("10.5555/1")
    assert (len(report.replaced), len(report.added), view.record.version) == (1, 0, 2)
    assert rows(engine) == len(view.passages) < 12
    assert engine.search(SearchRequest("paragraph 11", mode="lexical", group_by="passage")).hits
    found = engine.search(SearchRequest("paragraph", top_k=100, group_by="passage")).hits
    assert {hit.passage_id for hit in found} == {passage.id for passage in view.passages}
    assert engine.verify().clean


def test_g1_an_unchanged_ingest_writes_nothing(engine: Engine, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1), "b.txt": "Some text.\n"})
    engine.ingest([folder])
    before = [record.ingested_at for record in engine.documents()]
    report = engine.ingest([folder])
    assert (report.unchanged, report.passages, report.added, report.replaced) == (2, 0, (), ())
    assert [record.version for record in engine.documents()] == [1, 1]
    assert [record.ingested_at for record in engine.documents()] == before


def test_g1_a_changed_setting_reads_unchanged_files_again(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1, [" ".join(LONG)])})
    make_engine().ingest([folder])
    engine = make_engine({"passages.target_chars": 300})
    assert len(engine.ingest([folder]).replaced) == 1
    assert engine.verify().clean


def test_g1_a_changed_context_is_encoded_anew_and_not_reused(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1)})
    make_engine({"passages.dense_context": "title"}).ingest([folder])
    engine = make_engine()
    engine.ingest([folder])
    row = next(iter(engine.store.scan("eagle_text")))[0]
    plain = engine.kernel.encoders.text("hash").encode_documents([row.text]).vectors[0]
    assert row.vector.tolist() == pytest.approx(plain.tolist())


def test_g2_a_deleted_document_is_nowhere(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.xml": paper(1), "b.xml": paper(2)})])
    gone = engine.show("10.5555/1")
    assert engine.delete("10.5555/1") == (gone.record.document_id,)
    for mode in ("lexical", "dense", "hybrid"):
        hits = engine.search(SearchRequest("kinase inhibitors", mode=mode)).hits
        assert [hit.ids.doi for hit in hits] == ["10.5555/2"]
    with pytest.raises(NotFound):
        engine.show("10.5555/1")
    with pytest.raises(NotFound):
        engine.passage(gone.passages[0].id)
    report = engine.verify()
    assert (report.clean, report.documents, rows(engine)) == (True, 1, 1)


def test_g2_verify_finds_rows_of_a_document_that_is_gone(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.xml": paper(1), "b.xml": paper(2)})])
    identity = engine.show("10.5555/1").record.document_id
    engine.registry.delete_document(identity)
    engine.registry.clear_pending(identity, 1)
    assert [problem.kind for problem in engine.verify().problems] == ["orphan-row"]
    assert engine.verify(repair=True).clean
    assert (engine.verify().problems, rows(engine)) == ((), 1)


def test_g2_a_deleted_document_comes_back_when_it_is_ingested_again(
    engine: Engine, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1)})
    engine.ingest([folder])
    engine.delete("10.5555/1")
    assert len(engine.ingest([folder]).added) == 1


def _deleting(engine: Engine, doi: str, *, after: str) -> Callable[[IngestEvent], None]:
    """Return a callback that deletes one paper when another file's commit is reported."""

    def on_event(event: IngestEvent) -> None:
        if event.kind == "committed" and event.source_uri.endswith(after):
            engine.delete(doi)

    return on_event


@pytest.mark.parametrize("batches", [1, 2], ids=["same batch", "later batch"])
def test_g3_a_paper_deleted_while_it_is_re_indexed_stays_deleted(
    engine: Engine, tmp_path: Path, batches: int
) -> None:
    old = {"a.xml": paper(1), "b.xml": paper(2)}
    engine.ingest([write_files(tmp_path / "in", old)])
    # A paper of more passages than a batch takes is committed before the next one is begun.
    first = LONG * 30 if batches > 1 else ["Changed."]
    new = {"a.xml": paper(1, first), "b.xml": paper(2, ["Changed."])}
    folder = write_files(tmp_path / "in", new)
    report = engine.ingest([folder], on_event=_deleting(engine, "10.5555/2", after="a.xml"))
    assert [(item.source_uri, item.reason) for item in report.refused] == [("in/b.xml", "deleted")]
    assert [record.metadata.ids.doi for record in engine.documents()] == ["10.5555/1"]
    assert engine.verify().clean
    assert len(engine.ingest([folder]).added) == 1, "asked for again, it comes back"


def test_g3_deleting_from_another_thread_during_an_ingest_is_possible(
    engine: Engine, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1), "b.xml": paper(2)})
    engine.ingest([folder])
    write_files(folder, {"a.xml": paper(1, ["Changed."])})

    def on_event(event: IngestEvent) -> None:
        if event.kind == "committed":
            thread = Thread(target=engine.delete, args=("10.5555/2",))
            thread.start()
            thread.join(timeout=30)
            assert not thread.is_alive()

    engine.ingest([folder], on_event=on_event)
    assert [record.metadata.ids.doi for record in engine.documents()] == ["10.5555/1"]
    assert engine.verify().clean


def test_two_threads_that_ingest_take_turns(engine: Engine, tmp_path: Path) -> None:
    folders = [
        write_files(tmp_path / f"in{n}", {f"{n}{m}.xml": paper(10 * n + m) for m in range(5)})
        for n in range(3)
    ]
    threads = [Thread(target=engine.ingest, args=([folder],)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(engine.documents()) == 15
    assert engine.verify().clean


@pytest.mark.parametrize("call", ["ingest", "verify"])
def test_an_ingest_from_an_ingests_own_callback_is_refused_and_does_not_hang(
    engine: Engine, tmp_path: Path, call: str
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1)})

    def on_event(_: IngestEvent) -> None:
        if call == "ingest":
            engine.ingest([folder])
        else:
            engine.verify()

    with pytest.raises(IndexLocked, match="this very thread"):
        engine.ingest([folder], on_event=on_event)


@pytest.mark.parametrize("group_by", ["document", "passage"])
def test_g5_pages_stay_full_and_never_repeat_after_half_the_corpus_was_deleted(
    make_engine: Callable[..., Engine], tmp_path: Path, group_by: str
) -> None:
    engine = make_engine({"router.recall_top_k": 8})
    engine.ingest([write_files(tmp_path / "in", {f"{n:02}.xml": paper(n) for n in range(30)})])
    for number in range(0, 30, 2):
        engine.registry.delete_document(engine.show(f"10.5555/{number}").record.document_id)
    pages = [
        engine.search(
            SearchRequest("kinase inhibitors", top_k=4, offset=offset, group_by=group_by)  # type: ignore[arg-type]  # parametrized
        ).hits
        for offset in range(0, 16, 4)
    ]
    assert [len(page) for page in pages] == [4, 4, 4, 3]
    ranks = [hit.rank for page in pages for hit in page]
    assert ranks == list(range(1, 16))
    assert {hit.ids.doi for page in pages for hit in page} == {
        f"10.5555/{number}" for number in range(1, 30, 2)
    }


def test_g5_a_page_that_could_not_be_filled_says_so(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"router.recall_top_k": 1})
    one = paper(1, ["Kinase inhibitors help. " + "More words. " * 80] * 100)
    engine.ingest([write_files(tmp_path / "in", {"a.xml": one, "b.xml": paper(2)})])
    results = engine.search(SearchRequest("more words", top_k=2, mode="lexical"))
    assert len(results.hits) == 1
    assert "only 1 results" in " ".join(event.message for event in results.trace.events)


def test_g6_one_corrupt_file_among_many_is_reported_and_the_rest_is_there(
    engine: Engine, tmp_path: Path
) -> None:
    files = {f"{n:03}.xml": paper(n) for n in range(100)}
    files["050.xml"] = files["050.xml"][:200]
    report = engine.ingest([write_files(tmp_path / "in", files)])
    assert (len(report.added), len(report.refused)) == (99, 1)
    assert report.refused[0].source_uri == "in/050.xml"
    assert report.refused[0].reason == "xml-syntax"
    assert engine.verify().clean


def test_g8_one_file_under_two_knowledge_bases_is_two_documents(
    engine: Engine, tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.xml": paper(1)})
    one = engine.ingest([folder], kb_name="lung")
    two = engine.ingest([folder], kb_name="breast")
    again = engine.ingest([folder], kb_name="breast")
    assert len({*one.added, *two.added}) == 2
    assert again.unchanged == 1
    for kb in ("lung", "breast"):
        hits = engine.search(SearchRequest("kinase", kb_names=(kb,))).hits
        assert [hit.kb_name for hit in hits] == [kb]


def test_g8_the_same_content_under_another_name_is_a_duplicate(
    engine: Engine, tmp_path: Path
) -> None:
    text = "The same words.\n"
    report = engine.ingest([write_files(tmp_path / "in", {"a.txt": text, "b.txt": text})])
    assert (len(report.added), len(report.duplicates), len(engine.documents())) == (1, 1, 1)
    assert report.duplicates[0] == ("in/b.txt", report.added[0])


def test_g8_a_duplicate_takes_its_own_place_when_the_first_one_changes(
    engine: Engine, tmp_path: Path
) -> None:
    text = "The same words.\n"
    folder = write_files(tmp_path / "in", {"a.txt": text, "b.txt": text})
    engine.ingest([folder])
    engine.ingest([write_files(folder, {"a.txt": "Other words.\n"})])
    assert {view.text.strip() for view in map(engine.show, _ids(engine))} == {
        "The same words.", "Other words.",
    }  # fmt: skip


def _ids(engine: Engine) -> list[str]:
    return [record.document_id for record in engine.documents()]


def test_two_texts_of_one_name_in_two_folders_are_two_documents(
    engine: Engine, tmp_path: Path
) -> None:
    one = write_files(tmp_path / "one", {"notes.txt": "First notes.\n"})
    two = write_files(tmp_path / "two", {"notes.txt": "Second notes.\n"})
    engine.ingest([one])
    report = engine.ingest([two])
    assert (len(report.added), len(engine.documents())) == (1, 2)
