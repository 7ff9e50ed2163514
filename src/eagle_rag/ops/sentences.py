"""Where sentences of biomedical prose end.

Whether a stop ends a sentence is decided from a few characters around it, never from what was
decided before: so a caller may ask about a stretch of a text and gets what the whole would give.
When in doubt two sentences stay together: a split inside ``Fig. 2A`` does more harm than a long one.
"""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["boundaries", "nearest_boundary", "sentence_spans"]

_CLOSERS: Final = r")\]}\"'\u201d\u2019»"
_CITATIONS: Final = (
    r"(?:\^?\[?\d[\d,;\u2013\-]*+\]?|\^[\w,;*†‡\u2013\-]++|[ \u00a0]?\[\d[\d,; \u2013\-]*+\])?"
)
# One class of characters first, so that the scan runs in C from stop to stop; possessive and only at
# the first of several stops, so that it is linear in the text, whatever that is.
_STOP: Final = re.compile(
    r"[.!?…\n\u3002\uff01\uff1f]"
    rf"(?:(?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+[{_CLOSERS}]*+{_CITATIONS}[{_CLOSERS}]*+\s++"
    r"|(?<=\n)[^\S\n]*+\n\s*+"
    r"|(?<=[\u3002\uff01\uff1f])[\u3002\uff01\uff1f]*+[\u300d\u300f\u201d\u2019\uff09]*+\s*+)"
)
_CERTAIN: Final = "\n\u3002\uff01\uff1f"
_LEFT_CHARS: Final = 24
_RIGHT_CHARS: Final = 16
_LEFT_WORD: Final = re.compile(r"[^\s(\[{\"\u201c\u2018/\u2013\u2014=]*$")
_NEXT_WORD: Final = re.compile(r"[(\[{\"'\u201c\u2018«]*([^\W_]+)([-'\u2019]?[^\W_]*)")
_OPENERS: Final = "([{\"'\u201c\u2018«"

