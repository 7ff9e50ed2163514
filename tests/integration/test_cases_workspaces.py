"""CASES G4 over workspaces: they share a registry, and each has a store of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.model.results import IngestEvent
from eagle_rag.testing.articles import jats_article, write_files

MakeEngine = Callable[..., Engine]


class CrashError(Exception):
    """Stands for the end of the process."""


def _crash(event: IngestEvent) -> None:
    """End an ingest after its first commit: the rows of the next paper are written, not live."""
    if event.kind == "committed":
        raise CrashError


def _papers(folder: Path) -> Path:
    files = {
        f"{n}.xml": jats_article(f"Paper {n}", [f"Kinase {n} fell."], ids={"doi": f"10.5555/{n}"})
        for n in (1, 2)
    }
    return write_files(folder, dict(files))


@pytest.fixture
def crashed(make_engine: MakeEngine, tmp_path: Path) -> Engine:
    """Return workspace ``a`` after an ingest that ended between two papers."""
    engine = make_engine({"workspace": "a"})
    with pytest.raises(CrashError):
        engine.ingest([_papers(tmp_path / "in")], on_event=_crash)
    assert [pending.state for pending in engine.registry.pending("a/core")] == ["writing"]
    assert (len(engine.documents()), engine.store.count("eagle_text")) == (1, 2)
    return engine


def test_g4_an_ingest_in_another_workspace_leaves_what_a_crash_left_to_its_own(
    crashed: Engine, make_engine: MakeEngine, tmp_path: Path
) -> None:
    other = make_engine({"workspace": "b"})
    theirs = write_files(tmp_path / "other", {"c.txt": "Kinase three fell.\n"})
    assert other.ingest([theirs]).recovered == 0
    assert other.verify(repair=True).clean
    assert [problem.kind for problem in crashed.verify().problems] == [
        "orphan-row",
        "pending-version",
    ]

    report = crashed.ingest([write_files(tmp_path / "more", {"d.txt": "Kinase four fell.\n"})])
    assert report.recovered == 1
    assert (len(crashed.documents()), crashed.store.count("eagle_text")) == (2, 2)
    assert (crashed.verify().problems, other.verify().problems) == ((), ())


def test_g4_doctor_counts_only_what_waits_in_its_own_workspace(
    crashed: Engine, make_engine: MakeEngine
) -> None:
    def registry_says(engine: Engine) -> str:
        return next(check.message for check in engine.doctor() if check.name == "registry")

    assert "1 versions wait to be cleared" in registry_says(crashed)
    assert "wait to be cleared" not in registry_says(make_engine({"workspace": "b"}))
