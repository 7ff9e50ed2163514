"""CASES K: offline, truncation, vector spaces."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.errors import VectorSpaceMismatch
from eagle_rag.model.query import SearchMode, SearchRequest
from eagle_rag.testing.articles import jats_article, write_files

_OFFLINE = """
import sys
def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname"}:
        raise SystemExit(f"network used: {event} {arguments}")
sys.addaudithook(refuse)
from eagle_rag import load_settings, open_engine, SearchRequest
from pathlib import Path
engine = open_engine(load_settings(overrides={"data_dir": sys.argv[1]}, environ={}))
report = engine.ingest([Path(sys.argv[2])])
assert len(report.added) == 2, report
for question, wanted in (("tumours that stopped responding to the drug", "resistance"),
                         ("heart attack", "heart")):
    hits = engine.search(SearchRequest(question, mode="dense")).hits
    print(hits[0].title)
    assert wanted in hits[0].title, hits
assert engine.verify().clean
assert all(check.ok for check in engine.doctor())
engine.close()
print("all offline")
"""


def _without_network() -> list[str]:
    """Return a prefix that takes the network away from native code too, where that is allowed."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return []
    prefix = [unshare, "--user", "--map-root-user", "--net"]
    probe = subprocess.run([*prefix, "true"], capture_output=True, check=False)  # noqa: S603 - util-linux
    return prefix if probe.returncode == 0 else []


def test_k1_the_default_profile_ingests_and_searches_without_any_network(tmp_path: Path) -> None:
    papers = {
        "a.xml": jats_article("Acquired resistance", ["Cancer progressed on the inhibitor."]),
        "b.xml": jats_article("The heart", ["Myocardial infarction was treated early."]),
    }
    folder = write_files(tmp_path / "in", dict(papers))
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [
            *_without_network(),
            sys.executable,
            "-c",
            _OFFLINE,
            str(tmp_path / "index"),
            str(folder),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "all offline"


def test_k2_texts_longer_than_the_window_are_counted_and_reported(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"encoders.hash.max_tokens": 8})
    files = {
        "long.txt": "One two three four five six seven eight nine ten.",
        "short.txt": "One two.",
    }
    report = engine.ingest([write_files(tmp_path / "in", dict(files))])
    assert report.truncated == 1
    counts = {record.source_uri: record.truncated for record in engine.documents()}
    assert counts == {"in/long.txt": 1, "in/short.txt": 0}


def test_k2_a_truncated_query_says_so_in_its_trace(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"encoders.hash.max_tokens": 8})
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "One two three.\n"})])
    short = engine.search(SearchRequest("one two"))
    long = engine.search(SearchRequest("one two three four five six seven eight nine ten"))
    assert not short.trace.degraded
    assert [event.stage for event in long.trace.events if event.degraded] == ["encode"]
    assert "window" in next(event.message for event in long.trace.events if event.degraded)


def test_k2_what_lies_beyond_the_window_is_found_by_words(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    engine = make_engine({"encoders.hash.max_tokens": 8})
    text = "One two three four five six seven eight nine ten osimertinib.\n"
    engine.ingest([write_files(tmp_path / "in", {"a.txt": text})])
    assert engine.search(SearchRequest("osimertinib", mode="lexical")).hits


@pytest.fixture
def by_hash(make_engine: Callable[..., Engine], tmp_path: Path) -> Path:
    """Return a folder whose index was built by ``hash``."""
    folder = write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})
    make_engine().ingest([folder])
    return folder


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_k4_a_search_with_another_encoder_of_equal_dimension_is_refused(
    make_engine: Callable[..., Engine], by_hash: Path, mode: SearchMode
) -> None:
    assert by_hash.is_dir()
    other = make_engine({"collections.eagle_text.encoder": "minilm"})
    with pytest.raises(VectorSpaceMismatch, match=r"(?s)hash.*minilm"):
        other.search(SearchRequest("kinase", mode=mode))


def test_k4_an_ingest_with_another_encoder_of_equal_dimension_is_refused(
    make_engine: Callable[..., Engine], by_hash: Path
) -> None:
    other = make_engine({"collections.eagle_text.encoder": "minilm"})
    with pytest.raises(VectorSpaceMismatch, match=r"(?s)hash.*minilm|minilm.*hash"):
        other.ingest([by_hash])
    assert make_engine().search(SearchRequest("kinase")).hits


def test_k4_the_same_encoder_under_another_label_is_another_space(
    make_engine: Callable[..., Engine], by_hash: Path
) -> None:
    assert by_hash.is_dir()
    other = make_engine(
        {
            "encoders.other": {"runtime": "hash", "dim": 384},
            "collections.eagle_text.encoder": "other",
        }
    )
    with pytest.raises(VectorSpaceMismatch, match=r"(?s)'hash'.*'other'"):
        other.search(SearchRequest("kinase"))


def test_k4_words_alone_need_no_encoder(make_engine: Callable[..., Engine], by_hash: Path) -> None:
    assert by_hash.is_dir()
    other = make_engine({"collections.eagle_text.encoder": "minilm"})
    assert other.search(SearchRequest("kinase", mode="lexical")).hits


def test_k4_doctor_says_that_the_encoder_does_not_fit(
    make_engine: Callable[..., Engine], by_hash: Path
) -> None:
    assert by_hash.is_dir()
    other = make_engine({"collections.eagle_text.encoder": "minilm"})
    failed = [check for check in other.doctor() if not check.ok]
    assert [check.name for check in failed] == ["collection eagle_text"]
    assert "hash" in failed[0].message
    assert "minilm" in failed[0].message
