"""CIF data blocks: mmCIF entries, components of the chemical dictionary, and small molecules."""

import math
import re
from typing import cast

import gemmi
from gemmi import cif

from eagle_biomed.formats.structures_facts import Ligand, Molecule, StructureFacts, entry_title
from eagle_biomed.formats.structures_model import ComponentNames, chains_and_ligands
from eagle_rag.model.document import Reference
from eagle_rag.ops.identifiers import normalize_doi, normalize_pmid

__all__ = ["read_block"]

_ENTRY = re.compile(r"[1-9][A-Z0-9]{3}|PDB_[0-9A-Z]{8}")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MAX_VALUE = 2000
_DEPOSITED = "_pdbx_database_status.recvd_initial_deposition_date"
_ORGANISMS = (
    ("_entity_src_gen.", "pdbx_gene_src_scientific_name"),
    ("_entity_src_nat.", "pdbx_organism_scientific"),
    ("_pdbx_entity_src_syn.", "organism_scientific"),
)
_SMALL_NAMES = (
    "_chemical_name_common",
    "_chemical_name_systematic",
    "_chemical_name_mineral",
    "_chemical_compound_source",
)
_SMALL_SUMMARY = (
    ("Name", "_chemical_name_systematic"),
    ("Formula", "_chemical_formula_sum"),
    ("Molecular weight (g/mol)", "_chemical_formula_weight"),
    ("Space group", "_symmetry_space_group_name_h-m"),
    ("Space group", "_space_group_name_h-m_alt"),
    ("Cell volume (\u00c5\u00b3)", "_cell_volume"),
)


def read_block(block: cif.Block, uri: str) -> StructureFacts | None:
    """Return what a data block says, or ``None`` when it is about no structure.

    Raises:
        RuntimeError: gemmi cannot make sense of its coordinates; ``GEMMI_ERRORS`` lists the others.
    """
    if block.find_values("_atom_site.Cartn_x"):
        return _entry(block, uri)
    if block.find("_chem_comp.", ["id"]):
        return _component(block)
    if block.find_values("_atom_site_label") or _value(block, "_cell_length_a"):
        return _small_molecule(block, uri)
    return None


def _value(block: cif.Block, tag: str) -> str:
    raw = cast("str | None", block.find_value(tag))  # gemmi's stubs know no None
    return _folded(raw) if raw is not None and not cif.is_null(raw) else ""


def _folded(raw: str) -> str:
    return " ".join(cif.as_string(raw).split())[:_MAX_VALUE]


def _rows(block: cif.Block, category: str, names: list[str]) -> list[list[str]]:
    """Return the rows of a category; what is absent or unknown is empty, the first name is required."""
    table = block.find(category, [names[0], *(f"?{name}" for name in names[1:])])
    return [
        [
            _folded(row[at]) if row.has(at) and not cif.is_null(row[at]) else ""
            for at in range(len(names))
        ]
        for row in table
    ]


def _entry(block: cif.Block, uri: str) -> StructureFacts:
    structure = gemmi.make_structure_from_block(block)
    models = str(len(structure)) if len(structure) > 1 else ""
    chains, ligands = chains_and_ligands(structure, _components(block))
    entry = _value(block, "_entry.id").upper()
    known = entry if _ENTRY.fullmatch(entry) else ""
    classification = _value(block, "_struct_keywords.pdbx_keywords")
    method = "; ".join(dict.fromkeys(row[0] for row in _rows(block, "_exptl.", ["method"])))
    # gemmi looks where old entries have it too.
    deposited = dict(structure.info.items()).get(_DEPOSITED, "")
    by_entity: dict[str, list[str]] = {}
    for chain in chains:
        by_entity.setdefault(chain.entity, []).append(chain.name)
    words = _value(block, "_struct_keywords.text").split(",")
    return StructureFacts(
        entry=known,
        title=entry_title(_value(block, "_struct.title"), known, uri),
        summary=(("Classification", classification), ("Method", method), ("Models", models)),
        resolution=structure.resolution or None,
        deposited=deposited if _ISO_DATE.fullmatch(deposited) else "",
        authors=tuple(structure.meta.authors),
        keywords=tuple(dict.fromkeys(filter(None, map(str.strip, words)))),
        molecules=_molecules(block, by_entity),
        chains=chains,
        ligands=ligands,
        citation=_citation(block),
        properties=(("classification", classification), ("method", method), ("models", models)),
        ids=(("entry", entry),) if entry and not known else (),
    )


