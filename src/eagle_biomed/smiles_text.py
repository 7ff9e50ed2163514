"""SMILES and InChI strings in running text, told from prose by their grammar alone.

No chemistry library: classifiers ask this of every passage. What is found here may still be refused by
a library that knows chemistry (``eagle_biomed.chemistry``).

The rule. Text is split at white space, commas, quotation marks and the like. A piece is a SMILES
string when it is one by the grammar (atoms of the organic subset or in brackets, bonds, balanced
branches, paired ring closures, no atom with more bonds than it can have, aromatic atoms in rings) and
either

- it stands after the word "SMILES" and a colon or equals sign; or
- it stands after the bare word, or in brackets behind it, where acronyms stand too ("SMILES CONS", "SMILES
  (CNN)"), and has a ring, a multiple bond or an atom in square brackets, or a branch and half its atoms
  carbon, or is a chain as chemists begin one: two carbons first, two in three atoms carbon, the others
  nitrogen, oxygen, sulfur, chlorine or bromine; or
- it shows that it is no word, gene, formula or equation: five atoms, one in four of them or more
  carbon, and a ring closure (or two kinds of evidence where a hyphen or slash could join two names), or
  a multiple bond or a stereo centre beside a branch or ring. Where a ring closure is all there is, as in a
  name with two numbers, more than half the atoms must be carbon.

So ``CO``, ``CNS``, ``SOS`` and ``CCO`` are words; ``SMILES: CCO`` and ``SMILES CCO`` are ethanol, ``SMILES PCC``
is an acronym. Chains without branch, ring or multiple bond are only recognised after the word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["MAX_SMILES_CHARS", "SmilesMention", "SmilesShape", "find_smiles", "smiles_shape"]

MAX_SMILES_CHARS = 2000
"""Longer strings are not looked at; a peptide of 60 residues has about 1,000 characters."""

_ELEMENTS = (
    "He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Nb|Mo|Tc"
    "|Ru|Rh|Pd|Ag|Cd|In|Sn|Sb|Te|Xe|Cs|Ba|La|Ce|Pr|Nd|Pm|Sm|Eu|Gd|Tb|Dy|Ho|Er|Tm|Yb|Lu|Hf|Ta|Re|Os|Ir"
    "|Pt|Au|Hg|Tl|Pb|Bi|Po|At|Rn|Fr|Ra|Ac|Th|Pa|se|as|H|B|C|N|O|F|P|S|K|V|Y|I|W|U|b|c|n|o|p|s"
)
_BRACKET = (
    rf"\[\d{{0,3}}(?:{_ELEMENTS}|\*)"
    r"(?:@(?:@|(?:TH|AL|SP|TB|OH)\d{1,2})?)?(?:H\d?)?(?:\+{1,4}|-{1,4}|[+-]\d{1,2})?(?::\d{1,4})?\]"
)
_TOKEN = re.compile(rf"(?P<atom>{_BRACKET}|Cl|Br|[BCNOPSFIbcnops*])|%\d\d|[-=#$:/\\~().\d]")
_LETTERS = re.compile(rf"(?:{_BRACKET}|Cl|Br|[BCNOPSFIbcnops*]|[-=#$:/\\~().%\d])+")
_PIECE = re.compile(r"[^\s,;\"'`|<>{}\u2018\u2019\u201c\u201d]+")
_EVIDENCE = re.compile(r"[=#@]|\d.*\d")
# "SMILES: X", "SMILES string = X", "canonical SMILES (X)", "SMILES X"; in lower case only with a sign.
_MARK = re.compile(
    r"\bSMILES(?:\s+(?:strings?|notation|code|representation))?(?P<sign>\s*[:=(]\s*|\s+)"
    r"|\b(?i:smiles)(?P<weak>\s*[:=]\s*)"
)
_INCHI = re.compile(r"InChI=1S?/[A-Za-z0-9.+*]+(?:/[a-z][A-Za-z0-9+\-(),;?*.]*)*")
_TRAILING = ".,;:!?"
_FIRST_LETTERS = frozenset("BCNOPSFIbcnops*[")
# Abbreviations that are SMILES by the grammar, and may stand after "smiles:" in prose.
_ABBREVIATIONS = frozenset({"BIN", "CNN", "CNNS", "CNS", "CON", "COPS", "NOS", "PCOS", "SOS"})
_MIN_ATOMS = 5
_MIN_CARBON_SHARE = 0.25
_MIN_CARBON_SHARE_OF_BARE_RING = 0.5
_CHAIN = re.compile(r"CC(?:Cl|Br|[CNOS])*(?:[-./\\](?:Cl|Br|[CNOS])+)*")
_MIN_AROMATIC = 5
_MIN_PIECE = 5
_MIN_WEAK = 3
# Largest sums of bond orders: organic subset without hydrogens, hypervalent forms included.
_VALENCE = {"B": 3, "C": 4, "N": 5, "O": 2, "P": 5, "S": 6, "F": 1, "Cl": 7, "Br": 7, "I": 5}
_UNBOUNDED = 8
_ORDERS = {"=": 2, "#": 3, "$": 4}


@dataclass(frozen=True, slots=True)
class SmilesMention:
    """A SMILES or InChI string of a text.

    Args:
        start: First character.
        end: One past the last.
        text: The string itself.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SmilesShape:
    """What a string that is SMILES by the grammar consists of.

    Args:
        atoms: Atoms, hydrogens in brackets not counted.
        carbons: Carbon atoms among them.
        aromatic: Atoms in lower case.
        rings: Ring closures.
        branches: Branches.
        multiple_bonds: Bonds written as double, triple or quadruple.
        stereo: Stereo centres.
        joints: Single bonds written out, and slashes.
    """

    atoms: int
    carbons: int
    aromatic: int
    rings: int
    branches: int
    multiple_bonds: int
    stereo: int
    joints: int


