"""Several records with one key in one file: one stands, the others are said, whatever the format."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.adapters.documents.plain import PlainParser
from eagle_rag.model.document import Identity, ParseOutcome, Source
from eagle_rag.model.results import IngestEvent
from eagle_rag.testing.articles import write_files

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

BIOMED: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "ingest.workers": 1,
}


def _ingest(engine: "Engine", folder: Path) -> tuple[list[IngestEvent], list[str]]:
    """Return the events of the records, and the texts that are live then."""
    said: list[IngestEvent] = []
    report = engine.ingest([folder], on_event=said.append)
    assert report.refused == ()
    assert engine.verify().clean
    texts = [engine.show(record.document_id).text for record in engine.documents()]
    return [event for event in said if event.kind in {"committed", "duplicate"}], texts


def _records(monkeypatch: pytest.MonkeyPatch, records: Sequence[tuple[str, int]]) -> None:
    """Let a text be read as records of one key: member and edition of each."""
    parse = PlainParser.parse

    def several(self: PlainParser, source: Source) -> ParseOutcome:
        (document,) = parse(self, source).documents
        return ParseOutcome(
            tuple(
                replace(
                    document,
                    member=member,
                    digest=f"{number}",
                    identity=Identity("one", "lab:one", edition),
                )
                for number, (member, edition) in enumerate(records)
            )
        )

    monkeypatch.setattr(PlainParser, "parse", several)


@pytest.mark.parametrize(
    ("editions", "stands"),
    [((0, 0, 0), "a"), ((1, 3, 2), "b"), ((3, 1, 3), "a"), ((0, 0, 1), "c")],
)
def test_g6_the_first_record_of_the_highest_edition_stands_and_the_others_are_said(
    engine: "Engine",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    editions: tuple[int, ...],
    stands: str,
) -> None:
    _records(monkeypatch, list(zip("abc", editions, strict=True)))
    events, _ = _ingest(engine, write_files(tmp_path / "in", {"a.txt": "Words.\n"}))
    (record,) = engine.documents()
    assert record.member == stands
    assert sorted(event.message for event in events if event.kind == "duplicate") == [
        f"record {other} has the key of record {stands}, which stands"
        for other in "abc"
        if other != stands
    ]


def test_g6_records_that_are_called_alike_stand_once(
    engine: "Engine", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _records(monkeypatch, [("a", 0), ("a", 0)])
    events, texts = _ingest(engine, write_files(tmp_path / "in", {"a.txt": "Words.\n"}))
    assert (sorted(event.kind for event in events), len(texts)) == (["committed", "duplicate"], 1)
    assert events[0].message == ("record a is there again: the first of its newest edition stands")


def test_g6_what_stood_in_a_file_twice_is_unchanged_when_it_is_read_again(
    engine: "Engine", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each ingest would put the other of the two in its place."""
    _records(monkeypatch, [("a", 1), ("b", 2)])
    folder = write_files(tmp_path / "in", {"a.txt": "Words.\n"})
    engine.ingest([folder])
    write_files(folder, {"a.txt": "Words.\n\n"})
    report = engine.ingest([folder])
    assert (report.unchanged, report.replaced, len(report.duplicates)) == (1, (), 1)


def _study(updated: str, summary: str) -> dict[str, object]:
    return {
        "protocolSection": {
            "identificationModule": {"nctId": "NCT99990001", "briefTitle": "Zorbanib"},
            "statusModule": {"lastUpdatePostDateStruct": {"date": updated}},
            "descriptionModule": {"briefSummary": summary},
        }
    }


@pytest.mark.parametrize("turned", [False, True])
def test_e3_of_one_trial_twice_in_a_page_the_later_update_stands(
    make_engine: Callable[..., "Engine"], tmp_path: Path, *, turned: bool
) -> None:
    """Pages that were fetched on two days and joined overlap."""
    studies = [_study("2024-01-31", "It recruits."), _study("2023-12-01", "It is planned.")]
    page = {"studies": studies[::-1] if turned else studies}
    folder = write_files(tmp_path / "in", {"page.json": json.dumps(page)})
    events, texts = _ingest(make_engine(BIOMED), folder)
    assert len(texts) == 1
    assert "It recruits." in texts[0]
    assert sorted(event.kind for event in events) == ["committed", "duplicate"]


def test_e3_two_versions_of_one_label_in_a_page_are_both_kept(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    """Their keys differ, so both can be read; search serves the higher edition."""
    labels: list[dict[str, object]] = [
        {"set_id": "s", "version": version, "openfda": {}, "warnings": [f"Warning {version}."]}
        for version in ("2", "1", "2")
    ]
    folder = write_files(tmp_path / "in", {"page.json": json.dumps({"results": labels})})
    events, texts = _ingest(make_engine(BIOMED), folder)
    assert len(texts) == 2
    assert sorted(event.kind for event in events) == ["committed", "committed", "duplicate"]
