"""Batches that shrink when memory runs out."""

from collections.abc import Callable, Sequence

import numpy as np

from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.passage import FloatArray

__all__ = ["NotEnoughMemory", "in_batches"]


class NotEnoughMemory(EncoderLoadError):
    """A run did not fit into memory; a smaller one may."""


def in_batches(
    lengths: Sequence[int],
    run: Callable[[Sequence[int]], FloatArray],
    *,
    size: int,
    padded: bool,
) -> list[FloatArray]:
    """Run rows in batches, the longest first, and return what each row gave, in the order given.

    When a batch does not fit into memory, its size is halved, for all that follow too.

    Args:
        lengths: Length of each row.
        run: Takes positions of rows and returns one result a row.
        size: Most rows a run, at least 1.
        padded: Rows of different lengths may share a run; else only equal lengths do.

    Raises:
        NotEnoughMemory: A single row does not fit.
    """
    order = sorted(range(len(lengths)), key=lambda row: (-lengths[row], row))
    results: list[FloatArray] = [np.empty(0, np.float32)] * len(lengths)
    at = 0
    while at < len(order):
        batch = order[at : at + size]
        if not padded:
            batch = [row for row in batch if lengths[row] == lengths[batch[0]]]
        try:
            values = run(batch)
        except NotEnoughMemory:
            if len(batch) == 1:
                raise
            size = len(batch) // 2
            continue
        for row, value in zip(batch, values, strict=True):
            results[row] = value
        at += len(batch)
    return results
