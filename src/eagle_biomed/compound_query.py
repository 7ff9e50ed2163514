"""What a question about compounds asks for: a structure, read or looked up by name, or a pattern."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Protocol, cast

from rdkit.Chem import MolFromSmarts
from rdkit.Chem.rdchem import Mol
from rdkit.rdBase import BlockLogs

from eagle_biomed.chemistry import MoleculeRefused, Standard, read_line, standardise
from eagle_biomed.smiles_text import find_smiles
from eagle_rag.errors import InvalidInput, InvalidQuery
from eagle_rag.ops.exact import INCHIKEY
from eagle_rag.ops.excerpts import excerpt

if TYPE_CHECKING:
    from eagle_biomed.entities import Entity, ResolvedEntity

__all__ = [
    "CompoundQuery",
    "KnownNames",
    "check_pattern",
    "entity_without_structure",
    "is_inchikey",
    "pattern_of",
    "structure_of",
    "unknown_compound",
]

MAX_QUERY_CHARS = 20_000
MAX_PATTERN_ATOMS = 150
"""Of a substructure query; larger ones are whole molecules and better asked for by similarity."""
MAX_PATTERN_RECURSION = 20
"""``$(...)`` in a SMARTS query; each is a query of its own."""
MAX_RECURSIVE_ATOMS = 12
"""In each of them: all its matches are enumerated before the search begins."""
MAX_PATTERN_WILDCARDS = 16
"""Atoms that may be any element: the ways to lay out a chain of them grow with every one."""

_MARK = re.compile(r"^\s*(?P<kind>SMILES|SMARTS)\s*[:=]\s*", re.IGNORECASE)
_INCHIKEY = re.compile(INCHIKEY)
_SIGNS = re.compile(r"[=#@\[\]()]|[A-Za-z]\d[A-Za-z]")
# What RDKit raises from C++ while it reads a pattern.
_PATTERN_ERRORS = (ValueError, RuntimeError, OverflowError)
_NEAR = 5


class KnownNames(Protocol):
    """What is needed of the ontology."""

    @property
    def entities(self) -> "Mapping[str, Entity]":
        """Every entity by canonical name, the ontology's own first."""
        ...

    def resolve_entity(self, entity: str) -> "ResolvedEntity":
        """Return what is known of a name in any spelling."""
        ...

    def smiles_of(self, name: str) -> str:
        """Return the SMILES of a known compound, or empty."""
        ...


@dataclass(frozen=True, slots=True)
class CompoundQuery:
    """A structure asked for.

    Args:
        text: What was asked.
        mol: The structure.
        standard: Its keys and parent.
        note: How a name became a structure; empty for a structure.
    """

    text: str
    mol: Mol
    standard: Standard
    note: str = ""


def is_inchikey(text: str) -> bool:
    """Return whether a text is an InChIKey."""
    return _INCHIKEY.fullmatch(text.strip()) is not None


def structure_of(
    text: str, names: KnownNames, indexed: Callable[[str], tuple[str, str]]
) -> CompoundQuery | None:
    """Return the structure that a text is or names, or ``None``.

    A name of the ontology wins even when it could be read as SMILES, then come structures, then the names
    of the library's own compounds.

    Args:
        text: SMILES, InChI, InChIKey of a compound of the library, or a name.
        names: The ontology.
        indexed: Gives SMILES and name of the library's compound of this name or InChIKey; empty when there
            is none.
    """
    bare = text.strip()
    named = names.smiles_of(bare)
    if named:
        return _query(text, named, f"{bare!r} is {named} by the ontology")
    given = _MARK.sub("", bare, count=1)
    own = None if is_inchikey(given) else _read(given)
    if own is not None:
        return CompoundQuery(text, own, standardise(own))
    smiles, name = indexed(bare)
    if smiles:
        return _query(text, smiles, f"{bare!r} is {smiles}, {name} of the library")
    found = find_smiles(bare)
    return _query(text, found[0].text, "") if found else None


def _query(text: str, structure: str, note: str) -> CompoundQuery | None:
    mol = _read(structure)
    return None if mol is None else CompoundQuery(text, mol, standardise(mol), note)


def _read(text: str) -> Mol | None:
    try:
        return read_line(text)
    except MoleculeRefused as error:
        if error.reason in {"too-many-atoms", "too-many-rings", "too-long"}:
            raise
        return None


