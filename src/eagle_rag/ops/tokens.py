"""One tokenizer for index and query on every engine; ``docs/tokens.md`` says the rules in prose.

A text is scanned once for *runs*: words, and words tied together without white space
(``HLA-B*57:01``). A run becomes tokens on its own, whatever stands around it, so runs are cached and
the scan is linear in the text. A tied run gives its exact form and its parts, down to single words.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import snowballstemmer  # type: ignore[import-untyped]  # ships no types

__all__ = [
    "GREEK",
    "HYPHENS",
    "MAX_TOKEN_CHARS",
    "PRIMES",
    "STOP_WORDS",
    "Token",
    "fold_character",
    "lexemes",
    "stem",
    "tokenize",
    "tokenize_spans",
]

MAX_TOKEN_CHARS: Final = 64
"""Longer words are cut, longer tied forms give only their parts: bounds index size and memory.

A DOI is kept whole, to about 110 characters.
"""

_MAX_PARTS: Final = 12
_CACHED_RUN_CHARS: Final = 48  # longer runs hardly repeat

STOP_WORDS: Final = frozenset(
    str.split(
        "a about after also an and any are as at be because been before being between both but by could "
        "did do does during each for from further had has have he him his how if in into is it its more "
        "most nor of on only or other our own same she should so some such than that the their then there "
        "these they this those through to under until very was we were what when where which while whom "
        "whose will with would you your"
    )
)
"""Left out of index and query (measured, ``docs/tokens.md``).

Not in it: words that are also names (``all`` the leukaemia, ``no`` nitric oxide, ``her`` the receptor, ``who``,
``can``, ``not``, ``i`` as in class I).
"""

GREEK: Final = dict(
    zip(
        "αβγδεζηθικλμνξοπρστυφχψω",
        str.split(
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
            "sigma tau upsilon phi chi psi omega"
        ),
        strict=True,
    )
)
"""Small Greek letters and their names."""
# Names that are taken for the letter when they end a word or follow one: too short ones (eta, mu,
# pi) end too many ordinary words.
_NAMES: Final = "alpha|beta|gamma|delta|epsilon|zeta|theta|kappa|lambda|sigma|omega"

HYPHENS: Final = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
"""What is written for ``-``."""
PRIMES: Final = "\u2018\u2019\u02b9\u02bc\u2032\u00b4\uff07"
"""What is written for ``'``."""
_INVISIBLE: Final = "\u00ad\u200b-\u200d\u2060\ufeff"
_MARKS: Final = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f"
_SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))

_WORD: Final = rf"\w[\w{_INVISIBLE}{_MARKS}\u207a\u207b]{{0,{MAX_TOKEN_CHARS - 1}}}"
_TIE: Final = (
    rf"(?:\^[-+{HYPHENS}]?|[-{HYPHENS}'{PRIMES}./,:;=<>*+&~@|()\[\]{{}}\u00b7]{{1,3}}"
    # TNF alpha, NF-kappa B: white space before a Greek letter ties too.
    rf"|\s(?=(?i:{_NAMES}|kappab)(?!\w)|[\u0391-\u03c9][bB]?(?!\w))"
    r"|(?<=[kK]appa)\s(?=[bB](?!\w))|(?<=\u03ba)\s(?=[bB](?!\w)))"
)
_DOI: Final = r"10\.\d{4,9}/[^\s\"<>\u201c\u201d]{1,100}(?<=\w)"
_RUN: Final = re.compile(
    rf"{_DOI}|{_WORD}(?:{_TIE}(?!10\.\d{{4,9}}/){_WORD}){{0,{_MAX_PARTS - 1}}}(?:\^?\+(?!\w)|\(\+\)(?!\w))?"
)
_IS_DOI: Final = re.compile(_DOI)

