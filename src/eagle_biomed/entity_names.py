"""Names and texts in the form they are compared in.

The *key* of a text has no case, no white space, no hyphens and no apostrophes; Greek letters are spelled
out. What was dropped is kept beside it as *ties*, because a name may not be found across any gap. Where a
name may begin and end is kept too, so the boundary rule is in one place: ``_EDGES``.
"""

import re
import unicodedata
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eagle_rag.ops.tokens import GREEK, HYPHENS, PRIMES, fold_character

__all__ = ["LOOSE", "STRICT", "NormalText", "cased", "key_of", "normalise", "same_ties"]

LOOSE: Final = 1
"""A boundary for the ontology's own names: a digit or a Greek letter stands on the other side."""
STRICT: Final = 2
"""A boundary for every name."""

_NONE, _HYPHEN, _SPACE, _SOFT = range(4)  # ties; soft: white space before a Greek name
_OTHER, _LETTER, _DIGIT, _GREEK, _SIGN = range(5)  # classes; sign: of a script without case
_LONG_ENOUGH: Final = 5  # a hyphen the name does not have: "c-Met" is cMet, but "in-s" is not INS

# (class before, class after) with nothing between: (a name may begin here, a name may end here).
_EDGES: Final = {
    (_LETTER, _LETTER): (0, 0),
    (_DIGIT, _DIGIT): (0, 0),
    (_LETTER, _DIGIT): (0, LOOSE),
    (_DIGIT, _LETTER): (LOOSE, 0),
    (_LETTER, _GREEK): (LOOSE, LOOSE),
    (_DIGIT, _GREEK): (LOOSE, LOOSE),
    (_GREEK, _LETTER): (0, LOOSE),  # βcat is not CAT; but see _ANTI
    (_GREEK, _DIGIT): (0, LOOSE),
    (_GREEK, _GREEK): (0, STRICT),
    (_GREEK, _SIGN): (STRICT, STRICT),
    (_LETTER, _SIGN): (LOOSE, LOOSE),
    (_DIGIT, _SIGN): (LOOSE, LOOSE),
    (_SIGN, _LETTER): (STRICT, LOOSE),
    (_SIGN, _DIGIT): (0, LOOSE),
    (_SIGN, _GREEK): (STRICT, STRICT),
    (_SIGN, _SIGN): (STRICT, STRICT),
}
_ANTI: Final = "alpha"  # an antibody: alpha right before PD-1 is anti-PD-1

_JOINERS: Final = rf"\-{HYPHENS}'{PRIMES}"
_TOKEN: Final = re.compile(rf"([A-Za-z]+)|([0-9]+)|([\s{_JOINERS}]+)|(.)", re.DOTALL)
_WORD, _NUMBER, _GAP = 1, 2, 3  # groups of _TOKEN
_GREEK_NAMES: Final = frozenset(GREEK.values())
_SQUEEZED: Final = re.compile(rf"[\s{_JOINERS}]+")


@dataclass(frozen=True, slots=True)
class NormalText:
    """A text as it is compared.

    Args:
        key: The characters that count.
        starts: For each of them, the offset in the source where it begins.
        ends: For each of them, the offset in the source where it ends.
        ties: For each of them, what was dropped before it.
        begins: For each of them, whether a name may begin there: 0, ``LOOSE`` or ``STRICT``.
        stops: For each position from 0 to ``len(key)``, whether a name may end before it.
    """

    key: str
    starts: "array[int]"
    ends: "array[int]"
    ties: bytes
    begins: bytes
    stops: bytes


