"""CASES D, E, F: a citation is the same everywhere; works, versions, retraction."""

import json
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.surfaces.cli.main import main
from eagle_rag.testing.articles import jats_article, pubmed_record, write_files

ASTRAL = (
    "The 🧬 sample: e\u0301 and \u00e9, \U0001d6fc levels\r\nrose\tby 5 \u00b5M in EGFR cells."
)
RETRACTED = jats_article(
    "Conditioned cells persist", ["Conditioned cells persisted."], ids={"doi": "10.5555/paper"}
)
NOTICE = jats_article(
    "Retraction: conditioned cells persist",
    ["The article on conditioned cells is retracted."],
    ids={"doi": "10.5555/notice"},
    article_type="retraction",
    related={"retracted-article": "10.5555/paper"},
)
SOUND = jats_article(
    "Other cells", ["Conditioned cells did not persist."], ids={"doi": "10.5555/sound"}
)
PAPERS = {"paper.xml": RETRACTED, "notice.xml": NOTICE, "sound.xml": SOUND}


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """Run ``eagle`` on the index of ``engine`` and return its JSON."""

    def run(*arguments: str) -> Any:
        options = ["--data-dir", str(tmp_path / "index"), "--set", _HASH]
        monkeypatch.setattr("sys.argv", ["eagle", *options, *arguments, "--json"])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
        assert not caught.value.code
        return json.loads(capsys.readouterr().out)

    return run


_HASH = "collections.eagle_text.encoder=hash"


