"""What files of structures look like: PDB and mmCIF, by name and first bytes."""

import re
from pathlib import PurePosixPath

from eagle_rag.model.document import Source

__all__ = ["accepts_structures", "structure_kind"]

_HEAD_BYTES = 65536
_PDB = (".pdb", ".ent")
_CIF = (".cif", ".mmcif")
# Records that a PDB file may begin with, and those that every one has.
_PDB_LINE = re.compile(
    rb"^(?:HEADER|TITLE |COMPND|REMARK|CRYST1|MODEL |ATOM  |HETATM|AUTHOR|EXPDTA|SEQRES|OBSLTE|SPLIT )",
    re.MULTILINE,
)
_CIF_BLOCK = re.compile(rb"^data_\S*", re.MULTILINE | re.IGNORECASE)
_PDB_HEADER = re.compile(rb"HEADER    .{40}\d\d-[A-Z]{3}-\d\d   [0-9A-Z]{4}")
_CIF_TAG = re.compile(rb"^_(?:entry\.id|atom_site\.|struct\.)", re.MULTILINE)


def accepts_structures(source: Source) -> bool:
    """Return whether a source is a PDB or CIF file."""
    return bool(structure_kind(source))


def structure_kind(source: Source) -> str:
    """Return ``pdb`` or ``cif``; empty for other sources."""
    suffix = PurePosixPath(source.uri).suffix.lower()
    head = source.data[:_HEAD_BYTES]
    if b"\0" in head:
        return ""
    if suffix in {"", ".txt"}:
        cif = _CIF_BLOCK.match(head) and _CIF_TAG.search(head)
        return "pdb" if _PDB_HEADER.match(head) else "cif" if cif else ""
    if suffix in _PDB and _PDB_LINE.search(head):
        return "pdb"
    return "cif" if suffix in _CIF and _CIF_BLOCK.search(head) else ""
