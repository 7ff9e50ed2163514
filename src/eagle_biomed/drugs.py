"""Which entities are drugs, and how a compound's name becomes its structure."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from eagle_biomed.entity_names import key_of

__all__ = ["DRUG_SUFFIX", "CompoundNames", "is_drug"]

DRUG_SUFFIX: Final = re.compile(
    r"(?:mab|zumab|limab|nib|tinib|rafenib|citinib|parib|senib|stat|formin$)"
)
"""The reference's rule, letter for letter: searched in the *name of an entity*, in small letters, never in a
text. It is not anchored but for ``formin``, so that ``atorvastatin`` is a drug by ``stat``."""


def is_drug(name: str, kind: str) -> bool:
    """Return whether an entity is a drug: its type says so, or it has no type and its name looks it.

    An entity of another known type is none: ``JAK-STAT`` is a pathway, prostate cancer a disease.
    """
    if kind:
        return kind == "drug"
    return DRUG_SUFFIX.search(name.lower()) is not None


class CompoundNames:
    """Structures by name, brand or code, whatever the case and the hyphens."""

    def __init__(
        self, aliases: Mapping[str, str], named: Iterable[tuple[Iterable[str], str]]
    ) -> None:
        """Index names.

        Args:
            aliases: SMILES by name; they come before the others.
            named: Names of one compound and its SMILES.
        """
        self._smiles: dict[str, str] = {}
        for name, smiles in aliases.items():
            self._smiles.setdefault(key_of(name), smiles)
        for names, smiles in named:
            for name in names:
                self._smiles.setdefault(key_of(name), smiles)

    def smiles_of(self, name: str) -> str:
        """Return the SMILES of a name, or an empty string."""
        return self._smiles.get(key_of(name), "")