class _Writer:
    """Collects the parts of a ``NormalText``."""

    __slots__ = (
        "begins",
        "ends",
        "gap",
        "greek",
        "last",
        "pieces",
        "starts",
        "stops",
        "tie",
        "ties",
    )

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.starts = array("I")
        self.ends = array("I")
        self.ties = bytearray()
        self.begins = bytearray()
        self.stops = bytearray()
        self.last = _OTHER
        self.tie = _NONE
        self.greek = ""  # the Greek name just written
        self.gap = (0, 0)

    def add_gap(self, gap: str, start: int) -> None:
        self.gap = (start, start + len(gap))
        if gap.isspace():
            self.tie = _SPACE if gap.count("\n") < 2 else _NONE  # noqa: PLR2004 - an empty line parts
            joins = self.tie == _SPACE
        else:
            joins = len(gap) == 1
            self.tie = _HYPHEN
        if not joins:
            self.tie = _NONE
            self.write(" ", start, start + len(gap), _OTHER)

    def add_word(self, word: str, start: int, kind: int) -> None:
        end = start + len(word)
        greek = kind == _LETTER and word in _GREEK_NAMES
        self._open(kind, soft=greek or (self.greek == "kappa" and word == "b"))
        self._append(word, range(start, end), range(start + 1, end + 1))
        self.greek = word if greek else ""
        self.last = kind

    def write(self, piece: str, start: int, end: int, kind: int) -> None:
        """Write a piece that stands for the source between ``start`` and ``end`` as a whole."""
        self._open(kind, soft=kind in {_GREEK, _SIGN})
        self._append(piece, [start] * len(piece), [end] * len(piece))
        self.greek = piece if kind == _GREEK else ""
        self.last = kind

    def _open(self, kind: int, *, soft: bool) -> None:
        """Write the edge between what is there and what comes."""
        if self.tie and self.last == kind == _DIGIT:
            # Two numbers never become one.
            literal, tie = "-" if self.tie == _HYPHEN else " ", self.tie
            self.tie = _NONE
            self.write(literal, *self.gap, _OTHER)
            self.ties[-1] = tie
        begins = stops = STRICT
        if self.tie == _NONE and _OTHER not in {self.last, kind}:
            begins, stops = _EDGES[self.last, kind]
            if self.last == _GREEK and kind == _LETTER and self.greek == _ANTI:
                begins = LOOSE
        elif self.tie == _HYPHEN and kind == _DIGIT and self.last in {_LETTER, _GREEK, _SIGN}:
            stops = LOOSE  # IL is not what IL-6 names
        self.ties.append(_SOFT if soft and self.tie == _SPACE else self.tie)
        self.begins.append(begins)
        self.stops.append(stops)
        self.tie = _NONE

    def _append(self, piece: str, starts: range | list[int], ends: range | list[int]) -> None:
        self.pieces.append(piece)
        self.starts.extend(starts)
        self.ends.extend(ends)
        inner = bytes(len(piece) - 1)
        self.ties += inner
        self.begins += inner
        self.stops += inner


def normalise(text: str) -> NormalText:
    """Return a text in the form names are looked up in; linear in its length."""
    writer = _Writer()
    lower = text.lower() if text.isascii() else ""
    for match in _TOKEN.finditer(lower or text):
        group, start = match.lastindex, match.start()
        if group == _WORD:
            writer.add_word(match[0] if lower else match[0].lower(), start, _LETTER)
        elif group == _NUMBER:
            writer.add_word(match[0], start, _DIGIT)
        elif group == _GAP:
            writer.add_gap(match[0], start)
        else:
            piece, kind = _fold(match[0])
            if piece:
                writer.write(piece, start, start + 1, kind)
            elif writer.ends and not writer.tie:
                writer.ends[-1] = start + 1
    writer.stops.append(STRICT)
    return NormalText(
        "".join(writer.pieces),
        writer.starts,
        writer.ends,
        bytes(writer.ties),
        bytes(writer.begins),
        bytes(writer.stops),
    )


@lru_cache(maxsize=1 << 12)
def _fold(character: str) -> tuple[str, int]:
    """Return what a character that is neither ASCII letter nor digit is compared as, and its class."""
    folded = fold_character(character)
    if unicodedata.decomposition(character).startswith("<super>"):
        return "^", _OTHER  # the number of a reference is no part of a name
    spelled = "".join(GREEK.get(part, part) for part in folded)
    if folded in GREEK:
        return spelled, _GREEK
    if spelled.isalpha():
        return spelled, _LETTER if spelled.upper() != spelled else _SIGN
    return spelled, _DIGIT if spelled.isdigit() else _OTHER


def key_of(name: str) -> str:
    """Return the key of a name: equal for all spellings of it."""
    return normalise(name).key


def cased(text: str) -> str:
    """Return a text without white space, hyphens and apostrophes, its case kept: how it is written."""
    return _SQUEEZED.sub("", unicodedata.normalize("NFKC", text))


def same_ties(key: str, name: bytes, text: bytes) -> bool:
    """Return whether a text with these ties may stand for a name with those; both have this key."""
    if name[1:] == text[1:]:
        return True
    return all(
        _tie_fits(key, at, name[at], text[at]) for at in range(1, len(key)) if name[at] != text[at]
    )


def _written_together(key: str, at: int, name: int) -> bool:
    # TNFalpha for TNF alpha, IL6 for IL 6; never breastcancer.
    return name != _SPACE or key[at - 1].isdigit() != key[at].isdigit()


def _hyphenated(key: str, _at: int, name: int) -> bool:
    return name != _NONE or len(key) >= _LONG_ENOUGH or any(map(str.isdigit, key))


def _spaced(key: str, at: int, name: int) -> bool:
    # "hepatitis C met" is not c-MET: one letter and a short word stay apart.
    apart = at == 1 and name == _HYPHEN and key.isalpha() and len(key) <= _LONG_ENOUGH
    return name != _NONE and not apart


_FITS: Final[dict[int, Callable[[str, int, int], bool]]] = {
    _NONE: _written_together,
    _HYPHEN: _hyphenated,
    _SPACE: _spaced,
    _SOFT: lambda _key, _at, _name: True,
}


def _tie_fits(key: str, at: int, name: int, text: int) -> bool:
    return _FITS[text](key, at, name)
