"""What a hostile or careless caller gives the command line: one line, an exit code, no hanging."""

import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.surfaces.cli.output import print_json, print_rows, print_text, visible
from eagle_rag.surfaces.cli.signals import Stopped, stop_signals
from eagle_rag.testing.articles import jats_article, write_files

Eagle = Callable[..., Any]  # gives code, out, err, json and lines
FILES = {
    f"{name}.xml": jats_article(
        f"Kinase {name}", {"Results": [f"Kinase {name} fell."]}, ids={"doi": f"10.5555/{name}"}
    )
    for name in "abc"
}


@pytest.fixture
def filled(eagle: Eagle, tmp_path: Path) -> Eagle:
    """Return ``eagle`` with three papers ingested."""
    write_files(tmp_path / "in", FILES)
    assert eagle("ingest", "in").code == 0
    return eagle


def test_a_damaged_tar_gives_what_comes_before_and_exit_code_3(
    eagle: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path / "in", FILES)
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "in" / "a.xml", "a.xml")
        end = archive.offset
        archive.add(tmp_path / "in" / "b.xml", "b.xml")
    data = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(data[:end] + b"\xff" * 512 + data[end + 512 :])
    done = eagle("ingest", "a.tar")
    assert done.code == 3
    assert done.err.startswith("1 added")
    assert "refused a.tar: damaged-archive: damaged after member a.xml" in done.err


def test_an_empty_path_is_refused_and_a_dot_is_the_working_directory(
    eagle: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path, FILES)
    done = eagle("ingest", "a.xml", "")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("eagle: an empty path")
    assert eagle("demo", "--corpus", "").code == 2
    assert eagle("ingest", ".").err.startswith("3 added")


@pytest.mark.parametrize("kb", ["\udcff", "a\nb", "a\x1b[31m", "a\x85", "k" * 65])
def test_a_name_that_no_knowledge_base_can_have_is_refused(
    eagle: Eagle, tmp_path: Path, kb: str
) -> None:
    write_files(tmp_path, FILES)
    done = eagle("ingest", "a.xml", "--kb", kb)
    assert (done.code, done.out) == (2, "")
    assert "a name has 1 to 64 characters" in done.err
    assert eagle("ingest", "a.xml", "--kb", "k" * 64).code == 0


@pytest.mark.parametrize(
    "command", [("search", "kinase"), ("show", "10.5555/a"), ("stats",), ("delete", "10.5555/a")]
)
def test_a_knowledge_base_that_is_not_utf_8_is_wrong_input(
    filled: Eagle, command: tuple[str, ...]
) -> None:
    done = filled(*command, "--kb", "\udcff")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(r"eagle: no knowledge base is called '\udcff': it is not Unicode")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("sign", ["[", "{", "- ", "? "])
def test_a_configuration_that_nests_without_end_is_refused_by_line(
    eagle: Eagle, tmp_path: Path, sign: str
) -> None:
    write_files(tmp_path, {"y.yaml": "\n" + sign * 5_000})
    done = eagle("--config", "y.yaml", "stats")
    assert (done.code, done.out) == (2, "")
    assert "y.yaml, line 2: lists or mappings nest more than 50 deep" in done.err
    assert eagle("--set", "a=" + sign * 5_000, "stats").code == 2


def test_a_configuration_that_is_no_yaml_gives_one_line(eagle: Eagle, tmp_path: Path) -> None:
    write_files(tmp_path, {"y.yaml": "a: [\n", "date.yaml": "a: 2024-13-45"})
    for name in ("y.yaml", "date.yaml"):
        done = eagle("--config", name, "stats")
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert name in done.err


def test_what_the_system_refuses_is_said_with_the_path_and_what_to_do(
    eagle: Eagle, tmp_path: Path
) -> None:
    write_files(tmp_path, {"taken": "a file", "a.xml": FILES["a.xml"]})
    done = eagle("--data-dir", "taken/index", "ingest", "a.xml")
    assert done.code == 1
    assert "taken" in done.err
    assert "name a folder, with --data-dir" in done.err


@pytest.mark.usefixtures("filled")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_below_the_output_ends_with_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = _run(tmp_path, "show", "10.5555/a", stdout=full)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "free some space on the disk of the output" in done.stderr