@pytest.mark.parametrize("name", ["a.txt", "a.xml", "a.md"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_d1_every_passage_is_the_characters_at_its_offsets(
    engine: Engine, tmp_path: Path, name: str, form: str
) -> None:
    text = unicodedata.normalize(form, ASTRAL)  # type: ignore[arg-type]  # a literal in the stubs
    data = jats_article("", [text, text]) if name.endswith("xml") else f"{text}\r\n\r\n{text}"
    engine.ingest([write_files(tmp_path / "in", {name: data})])
    view = engine.show(engine.documents()[0].document_id)
    assert view.passages
    assert all(view.text[item.start : item.end] == item.text for item in view.passages)
    assert "e\u0301" in view.text or form == "NFC"


@pytest.mark.parametrize(
    ("unit", "encoding", "width"), [("utf16", "utf-16-le", 2), ("byte", "utf-8", 1)]
)
def test_d1_offsets_in_other_units_cut_the_same_text(
    engine: Engine, tmp_path: Path, cli: Callable[..., Any], unit: str, encoding: str, width: int
) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.txt": f"{ASTRAL}\n\nSecond: 🧬 EGFR again."})])
    hit = cli("search", "EGFR cells", "--offsets", unit)["hits"][0]
    whole = engine.show(hit["document_id"]).text.encode(encoding)
    clause = hit["clause"]
    for place, text in [(hit, hit["text"]), (clause, clause["text"])]:
        cut = whole[place["start"] * width : place["end"] * width]
        assert cut.decode(encoding) == text
    terms = [
        whole[t["start"] * width : t["end"] * width].decode(encoding) for t in clause["terms"]
    ]
    assert "EGFR" in terms


def test_d1_show_gives_offsets_in_other_units_too(
    engine: Engine, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    engine.ingest([write_files(tmp_path / "in", {"a.txt": f"{ASTRAL}\n\nSecond: 🧬 EGFR again."})])
    identity = engine.documents()[0].document_id
    shown = cli("show", identity, "--offsets", "byte")
    whole = shown["text"].encode()
    passage = shown["passages"][-1]
    assert whole[passage["start"] : passage["end"]].decode() == passage["text"]
    alone = cli("show", identity, "--passage", passage["id"], "--offsets", "byte")
    assert (alone["start"], alone["end"]) == (passage["start"], passage["end"])


def test_d2_passages_cover_the_prose_once_and_in_order(engine: Engine, tmp_path: Path) -> None:
    sentences = [f"Sentence number {n} of the paragraph says little." for n in range(60)]
    body = {"Methods": [" ".join(sentences[:40])], "Results": sentences[40:]}
    engine.ingest([write_files(tmp_path / "in", {"a.xml": jats_article("Long", body)})])
    view = engine.show(engine.documents()[0].document_id)
    assert len(view.passages) > 2
    assert all(before.end <= after.start for before, after in pairwise(view.passages))
    covered = "".join(item.text for item in view.passages)
    assert [covered.count(sentence) for sentence in sentences] == [1] * 60


def test_d3_sections_are_never_borrowed_from_another_document(
    engine: Engine, tmp_path: Path
) -> None:
    one = jats_article("One", {"Alpha": ["Shared words about kinase."]}, ids={"doi": "10.5555/1"})
    two = jats_article("Two", {"Beta": ["Shared words about kinase."]}, ids={"doi": "10.5555/2"})
    engine.ingest([write_files(tmp_path / "in", {"1.xml": one, "2.xml": two})])
    hits = engine.search(SearchRequest("shared kinase")).hits
    assert {(hit.title, hit.section_path) for hit in hits} == {
        ("One", ("Alpha",)),
        ("Two", ("Beta",)),
    }


def test_d4_engine_and_command_line_give_the_same_citation(
    engine: Engine, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    engine.ingest([write_files(tmp_path / "in", PAPERS)])
    hits = engine.search(SearchRequest("conditioned cells")).hits
    shown = cli("search", "conditioned cells")["hits"]
    names = ("passage_id", "document_id", "version", "start", "end", "text", "rank", "score")
    assert len(hits) == 3
    assert [[hit[name] for name in names] for hit in shown] == [
        [getattr(hit, name) for name in names] for hit in hits
    ]
    passage = cli("show", hits[0].document_id, "--passage", hits[0].passage_id)
    record = engine.passage(hits[0].passage_id).passage
    assert (passage["id"], passage["start"], passage["end"], passage["text"]) == (
        (hits[0].passage_id, hits[0].start, hits[0].end, hits[0].text)
    )
    assert (record.start, record.end, record.text) == (hits[0].start, hits[0].end, hits[0].text)


def test_e1_one_work_by_pmid_pmcid_doi_and_preprint(engine: Engine, tmp_path: Path) -> None:
    ids = {"pmid": "31", "pmcid": "PMC31", "doi": "10.5555/work"}
    paper = jats_article("A kinase trial", ["The kinase fell."], ids=ids,
                         related={"preprint": "10.5555/preprint"})  # fmt: skip
    preprint = jats_article(
        "A kinase trial", ["The kinase fell."], ids={"doi": "10.5555/preprint"}
    )
    record = pubmed_record("31", "A kinase trial", "The kinase fell.")
    files: dict[str, bytes | str] = {
        "paper.xml": paper,
        "preprint.xml": preprint,
        "record.xml": f"<PubmedArticleSet>{record}</PubmedArticleSet>",
    }
    report = engine.ingest([write_files(tmp_path / "in", files)])
    assert len(report.added) == 3
    hits = engine.search(SearchRequest("kinase trial")).hits
    assert len(hits) == 1
    assert {hits[0].document_id, *hits[0].versions} == set(report.added)
    for spelling in ("31", "PMID: 31", "pmc31", "https://doi.org/10.5555/WORK"):
        assert (
            engine.show(spelling).record.work_id == engine.show("10.5555/preprint").record.work_id
        )


def test_e1_passages_of_every_version_are_there_when_asked_for(
    engine: Engine, tmp_path: Path
) -> None:
    paper = jats_article("A kinase trial", ["The kinase fell."], ids={"pmid": "31"})
    record = (
        f"<PubmedArticleSet>{pubmed_record('31', 'A kinase trial', 'It fell.')}</PubmedArticleSet>"
    )
    engine.ingest([write_files(tmp_path / "in", {"a.xml": paper, "b.xml": record})])
    hits = engine.search(SearchRequest("kinase trial", group_by="passage")).hits
    assert len({hit.document_id for hit in hits}) == 2


def test_e2_main_text_and_supplement_are_two_documents(engine: Engine, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "paper.xml": jats_article("Main", ["The kinase fell."], ids={"doi": "10.5555/main"}),
        "paper_supplement.txt": "Supplement. The kinase fell in mice too.\n",
    }
    engine.ingest([write_files(tmp_path / "in", files)])
    hits = engine.search(SearchRequest("kinase fell")).hits
    assert len({hit.document_id for hit in hits}) == 2
    assert all(hit.versions == () for hit in hits)


def test_f1_a_retracted_paper_is_flagged_and_its_notice_told_apart(
    engine: Engine, tmp_path: Path, cli: Callable[..., Any]
) -> None:
    engine.ingest([write_files(tmp_path / "in", PAPERS)])
    results = engine.search(SearchRequest("conditioned cells"))
    flags = {hit.ids.doi: (hit.retracted, hit.retracts) for hit in results.hits}
    assert flags == {
        "10.5555/paper": (True, False),
        "10.5555/notice": (False, True),
        "10.5555/sound": (False, False),
    }
    assert any(event.message.startswith("retracted: ") for event in results.trace.events)
    hit = next(hit for hit in results.hits if hit.retracted)
    assert cli("show", hit.document_id)["record"]["retracted"]
    assert cli("show", hit.document_id, "--passage", hit.passage_id)["document"]["retracted"]


@pytest.mark.parametrize(
    ("policy", "shown", "notes"), [("hide", 2, 0), ("mark", 3, 1), ("allow", 3, 0)]
)
def test_f1_the_policy_hides_marks_or_allows(
    make_engine: Callable[..., Engine], tmp_path: Path, policy: str, shown: int, notes: int
) -> None:
    engine = make_engine({"search.retracted": policy})
    engine.ingest([write_files(tmp_path / "in", PAPERS)])
    results = engine.search(SearchRequest("conditioned cells"))
    assert len(results.hits) == shown
    assert sum("retracted" in event.message for event in results.trace.events) == notes


def test_f1_hiding_still_fills_the_page(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"search.retracted": "hide", "router.recall_top_k": 1})
    engine.ingest([write_files(tmp_path / "in", PAPERS)])
    assert len(engine.search(SearchRequest("conditioned cells", top_k=2)).hits) == 2