# Never the end of a sentence, whatever follows.
_ALWAYS_ABBREVIATED: Final = frozenset(
    str.split(
        "fig figs suppl supp tab tabs eq eqs eqn eqns ref refs sect sec ch chap vol vols pp al vs cf viz "
        "e.g eg i.e ie dr drs prof mr mrs ms mt st approx ca resp incl excl var subsp ssp f.sp pv bv "
        "nov cv gen et dept univ ed eds ver ext"
    )
)
# The end of a sentence only when the next word is one that begins sentences.
_SOMETIMES_ABBREVIATED: Final = frozenset(
    str.split(
        "sp spp etc i.v i.p i.m s.c p.o i.t i.d b.i.d t.i.d q.d q.i.d u.s u.k e.u a.m p.m inc ltd co "
        "corp jr sr phd ph.d m.d b.sc m.sc min max avg temp conc hr hrs wk yr sol no nos jan feb "
        "mar apr jun jul aug sept oct dec op cit cat est exp obs calc"
    )
)
_ABBREVIATED_BEFORE_NUMBER: Final = frozenset(str.split("no nos p n art para item step app add v"))
_STARTERS: Final = frozenset(
    str.split(
        "The This These That Those There They Their We Our It Its In On At For From To By With Of As If "
        "When While Where Whereas Although Though Because Since After Before During However Therefore "
        "Thus Hence Moreover Furthermore Additionally Finally Here Both Each All Most Many Some Several "
        "No None Not Such Only One Two Three Patients Results Data A An Then Next Among Between Under "
        "Using Based Overall Similarly Interestingly Importantly Conversely Taken Given Despite Another "
        "Further Also Consistent Compared Notably Recently Second First Third Lastly"
    )
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return ``(start, end)`` of each sentence: ordered, disjoint, neither end on white space.

    Together they hold every character that is not white space. Citations raised behind the full
    stop (``resistance.^12,13``) belong to the sentence they close.
    """
    spans: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    for end, following in boundaries(text, start, stop):
        spans.append((start, end))
        start = following
    if start < stop:
        spans.append((start, stop))
    return spans


def boundaries(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield ``(end of a sentence, start of the next)`` for stops found from ``start``, below ``stop``.

    Args:
        text: The whole text; what stands around a stop is read beyond ``start`` and ``stop`` too.
        start: Where to look from; inside ``...`` or a citation it may miss that one boundary.
        stop: A sentence that would begin here or later is not reported.
    """
    for end, match in _stops(text, start, stop):
        if _is_boundary(text, match):
            yield end, match.end()


def nearest_boundary(text: str, start: int, stop: int, *, ideal: int) -> tuple[int, int] | None:
    """Return that one of ``boundaries`` whose sentence ends nearest to ``ideal``, ties to the first.

    The same as looking at all of them, but only those near are judged.
    """
    near = sorted(_stops(text, start, stop), key=lambda place: abs(place[0] - ideal))
    for end, match in near:
        if _is_boundary(text, match):
            return end, match.end()
    return None


def _stops(text: str, start: int, stop: int) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the end of the text before each stop or blank line, and its match."""
    for match in _STOP.finditer(text, start, stop):
        if match.end() >= stop:
            return
        end = match.start() + len(match[0].rstrip())
        if end == match.start():  # a blank line
            while end and text[end - 1].isspace():
                end -= 1
        if end:
            yield end, match


def _is_boundary(text: str, match: re.Match[str]) -> bool:
    found = match[0]
    if found[0] in _CERTAIN or "\n\n" in found:
        return True
    return _ends_sentence(text, match.start(), match.end())


def _ends_sentence(text: str, stop: int, following: int) -> bool:
    """Return whether the stop at ``stop`` ends a sentence, the next word beginning at ``following``."""
    right = text[following : following + _RIGHT_CHARS]
    first = right.lstrip(_OPENERS)[:1] or right[:1]
    word = _NEXT_WORD.match(right)
    capital = first.isupper() or first.isdigit() or not (first.islower() or first in ",;:)]-")
    if not capital:
        return text[stop] == "." and _starts_with_symbol(right) and _plain_word(text, stop)
    if text[stop] != ".":
        return True
    left = _LEFT_WORD.search(text[max(0, stop - _LEFT_CHARS) : stop])
    token = left[0] if left is not None else ""
    begins = word is not None and word[1] in _STARTERS and not word[2]
    return _token_ends(text, stop, token, first=first, begins=begins)


def _token_ends(text: str, stop: int, token: str, *, first: str, begins: bool) -> bool:
    """Return whether a full stop after ``token`` ends a sentence before a capital or a digit."""
    lower = token.lower()
    if lower in _ALWAYS_ABBREVIATED or (first.isdigit() and lower in _ABBREVIATED_BEFORE_NUMBER):
        return False
    # One letter is an initial or a genus, J. Smith; but: vitamin C. The
    if lower in _SOMETIMES_ABBREVIATED or (len(token) == 1 and token.isalpha()):
        return begins
    if token.isdigit():  # 1. Introduction
        begin = stop - len(token)
        return begin > 0 and text[begin - 1] != "\n"
    return True


def _starts_with_symbol(right: str) -> bool:
    """Return whether a lower-case word is a name that may begin a sentence: p53, mRNA, c-Myc."""
    word = right.split(maxsplit=1)[0]
    return any(character.isupper() or character.isdigit() for character in word[1:6])


def _plain_word(text: str, stop: int) -> bool:
    """Return whether the full stop stands behind an ordinary word of three or more letters."""
    left = text[max(0, stop - _LEFT_CHARS) : stop]
    word = left.split()[-1] if left.strip() and not left[-1:].isspace() else ""
    return (
        len(word) > 2  # noqa: PLR2004 - shorter ones are abbreviations as often as not
        and word[-3:].isalpha()
        and word.lower() not in _ALWAYS_ABBREVIATED | _SOMETIMES_ABBREVIATED
    )
