from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.adapters.encoders.memory import NotEnoughMemory, in_batches
from eagle_rag.model.passage import FloatArray


class Device:
    """Returns the square of each row's number; runs of more than ``room`` rows do not fit."""

    def __init__(self, room: int = 1000) -> None:
        self.room = room
        self.runs: list[list[int]] = []

    def run(self, batch: Sequence[int]) -> FloatArray:
        self.runs.append(list(batch))
        if len(batch) > self.room:
            message = "full"
            raise NotEnoughMemory(message)
        return np.array([row * row for row in batch], np.float32)


@given(
    st.lists(st.integers(0, 5), max_size=30),
    st.integers(1, 9),
    st.integers(1, 9),
    st.booleans(),
)
def test_k3_results_do_not_depend_on_batch_size_or_memory(
    lengths: list[int],
    size: int,
    room: int,
    padded: bool,  # noqa: FBT001 - a parameter of a test
) -> None:
    results = in_batches(lengths, Device(room).run, size=size, padded=padded)
    assert [float(value) for value in results] == [row * row for row in range(len(lengths))]


def test_longest_rows_run_first() -> None:
    device = Device()
    in_batches([1, 3, 2, 3], device.run, size=2, padded=True)
    assert device.runs == [[1, 3], [2, 0]]


def test_unpadded_runs_hold_rows_of_one_length() -> None:
    device = Device()
    in_batches([1, 3, 2, 3, 1], device.run, size=4, padded=False)
    assert device.runs == [[1, 3], [2], [0, 4]]


def test_k3_batch_is_halved_until_it_fits_and_stays_small() -> None:
    device = Device(room=2)
    in_batches([1] * 10, device.run, size=8, padded=True)
    assert [len(run) for run in device.runs] == [8, 4, 2, 2, 2, 2, 2]


def test_k3_row_that_does_not_fit_alone_is_an_error() -> None:
    with pytest.raises(NotEnoughMemory, match="full"):
        in_batches([1, 1], Device(room=0).run, size=2, padded=True)