_NUMBER: Final = r"\d+(?:\.\d+)+"
_ATOM: Final = re.compile(
    rf"[\u03b1-\u03c9]{{3,}}|[\u03b1-\u03c9]|{_NUMBER}[^\W_\u03b1-\u03c9]*\+?|\d{{1,3}}(?:,\d{{3}})+(?![^\W_])"
    r"|[^\W_\u03b1-\u03c9]+(?:\+(?!/-))?"
)
_UNITS: Final = (
    "[kmunp]?g|[mu]?l|dl|[mcnuk]?m|[munp]?mol|[munp]s|sec|min|h|hrs?|days?|wks?|mo|yrs?|k?da|"
    "k?bp|kb|mb|gb|iu|c?gy|[km]?hz|[mk]v|ma|kcal|kj|k?pa|mmhg|ppm|ppb|fold"
)
_RAISED_UNIT: Final = re.compile(_UNITS)
_QUANTITY: Final = re.compile(rf"(\d+(?:\.\d+)*)({_UNITS})")
_NAMED: Final = re.compile(rf"(\d+|[^\W_]{{2,}}?)({_NAMES})([^\W_]{{0,2}})|(kappa)(b)")
_MICRO: Final = re.compile(r"μ(?=(?:[mglsva]|mol|ci|molar|gram|lit(?:er|re))(?![^\W_\d]))")
_MICRO_WORD: Final = re.compile(r"micro([mgl]\d?|mol)")
_APOSTROPHE: Final = re.compile(r"(?<=[^\W\d_])'(?=[^\W\d_])")
_PLUS: Final = re.compile(r"\(\+\)|\^\+")
_DROPPED_IN_WHOLE: Final = str.maketrans("", "", "-()[]{}'_ \t\n\r\f\v")

# How loosely a tie holds: a run is divided at its loosest ties first.
_UNIT, _TIGHT, _HYPHEN, _SEPARATOR, _BRACKET, _BREAK = range(6)
_LOOSENESS: Final = {
    **dict.fromkeys(".:*>^_", _TIGHT),
    **dict.fromkeys("-' ", _HYPHEN),
    **dict.fromkeys("/,;=<&+~@|", _SEPARATOR),
    **dict.fromkeys("()[]{}", _BRACKET),
}

# Before a sequence change: coding, genomic, mitochondrial, non-coding, protein, RNA.
_CHANGE_PREFIXES: Final = frozenset("cgmnpr")


class _Folded(NamedTuple):
    """A run in normal form, and where each of its characters came from."""

    text: str
    starts: list[int] | range
    ends: list[int] | range


class _Part(NamedTuple):
    """One word of a tied run, and the tie before it."""

    text: str
    start: int
    end: int
    tie: str
    looseness: int


Token = tuple[str, int, int]
_NOTHING: Final = _Part("", 0, 0, "", _UNIT)


def tokenize(text: str) -> list[str]:
    """Return the search tokens of a text, in order; the same for index and query.

    Time is linear in the text. A text of only punctuation or stop words has no tokens.
    """
    return list(chain.from_iterable(map(_tokens, _RUN.findall(text))))


def tokenize_spans(text: str) -> list[Token]:
    """Return ``(token, start, end)`` for each token, in the order of ``tokenize``.

    Offsets are into ``text`` as given; the spans of a tied form and of its parts nest.
    """
    spans: list[Token] = []
    for match in _RUN.finditer(text):
        base = match.start()
        for token, start, end in _spans(match[0]):
            spans.append((token, base + start, base + end))
    return spans


def lexemes(text: str) -> str:
    """Return the tokens joined by single spaces: what a store indexes with a white-space analyzer."""
    return " ".join(chain.from_iterable(map(_tokens, _RUN.findall(text))))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; anything but three or more ASCII letters stays."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):  # noqa: PLR2004 - two letters have no ending
        return word
    # A stemmer keeps the word it works on in itself: one shared by threads mixes their words up.
    return str(snowballstemmer.stemmer("english").stemWord(word))


def _tokens(run: str) -> tuple[str, ...]:
    return _cached_tokens(run) if len(run) <= _CACHED_RUN_CHARS else _bare(run)


def _bare(run: str) -> tuple[str, ...]:
    return tuple(token for token, _, _ in _analyse(run))


_cached_tokens = lru_cache(maxsize=1 << 17)(_bare)


def _spans(run: str) -> tuple[Token, ...]:
    return _cached_spans(run) if len(run) <= _CACHED_RUN_CHARS else tuple(_analyse(run))


