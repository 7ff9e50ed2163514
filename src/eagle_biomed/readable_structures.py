"""The structure of a text that chemistry can read.

``smiles_text`` knows grammar alone; what it finds may still be no molecule (a carbon with five bonds in a ring, a
formula that looks the part). An encoder refuses such a string, so nothing is sent to one unread.
"""

from eagle_biomed.structure_texts import candidates

__all__ = ["readable_structure"]


def readable_structure(text: str) -> str:
    """Return the first SMILES or InChI string of a text that RDKit takes, or empty.

    RDKit is imported with the first text that holds a candidate.
    """
    return next((each for each in candidates(text) if _is_readable(each)), "")


def _is_readable(structure: str) -> bool:
    from eagle_biomed.chemistry import MoleculeRefused, parent_molecule, read_line

    try:
        parent_molecule(read_line(structure))
    except MoleculeRefused:
        return False
    return True