@dataclass(slots=True)
class _Reading:
    """A string read from left to right; ``read`` returns whether the piece may stand there."""

    symbols: list[str] = field(default_factory=list)
    bonds: list[int] = field(default_factory=list)
    open_rings: dict[str, tuple[int, int]] = field(default_factory=dict)
    joined: set[tuple[int, int]] = field(default_factory=set)
    branches: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    current: int = -1
    order: int = 0
    before: str = "start"

    def read(self, piece: str, *, is_atom: bool) -> bool:
        """Take one piece."""
        if is_atom:
            return self._atom(piece)
        if piece in "()":
            return self._open() if piece == "(" else self._close()
        if piece == ".":
            return self._part()
        return self._ring(piece) if piece[-1].isdigit() else self._bond(piece)

    def _count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _atom(self, piece: str) -> bool:
        self.symbols.append(piece)
        self.bonds.append(0)
        number = len(self.symbols) - 1
        if "@" in piece:
            self._count("stereo")
        if self.before not in {"start", "."}:
            self._join(self.current, number, self.order or 1)
        self.current, self.order, self.before = number, 0, "atom"
        return True

    def _join(self, left: int, right: int, order: int) -> None:
        self.bonds[left] += order
        self.bonds[right] += order
        self.joined.add((min(left, right), max(left, right)))

    def _open(self) -> bool:
        self.branches.append(self.current)
        allowed = self.before in {"atom", ")"}
        self.before = "("
        self._count("branches")
        return allowed

    def _close(self) -> bool:
        if not self.branches or self.before not in {"atom", ")"}:
            return False
        self.current, self.before = self.branches.pop(), ")"
        return True

    def _part(self) -> bool:
        allowed = self.before == "atom" or (self.before == ")" and not self.branches)
        self.before = "."
        return allowed

    def _bond(self, piece: str) -> bool:
        allowed = self.before in {"atom", ")", "("}
        self.order, self.before = _ORDERS.get(piece, 1), "bond"
        if self.order > 1:
            self._count("multiple_bonds")
        elif piece in "-/\\":
            self._count("joints")
        return allowed

    def _ring(self, piece: str) -> bool:
        if self.before not in {"atom", "bond"} or self.current < 0:
            return False
        label = piece.lstrip("%").lstrip("0") or "0"
        other, order = self.open_rings.pop(label, (-1, 0))
        if other < 0:
            self.open_rings[label] = (self.current, self.order)
        else:
            pair = (min(other, self.current), max(other, self.current))
            if other == self.current or pair in self.joined:
                return False
            self._join(other, self.current, max(self.order, order, 1))
            self._count("rings")
        self.order, self.before = 0, "atom"
        return True

    def complete(self) -> bool:
        """Return whether nothing is left open and no atom has more bonds than it can have."""
        if self.open_rings or self.branches or self.before not in {"atom", ")"}:
            return False
        return all(
            bonds <= _VALENCE.get(symbol.capitalize(), _UNBOUNDED)
            for symbol, bonds in zip(self.symbols, self.bonds, strict=True)
        )

    def shape(self) -> SmilesShape:
        """Return the counts."""
        letters = [symbol.lstrip("[0123456789") for symbol in self.symbols]
        return SmilesShape(
            atoms=len(letters),
            carbons=sum(_is_carbon(name) for name in letters),
            aromatic=sum(name[:1].islower() for name in letters),
            rings=self.counts.get("rings", 0),
            branches=self.counts.get("branches", 0),
            multiple_bonds=self.counts.get("multiple_bonds", 0),
            stereo=self.counts.get("stereo", 0),
            joints=self.counts.get("joints", 0),
        )