@lru_cache(maxsize=1 << 14)
def _cached_spans(run: str) -> tuple[Token, ...]:
    # Smaller than the cache of an ingest: only the few passages that are shown come here.
    return tuple(_analyse(run))


def _analyse(run: str) -> list[Token]:
    """Return the tokens of one run with offsets inside it."""
    folded = _fold(run)
    if _IS_DOI.fullmatch(run):
        suffix = folded.text.index("/") + 1
        end = len(folded.text)
        found = [(folded.text, 0, end), (folded.text[suffix:], suffix, end)]
    elif folded.text.isascii() and folded.text.isalpha() and not _NAMED.fullmatch(folded.text):
        found = _word_tokens(_Part(folded.text, 0, len(folded.text), "", _UNIT))
    else:
        parts = _divide(folded.text)
        found = []
        if parts:
            _emit(parts, found)
    starts, ends = folded.starts, folded.ends
    return [(token, starts[start], ends[end - 1]) for token, start, end in found]


def _fold(run: str) -> _Folded:
    """Bring a run to normal form: case, width, ligatures, marks, hyphens, primes, micro sign."""
    if run.isascii():
        text = run.lower()
        starts: list[int] | range = range(len(run))
        ends: list[int] | range = range(1, len(run) + 1)
    else:
        text, starts, ends = _fold_characters(run)
        text = _MICRO.sub("u", text)
    if "'" in text or "+" in text:
        return _drop_marks(_Folded(text, starts, ends))
    return _Folded(text, starts, ends)


def _fold_characters(run: str) -> tuple[str, list[int], list[int]]:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    raised = False
    for position, character in enumerate(run):
        superscript = _SUPERSCRIPTS.get(character)
        if superscript is None:
            piece = fold_character(character)
        else:
            piece = superscript if raised else "^" + superscript
        raised = superscript is not None
        if not piece:
            if ends:
                ends[-1] = position + 1
            continue
        pieces.append(piece)
        starts.extend([position] * len(piece))
        ends.extend([position + 1] * len(piece))
    return "".join(pieces), starts, ends


@lru_cache(maxsize=1 << 12)
def fold_character(character: str) -> str:
    """Return a character without case, width, ligature and marks; empty for a mark."""
    if character in HYPHENS:
        return "-"
    if character in PRIMES:
        return "'"
    if character == "\u00b7":
        return "."
    decomposed = unicodedata.normalize("NFKD", character).casefold()
    return "".join(
        kept if not kept.isspace() else " "
        for kept in unicodedata.normalize("NFKD", decomposed)
        if unicodedata.category(kept) not in {"Mn", "Me", "Cf"}
    ).replace("\u2044", "/")


def _drop_marks(folded: _Folded) -> _Folded:
    """Drop possessive and inner apostrophes; write ``CD4(+)`` and ``CD4^+`` as ``CD4+``."""
    text = folded.text
    keep = [True] * len(text)
    for match in _APOSTROPHE.finditer(text):
        keep[match.start()] = False
        if text[match.end() :] == "s":
            keep[match.end()] = False
    for match in _PLUS.finditer(text):
        for position in range(match.start(), match.end()):
            keep[position] = text[position] == "+"
    kept = [position for position, flag in enumerate(keep) if flag]
    return _Folded(
        "".join(text[position] for position in kept),
        [folded.starts[position] for position in kept],
        [folded.ends[position] for position in kept],
    )


def _divide(text: str) -> list[_Part]:
    """Divide a folded run into its words."""
    parts: list[_Part] = []
    last = 0
    for match in _ATOM.finditer(text):
        tie = text[last : match.start()]
        last = match.end()
        start = match.start()
        looseness = _looseness(tie, parts[-1] if parts else _NOTHING, match[0])
        for piece, inner in _pieces(match[0]):
            parts.append(_Part(piece, start, start + len(piece), tie, max(looseness, inner)))
            start += len(piece)
            tie, looseness = "", _UNIT
    return parts


