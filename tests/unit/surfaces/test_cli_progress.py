"""Progress of an ingest where stderr is no terminal."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eagle_rag.model.results import IngestEvent
from eagle_rag.surfaces.cli.progress import EVERY_S, PlainProgress
from eagle_rag.testing.articles import write_files


class Clock:
    """Time that passes only when somebody waits; the end comes before the given second."""

    def __init__(self, end_s: float) -> None:
        self.now, self.end_s = 0.0, end_s

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += seconds
        return self.now > self.end_s


def _events(sources: int) -> Iterator[IngestEvent]:
    for number in range(sources):
        yield IngestEvent("committed", f"{number}.xml")
    yield IngestEvent("committed", "0.xml")
    yield IngestEvent("refused", "bad.xml", message="empty: is empty")
    yield IngestEvent("refused", "f.png", message="part-of-document: belongs to a paper")
    yield IngestEvent("unchanged", "same.xml")
    yield IngestEvent("optimized", "")


def _said(clock: Clock, capsys: pytest.CaptureFixture[str], sources: int = 1_200) -> list[str]:
    with PlainProgress(clock, wait=clock.wait) as progress:
        for event in _events(sources):
            progress.note(event)
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_nothing_is_said_of_what_is_done_within_half_a_minute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert _said(Clock(EVERY_S - 1), capsys) == []


def test_a_line_is_said_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    """Also when no document is done meanwhile."""
    lines = _said(Clock(125), capsys)
    assert [line.rpartition(", ")[2] for line in lines] == ["30 s", "1 min", "1 min", "2 min"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (59, "59 s"), (240, "4 min"), (7_500, "2 h 5 min")]
)
def test_a_line_says_what_was_read_and_for_how_long(seconds: int, shown: str) -> None:
    clock = Clock(0)
    progress = PlainProgress(clock)
    clock.now = seconds
    for event in _events(1_200):
        progress.note(event)
    assert progress.line() == (f"1,203 sources read, 1,201 added, 1 unchanged, 1 refused, {shown}")


def test_what_is_not_there_is_not_counted() -> None:
    assert PlainProgress(Clock(0)).line() == "0 sources read, 0 added, 0 refused, 0 s"


def test_the_end_does_not_wait_for_the_next_line() -> None:
    with PlainProgress() as progress:
        progress.note(IngestEvent("committed", "a.xml"))
    assert not progress._thread.is_alive()


def test_a_quick_ingest_into_a_file_says_its_report_alone(
    eagle: Callable[..., object], tmp_path: Path
) -> None:
    folder = write_files(tmp_path / "in", {"a.txt": "Kinase fell.\n", "b.txt": "Kinase fell.\n"})
    outcome = eagle("ingest", str(folder))
    lines = outcome.err.splitlines()  # type: ignore[attr-defined]  # the outcome of the fixture
    assert lines[0].startswith("1 added, 0 replaced, 0 unchanged, 1 duplicate")
    assert lines[1] == "duplicate in/b.txt: same content as in/a.txt"
    assert "sources read" not in outcome.err  # type: ignore[attr-defined]  # likewise