def _is_carbon(name: str) -> bool:
    return name[:1] in {"C", "c"} and not name[1:2].islower()


def smiles_shape(text: str) -> SmilesShape | None:
    """Return what a string consists of, or ``None`` when it is not SMILES by the grammar.

    An aromatic atom outside any ring, as in ``In`` or ``Co`` for a metal, is not SMILES.
    """
    if not text or len(text) > MAX_SMILES_CHARS or _LETTERS.fullmatch(text) is None:
        return None
    reading = _Reading()
    position = 0
    for match in _TOKEN.finditer(text):
        if match.start() != position or not reading.read(
            match[0], is_atom=match["atom"] is not None
        ):
            return None
        position = match.end()
    if position != len(text) or not reading.complete():
        return None
    shape = reading.shape()
    if shape.aromatic and (not shape.rings or shape.aromatic < _MIN_AROMATIC):
        return None
    return shape


def find_smiles(text: str) -> tuple[SmilesMention, ...]:
    """Return the SMILES and InChI strings of a text, in order, none overlapping another."""
    found = {mention.start: mention for mention in _inchis(text)}
    for mention in (*_marked(text), *_unmarked(text)):
        found.setdefault(mention.start, mention)
    kept: list[SmilesMention] = []
    for _, mention in sorted(found.items()):
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return tuple(kept)


def _inchis(text: str) -> Iterator[SmilesMention]:
    if "InChI=" not in text:
        return
    for match in _INCHI.finditer(text):
        found = match[0].rstrip(_TRAILING)
        if found.count(")") > found.count("("):
            found = found[:-1] if found.endswith(")") else found
        if found.count("/") > 1 or not found.endswith("/"):
            yield SmilesMention(match.start(), match.start() + len(found), found)


def _marked(text: str) -> Iterator[SmilesMention]:
    """Yield what stands after the word, and is SMILES by the grammar."""
    for mark in _MARK.finditer(text):
        piece = _PIECE.match(text, mark.end())
        if piece is None:
            continue
        start, found = _trim(piece[0], piece.start())
        if _may_follow(mark, found):
            yield SmilesMention(start, start + len(found), found)


def _may_follow(mark: re.Match[str], found: str) -> bool:
    """Return whether a piece is chemistry where it stands after this mark."""
    shape = smiles_shape(found)
    if shape is None:
        return False
    if mark["weak"] is not None:
        return len(found) >= _MIN_WEAK and found.upper() not in _ABBREVIATIONS
    return mark["sign"].strip() in {":", "="} or _is_no_acronym(found, shape)


def _is_no_acronym(found: str, shape: SmilesShape) -> bool:
    if shape.rings or shape.multiple_bonds or "[" in found:
        return len(found) >= _MIN_WEAK
    if shape.branches:
        return 2 * shape.carbons >= shape.atoms
    chain = _CHAIN.fullmatch(found) is not None
    return chain and shape.atoms >= _MIN_WEAK and 3 * shape.carbons >= 2 * shape.atoms


def _unmarked(text: str) -> Iterator[SmilesMention]:
    for piece in _PIECE.finditer(text):
        word = piece[0]
        if len(word) < _MIN_PIECE or _EVIDENCE.search(word) is None:
            continue
        start, found = _trim(word, piece.start())
        if found[:1] not in _FIRST_LETTERS:
            continue
        shape = smiles_shape(found)
        if shape is not None and _is_no_word(shape):
            yield SmilesMention(start, start + len(found), found)


def _trim(piece: str, start: int) -> tuple[int, str]:
    """Drop what the sentence put around a piece: brackets that are not its own, and full stops."""
    bare = piece.lstrip("(")
    start += len(piece) - len(bare)
    while bare:
        own = bare[-1] != ")" or bare.count(")") <= bare.count("(")
        if bare[-1] not in _TRAILING and own:
            break
        bare = bare[:-1]
    return start, bare


def _is_no_word(shape: SmilesShape) -> bool:
    if shape.atoms < _MIN_ATOMS or shape.carbons < _MIN_CARBON_SHARE * shape.atoms:
        return False
    marks = bool(shape.multiple_bonds) + bool(shape.stereo) + bool(shape.aromatic)
    if shape.rings and not shape.joints and not marks and not shape.branches:
        return shape.carbons > _MIN_CARBON_SHARE_OF_BARE_RING * shape.atoms
    if shape.rings and not shape.joints:
        return True
    return marks > 0 and shape.rings + shape.branches > 0
