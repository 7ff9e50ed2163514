"""Combination queries: each drug that the query names is in the top hits, when any candidate names it.

A rule beyond the reference: two papers about one drug of a pair do not answer a question about the pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from eagle_biomed.evidence import with_parts
from eagle_biomed.intent import EntityNames, named_drugs
from eagle_biomed.scoring import Evidence, entity_match_score, spellings
from eagle_rag.model.query import Candidate

__all__ = ["COMBINATION", "TOP_HITS", "DrugMentions", "asked_drugs", "bring_up_each_drug"]

COMBINATION: Final = "combination"
"""The workflow of these queries."""
TOP_HITS: Final = 5

_Ranked = tuple[Candidate, Evidence]


def asked_drugs(query: str, names: EntityNames) -> tuple[tuple[str, ...], ...]:
    """Return for each drug that a query names all its names, by first occurrence.

    Args:
        query: The question as asked.
        names: Finds drugs and knows their other names.
    """
    return tuple(spellings((drug,), names) for drug in named_drugs(query, names))


@dataclass(frozen=True, slots=True)
class DrugMentions:
    """Tells which drugs of a query candidates name.

    Args:
        drugs: All names of each drug; see ``asked_drugs``.
        read: Gives the evidence of candidates, in order.
    """

    drugs: tuple[tuple[str, ...], ...]
    read: Callable[[Sequence[Candidate]], Sequence[Evidence]]

    def of(self, candidates: Sequence[Candidate]) -> tuple[tuple[bool, ...], ...]:
        """Return one row a candidate: whether it names each drug, by tag, by what it is called or at its head."""
        return tuple(
            tuple(entity_match_score(known, drug) > 0 for drug in self.drugs)
            for known in self.read(candidates)
        )


def bring_up_each_drug(
    ranking: Sequence[_Ranked], query: str, names: EntityNames
) -> list[_Ranked]:
    """Return a ranking in whose top five documents each named drug occurs, if it occurs at all.

    The best candidate that has a missing drug takes the last place of the five whose loss does not cost another
    drug; the one that stood there follows behind the five. Its score becomes that of the hit before it, so
    that scores still descend, and its part ``brought_up`` says 1.

    Args:
        ranking: Best first.
        query: The question.
        names: Finds drugs and knows their other names.
    """
    ordered = list(ranking)
    drugs = asked_drugs(query, names)
    for drug in drugs:
        top = _top(ordered)
        if any(_has(ordered[at], drug) for at in top):
            continue
        better = next((at for at in range(len(ordered)) if _has(ordered[at], drug)), None)
        place = _place(ordered, top, drugs)
        # What stands before the last of the five hits is a further passage of one of them.
        if better is None or place is None or better < place:
            continue
        ordered = _moved(ordered, better, place, behind=top[-1])
    return ordered


def _top(ranking: Sequence[_Ranked]) -> list[int]:
    """Return the places of the first five documents' best passages."""
    first: dict[str, int] = {}
    for at, (candidate, _) in enumerate(ranking):
        first.setdefault(candidate.document_id, at)
        if len(first) == TOP_HITS:
            break
    return list(first.values())


def _has(ranked: _Ranked, drug: Sequence[str]) -> bool:
    return entity_match_score(ranked[1], drug) > 0


def _place(
    ranking: Sequence[_Ranked], top: Sequence[int], drugs: Sequence[Sequence[str]]
) -> int | None:
    """Return the last of these places that no drug needs; ``None`` when each is needed."""
    for at in reversed(top):
        others = [place for place in top if place != at]
        needed = any(
            _has(ranking[at], drug) and not any(_has(ranking[place], drug) for place in others)
            for drug in drugs
        )
        if not needed:
            return at
    return None


def _moved(ranking: list[_Ranked], source: int, place: int, *, behind: int) -> list[_Ranked]:
    """Return the ranking with one item in another's place, and that other one behind the top."""
    candidate, evidence = ranking[source]
    left_out, left_evidence = ranking[place]
    score = ranking[place - 1][0].score if place else left_out.score
    brought = replace(candidate, score=score, parts=with_parts(candidate, brought_up=1.0))
    rest = [each for at, each in enumerate(ranking) if at not in (source, place)]
    rest.insert(place, (brought, evidence))
    least = min(left_out.score, *(each.score for each, _ in rest[place : behind + 1]))
    rest.insert(behind + 1, (replace(left_out, score=least), left_evidence))
    return rest
