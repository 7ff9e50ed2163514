"""Stage 10: passages to results: one a work or as they are, retracted ones by policy."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from eagle_rag.model.query import Candidate, GroupBy
from eagle_rag.model.records import LiveState

__all__ = ["RetractedPolicy", "aggregate_candidates"]

RetractedPolicy = Literal["mark", "hide", "allow"]


def aggregate_candidates(
    ranking: Sequence[Candidate],
    states: Mapping[str, LiveState],
    *,
    group_by: GroupBy,
    retracted: RetractedPolicy,
    named: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Return the results in order.

    With ``group_by="document"`` a work scores as its best passage: one decisive passage counts, not a
    paper that is vaguely relevant throughout. Several documents of one work (a record and its full text)
    are one result.

    Args:
        ranking: Candidates, best first.
        states: Version, work and retraction of their documents.
        group_by: ``document`` or ``passage``.
        retracted: ``hide`` leaves retracted documents out.
        named: Documents the request asks for by id: shown even when a later edition is there.
    """
    results: list[Candidate] = []
    seen: set[str] = set()
    for candidate in ranking:
        state = states[candidate.document_id]
        if retracted == "hide" and state.retracted:
            continue
        if state.superseded and candidate.document_id not in named:
            continue
        key = state.work_id if group_by == "document" else candidate.passage_id
        if key not in seen:
            seen.add(key)
            results.append(candidate)
    return tuple(results)
