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
_PANEL: Final = re.compile(r"\([a-z](?:[-,\u2013\u2014] ?[a-z])*\)[,:]? ?[A-Z0-9]")
_BULLETS: Final = "\u2022\u25cf\u25aa\u25a0"
_OPENERS: Final = "([{\"'\u201c\u2018«"

# Never the end of a sentence, whatever follows.
_ALWAYS_ABBREVIATED: Final = frozenset(
    str.split(
        "fig figs suppl supp tab tabs eq eqs eqn eqns ref refs sect sec ch chap vol vols pp al vs cf viz "
        "e.g eg i.e ie approx ca resp incl excl var subsp ssp f.sp pv bv "
        "nov cv gen et dept univ ed eds ver ext"
    )
)
# Names follow these, and only these spellings: 5 ms. The
_TITLES: Final = frozenset(str.split("Dr Drs Prof Mr Mrs Ms Mt St Ste Jr Sr"))
# The end of a sentence only when the next word is one that begins sentences.
_SOMETIMES_ABBREVIATED: Final = frozenset(
    str.split(
        "sp spp etc i.v i.p i.m s.c p.o i.t i.d b.i.d t.i.d q.d q.i.d u.s u.k e.u a.m p.m inc ltd co "
        "corp phd ph.d m.d b.sc m.sc avg temp sol no nos jan feb "
        "mar apr jun jul aug sept oct dec op cit cat est obs calc"
    )
)
_ABBREVIATED_BEFORE_NUMBER: Final = frozenset(str.split("no nos p n art para item step app add v"))
_STARTERS: Final = frozenset(
    str.split(
        "The This These That Those There They Their We Our It Its In On At For From To By With Of As If "
        "When While Where Whereas Although Though Because Since After Before During However Therefore "
        "Thus Hence Moreover Furthermore Additionally Finally Here Both Each All Most Many Some Several "
        "No None Not Such Only One Two Three Four Five Six Seven Eight Nine Ten Patients Results Data A "
        "An Then Next Among Between Under Using Based Overall Similarly Interestingly Importantly Conversely Taken Given Despite Another "
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
    if text[stop] == "." and text[stop + 1].isdigit() and not _cites(text, stop, first):
        return False
    if first.islower() or not (first.isalnum() or first in _BULLETS):
        return text[stop] == "." and _begins_in_lower_case(right) and _plain_word(text, stop)
    return text[stop] != "." or _full_stop_ends(text, stop, right, first=first)


def _full_stop_ends(text: str, stop: int, right: str, *, first: str) -> bool:
    """Return whether a full stop before a capital or a digit ends a sentence, by the word it closes."""
    left = _LEFT_WORD.search(text, max(0, stop - _LEFT_CHARS), stop)
    token = left[0] if left is not None else ""
    lower = token.lower()
    if lower in _ALWAYS_ABBREVIATED or token in _TITLES:
        return False
    if first.isdigit() and lower in _ABBREVIATED_BEFORE_NUMBER:
        return False
    if lower in _SOMETIMES_ABBREVIATED or (len(token) == 1 and token.isalpha()):
        word = _NEXT_WORD.match(right)
        begins = word is not None and word[1] in _STARTERS and not word[2]
        return begins or _is_unit(text, stop, token)
    # 1. Introduction
    return not (token.isdigit() and text[stop - len(token) - 1 : stop - len(token)] in {"", "\n"})


def _cites(text: str, stop: int, first: str) -> bool:
    """Return whether digits right behind a full stop are a citation: ``resistance.12 The``."""
    return stop > 0 and (text[stop - 1].isalpha() or text[stop - 1] in ")]") and first.isupper()


def _is_unit(text: str, stop: int, token: str) -> bool:
    """Return whether one letter is a unit, not an initial: ``every 12 h. Calves``, ``5 nm/s. WT``."""
    before = text[max(0, stop - 3) : stop - 1]
    return len(token) == 1 and token.islower() and (before[-1:] == "/" or before[:1].isdigit())


def _begins_in_lower_case(right: str) -> bool:
    """Return whether a name or a figure's panel begins a sentence: p53, mRNA, c-Myc, (b) Mice."""
    if _PANEL.match(right) is not None:
        return True
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
