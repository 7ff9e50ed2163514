"""The clause of a passage that answers a query best, down to the characters."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from eagle_rag.model.results import ClauseMatch, TermMatch
from eagle_rag.ops.sentences import sentence_spans
from eagle_rag.ops.tokens import Token, tokenize_spans

__all__ = ["best_clause", "clause_spans"]

_CONJUNCTIONS: Final = "and|but|or|nor|so|yet|while|whereas|although|though|because|since|which|who|whose|where|when|if"
# White space at which one clause ends and the next begins.
_EDGE: Final = re.compile(
    rf"(?<=[;:])\s+|\s+(?=[\u2013\u2014]\s)|(?<=,)\s+(?=(?:{_CONJUNCTIONS})\s)"
    r"|\s+(?=(?:which|whereas|because|although|that)\s)"
)
_SHORTEST: Final = 24  # a piece below it is an item of a list or a label, not a clause


def clause_spans(text: str) -> list[tuple[int, int]]:
    """Return ``(start, end)`` of each clause: sentences, divided where a clause begins.

    Divided at ``;``, ``:``, a dash between spaces, a comma before a conjunction, and before
    ``which``, ``that`` and the like; no piece is shorter than 24 characters unless its sentence is.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        begin = start
        for edge in _EDGE.finditer(text, start, end):
            if edge.start() - begin >= _SHORTEST and end - edge.end() >= _SHORTEST:
                spans.append((begin, edge.start()))
                begin = edge.end()
        spans.append((begin, end))
    return spans


def best_clause(text: str, base: int, query_tokens: Sequence[str]) -> ClauseMatch | None:
    """Return the clause that holds most of the query, the first one of equals; ``None`` for none.

    Each distinct token counts once, identifiers twice and single characters a quarter: without a
    corpus at hand, form is the best sign of how telling a token is.

    Args:
        text: A passage.
        base: Where it starts in its document; all offsets returned are into the document.
        query_tokens: What ``tokenize`` made of the query.
    """
    wanted = set(query_tokens)
    found = _found(text, wanted) if wanted else []
    if not found:
        return None
    spans = clause_spans(text)
    starts = [start for start, _ in spans]
    held: dict[int, list[Token]] = {}
    for token in found:
        held.setdefault(bisect_right(starts, token[1]) - 1, []).append(token)
    number = max(held, key=lambda index: (_overlap(held[index]), -index))
    start, end = spans[number]
    return ClauseMatch(base + start, base + end, text[start:end], _terms(held[number], base, end))


def _found(text: str, wanted: set[str]) -> list[Token]:
    """Return the query's tokens in a text.

    A single letter or bare number inside a name says nothing by itself: the ``p`` of ``p.T790M`` is
    left out unless every longer part of that name is wanted too, or the name is, or the query is
    nothing else.
    """
    found: list[Token] = []
    reached = -1
    named = False
    alone = len(wanted) == 1
    spans = tokenize_spans(text)
    for place, (token, start, end) in enumerate(spans):
        if end > reached:
            reached, named = end, _is_wanted(spans, place, wanted)
        if token in wanted and (named or alone or not _is_slight(token)):
            found.append((token, start, end))
    return found


def _is_wanted(spans: Sequence[Token], place: int, wanted: set[str]) -> bool:
    """Return whether the query has the name at ``place``, or all of its telling parts."""
    name, _, end = spans[place]
    if name in wanted:
        return True
    parts = []
    for token, start, _ in spans[place + 1 :]:
        if start >= end:
            break
        parts.append(token)
    telling = [token for token in parts if not _is_slight(token)]
    return bool(telling) and wanted.issuperset(telling)


def _is_slight(token: str) -> bool:
    return len(token) == 1 or token.isdigit()


def _overlap(tokens: Sequence[Token]) -> float:
    return sum(_weight(token) for token in sorted({token for token, _, _ in tokens}))


def _weight(token: str) -> float:
    if len(token) == 1:
        return 0.25
    return 1.0 if token.isalpha() or token.isdigit() else 2.0


def _terms(tokens: Sequence[Token], base: int, end: int) -> tuple[TermMatch, ...]:
    """Return the matched terms as the source writes them; of nested ones only the longest."""
    terms: list[TermMatch] = []
    reached = -1
    for token, start, stop in sorted(tokens, key=lambda item: (item[1], -item[2])):
        if start >= reached and stop <= end:
            terms.append(TermMatch(token, base + start, base + stop))
            reached = stop
    return tuple(terms)
