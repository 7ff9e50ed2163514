"""CASES A: what becomes of retractions, deletions and hostile files once they reach the index."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import (
    jats_article,
    pubmed_deletions,
    pubmed_record,
    write_files,
)

PAPER = jats_article(
    "Conditioned cells persist", ["Cells persisted for a year."], ids={"doi": "10.5555/paper"}
)
NOTICE = jats_article(
    "Retraction: conditioned cells persist",
    ["The article named above is retracted by its editors."],
    ids={"doi": "10.5555/notice"},
    article_type="retraction",
    related={"retracted-article": "10.5555/paper"},
)
ENTITY_BOMB = b"""<?xml version="1.0"?>
<!DOCTYPE article [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<article><front/><body><p>&b;</p></body></article>"""
EXTERNAL = b"""<?xml version="1.0"?>
<!DOCTYPE article [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<article><front/><body><p>&x;</p></body></article>"""
PAGE = (
    b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><p>Sign in.</p></body></html>"
)


@pytest.mark.parametrize("order", [("paper", "notice"), ("notice", "paper")])
def test_a10_a_retraction_notice_marks_the_stored_paper_in_either_order(
    engine: Engine, tmp_path: Path, order: tuple[str, ...]
) -> None:
    for name in order:
        folder = write_files(
            tmp_path / name, {f"{name}.xml": PAPER if name == "paper" else NOTICE}
        )
        engine.ingest([folder])
    assert engine.show("10.5555/paper").record.retracted
    assert not engine.show("10.5555/notice").record.retracted


def test_a10_a_paper_is_no_longer_retracted_when_its_notice_is_deleted(
    engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write_files(tmp_path / "in", {"paper.xml": PAPER, "notice.xml": NOTICE})])
    engine.delete("10.5555/notice")
    assert not engine.show("10.5555/paper").record.retracted


def test_a10_an_erratum_is_linked_and_does_not_retract(engine: Engine, tmp_path: Path) -> None:
    erratum = jats_article(
        "Erratum", ["A dose was wrong."], ids={"doi": "10.5555/erratum"},
        article_type="correction", related={"corrected-article": "10.5555/paper"},
    )  # fmt: skip
    engine.ingest([write_files(tmp_path / "in", {"paper.xml": PAPER, "erratum.xml": erratum})])
    assert not engine.show("10.5555/paper").record.retracted
    related = engine.show("10.5555/erratum").record.metadata.related
    assert [(item.relation, item.ids.doi) for item in related] == [("erratum_of", "10.5555/paper")]


def test_a10_a_medline_deletion_list_deletes_stored_records(
    engine: Engine, tmp_path: Path
) -> None:
    first, second = (pubmed_record(pmid, f"Study {pmid}", "It worked.") for pmid in ("11", "12"))
    engine.ingest(
        [
            write_files(
                tmp_path / "in", {"a.xml": f"<PubmedArticleSet>{first}{second}</PubmedArticleSet>"}
            )
        ]
    )
    update = f"<PubmedArticleSet>{pubmed_deletions('11', '99')}</PubmedArticleSet>"
    report = engine.ingest([write_files(tmp_path / "update", {"b.xml": update})])
    assert len(report.deleted) == 1
    assert [record.metadata.ids.pmid for record in engine.documents()] == ["12"]
    assert engine.verify().clean


def test_a10_a_deletion_list_applies_to_records_of_its_own_file(
    engine: Engine, tmp_path: Path
) -> None:
    record = pubmed_record("11", "Study", "It worked.")
    update = f"<PubmedArticleSet>{record}{pubmed_deletions('11')}</PubmedArticleSet>"
    engine.ingest([write_files(tmp_path / "in", {"a.xml": update})])
    assert engine.documents() == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [(ENTITY_BOMB, "entity-declaration"), (EXTERNAL, "entity-declaration"), (PAGE, "html")],
    ids=["entity bomb", "external entity", "html page"],
)
def test_a12_a_hostile_file_is_refused_by_reason_and_the_batch_goes_on(
    engine: Engine, tmp_path: Path, data: bytes, reason: str
) -> None:
    report = engine.ingest([write_files(tmp_path / "in", {"a.xml": data, "b.xml": PAPER})])
    assert [refusal.reason for refusal in report.refused] == [reason]
    assert len(report.added) == 1
    assert not engine.search(SearchRequest("root:x:0:0 aaaaaaaaaa", mode="lexical")).hits


def test_a12_a_file_over_the_size_limit_is_refused_and_the_batch_goes_on(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"ingest.max_file_bytes": 5_000})
    large = jats_article("Large", ["word " * 2_000])
    report = engine.ingest([write_files(tmp_path / "in", {"a.xml": large, "b.xml": PAPER})])
    assert [refusal.reason for refusal in report.refused] == ["too-large"]
    assert len(report.added) == 1


def test_a_text_that_mentions_tags_is_read_as_a_text(engine: Engine, tmp_path: Path) -> None:
    text = "A kinase review.\n\nIn JATS, <article> holds <body>; PubMed has <PubmedArticleSet>.\n"
    report = engine.ingest(
        [write_files(tmp_path / "in", {"a.txt": text, "b.md": text + "More.\n"})]
    )
    assert report.refused == ()
    assert sorted(record.format for record in engine.documents()) == ["markdown", "text"]
