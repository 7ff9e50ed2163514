"""Ground functions of chemistry, on RDKit: read a structure, describe it, name its parent.

Nothing light imports this module: loading RDKit takes a while. What can be told by the grammar alone is
in ``eagle_biomed.smiles_text``.

Every function is bounded in time: structures with more than ``MAX_HEAVY_ATOMS`` atoms or
``MAX_RINGS`` independent rings are refused before anything costly is computed. The canonical numbering
of larger symmetrical cages takes InChI minutes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import cast

from rdkit.Chem import (
    MolFromInchi,
    MolFromMol2Block,
    MolFromMolBlock,
    MolFromSmarts,
    MolFromSmiles,
    MolToSmiles,
    SanitizeMol,
    SmilesParserParams,
)
from rdkit.Chem.MolStandardize.rdMolStandardize import (
    LargestFragmentChooser,
    MetalDisconnector,
    Uncharger,
)
from rdkit.Chem.rdchem import Mol
from rdkit.Chem.rdinchi import InchiToInchiKey, MolToInchi
from rdkit.Chem.rdMolDescriptors import CalcMolFormula, Properties
from rdkit.rdBase import BlockLogs

from eagle_biomed.smiles_text import find_smiles
from eagle_rag.errors import InvalidInput
from eagle_rag.ops.excerpts import excerpt

__all__ = [
    "MAX_HEAVY_ATOMS",
    "MAX_RINGS",
    "MAX_STRUCTURE_CHARS",
    "MoleculeRefused",
    "Standard",
    "looks_like_smiles",
    "parent_molecule",
    "parse_inchi",
    "parse_smiles",
    "read_line",
    "read_structure",
    "standardise",
]

MAX_HEAVY_ATOMS = 1000
"""Larger molecules are macromolecules; InChI itself stops at 1,023 atoms."""
MAX_RINGS = 100
"""Independent rings; real small molecules have fewer than 30."""
MAX_STRUCTURE_CHARS = 2_000_000
"""Of a MOL or MOL2 block; 1,000 atoms take about 70,000. SMILES and InChI: a hundredth of it."""

_MAX_LINE_CHARS = MAX_STRUCTURE_CHARS // 100
_MAX_ATOMS = 4 * MAX_HEAVY_ATOMS  # with hydrogens written out
_MAX_RAW_RINGS = 2 * MAX_RINGS
_SHORT_SMILES = 500  # at most 500 atoms: parsed without counting first
_V2000_COUNTS = re.compile(r"^([ \d]{3})([ \d]{3}).{0,40}V2000", re.MULTILINE)
_V3000_COUNTS = re.compile(r"^M  V30 COUNTS +(\d+) +(\d+)", re.MULTILINE)
_MOL2_COUNTS = re.compile(r"@<TRIPOS>MOLECULE[^\n]*\n[^\n]*\n\s*(\d+)(?:\s+(\d+))?")
_INCHI_PART = re.compile(r"(\d*)((?:[A-Z][a-z]?\d*)+)")
_INCHI_ATOM = re.compile(r"([A-Z][a-z]?)(\d*)")
_INCHI_REPEAT = re.compile(r"(\d+)\*")
_INCHI_SECONDS = "-W2"
_INCHI_DONE = {0, 1}  # done, and done with warnings
_CARBON = 6
# Metals that form salts, drawn as bonded to what they are the salt of.
_SALT_METALS = "[Li,Na,K,Rb,Cs,Mg,Ca,Sr,Ba]"
# Asked of the canonical SMILES first: a walk over the atoms in Python costs more than all the rest.
_SALT_ATOM = re.compile(r"\[\d*(?:Li|Na|K|Rb|Cs|Mg|Ca|Sr|Ba)\b")
_CHARGE = re.compile(r"\[[^\]]*[+-]")
_ISOTOPE = re.compile(r"\[\d")
# What RDKit raises from C++: sanitization and argument errors are ValueErrors, broken invariants
# RuntimeErrors, numbers out of range OverflowErrors.
_RDKIT_ERRORS = (ValueError, RuntimeError, OverflowError, IndexError)


class MoleculeRefused(InvalidInput):
    """A structure that cannot be used.

    Args:
        message: What was wrong.
        reason: Short and machine-readable: ``no-structure``, ``bad-structure``, ``too-many-atoms``,
            ``too-many-rings`` or ``too-long``.
        remedy: What to do about it.
    """

    def __init__(self, message: str, *, reason: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Standard:
    """A compound as given, and its canonical parent.

    The parent drops counter-ions and solvent (the largest organic fragment stays) and takes charges
    away by adding or removing hydrogens; alkali and alkaline earth metals drawn as bonded are split off
    first. It keeps stereo and isotopes. Compounds of other metals, such as cisplatin, and what has no
    organic fragment are their own parents. Tautomers are not made one: the form given stays, and
    standard InChI already gives many of them one key.

    Args:
        smiles: Canonical isomeric SMILES of the compound as given.
        inchi: Its standard InChI; empty where InChI has none, such as for wildcard atoms.
        inchikey: Its InChIKey; empty likewise.
        parent_smiles: Canonical isomeric SMILES of the parent.
        parent_inchikey: InChIKey of the parent, or empty.
        formula: Molecular formula in Hill order, of the compound as given.
        molecular_weight: g/mol, average isotopic masses.
        heavy_atoms: Atoms but hydrogen.
        logp: Octanol-water partition coefficient (Wildman and Crippen 1999).
        tpsa: Topological polar surface area in square angstrom (Ertl 2000).
        hbd, hba: Hydrogen bond donors and acceptors.
        rotatable_bonds: Strict definition of RDKit, amide bonds not counted.
        rings: Rings of the smallest set.
        has_stereo: A stereo centre or double bond has its configuration stated.
        has_isotopes: An atom has its mass stated.
        has_salt: It has more than one fragment.
    """

    smiles: str
    inchi: str
    inchikey: str
    parent_smiles: str
    parent_inchikey: str
    formula: str
    molecular_weight: float
    heavy_atoms: int
    logp: float
    tpsa: float
    hbd: int
    hba: int
    rotatable_bonds: int
    rings: int
    has_stereo: bool
    has_isotopes: bool
    has_salt: bool

    @property
    def key(self) -> str:
        """The InChIKey, or sha256 of the SMILES (hexadecimal) where InChI has none."""
        return self.inchikey or sha256(self.smiles.encode()).hexdigest()


def parse_smiles(text: str) -> Mol | None:
    """Return the molecule of a SMILES string, or ``None``; never raises, writes nothing."""
    try:
        return read_structure("smiles", text)
    except MoleculeRefused:
        return None


def parse_inchi(text: str) -> Mol | None:
    """Return the molecule of an InChI string, or ``None``; never raises, writes nothing."""
    try:
        return read_structure("inchi", text)
    except MoleculeRefused:
        return None


def looks_like_smiles(token: str) -> bool:
    """Return whether a token is chemistry and no word: first by the grammar, then by RDKit.

    ``SMILES: CCO`` and ``SMILES CCO`` say so themselves; ``CCO`` alone is a word. The rule is in
    ``eagle_biomed.smiles_text``.
    """
    bare = token.strip()
    found = find_smiles(bare)
    if len(found) != 1 or found[0].end != len(bare):
        return False
    text = found[0].text
    alone = found[0].start == 0 or "smiles" in bare[: found[0].start].lower()
    return alone and (parse_inchi(text) if _is_inchi(text) else parse_smiles(text)) is not None


def read_line(text: str) -> Mol:
    """Return the molecule of a line notation: InChI when it begins like one, else SMILES.

    Raises:
        MoleculeRefused: As ``read_structure``.
    """
    return read_structure("inchi" if _is_inchi(text) else "smiles", text)


def _is_inchi(text: str) -> bool:
    return text.startswith("InChI=")


def read_structure(kind: str, text: str) -> Mol:
    """Return the molecule that a text of this kind describes.

    Args:
        kind: ``smiles``, ``inchi``, ``molblock`` (V2000 or V3000) or ``mol2``.
        text: One structure.

    Raises:
        MoleculeRefused: It is empty, too large, or no chemistry.
        KeyError: The kind is unknown.
    """
    limit = _MAX_LINE_CHARS if kind in {"smiles", "inchi"} else MAX_STRUCTURE_CHARS
    if not text.strip():
        message = f"the {kind} is empty"
        raise MoleculeRefused(message, reason="no-structure", remedy="give a structure")
    if len(text) > limit:
        message = f"the {kind} has {len(text)} characters, more than {limit}"
        raise MoleculeRefused(message, reason="too-long", remedy="give macromolecules as mmCIF")
    try:
        with BlockLogs():
            mol = _READERS[kind](text)
    except MoleculeRefused:
        raise
    except _RDKIT_ERRORS as error:
        raise _bad(kind, text, " ".join(str(error).split())[:200]) from error
    if mol is None:
        raise _bad(kind, text, "it does not parse")
    _check_size(mol)
    return mol


def _bad(kind: str, text: str, problem: str) -> MoleculeRefused:
    shown = f" {excerpt(text.strip())!r}" if kind in {"smiles", "inchi"} else ""
    message = f"the {kind}{shown} is no valid structure: {problem}"
    return MoleculeRefused(message, reason="bad-structure", remedy="correct it or leave it out")


def _check_size(mol: Mol) -> None:
    if not mol.GetNumAtoms():
        message = "the structure has no atoms"
        raise MoleculeRefused(message, reason="no-structure", remedy="give one with atoms")
    _check_counts(mol.GetNumHeavyAtoms(), MAX_HEAVY_ATOMS)
    # Of one fragment; several fragments with as many in all are no harder than one of them.
    rings = mol.GetNumBonds() - mol.GetNumAtoms() + 1
    if rings > MAX_RINGS:
        raise _too_many_rings(rings)


def _check_counts(atoms: int, limit: int, bonds: int = 0) -> None:
    if atoms > limit:
        message = f"the structure has {atoms} atoms, more than {limit}"
        raise MoleculeRefused(
            message, reason="too-many-atoms", remedy="give macromolecules as mmCIF"
        )
    if bonds - atoms > _MAX_RAW_RINGS:
        raise _too_many_rings(bonds - atoms)


def _too_many_rings(rings: int) -> MoleculeRefused:
    message = f"the structure has {rings} rings, more than {MAX_RINGS}"
    return MoleculeRefused(message, reason="too-many-rings", remedy="leave it out")


@cache
def _smiles_parameters() -> SmilesParserParams:
    return _parameters(allowCXSMILES=False, parseName=False)


@cache
def _counting_parameters() -> SmilesParserParams:
    """Parse without looking for rings: atoms and bonds can be counted before that is paid for."""
    return _parameters(allowCXSMILES=False, parseName=False, sanitize=False, removeHs=False)


def _parameters(**flags: bool) -> SmilesParserParams:
    parameters = SmilesParserParams()
    for name, value in flags.items():
        setattr(parameters, name, value)  # RDKit's stubs give the flags the type of their class
    return parameters


def _read_smiles(text: str) -> Mol | None:
    bare = text.strip()
    if len(bare.split()) > 1 or "\0" in bare:
        return None
    if len(bare) > _SHORT_SMILES:
        raw = MolFromSmiles(bare, _counting_parameters())
        if raw is None:
            return None
        _check_counts(raw.GetNumAtoms(), _MAX_ATOMS, raw.GetNumBonds())
    return MolFromSmiles(bare, _smiles_parameters())


def _read_inchi(text: str) -> Mol | None:
    """Read InChI whose formula is small: ``InChI=1S/9999999CH4/`` is short and huge."""
    bare = text.strip()
    layers = bare.split("/")
    if not bare.startswith("InChI=1") or len(layers) < 2 or "\0" in bare:  # noqa: PLR2004 - formula
        return None
    atoms = 0
    for part in layers[1].split("."):
        match = _INCHI_PART.fullmatch(part)
        if match is None or len(part) > _SHORT_SMILES:
            return None
        counts = [int(n[:9] or 1) for name, n in _INCHI_ATOM.findall(match[2]) if name != "H"]
        atoms += int(match[1][:9] or 1) * max(sum(counts), 1)
    repeats = [int(number[:9]) for number in _INCHI_REPEAT.findall(bare)]
    _check_counts(max([atoms, *repeats]), MAX_HEAVY_ATOMS)
    mol: Mol | None = MolFromInchi(bare)  # type: ignore[no-untyped-call]  # RDKit types only its C++
    return mol


def _read_molblock(text: str) -> Mol | None:
    for pattern in (_V2000_COUNTS, _V3000_COUNTS):
        for match in pattern.finditer(text):
            atoms, bonds = (int(number[:9].strip() or 0) for number in match.groups())
            _check_counts(atoms, _MAX_ATOMS, bonds)
    return None if "\0" in text else MolFromMolBlock(text)


def _read_mol2(text: str) -> Mol | None:
    match = _MOL2_COUNTS.search(text)
    if match is None or "\0" in text:
        return None
    _check_counts(int(match[1][:9]), _MAX_ATOMS, int((match[2] or "0")[:9]))
    mol = cast("Mol | None", MolFromMol2Block(text))  # RDKit's stubs know no None
    # MOL2 knows no implicit hydrogens: what left them out would be read as a radical.
    if mol is not None and any(atom.GetNumRadicalElectrons() for atom in mol.GetAtoms()):
        message = "the mol2 has atoms with open valences: its hydrogens are missing"
        raise MoleculeRefused(message, reason="bad-structure", remedy="add the hydrogens")
    return mol


_READERS: dict[str, Callable[[str], Mol | None]] = {
    "smiles": _read_smiles,
    "inchi": _read_inchi,
    "molblock": _read_molblock,
    "mol2": _read_mol2,
}


def standardise(mol: Mol) -> Standard:
    """Return what a molecule is called, its canonical parent, and its computed properties.

    Raises:
        MoleculeRefused: ``no-structure``, ``too-many-atoms``, ``too-many-rings``, or
            ``bad-structure`` when RDKit cannot describe it.
    """
    _check_size(mol)
    try:
        with BlockLogs():
            return _describe(mol)
    except _RDKIT_ERRORS as error:
        problem = " ".join(str(error).split())[:200]
        message = f"the structure cannot be described: {problem}"
        raise MoleculeRefused(message, reason="bad-structure", remedy="correct it") from error


def parent_molecule(mol: Mol) -> Mol:
    """Return the canonical parent alone, ten times as fast as ``standardise``; the molecule itself if it is one.

    Raises:
        MoleculeRefused: As ``standardise``.
    """
    _check_size(mol)
    try:
        with BlockLogs():
            return _parent(mol, MolToSmiles(mol))
    except _RDKIT_ERRORS as error:
        problem = " ".join(str(error).split())[:200]
        message = f"the parent of the structure cannot be found: {problem}"
        raise MoleculeRefused(message, reason="bad-structure", remedy="correct it") from error


def _describe(mol: Mol) -> Standard:
    smiles = MolToSmiles(mol)
    inchi, inchikey = _inchi(mol)
    parent = _parent(mol, smiles)
    parent_smiles = smiles if parent is mol else MolToSmiles(parent)
    parent_key = inchikey if parent_smiles == smiles else _inchi(parent)[1]
    weight, logp, tpsa, hbd, hba, rotatable = _numbers().ComputeProperties(mol)
    return Standard(
        smiles=smiles,
        inchi=inchi,
        inchikey=inchikey,
        parent_smiles=parent_smiles,
        parent_inchikey=parent_key,
        formula=CalcMolFormula(mol),
        molecular_weight=weight,
        heavy_atoms=mol.GetNumHeavyAtoms(),
        logp=logp,
        tpsa=tpsa,
        hbd=int(hbd),
        hba=int(hba),
        rotatable_bonds=int(rotatable),
        rings=mol.GetNumBonds() - mol.GetNumAtoms() + smiles.count(".") + 1,
        has_stereo=any(sign in smiles for sign in "@/\\"),
        has_isotopes=_ISOTOPE.search(smiles) is not None,
        has_salt="." in smiles,
    )


def _inchi(mol: Mol) -> tuple[str, str]:
    inchi, code, _, _, _ = MolToInchi(mol, _INCHI_SECONDS)
    return (inchi, InchiToInchiKey(inchi)) if inchi and code in _INCHI_DONE else ("", "")


@cache
def _salt_bond() -> Mol:
    return MolFromSmarts(f"{_SALT_METALS}~[#6,#7,#8,#9,#15,#16,#17,#35,#53]")


@cache
def _numbers() -> Properties:
    return Properties(["amw", "CrippenClogP", "tpsa", "NumHBD", "NumHBA", "NumRotatableBonds"])


@cache
def _other_metal() -> Mol:
    """Return a query for metals that make complexes: all but groups 1 and 2."""
    numbers = (*range(21, 32), *range(39, 51), *range(57, 84), 13, *range(89, 104))
    return MolFromSmarts("[" + ",".join(f"#{number}" for number in numbers) + "]")


@cache
def _disconnector() -> MetalDisconnector:
    disconnector = MetalDisconnector()
    disconnector.SetMetalNof(MolFromSmarts(f"{_SALT_METALS}~[#7,#8,#9]"))
    disconnector.SetMetalNon(MolFromSmarts(f"{_SALT_METALS}~[#15,#16,#17,#35,#53]"))
    return disconnector


@cache
def _chooser() -> LargestFragmentChooser:
    return LargestFragmentChooser(True)  # noqa: FBT003 - RDKit's argument has no name: prefer organic


def _parent(mol: Mol, smiles: str) -> Mol:
    """Return the parent; the molecule itself when nothing is to be taken from it."""
    salt = "." in smiles
    bonded = _SALT_ATOM.search(smiles) is not None and mol.HasSubstructMatch(_salt_bond())
    charged = _CHARGE.search(smiles) is not None
    if not (salt or bonded or charged) or mol.HasSubstructMatch(_other_metal()):
        return mol
    parent = _disconnector().Disconnect(mol) if bonded else mol
    if salt or bonded:
        parent = _chooser().choose(parent)
        if not any(atom.GetAtomicNum() == _CARBON for atom in parent.GetAtoms()):
            return mol
    parent = Uncharger().uncharge(parent)
    SanitizeMol(parent)
    return parent
