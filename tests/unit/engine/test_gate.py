"""Who may change the index at a time inside one process."""

from pathlib import Path
from threading import Event, Thread

import pytest

from eagle_rag.adapters.lock import WriterLock
from eagle_rag.engine.gate import WriterGate
from eagle_rag.errors import IndexLocked


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "writer.lock"


def _is_held(path: Path) -> bool:
    try:
        with WriterLock(path):
            return False
    except IndexLocked:
        return True


@pytest.mark.parametrize("name", ["ingesting", "verifying", "deleting"])
def test_the_lock_is_held_inside_and_given_back_after(path: Path, name: str) -> None:
    gate = WriterGate(path)
    with getattr(gate, name)():
        assert _is_held(path)
    assert not _is_held(path)


def test_the_lock_is_given_back_after_an_error(path: Path) -> None:
    gate = WriterGate(path)
    with pytest.raises(ZeroDivisionError), gate.ingesting():
        raise ZeroDivisionError
    assert not _is_held(path)
    with gate.ingesting():
        assert _is_held(path)


def test_g3_a_deletion_inside_an_ingest_keeps_the_lock_until_both_end(path: Path) -> None:
    gate = WriterGate(path)
    with gate.ingesting():
        with gate.deleting():
            pass
        assert _is_held(path)
    assert not _is_held(path)


@pytest.mark.parametrize("name", ["ingesting", "verifying"])
def test_a_thread_that_ingests_may_not_begin_again(path: Path, name: str) -> None:
    gate = WriterGate(path)
    again = getattr(gate, name)
    with gate.ingesting(), pytest.raises(IndexLocked, match="this very thread"), again():
        pytest.fail("entered twice")


@pytest.mark.parametrize(
    ("first", "second"),
    [("ingesting", "ingesting"), ("verifying", "ingesting"), ("verifying", "deleting")],
)
def test_a_second_thread_waits_for_its_turn(path: Path, first: str, second: str) -> None:
    gate = WriterGate(path)
    entered = Event()

    def enter() -> None:
        with getattr(gate, second)():
            entered.set()

    with getattr(gate, first)():
        thread = Thread(target=enter)
        thread.start()
        assert not entered.wait(0.05)
    thread.join(timeout=30)
    assert entered.is_set()


def test_g7_another_writer_is_refused_and_the_gate_stays_usable(path: Path) -> None:
    gate = WriterGate(path)
    with gate.deleting():
        pass
    with WriterLock(path), pytest.raises(IndexLocked), gate.ingesting():
        pytest.fail("two writers")
    with gate.ingesting():
        assert _is_held(path)
