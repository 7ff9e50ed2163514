"""The writer lock, with real processes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from eagle_rag.adapters.lock import WriterLock
from eagle_rag.errors import IndexLocked, RegistryError

_HOLD = """
import sys
from pathlib import Path
from eagle_rag.adapters.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
"""


@contextmanager
def other_writer(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Hold the lock in another process until the block ends."""
    command = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(  # noqa: S603 - our own interpreter and script
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writer.lock"


def test_g7_a_second_writer_is_told_who_holds_the_lock(path: Path) -> None:
    with other_writer(path) as process, pytest.raises(IndexLocked) as caught:
        WriterLock(path).acquire()
    assert f"pid {process.pid} on host" in caught.value.holder
    assert caught.value.path == str(path)


def test_g7_a_second_writer_waits_and_then_gives_up(path: Path) -> None:
    with other_writer(path), pytest.raises(IndexLocked):
        WriterLock(path).acquire(timeout_s=0.1)


def test_g7_a_waiting_writer_gets_the_lock_when_the_first_ends(path: Path) -> None:
    with other_writer(path) as process:
        killer = Thread(target=process.kill)
        killer.start()
        lock = WriterLock(path)
        lock.acquire(timeout_s=30)
        killer.join()
    assert f"pid {os.getpid()} " in lock.holder()


def test_g4_the_lock_of_a_killed_process_is_taken_over(path: Path) -> None:
    with other_writer(path) as process:
        process.kill()
        process.wait()
        lock = WriterLock(path)
        lock.acquire()
    assert f"pid {os.getpid()} " in lock.holder()


def test_the_holder_is_named_while_held_and_not_after(path: Path) -> None:
    lock = WriterLock(path)
    with lock:
        assert f"pid {os.getpid()} " in WriterLock(path).holder()
    assert WriterLock(path).holder() == ""


def test_the_holder_file_keeps_arguments_to_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/eagle", "ingest", "--token", "secret"])
    with WriterLock(path):
        written = json.loads(path.with_name("writer.lock.holder").read_text(encoding="utf-8"))
    assert written["command"] == "eagle ingest"


def test_a_lock_taken_twice_is_held_until_released_twice(path: Path) -> None:
    lock, other = WriterLock(path), WriterLock(path)
    lock.acquire()
    lock.acquire()
    lock.release()
    with pytest.raises(IndexLocked):
        other.acquire()
    lock.release()
    other.acquire()
    other.release()


def test_one_thread_may_release_what_another_acquired(path: Path) -> None:
    lock = WriterLock(path)
    lock.acquire()
    thread = Thread(target=lock.release)
    thread.start()
    thread.join()
    with WriterLock(path):
        pass


def test_a_broken_holder_file_does_not_hide_that_the_index_is_locked(path: Path) -> None:
    with other_writer(path):
        path.with_name("writer.lock.holder").write_text("{", encoding="utf-8")
        with pytest.raises(IndexLocked, match="another process"):
            WriterLock(path).acquire()


def test_a_lock_in_a_folder_that_is_not_there_is_an_error_that_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(RegistryError, match="lock file"):
        WriterLock(blocked / "writer.lock").acquire()
