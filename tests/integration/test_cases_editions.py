"""An older edition of a document never takes the place of a newer one, in whatever order files are read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.model.results import IngestEvent, IngestReport
from eagle_rag.testing.articles import write_files

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

BIOMED: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "ingest.workers": 1,
}
OLD, NEW = ("old.json", "2023-12-01", "It is planned."), ("new.json", "2024-01-31", "It recruits.")


def _study(
    updated: str, summary: str, *, title: str = "Zorbanib", nct: str = "NCT99990001"
) -> str:
    study = {
        "protocolSection": {
            "identificationModule": {"nctId": nct, "briefTitle": title},
            "statusModule": {"lastUpdatePostDateStruct": {"date": updated}},
            "descriptionModule": {"briefSummary": summary},
        }
    }
    return json.dumps(study)


@pytest.fixture
def engine(make_engine: Callable[..., "Engine"]) -> "Engine":
    return make_engine(BIOMED)


class Runs:
    """Ingests one file at a time from a folder."""

    def __init__(self, engine: "Engine", folder: Path) -> None:
        self.engine, self.folder = engine, folder
        self.said: list[IngestEvent] = []

    def __call__(self, name: str, updated: str, summary: str, title: str = "Zorbanib") -> str:
        """Ingest and return what became of the file."""
        write_files(self.folder, {name: _study(updated, summary, title=title)})
        return self.outcome(self.ingest(self.folder / name))

    def ingest(self, *paths: Path) -> IngestReport:
        self.said.clear()
        return self.engine.ingest(paths, on_event=self.said.append)

    def outcome(self, report: IngestReport) -> str:
        return "".join(
            kind
            for kind, some in (
                ("added", report.added),
                ("replaced", report.replaced),
                ("duplicate", report.duplicates),
                ("unchanged", report.unchanged),
            )
            if some
        )

    def texts(self) -> list[str]:
        assert self.engine.verify().clean
        return [self.engine.show(each.document_id).text for each in self.engine.documents()]


@pytest.fixture
def runs(engine: "Engine", tmp_path: Path) -> Runs:
    return Runs(engine, tmp_path / "in")


def test_e3_an_older_edition_does_not_replace_a_newer_one_and_is_said(runs: Runs) -> None:
    assert [runs(*NEW), runs(*OLD)] == ["added", "duplicate"]
    (event,) = (each for each in runs.said if each.kind == "duplicate")
    (record,) = runs.engine.documents()
    assert event.message == (
        "edition 20231201 is older than edition 20240131 of new.json, which stands;"
        f" to take this one, delete {record.document_id} first"
    )
    (text,) = runs.texts()
    assert "It recruits." in text


def test_e3_a_newer_edition_replaces_an_older_one(runs: Runs) -> None:
    assert [runs(*OLD), runs(*NEW)] == ["added", "replaced"]
    (text,) = runs.texts()
    assert "It recruits." in text


def test_e3_of_one_edition_the_file_read_last_stands(runs: Runs) -> None:
    name, updated, _ = NEW
    assert [runs(*NEW), runs(f"again-{name}", updated, "It goes on.")] == ["added", "replaced"]
    assert "It goes on." in runs.texts()[0]


@pytest.mark.parametrize("order", [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"])
def test_e3_a_second_run_reads_neither_again(
    runs: Runs, order: tuple[tuple[str, str, str], ...]
) -> None:
    for each in order:
        runs(*each)
    (before,) = runs.engine.documents()
    for _ in range(2):
        report = runs.ingest(runs.folder / "new.json", runs.folder / "old.json")
        assert (report.unchanged, report.duplicates, report.replaced) == (2, (), ())
    (after,) = runs.engine.documents()
    assert (after.source_uri, after.version) == ("new.json", before.version)


@pytest.mark.parametrize("names", [("1.json", "2.json"), ("2.json", "1.json")])
def test_e3_two_editions_in_one_run_leave_the_newer_one(
    runs: Runs, names: tuple[str, str]
) -> None:
    old, new = names
    write_files(runs.folder, {old: _study(*OLD[1:]), new: _study(*NEW[1:])})
    report = runs.ingest(runs.folder)
    assert report.refused == ()
    assert len(runs.engine.documents()) == 1
    assert "It recruits." in runs.texts()[0]
    assert runs.ingest(runs.folder).unchanged == 2


@pytest.mark.parametrize("order", [(OLD, NEW), (NEW, OLD)], ids=["old first", "new first"])
def test_g2_the_older_edition_comes_back_once_the_newer_one_is_deleted(
    runs: Runs, order: tuple[tuple[str, str, str], ...]
) -> None:
    """As the message says it does."""
    for each in order:
        runs(*each)
    (record,) = runs.engine.documents()
    runs.engine.delete(record.document_id)
    assert runs.outcome(runs.ingest(runs.folder / "old.json")) == "added"
    assert "It is planned." in runs.texts()[0]


def test_e3_a_trial_whose_title_changed_is_the_same_document(runs: Runs) -> None:
    """Its registration number names it; only identifiers that papers share need their titles compared."""
    assert [runs(*OLD), runs(*NEW, title="Zorbanib, renamed")] == ["added", "replaced"]
    assert len(runs.texts()) == 1


def test_e3_versions_of_one_label_are_kept_side_by_side(runs: Runs) -> None:
    """Their keys differ, so that no version is older than what is live of it."""
    for version in ("2", "1"):
        label: dict[str, object] = {"set_id": "s", "version": version, "openfda": {}}
        page = json.dumps({"results": [{**label, "warnings": [f"No {version}."]}]})
        write_files(runs.folder, {f"{version}.json": page})
        assert runs.outcome(runs.ingest(runs.folder / f"{version}.json")) == "added"
    assert len(runs.texts()) == 2


def test_e3_a_file_with_older_and_new_records_gives_the_new_ones_and_is_settled(
    runs: Runs,
) -> None:
    runs(*NEW)
    studies = [
        json.loads(_study(*OLD[1:])),
        json.loads(_study("2020-01-01", "Another.", nct="NCT99990002")),
    ]
    write_files(runs.folder, {"page.json": json.dumps({"studies": studies})})
    report = runs.ingest(runs.folder / "page.json")
    assert (len(report.added), len(report.duplicates)) == (1, 1)
    assert report.duplicates[0][0].startswith("page.json")
    assert runs.ingest(runs.folder / "new.json", runs.folder / "page.json").unchanged == 2
