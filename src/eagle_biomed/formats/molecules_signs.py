"""What files of compounds look like: which reader a source needs, by its name and first bytes."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

from eagle_rag.model.document import Source

__all__ = [
    "INCHI_COLUMNS",
    "accepts_compounds",
    "compound_kind",
    "fold_name",
    "structure_column",
    "table_delimiter",
]

_HEAD_BYTES = 8192
_TABLES = (".csv", ".tsv", ".tab")
_BY_SUFFIX = {
    ".sdf": "sdf",
    ".sd": "sdf",
    ".mol": "mol",
    ".mdl": "mol",
    ".mol2": "mol2",
    ".inchi": "inchi",
    **dict.fromkeys((".smi", ".smiles", ".ism", ".can"), "smiles"),
    **dict.fromkeys(_TABLES, "table"),
}
# Subtitles in mark-up are called .smi too.
_MARKUP = (b"<", b"{", b"%PDF", b"PK\x03\x04")
_ANY_TEXT = ("", ".txt", ".text")
_DELIMITERS = ",\t;|"
_COUNTS = re.compile(rb"[ \d]{6}.{24,32}V[23]000")
_SMILES_COLUMNS = (
    "isomeric_smiles",
    "smiles",
    "canonical_smiles",
    "smiles_string",
    "structure_smiles",
    "standardized_smiles",
    "standardised_smiles",
    "rdkit_smiles",
    "openeye_iso_smiles",
    "openeye_can_smiles",
    "connectivity_smiles",
    "compound_smiles",
    "drug_smiles",
    "molecule_smiles",
    "ligand_smiles",
    "smi",
)
INCHI_COLUMNS = ("inchi", "standard_inchi", "std_inchi", "inchi_string", "iupac_inchi")
"""Names of columns of InChI strings, folded; used where there is no SMILES."""


def accepts_compounds(source: Source) -> bool:
    """Return whether a source holds compounds in a format that is read."""
    return bool(compound_kind(source))


def compound_kind(source: Source) -> str:
    """Return ``sdf``, ``mol``, ``mol2``, ``smiles``, ``table`` or ``inchi``; empty for other sources.

    A table is one of compounds only when its header names a column of SMILES or InChI.
    """
    suffix = PurePosixPath(source.uri).suffix.lower()
    head = source.data[:_HEAD_BYTES]
    binary = b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if binary or (suffix in _TABLES and not _is_table(head)):
        return ""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if suffix in _ANY_TEXT:
        return _by_bytes(head, start)
    if start.startswith(_MARKUP):
        return ""
    return _BY_SUFFIX.get(suffix, "")


def _by_bytes(head: bytes, start: bytes) -> str:
    if start.startswith((b"InChI=1/", b"InChI=1S/")):
        return "inchi"
    if start.startswith(b"@<TRIPOS>MOLECULE"):
        return "mol2"
    lines = head.split(b"\n", 4)
    counts = len(lines) > 3 and _COUNTS.match(lines[3])  # noqa: PLR2004 - the fourth line
    return "sdf" if counts else ""


def _is_table(head: bytes) -> bool:
    encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    line = head.decode(encoding, "replace").lstrip("\r\n").partition("\n")[0]
    return bool(table_delimiter(line))


def table_delimiter(header: str) -> str:
    """Return the delimiter under which a header line names a column of structures, or empty."""
    for delimiter in _DELIMITERS:
        names = [name.strip().strip('"') for name in header.split(delimiter)]
        if structure_column(names) is not None:
            return delimiter
    return ""


def structure_column(names: list[str]) -> tuple[int, str] | None:
    """Return which column holds structures, and whether as ``smiles`` or ``inchi``; ``None`` for none.

    SMILES with stereo comes first, then the other known names, then any name that ends in "smiles".
    """
    folded = [fold_name(name) for name in names]
    for known, kind in ((_SMILES_COLUMNS, "smiles"), (INCHI_COLUMNS, "inchi")):
        for name in known:
            if name in folded:
                return folded.index(name), kind
        if kind == "smiles":
            for position, name in enumerate(folded):
                if name.endswith("_smiles") or name.startswith("smiles_"):
                    return position, kind
    return None


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return the name of a column or field in lower case, words joined by ``_``."""
    return "_".join(re.findall(r"[a-z0-9]+", name.lower()))
