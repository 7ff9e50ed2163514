"""PDB files: the header's records by their columns, the coordinates by gemmi."""

import re
from collections.abc import Iterable
from datetime import date

import gemmi

from eagle_biomed.formats.structures_facts import Molecule, StructureFacts, entry_title
from eagle_biomed.formats.structures_model import GEMMI_ERRORS, chains_and_ligands, shown_error
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Reference, Source
from eagle_rag.ops.decoding import decode_text
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmid

__all__ = ["read_pdb"]

_COORDINATES = ("ATOM  ", "HETATM", "MODEL ")
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()  # noqa: SIM905 - reads better
_DATE = re.compile(r"(\d{2})-([A-Z]{3})-(\d{2})")
_ENTRY = re.compile(r"[1-9][A-Z0-9]{3}")
_FIRST_YEAR = 70  # the PDB began in 1971: "71" is 1971, "69" will be 2069
_BROKEN = ("-", ",", "(", "[", "{")
_MAX_HEADER_LINES = 100_000
# PDB's words for details of COMPND and SOURCE, and ours.
_DETAILS = (
    ("SYNONYM", "synonyms"),
    ("FRAGMENT", "fragment"),
    ("EC", "EC"),
    ("MUTATION", "mutation"),
    ("ORGANISM_SCIENTIFIC", "organism"),
    ("GENE", "gene"),
    ("EXPRESSION_SYSTEM", "expressed in"),
)


def read_pdb(source: Source) -> StructureFacts:
    """Return what a PDB file says.

    Raises:
        UnreadableDocument: ``empty``, ``binary``, ``too-large``, ``bad-structure`` or
            ``no-structure``.
    """
    text, warnings = decode_text(source)
    header = _header(text.splitlines())
    names = _components(header)
    try:
        # gemmi cuts columns by bytes, and a half character is none; the format is ASCII anyway.
        structure = gemmi.read_pdb_string(text.encode("ascii", "replace").decode())
        models = str(len(structure)) if len(structure) > 1 else ""
        resolution = structure.resolution or None
        chains, ligands = chains_and_ligands(structure, names)
    except GEMMI_ERRORS as error:
        message = f"is no PDB file that can be read: {shown_error(error)}"
        remedy = "check the file, or take it from the PDB again"
        raise UnreadableDocument(source.uri, "bad-structure", message, remedy=remedy) from error
    molecules = _molecules(header)
    if not (chains or ligands or molecules):
        message = "holds neither chains nor ligands"
        raise UnreadableDocument(source.uri, "no-structure", message, remedy="check the file")
    first = next(iter(header.get("HEADER", [])), "")
    classification = first[10:50].strip()
    method = _joined(header, "EXPDTA").rstrip(";")
    entry = _entry(header)
    return StructureFacts(
        entry=entry,
        title=entry_title(_joined(header, "TITLE"), entry, source.uri),
        summary=(("Classification", classification), ("Method", method), ("Models", models)),
        resolution=resolution,
        deposited=_deposited(first[50:59]),
        authors=tuple(structure.meta.authors),
        keywords=tuple(filter(None, map(str.strip, _joined(header, "KEYWDS").split(",")))),
        molecules=molecules,
        chains=chains,
        ligands=ligands,
        citation=_citation(header.get("JRNL", [])),
        properties=(("classification", classification), ("method", method), ("models", models)),
        warnings=warnings,
    )


def _header(lines: list[str]) -> dict[str, list[str]]:
    """Return the lines before the coordinates, by the name of their record."""
    records: dict[str, list[str]] = {}
    for line in lines[:_MAX_HEADER_LINES]:
        if line.startswith(_COORDINATES):
            break
        records.setdefault(line[:6].strip(), []).append(line[:80])
    return records


def _joined(header: dict[str, list[str]], record: str) -> str:
    """Return a record continued over lines as one text; a word broken at a hyphen is put together."""
    parts = [line[10:].strip() for line in header.get(record, [])]
    text = ""
    for part in parts:
        text += part if text.endswith("-") or not text else f" {part}"
    return " ".join(text.split())


def _entry(header: dict[str, list[str]]) -> str:
    """Return the PDB code, from HEADER or, where that was cut off, from REVDAT."""
    for record, start in (("HEADER", 62), ("REVDAT", 23)):
        for line in header.get(record, []):
            found = line[start : start + 4].upper()
            if _ENTRY.fullmatch(found):
                return found
    return ""


def _deposited(text: str) -> str:
    match = _DATE.fullmatch(text.strip().upper())
    if match is None or match[2] not in _MONTHS:
        return ""
    short = int(match[3])
    century = 1900 if short >= _FIRST_YEAR else 2000
    try:
        return date(century + short, _MONTHS.index(match[2]) + 1, int(match[1])).isoformat()
    except ValueError:
        return ""


def _molecules(header: dict[str, list[str]]) -> tuple[Molecule, ...]:
    described: dict[str, dict[str, str]] = {}
    for record in ("COMPND", "SOURCE"):
        number = ""
        for item in _joined(header, record).split(";"):
            key, _, value = item.partition(":")
            key, value = key.strip(), value.strip()
            if key == "MOL_ID":
                number = value
            elif value:
                described.setdefault(number, {}).setdefault(key, value)
    return tuple(
        Molecule(
            name=about["MOLECULE"],
            chains=tuple(filter(None, map(str.strip, about.get("CHAIN", "").split(",")))),
            details=tuple((ours, about[key]) for key, ours in _DETAILS if key in about),
        )
        for about in described.values()
        if "MOLECULE" in about
    )


def _components(header: dict[str, list[str]]) -> dict[str, tuple[str, str, str]]:
    names = _by_code(header.get("HETNAM", []), code=11, text=15)
    formulas = _by_code(header.get("FORMUL", []), code=12, text=19)
    return {
        code: (names.get(code, ""), formulas.get(code, ""), "") for code in {*names, *formulas}
    }


def _by_code(lines: Iterable[str], *, code: int, text: int) -> dict[str, str]:
    """Join continued lines by component code; a name broken at a hyphen or bracket is put together."""
    found: dict[str, str] = {}
    for line in lines:
        name, part = line[code : code + 3].strip(), " ".join(line[text:70].split())
        before = found.get(name, "")
        found[name] = before + (part if before.endswith(_BROKEN) or not before else f" {part}")
    return {name: value for name, value in found.items() if name}


def _citation(lines: list[str]) -> Reference | None:
    parts: dict[str, list[str]] = {}
    for line in lines:
        parts.setdefault(line[12:16].strip(), []).append(line[19:])
    if not parts:
        return None
    folded = {name: " ".join(" ".join(texts).split()) for name, texts in parts.items()}
    where = folded.get("REF", "")
    found = re.search(r"\b(19|20)\d\d$", where)
    said = (folded.get("AUTH", ""), folded.get("TITL", "").rstrip("."), where)
    raw = ". ".join(filter(None, said))
    return Reference(
        key="primary",
        label="",
        raw=raw,
        title=folded.get("TITL", ""),
        year=int(found[0]) if found else None,
        pmid=normalize_pmid(folded.get("PMID", "")),
        doi=normalize_doi(folded.get("DOI", "").replace(" ", "")),
    )