def _pieces(atom: str) -> list[tuple[str, int]]:
    """Divide ``tnfalpha`` and ``2.3um`` where a Greek name or a unit begins."""
    quantity = _QUANTITY.fullmatch(atom)
    if quantity is not None:
        return [(quantity[1], _UNIT), (quantity[2], _UNIT)]
    named = _NAMED.fullmatch(atom)
    if named is not None:
        head, *rest = (piece for piece in named.groups() if piece)
        return [(head, _UNIT), *((piece, _HYPHEN) for piece in rest)]
    return [(atom, _UNIT)]


def _looseness(tie: str, left: _Part, right: str) -> int:
    if not tie:
        return _SEPARATOR if left.text.endswith("+") else _HYPHEN
    if tie[0] == "^":
        return _TIGHT if _is_power(left, right) else _BREAK
    if tie.isspace() and left.text in STOP_WORDS:
        return _BREAK
    if len(tie) > 1 and any(mark in tie for mark in ".;:"):
        # p.(L858R); else the end of a sentence, its space lost
        return _TIGHT if tie == ".(" and left.text in _CHANGE_PREFIXES else _BREAK
    return max(_LOOSENESS.get(character, _BRACKET) for character in tie)


def _is_power(left: _Part, right: str) -> bool:
    """Return whether ``right`` is a power or a charge, not the raised number of a citation."""
    if left.text == "10":
        return left.tie != "-"  # IL-10^12 cites
    return _RAISED_UNIT.fullmatch(left.text) is not None or (
        right.endswith("+") and len(right) > 1
    )


def _emit(parts: list[_Part], found: list[Token]) -> None:
    """Append the tokens of a tied run: its exact form, then those of its divisions."""
    if len(parts) == 1:
        found.extend(_word_tokens(parts[0]))
        return
    loosest = max(part.looseness for part in parts[1:])
    if loosest != _BREAK:
        _append_whole(parts, found)
    if loosest == _TIGHT:
        if all(len(part.text) == 1 and part.text.isalpha() for part in parts):
            return  # i.v. is iv
        if parts[0].text in _CHANGE_PREFIXES and len(parts) > 2:  # noqa: PLR2004 - prefix and one word
            _append_whole(parts[1:], found)  # c.35G>A is also asked for as 35G>A
    children = _children(parts, loosest)
    pairs = loosest == _HYPHEN and len(children) > 2  # noqa: PLR2004 - two are the whole
    for number, child in enumerate(children):
        if pairs and number + 1 < len(children):
            _append_whole(child + children[number + 1], found)  # PD-L1 in anti-PD-L1
        _emit(child, found)


def _children(parts: list[_Part], looseness: int) -> list[list[_Part]]:
    children = [[parts[0]]]
    for part in parts[1:]:
        if part.looseness == looseness:
            children.append([part])
        else:
            children[-1].append(part)
    return children


def _append_whole(parts: list[_Part], found: list[Token]) -> None:
    """Append the exact form: hyphens, brackets and primes go, unless two numbers would merge."""
    letters = all(part.tie in {"", "."} and len(part.text) == 1 for part in parts[1:])
    dotted = letters and len(parts[0].text) == 1
    text = _spell(parts[0].text)
    for part in parts[1:]:
        tie = part.tie
        if tie[:1] != "^":
            tie = tie.translate(_DROPPED_IN_WHOLE)
        elif text[-1:].isalpha():
            tie = tie[1:]  # m^2 is written m2 where nothing can be raised, Ca^2+ is Ca2+
        word = _spell(part.text)
        if not tie and part.tie and text[-1:].isdigit() and word[:1].isdigit():
            tie = "-"
        text += word if dotted else tie + word
    if len(text) <= MAX_TOKEN_CHARS:
        found.append((stem(text), parts[0].start, parts[-1].end))


def _spell(word: str) -> str:
    name = GREEK.get(word)
    return name if name is not None else word.replace(",", "")


def _word_tokens(part: _Part) -> list[Token]:
    """Return the tokens of one word."""
    word = _spell(part.text)[:MAX_TOKEN_CHARS]
    micro = _MICRO_WORD.fullmatch(word)
    if micro is not None:
        word = "u" + micro[1]
    if word in STOP_WORDS:
        return []
    found = [(stem(word), part.start, part.end)]
    if word.endswith("+"):
        found.append((word[:-1], part.start, part.end - 1))
    return found
