"""Scoring pairs until a time budget is spent.

A cross-encoder costs as much for the fiftieth passage as for the first, and how much depends on the
machine; a budget in seconds holds on all of them. The best candidates go first, so what is left out is
what mattered least. The clock is an argument, as nothing here may read one.
"""

from collections.abc import Callable, Sequence

import numpy as np

from eagle_rag.model.passage import FloatArray
from eagle_rag.ports.encoders import PairScorer

__all__ = ["score_within"]

_TRIAL = 4
_MOST = 32


def score_within(
    scorer: PairScorer,
    query: str,
    texts: Sequence[str],
    *,
    budget_s: float | None,
    clock: Callable[[], float],
) -> FloatArray:
    """Return the scores of the first texts: of all, or of as many as the budget allows.

    The first text is scored outside the budget, because that may load the weights. A few texts then tell
    how long one takes; no batch starts that would not end in time by that measure. Scores do not depend
    on the batch they were computed in, so a cut list is a prefix of the whole.

    Args:
        scorer: The cross-encoder.
        query: The query.
        texts: Best first.
        budget_s: Seconds; ``None`` for no limit.
        clock: Seconds from any start, such as ``time.monotonic``.

    Returns:
        Shape ``(n,)``; ``n`` is at least 1 unless there are no texts.
    """
    if budget_s is None or len(texts) < 2:  # noqa: PLR2004 - one text is always scored
        return scorer.score_pairs(query, texts)
    found = [scorer.score_pairs(query, texts[:1])]
    done, size = 1, _TRIAL
    started = clock()
    while done < len(texts) and size:
        found.append(scorer.score_pairs(query, texts[done : done + size]))
        done += len(found[-1])
        spent = clock() - started
        each = spent / (done - 1)
        left = budget_s - spent
        size = _MOST if each <= 0 else max(0, min(_MOST, int(left / each)))
    return np.concatenate(found)