def _molecules(block: cif.Block, chains: dict[str, list[str]]) -> tuple[Molecule, ...]:
    organisms: dict[str, str] = {}
    for category, name in _ORGANISMS:
        for entity, organism in _rows(block, category, ["entity_id", name]):
            if organism:
                organisms.setdefault(entity, organism)
    details = ["pdbx_fragment", "pdbx_ec", "pdbx_mutation"]
    labels = ("fragment", "EC", "mutation")
    rows = _rows(block, "_entity.", ["id", "type", "pdbx_description", *details])
    return tuple(
        Molecule(
            name=description,
            chains=tuple(chains.get(number, ())),
            details=tuple(
                (label, value)
                for label, value in (
                    ("organism", organisms.get(number, "")),
                    *zip(labels, rest, strict=True),
                )
                if value
            ),
        )
        for number, kind, description, *rest in rows
        if kind == "polymer" and description
    )


def _components(block: cif.Block) -> ComponentNames:
    """Return name, formula and SMILES by code; of several SMILES the canonical one."""
    smiles: dict[str, str] = {}
    columns = ["comp_id", "type", "descriptor"]
    for code, kind, descriptor in _rows(block, "_pdbx_chem_comp_descriptor.", columns):
        if kind == "SMILES_CANONICAL" or (kind == "SMILES" and code not in smiles):
            smiles[code] = descriptor if " " not in descriptor else ""
    return {
        code: (name, formula, smiles.get(code, ""))
        for code, name, formula in _rows(block, "_chem_comp.", ["id", "name", "formula"])
    }


def _citation(block: cif.Block) -> Reference | None:
    columns = [
        "id",
        "title",
        "journal_abbrev",
        "journal_volume",
        "page_first",
        "year",
        "pdbx_database_id_PubMed",
        "pdbx_database_id_DOI",
    ]
    rows = [row for row in _rows(block, "_citation.", columns) if row[0] == "primary"]
    if not rows:
        return None
    _, title, journal, volume, page, year, pmid, doi = rows[0]
    authors = [
        name
        for name, cited in _rows(block, "_citation_author.", ["name", "citation_id"])
        if cited == "primary"
    ]
    where = " ".join(filter(None, (journal, volume, page, year)))
    raw = ". ".join(filter(None, (", ".join(authors).rstrip("."), title.rstrip("."), where)))
    return Reference(
        key="primary",
        label="",
        raw=raw,
        title=title,
        year=int(year) if _YEAR.fullmatch(year) else None,
        pmid=normalize_pmid(pmid),
        doi=normalize_doi(doi),
    )


def _component(block: cif.Block) -> StructureFacts:
    """Return a component of the chemical dictionary, or several."""
    ligands = tuple(Ligand(code, 1, *about) for code, about in sorted(_components(block).items()))
    only = ligands[0]
    title = only.name or f"Component {only.code}"
    return StructureFacts(
        entry="",
        title=title if len(ligands) == 1 else f"{len(ligands)} chemical components",
        ligands=ligands,
        properties=(("content", "chemical component"),),
        ids=(("chem-comp", only.code),) if len(ligands) == 1 else (),
    )


def _small_molecule(block: cif.Block, uri: str) -> StructureFacts:
    """Return a crystal structure of a small molecule: its name, formula and cell."""
    named = next(filter(None, (_value(block, tag) for tag in _SMALL_NAMES)), "")
    formula = _value(block, "_chemical_formula_sum")
    atoms = len(block.find_values("_atom_site_label"))
    summary = {label: _value(block, tag) for label, tag in reversed(_SMALL_SUMMARY)}
    summary = {label: summary[label] for label, _ in _SMALL_SUMMARY if summary[label]}
    doi = normalize_doi(_value(block, "_journal_paper_doi"))
    title = _value(block, "_publ_section_title")
    cod = _value(block, "_cod_database_code")
    citation = Reference("primary", "", title or doi, title=title, doi=doi)
    return StructureFacts(
        entry="",
        title=named or formula or entry_title("", "", uri),
        summary=(
            ("Content", "crystal structure of a small molecule, no macromolecule"),
            *summary.items(),
            ("Atoms in the asymmetric unit", str(atoms) if atoms else ""),
        ),
        citation=citation if title or doi else None,
        properties=(("content", "small molecule"), ("formula", formula)),
        ids=(("cod", cod),) if cod else (),
        warnings=_unusable_cell(block),
    )


def _unusable_cell(block: cif.Block) -> tuple[str, ...]:
    lengths = [cif.as_number(block.find_value(f"_cell_length_{axis}") or "?") for axis in "abc"]
    usable = all(math.isfinite(length) and length > 0 for length in lengths)
    return () if usable else ("the unit cell is missing or not a number",)