def _run(
    folder: Path, *arguments: str, stdout: object = subprocess.PIPE
) -> "subprocess.CompletedProcess[str]":
    options = ["--data-dir", "index", "--set", "collections.eagle_text.encoder=hash"]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]  # noqa: S603 - stdout is a file or PIPE
        [sys.executable, "-m", "eagle_rag.surfaces.cli.main", *options, *arguments],
        cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_control_characters_are_shown_and_json_has_them(eagle: Eagle, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a\x1b[31m\nrefused b.txt").with_suffix(".txt").write_text(
        "Kinase\x9b fell.\n\nIt rose."
    )
    (tmp_path / "in" / "e\x1b[31m\n.txt").write_text("")
    title = jats_article("Title \x9b31m", ["Kinase rose."], ids={"doi": "10.5555/7"})
    write_files(tmp_path / "in", {"t.xml": title})
    done = eagle("ingest", "in")
    assert r"refused in/e\x1b[31m\n.txt: empty" in done.err
    found = eagle("search", "kinase")
    shown = eagle("show", "10.5555/7")
    for output in (done, found, shown):
        assert not set("\x1b\x9b\r") & set(output.out + output.err)
    assert "rose." in found.out


def test_a_passage_keeps_its_line_breaks_but_no_escape(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("one\n\ttwo\x1b[2J\x9b\x07")
    assert capsys.readouterr().out == "one\n\ttwo\\x1b[2J\\x9b\\x07\n"
    print_json("\x9b")
    assert capsys.readouterr().out == '"\x9b"\n'
    print_rows([("na\x1bme", "va\nlue")], title="ti\x1btle")
    assert not {"\x1b"} & set(capsys.readouterr().out)
    assert visible("a\nb\rc\td\x00\x7f\x85") == r"a\nb\rc\td\x00\x7f\x85"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("section_kind=nonsense", "no section_kind is 'nonsense'; there are: title, abstract,"),
        ("source_type=plain", "there are: jats, pubmed, html, markdown, text"),
        ("chunk_type=nonsense", "no chunk_type is 'nonsense'; there are: "),
    ],
)
def test_a_filter_with_a_value_that_does_not_exist_says_which_do(
    filled: Eagle, text: str, said: str
) -> None:
    done = filled("search", "kinase", "--filter", text)
    assert (done.code, done.out) == (0, "Nothing found.\n")
    assert said in done.err


def test_a_filter_that_finds_nothing_with_known_values_says_no_more(filled: Eagle) -> None:
    done = filled("search", "kinase", "--filter", "section_kind=methods", "--filter", "year=1066")
    assert done.out == "Nothing found.\n"
    assert "there are" not in done.err


def test_values_that_only_rows_hold_are_known_too(eagle: Eagle, tmp_path: Path) -> None:
    """A plugin may give a row a chunk type that no collection declares."""
    write_files(tmp_path / "in", FILES)
    assert eagle("--set", "collections.eagle_text.chunk_type=notes", "ingest", "in").code == 0
    done = eagle("search", "kinase", "--filter", "chunk_type=nonsense")
    assert "no chunk_type is 'nonsense'; there are: text, notes\n" in done.err
    never = eagle("search", "kinase", "--filter", "chunk_type=notes", "--filter", "year=1066")
    assert "chunk_type" not in never.err


def test_stats_of_an_unknown_knowledge_base_says_which_there_are(filled: Eagle) -> None:
    done = filled("stats", "--kb", "typo")
    assert done.code == 0
    assert "no knowledge base typo; there are: default" in done.err
    assert filled("stats", "--kb", "default").err == ""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_ingest_says_so_in_one_line(
    filled: Eagle, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, code: int
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr("eagle_rag.surfaces.cli.library.run_ingest", interrupted)
        done = filled("ingest", "in")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.code, done.out) == (code, "")
    assert done.err == ("eagle: interrupted; what was committed stays, run it again to go on\n")


def test_a_signal_that_was_ignored_stays_ignored_and_a_second_one_is_final() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with stop_signals():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with stop_signals():
            with pytest.raises(Stopped):
                os.kill(os.getpid(), signal.SIGTERM)
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_ingest_with_workers_that_is_stopped_leaves_one_line(
    tmp_path: Path, number: signal.Signals
) -> None:
    article = jats_article("Kinase", {"Results": ["Kinase inhibitors help. " * 40] * 40})
    write_files(
        tmp_path / "in", {f"{n}.xml": article.replace(b"Kinase", b"K%d" % n) for n in range(400)}
    )
    options = ["--data-dir", "index", "--set", "collections.eagle_text.encoder=hash",
               "--set", "ingest.workers=2"]  # fmt: skip
    with subprocess.Popen(  # noqa: S603 - this package
        [sys.executable, "-m", "eagle_rag.surfaces.cli.main", *options, "ingest", "in", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - nothing else runs in the child yet
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert "committed" in process.stdout.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 128 + number
    assert err == "eagle: interrupted; what was committed stays, run it again to go on\n"


def test_an_interrupted_process_ends_though_a_thread_of_it_never_does() -> None:
    script = """
import threading
from eagle_rag.surfaces.cli import main, signals
def app(**_):
    threading.Thread(target=threading.Event().wait).start()
    raise signals.Stopped(143)
main.app, main._GRACE_SECONDS = app, 0.1
main.main()
"""
    done = subprocess.run(  # noqa: S603 - this package
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (143, "eagle: interrupted\n")
