"""CASES G4 and G7: killed ingests, readers beside a writer, two writers; real processes."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import IndexLocked
from eagle_rag.model.query import SearchRequest
from eagle_rag.testing.articles import jats_article, write_files

PAPERS = 24
_ROUNDS = 4


def _corpus(folder: Path, revision: str) -> Path:
    """Write papers of several batches of passages."""
    body = [
        f"Finding {n} {revision} on kinases. {'It says little more. ' * 40}" for n in range(40)
    ]
    files = {
        f"{number:02}.xml": jats_article(
            f"Paper {number}", [f"Paper {number}.", *body], ids={"doi": f"10.5555/{number}"}
        )
        for number in range(PAPERS)
    }
    return write_files(folder, dict(files))


def _start(index: Path, folder: Path) -> subprocess.Popen[str]:
    module = ["-m", "eagle_rag.surfaces.cli.main", "--data-dir", str(index)]
    settings = ["--set", "collections.eagle_text.encoder=hash", "--set", "ingest.optimize_every=5"]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, *module, *settings, "ingest", "--json", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _kill_after(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Read so many lines of events, kill the process, and return every document acknowledged."""
    assert process.stdout is not None
    read = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    rest, _ = process.communicate(timeout=60)
    events = [
        json.loads(line) for line in [*read, *rest.splitlines()] if line.rstrip().endswith("}")
    ]
    return [event["document_id"] for event in events if event["event"] == "committed"]


@pytest.mark.parametrize("seed", range(_ROUNDS))
def test_g4_a_killed_ingest_loses_nothing_and_resumes(
    make_engine: Callable[..., Engine], tmp_path: Path, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    folder = _corpus(tmp_path / "in", "first")
    if seed % 2:
        make_engine().ingest([folder])
        _corpus(folder, "second")
    acknowledged = _kill_after(_start(tmp_path / "index", folder), int(rng.integers(1, PAPERS)))
    assert acknowledged
    engine = make_engine()
    live = {record.document_id: record.version for record in engine.documents()}
    assert all(live.get(identity) == 1 + seed % 2 for identity in acknowledged)
    report = engine.ingest([folder])
    assert report.unchanged + len(report.added) + len(report.replaced) == PAPERS
    assert report.unchanged >= len(acknowledged)
    checked = engine.verify()
    assert (checked.problems, checked.documents) == ((), PAPERS)
    hits = engine.search(SearchRequest("kinases", top_k=100)).hits
    assert len({hit.ids.doi for hit in hits}) == len(hits) == PAPERS


def test_g7_searches_never_fail_beside_a_writer_and_a_second_writer_is_told_who_it_is(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine()
    engine.ingest([write_files(tmp_path / "first", {"a.txt": "Kinase inhibitors help.\n"})])
    writer = _start(tmp_path / "index", _corpus(tmp_path / "in", "first"))
    assert writer.stdout is not None
    first = json.loads(writer.stdout.readline())
    assert first["event"] == "committed"
    with pytest.raises(IndexLocked, match=f"pid {writer.pid} on host"):
        engine.ingest([tmp_path / "first"])
    with pytest.raises(IndexLocked, match=f"pid {writer.pid} on host"):
        engine.delete(first["document_id"])
    searches = 0
    while writer.poll() is None:
        for line in iter(writer.stdout.readline, ""):
            hits = engine.search(SearchRequest("kinase", top_k=50, group_by="passage")).hits
            assert hits
            assert all(engine.passage(hit.passage_id).passage.text == hit.text for hit in hits[:3])
            searches += 1
            assert line.startswith("{")
    writer.communicate(timeout=60)
    assert writer.returncode == 0
    assert searches > PAPERS
    assert len(engine.search(SearchRequest("kinase", top_k=50)).hits) == PAPERS + 1
    assert engine.verify().clean
