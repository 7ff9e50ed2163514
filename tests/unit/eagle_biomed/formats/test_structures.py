"""Macromolecular structures: PDB and mmCIF, fictional entries."""

import hashlib

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.structures import parse
from eagle_biomed.formats.structures_model import MAX_CHAINS
from eagle_biomed.formats.structures_signs import structure_kind
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source


def _atom(number: int, name: str, residue: str, at: tuple[str, int], *, het: bool = False) -> str:
    """Return an ATOM line; atoms lie on a line, 1.5 angstrom apart."""
    record = "HETATM" if het else "ATOM  "
    chain, position = at
    return (
        f"{record}{number:5d} {name:<4} {residue:>3} {chain}{position:4d}    "
        f"{1.5 * number:8.3f}{0:8.3f}{0:8.3f}  1.00 20.00           {name.strip()[0]:>2}"
    )


def _peptide(chain: str, start: int) -> list[str]:
    lines = []
    for at, residue in enumerate(("MET", "ALA", "GLY", "LYS")):
        for offset, name in enumerate((" N", " CA", " C", " O")):
            lines.append(_atom(start + 4 * at + offset, name, residue, (chain, at + 1)))
    return [*lines, "TER"]


PDB = "\n".join(
    [
        "HEADER    TRANSFERASE/INHIBITOR                   07-MAR-13   9ZZZ              ",
        "TITLE     STRUCTURE OF A FICTIONAL KINASE IN COMPLEX WITH AN INVENTED INHIB-    ",
        "TITLE    2 ITOR                                                                 ",
        "COMPND    MOL_ID: 1;                                                            ",
        "COMPND   2 MOLECULE: FICTIONAL KINASE 1;                                        ",
        "COMPND   3 CHAIN: A, B;                                                         ",
        "COMPND   4 EC: 2.7.99.9                                                         ",
        "SOURCE    MOL_ID: 1;                                                            ",
        "SOURCE   2 ORGANISM_SCIENTIFIC: HOMO SAPIENS;                                   ",
        "KEYWDS    KINASE, INVENTED, TRANSFERASE-INHIBITOR COMPLEX                       ",
        "EXPDTA    X-RAY DIFFRACTION                                                     ",
        "AUTHOR    A.B.NOBODY,C.NOONE                                                    ",
        "JRNL        AUTH   A.B.NOBODY,C.NOONE                                           ",
        "JRNL        TITL   A KINASE THAT IS NOT.                                        ",
        "JRNL        REF    J.IMAGINARY BIOL.             V.   1     1 2013              ",
        "JRNL        PMID   12345678                                                     ",
        "JRNL        DOI    10.9999/FICTION.1                                            ",
        "REMARK   2                                                                      ",
        "REMARK   2 RESOLUTION.    1.95 ANGSTROMS.                                       ",
        "SEQRES   1 A    5  MET ALA GLY LYS TRP                                          ",
        "SEQRES   1 B    5  MET ALA GLY LYS TRP                                          ",
        "HETNAM     QQQ 4-(INVENTED-GROUP)-N-(MADE-UP-                                   ",
        "HETNAM   2 QQQ  ARYL)AMIDE                                                      ",
        "FORMUL   3  QQQ    2(C12 H11 N O2)                                              ",
        *_peptide("A", 1),
        *_peptide("B", 31),
        _atom(61, " C1", "QQQ", ("A", 101), het=True),
        _atom(62, " C1", "QQQ", ("B", 101), het=True),
        _atom(63, " O", "HOH", ("A", 201), het=True),
        "END",
    ]
)
_SITES = "\n".join(
    f"{'ATOM' if kind != 'LIG' else 'HETATM'} {number} C C{number} . {kind} {asym} {entity} {at} "
    f"{1.5 * number} 0 0 1.0 10.0 {at} X"
    for number, (kind, asym, entity, at) in enumerate(
        [("MET", "A", 1, 1), ("ALA", "A", 1, 2), ("LIG", "B", 2, ".")], 1
    )
).replace(" . X", " 9 X")
MMCIF = f"""data_9YYY
_entry.id 9YYY
_struct.title 'A fictional receptor with a ligand'
_struct_keywords.pdbx_keywords 'SIGNALING PROTEIN'
_struct_keywords.text 'receptor, fiction'
_exptl.method 'ELECTRON MICROSCOPY'
_em_3d_reconstruction.resolution 3.20
_pdbx_database_status.recvd_initial_deposition_date 2021-05-06
loop_
_entity.id
_entity.type
_entity.pdbx_description
1 polymer 'Imaginary receptor'
2 non-polymer LIGAND
_entity_src_gen.entity_id 1
_entity_src_gen.pdbx_gene_src_scientific_name 'Mus musculus'
loop_
_chem_comp.id
_chem_comp.type
_chem_comp.name
_chem_comp.formula
LIG non-polymer ethanol 'C2 H6 O'
MET 'L-peptide linking' METHIONINE 'C5 H11 N O2 S'
loop_
_pdbx_chem_comp_descriptor.comp_id
_pdbx_chem_comp_descriptor.type
_pdbx_chem_comp_descriptor.descriptor
LIG SMILES OCC
LIG SMILES_CANONICAL CCO
loop_
_entity_poly_seq.entity_id
_entity_poly_seq.num
_entity_poly_seq.mon_id
1 1 MET
1 2 ALA
1 3 TRP
_citation.id primary
_citation.title 'On receptors that are not'
_citation.journal_abbrev 'J Imaginary Biol'
_citation.year 2021
_citation.pdbx_database_id_PubMed 23456789
_citation.pdbx_database_id_DOI 10.9999/Fiction.2
loop_
_atom_site.group_PDB
_atom_site.id
_atom_site.type_symbol
_atom_site.label_atom_id
_atom_site.label_alt_id
_atom_site.label_comp_id
_atom_site.label_asym_id
_atom_site.label_entity_id
_atom_site.label_seq_id
_atom_site.Cartn_x
_atom_site.Cartn_y
_atom_site.Cartn_z
_atom_site.occupancy
_atom_site.B_iso_or_equiv
_atom_site.auth_seq_id
_atom_site.auth_asym_id
{_SITES}
"""
SMALL = """data_2000000
_chemical_name_systematic 'sodium fictionate'
_chemical_formula_sum 'C2 H3 Na O2'
_cell_length_a 10.0
_cell_length_b 11.0
_cell_length_c 12.0
_cod_database_code 2000000
loop_
_atom_site_label
_atom_site_fract_x
_atom_site_fract_y
_atom_site_fract_z
C1 0.1 0.2 0.3
"""


