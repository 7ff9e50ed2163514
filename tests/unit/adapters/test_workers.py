"""Worker processes: order, laziness, failures, and that none outlives its parent."""

import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from eagle_rag.adapters.workers import TimeLimited, map_in_processes
from eagle_rag.errors import EagleError, UnreadableDocument

# Spawned processes import their functions by module name, and test modules have none there:
# these are functions of the standard library and of the package.
_PARENT = """
import gc, signal, sys
# A shell that starts the tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
from eagle_rag.adapters.workers import map_in_processes
if __name__ == "__main__":
    for pid in map_in_processes(eval, ["__import__('os').getpid()"] * 20, workers=2,
                                initializer=gc.freeze, initargs=()):
        print(pid, flush=True)
        if sys.argv[1] == "hold":
            sys.stdin.readline()
"""


def _map(items: Iterator[str], workers: int = 2) -> Iterator[object]:
    return map_in_processes(eval, items, workers=workers, initializer=gc.freeze, initargs=())


def test_results_come_in_the_order_of_the_items() -> None:
    pauses = "(__import__('time').sleep({}), {})[1]"
    items = iter([pauses.format(0.2, 0), *(pauses.format(0, n) for n in range(1, 20))])
    assert list(_map(items)) == list(range(20))


def test_items_are_taken_lazily() -> None:
    taken: list[int] = []

    def items() -> Iterator[str]:
        for number in range(100):
            taken.append(number)
            yield str(number)

    results = _map(items(), workers=1)
    assert next(results) == 0
    assert len(taken) <= 6
    results.close()  # type: ignore[attr-defined]  # a generator, promised as an iterator


def test_an_error_of_this_package_arrives_as_it_was_raised() -> None:
    raising = 'exec(\'from eagle_rag.errors import *; raise UnreadableDocument("a", "b", "c")\')'
    with pytest.raises(UnreadableDocument) as caught:
        list(_map(iter([raising])))
    assert (caught.value.source, caught.value.reason) == ("a", "b")


def test_a_worker_that_dies_is_an_error_with_a_remedy() -> None:
    dying = "__import__('os')._exit(9)"
    with pytest.raises(EagleError, match="a worker process died") as caught:
        list(_map(iter([dying])))
    assert "resumes" in caught.value.remedy


def _surviving(items: list[str], workers: int = 2) -> list[object]:
    return list(
        map_in_processes(
            eval,
            items,
            workers=workers,
            initializer=gc.freeze,
            initargs=(),
            killed=lambda item, _: f"killed by {item[-10:]}",
        )
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_g6_an_item_that_kills_its_process_costs_only_itself(workers: int) -> None:
    dying = "__import__('os')._exit(9)"
    items = [str(number) for number in range(20)]
    items[3] = items[17] = dying
    expected: list[object] = list(range(20))
    expected[3] = expected[17] = f"killed by {dying[-10:]}"
    assert _surviving(items, workers) == expected


def test_g6_an_item_whose_process_dies_once_is_done_in_the_end(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    once = (
        f"(__import__('os')._exit(9) if not __import__('os').path.exists({mark!r})"
        f" and open({mark!r}, 'x') else 'done')"
    )
    assert _surviving(["1", once, "2"]) == [1, "done", 2]


def test_processes_that_die_before_their_first_item_blame_no_item() -> None:
    results = map_in_processes(
        eval, ["1"], workers=1, initializer=os._exit, initargs=(9,), killed=lambda *_: "blamed"
    )
    with pytest.raises(EagleError, match="a worker process died"):
        list(results)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of the system")
def test_g6_an_item_that_takes_too_long_is_ended_and_the_rest_goes_on() -> None:
    """The pattern is matched in C, which no exception of Python's interrupts."""
    endless = "__import__('re').match('(a|aa)+b', 'a' * 99)"
    results = map_in_processes(
        TimeLimited(eval, {"1": 60.0, endless: 1.0, "2": 60.0}.__getitem__),
        ["1", endless, "2"],
        workers=1,
        initializer=gc.freeze,
        initargs=(),
        killed=lambda _, seconds: "slow" if seconds >= 1 else "died",
    )
    assert list(results) == [1, "slow", 2]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_g6_memory_beyond_the_limit_is_refused_to_the_process() -> None:
    script = (
        "from eagle_rag.adapters.workers import limit_memory\n"
        "limit_memory(64 << 20)\n"
        "assert bytearray(16 << 20)\n"
        "try:\n    bytearray(256 << 20)\nexcept MemoryError:\n    print('refused')\n"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stdout == "refused\n"


def _is_alive(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    with suppress(OSError):
        return state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_g4_no_worker_outlives_a_killed_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT, encoding="utf-8")
    with subprocess.Popen(  # noqa: S603 - our own interpreter and script
        [sys.executable, str(script), "hold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert _is_alive(worker)
        parent.kill()
    deadline = time.monotonic() + 20
    while _is_alive(worker) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _is_alive(worker)


def test_ctrl_c_ends_the_workers_without_a_word(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(_PARENT, encoding="utf-8")
    with subprocess.Popen(  # noqa: S603 - our own interpreter and script
        [sys.executable, str(script), "hold"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        os.killpg(parent.pid, signal.SIGINT)
        _, errors = parent.communicate(timeout=60)
    assert errors.count("KeyboardInterrupt") == 1, errors
