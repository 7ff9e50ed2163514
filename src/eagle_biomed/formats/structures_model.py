"""Coordinates to chains and ligands, with gemmi."""

from collections.abc import Mapping
from typing import cast

import gemmi

from eagle_biomed.formats.structures_facts import Chain, Ligand

__all__ = ["GEMMI_ERRORS", "MAX_CHAINS", "ComponentNames", "chains_and_ligands", "shown_error"]

GEMMI_ERRORS = (RuntimeError, ValueError, IndexError, OverflowError)
"""What gemmi raises: syntax and values that do not fit are RuntimeErrors and ValueErrors."""

MAX_CHAINS = 5000
"""Comparing chains takes time with the square of their number; a virus capsid has about 1,400."""

ComponentNames = Mapping[str, tuple[str, str, str]]
"""Name, formula and SMILES of components, by code; empty strings for what is not stated."""

_KINDS = {
    "PeptideL": "protein",
    "PeptideD": "D-protein",
    "Dna": "DNA",
    "Rna": "RNA",
    "DnaRnaHybrid": "DNA/RNA hybrid",
    "SaccharideD": "polysaccharide",
    "SaccharideL": "polysaccharide",
    "Pna": "peptide nucleic acid",
    "CyclicPseudoPeptide": "cyclic peptide",
}


def chains_and_ligands(
    structure: gemmi.Structure, components: ComponentNames
) -> tuple[tuple[Chain, ...], tuple[Ligand, ...]]:
    """Return the polymer chains and the ligands of the first model, each in its order.

    Args:
        structure: Read from a file; its further models are dropped, and what the residues of the
            first are is worked out here.
        components: What the file says of its components.

    Raises:
        RuntimeError: gemmi cannot make sense of it.
        ValueError: It has more than ``MAX_CHAINS`` chains.
    """
    if len(structure) == 0:
        return (), ()
    del structure[1:]
    if len(structure[0]) > MAX_CHAINS:
        message = f"the model has {len(structure[0])} chains, more than {MAX_CHAINS}"
        raise ValueError(message)
    structure.setup_entities()
    chains: list[Chain] = []
    copies: dict[str, int] = {}
    for chain in structure[0]:
        polymer = chain.get_polymer()
        if len(polymer) > 0:
            chains.append(_chain(structure, chain.name, polymer))
        for residue in chain.get_ligands():
            copies[residue.name] = copies.get(residue.name, 0) + 1
    ligands = tuple(
        Ligand(code, count, *components.get(code, ("", "", ""))) for code, count in copies.items()
    )
    return tuple(chains), ligands


def _chain(structure: gemmi.Structure, name: str, polymer: gemmi.ResidueSpan) -> Chain:
    # None for a polymer of no entity, which gemmi's stubs do not say.
    entity = cast("gemmi.Entity | None", structure.get_entity_of(polymer))
    stated = [] if entity is None else [gemmi.Entity.first_mon(m) for m in entity.full_sequence]
    names = stated or [residue.name for residue in polymer.first_conformer()]
    return Chain(
        name=name,
        kind=_KINDS.get(polymer.check_polymer_type().name, "polymer"),
        sequence=gemmi.one_letter_code(names),
        entity="" if entity is None else entity.name,
    )


def shown_error(error: Exception) -> str:
    """Return what a parser complains of, on one line."""
    return " ".join(str(error).split())[:300]