def _source(name: str, text: str | bytes) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source(name, data, hashlib.sha256(data).hexdigest())


def _no_xml(source: Source) -> object:
    message = f"{source.uri} is no XML"
    raise AssertionError(message)


def _parse(name: str, text: str | bytes) -> ParseOutcome:
    return parse(_source(name, text), FormatTools(_no_xml))


def _only(name: str, text: str) -> ParsedDocument:
    (document,) = _parse(name, text).documents
    return document


def _section(document: ParsedDocument, title: str) -> list[str]:
    """Return the texts of a section's blocks, without its heading."""
    return [
        document.text[block.start : block.end]
        for block in document.blocks
        if document.sections[block.section].path == (title,)
    ][1:]


def test_a_pdb_file_gives_its_header_as_text_and_properties() -> None:
    document = _only("9zzz.pdb", PDB)
    properties = dict(document.metadata.properties)

    assert document.format == "structure"
    assert document.metadata.title == (
        "STRUCTURE OF A FICTIONAL KINASE IN COMPLEX WITH AN INVENTED INHIB-ITOR"
    )
    assert (document.metadata.published, document.metadata.year) == ("2013-03-07", 2013)
    assert properties["method"] == "X-RAY DIFFRACTION"
    assert properties["resolution_angstrom"] == "1.95"
    assert properties["classification"] == "TRANSFERASE/INHIBITOR"
    assert document.metadata.keywords == ("KINASE", "INVENTED", "TRANSFERASE-INHIBITOR COMPLEX")
    assert "Resolution: 1.95 \u00c5" in document.text


def test_a_pdb_code_is_the_identity_and_the_work() -> None:
    identity = _only("whatever.pdb", PDB).identity

    assert identity is not None
    assert (identity.key, identity.work) == ("pdb:9ZZZ", "pdb:9ZZZ")


def test_molecules_have_their_chains_and_organism() -> None:
    assert _section(_only("9zzz.pdb", PDB), "Molecules") == [
        "FICTIONAL KINASE 1 (chains A, B; EC 2.7.99.9; organism HOMO SAPIENS)"
    ]


def test_ligands_have_name_and_formula_and_water_is_none() -> None:
    assert _section(_only("9zzz.pdb", PDB), "Ligands") == [
        "QQQ: 4-(INVENTED-GROUP)-N-(MADE-UP-ARYL)AMIDE; formula 2(C12 H11 N O2); 2 copies"
    ]


def test_chains_of_one_sequence_stand_together_with_the_whole_sequence() -> None:
    assert _section(_only("9zzz.pdb", PDB), "Sequences") == [
        "Chains A, B (protein, 5 residues):\nMAGKW"
    ]


def test_the_primary_citation_is_a_reference_with_its_identifiers() -> None:
    document = _only("9zzz.pdb", PDB)

    (reference,) = document.references
    assert (reference.pmid, reference.doi, reference.year) == (
        "12345678",
        "10.9999/fiction.1",
        2013,
    )
    assert (document.metadata.ids.pmid, document.metadata.ids.doi) == ("", "")


def test_an_mmcif_entry_says_the_same_by_its_tags() -> None:
    document = _only("9yyy.cif", MMCIF)
    properties = dict(document.metadata.properties)

    assert document.metadata.title == "A fictional receptor with a ligand"
    assert document.metadata.published == "2021-05-06"
    assert properties["method"] == "ELECTRON MICROSCOPY"
    assert properties["resolution_angstrom"] == "3.20"
    assert properties["organisms"] == "Mus musculus"
    assert _section(document, "Molecules") == [
        "Imaginary receptor (chain X; organism Mus musculus)"
    ]
    assert _section(document, "Sequences") == ["Chain X (protein, 3 residues):\nMAW"]
    assert document.references[0].pmid == "23456789"