def pattern_of(text: str) -> Mol:
    """Return the pattern of a SMARTS query.

    Raises:
        InvalidQuery: It is no SMARTS, or its search could take too long.
    """
    bare = _MARK.sub("", text.strip(), count=1)
    if not bare or len(bare) > MAX_QUERY_CHARS or bare.count("$(") > MAX_PATTERN_RECURSION:
        message = (
            f"the substructure {excerpt(bare)!r} is empty, longer than {MAX_QUERY_CHARS} characters,"
            f" or has more than {MAX_PATTERN_RECURSION} recursive parts"
        )
        raise InvalidQuery(message, remedy="give a SMILES or SMARTS of the part sought")
    try:
        with BlockLogs():
            pattern = None if "\0" in bare else MolFromSmarts(bare)
            if pattern is not None:
                pattern.UpdatePropertyCache(strict=False)
    except _PATTERN_ERRORS as error:
        raise _no_pattern(bare) from error
    if pattern is None or not pattern.GetNumAtoms():
        raise _no_pattern(bare)
    check_pattern(pattern)
    for part in _recursive_parts(bare):
        inner = cast("Mol | None", MolFromSmarts(part))  # RDKit's stubs know no None
        if inner is None or inner.GetNumAtoms() > MAX_RECURSIVE_ATOMS:
            message = (
                f"the recursive part {excerpt(part)!r} has more than {MAX_RECURSIVE_ATOMS} atoms"
            )
            raise InvalidQuery(message, remedy="write it as a part of its own")
    return pattern


def _recursive_parts(smarts: str) -> Iterator[str]:
    """Yield what stands in each ``$(...)``, nested ones too."""
    for match in re.finditer(r"\$\(", smarts):
        depth = 1
        for at in range(match.end(), len(smarts)):
            depth += {"(": 1, ")": -1}.get(smarts[at], 0)
            if not depth:
                yield smarts[match.end() : at]
                break


def _no_pattern(text: str) -> InvalidQuery:
    message = f"{excerpt(text)!r} is neither SMILES nor SMARTS"
    return InvalidQuery(message, remedy="correct it; for example: 'C(=O)[OX2H1]'")


def check_pattern(pattern: Mol) -> None:
    """Refuse a pattern whose search could take too long.

    Raises:
        InvalidQuery: It has too many atoms, or too many of any element.
    """
    atoms = pattern.GetNumAtoms()
    open_atoms = sum(atom.GetAtomicNum() == 0 for atom in pattern.GetAtoms())
    if atoms > MAX_PATTERN_ATOMS or open_atoms > MAX_PATTERN_WILDCARDS:
        message = (
            f"the substructure has {atoms} atoms, {open_atoms} of them of any element; at most"
            f" {MAX_PATTERN_ATOMS} and {MAX_PATTERN_WILDCARDS} can be searched for"
        )
        raise InvalidQuery(message, remedy="search for a smaller part, or by --similar")


def entity_without_structure(text: str, names: KnownNames) -> InvalidInput | None:
    """Return the error of a name that is known and has no structure, or ``None``.

    Args:
        text: What was asked, of which ``structure_of`` made nothing.
        names: The ontology.
    """
    bare = " ".join(text.split())
    resolved = names.resolve_entity(bare)
    if not resolved.found:
        return None
    kind = names.entities[resolved.entity].kind or "concept"
    message = f"{excerpt(bare)!r} is known ({kind}), without a structure of its own"
    if bare.casefold() != resolved.entity.casefold():
        message = f"{excerpt(bare)!r} is {resolved.entity} ({kind}), known without a structure of its own"
    remedy = f"search its documents with: eagle search {shlex.quote(bare)}"
    if kind != "drug":  # drugs related to a drug are other drugs, and no answer
        drugs = [name for name in resolved.related_drugs if names.smiles_of(name)][:_NEAR]
        remedy += f"; or give one of its drugs: {', '.join(drugs)}" if drugs else ""
    else:
        remedy += "; or give its structure, if it has one"
    return InvalidInput(message, remedy=remedy)


def unknown_compound(text: str, known: Iterable[str]) -> InvalidInput:
    """Return the error of a text that is neither a structure nor a known name, with near names."""
    bare = " ".join(text.split())
    # Who mistypes a name mostly starts right; to compare 200,000 names takes seconds.
    folded = {
        name.casefold(): name for name in known if name[:1].casefold() == bare[:1].casefold()
    }
    near = [folded[each] for each in get_close_matches(bare.casefold(), folded, n=_NEAR)]
    what = "is neither a structure (SMILES, InChI, InChIKey) nor a known name"
    message = f"{excerpt(bare)!r} {what}"
    if _SIGNS.search(bare) and " " not in bare:
        message += "; as SMILES it does not parse"
    hint = f"did you mean {', '.join(near)}?" if near else "give its structure"
    return InvalidInput(message, remedy=hint)