def test_a_ligand_has_the_canonical_smiles_where_the_file_says_it() -> None:
    assert _section(_only("9yyy.cif", MMCIF), "Ligands") == [
        "LIG: ethanol; formula C2 H6 O; SMILES: CCO"
    ]


def test_a_file_with_a_ligand_alone_is_a_structure_that_says_so() -> None:
    text = "TITLE     MADE BY A PROGRAM\n" + _atom(1, " C1", "LGD", ("X", 1), het=True) + "\nEND\n"

    document = _only("folder/1abc_lig.pdb", text)

    assert document.metadata.title == "Structure 1abc_lig: MADE BY A PROGRAM"
    assert _section(document, "Ligands") == ["LGD"]
    assert document.identity is None


def test_the_crystal_of_a_small_molecule_is_read_as_what_it_is() -> None:
    document = _only("2000000.cif", SMALL)

    assert document.metadata.title == "sodium fictionate"
    assert "no macromolecule" in document.text
    assert "Formula: C2 H3 Na O2" in document.text
    assert document.metadata.ids.other == (("cod", "2000000"),)


def test_a_component_of_the_chemical_dictionary_has_its_smiles() -> None:
    text = MMCIF.partition("loop_\n_entity_poly_seq")[0].replace("_entry.id 9YYY\n", "")

    document = _only("LIG.cif", text)

    assert "LIG: ethanol; formula C2 H6 O; SMILES: CCO" in _section(document, "Ligands")


def test_every_data_block_is_a_document_and_an_empty_one_is_refused() -> None:
    outcome = _parse("many.cif", MMCIF + SMALL + "data_empty\n_x.y 1\n")

    assert [each.member for each in outcome.documents] == ["1-9YYY", "2-2000000"]
    assert [(each.member, each.reason) for each in outcome.refusals] == [
        ("3-empty", "no-structure")
    ]
    assert len({each.digest for each in outcome.documents}) == 2


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.pdb", "", "empty"),
        ("a.pdb", "REMARK   nothing here\n", "no-structure"),
        ("a.pdb", "ATOM      1  CA  ALA A   1\n", "bad-structure"),
        ("a.cif", "data_x\nloop_\n_a.b\n_a.c\n1 2 3\n", "cif-syntax"),
        ("a.cif", "data_x\n_a.b 'unclosed\n", "cif-syntax"),
        ("a.cif", "data_x\n_a.b 1\n", "no-structure"),
    ],
)
def test_what_is_no_structure_is_refused_with_its_reason(
    name: str, text: str, reason: str
) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _parse(name, text)

    assert caught.value.reason == reason


def test_a_file_of_more_chains_than_any_structure_has_is_refused() -> None:
    head, _, _ = MMCIF.partition("ATOM 1 C")
    atoms = "\n".join(
        f"ATOM {number} C CA . ALA A{number} 1 1 0 0 0 1.0 10.0 1 X{number}"
        for number in range(MAX_CHAINS + 1)
    )

    with pytest.raises(UnreadableDocument, match="5001 chains") as caught:
        _parse("9yyy.cif", f"{head}{atoms}\n")

    assert caught.value.reason == "bad-structure"


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e30", "?", "NOT APPLICABLE"])
def test_a_resolution_without_meaning_is_left_out(value: str) -> None:
    text = MMCIF.replace("resolution 3.20", f"resolution '{value}'")

    assert "Resolution" not in _only("9yyy.cif", text).text


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.pdb", b"HEADER    X", "pdb"),
        ("A.ENT", b"ATOM      1", "pdb"),
        ("a.pdb", b"Microsoft C/C++ MSF 7.00", ""),
        ("a.pdb", b"ATOM  \0", ""),
        ("a.cif", b"# comment\ndata_X\n", "cif"),
        ("a.mmcif", b"data_X\n", "cif"),
        ("a.cif", b"text", ""),
        ("a.txt", b"data_X\n_entry.id X\n", "cif"),
        ("a.txt", b"data_X is a name for data", ""),
        ("a.txt", PDB.encode(), "pdb"),
        ("a.txt", b"HEADER of a letter", ""),
        ("a.xml", b"data_X\n_entry.id X\n", ""),
    ],
)
def test_sources_are_told_by_name_and_first_bytes(name: str, head: bytes, kind: str) -> None:
    assert structure_kind(_source(name, head)) == kind


def test_g6_characters_beyond_ascii_in_a_pdb_file_are_no_reason_to_fail() -> None:
    data = PDB.replace(
        "AUTHOR    A.B.NOBODY", "AUTHOR    A.B.N\u00c2BODY" + "\u00b2" * 60
    ).encode()
    source = Source("9zzz.pdb", data, hashlib.sha256(data).hexdigest())

    assert parse(source, FormatTools(_no_xml)).documents[0].metadata.title
