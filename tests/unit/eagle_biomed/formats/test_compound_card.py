"""The compound card: its exact form, because other parts read the structure from it."""

import re
from dataclasses import replace

import pytest

from eagle_biomed.chemistry import read_structure, standardise
from eagle_biomed.formats.compound_card import Compound, compound_document
from eagle_rag.model.document import BlockKind
from eagle_rag.ops.chunking import TARGET_CHARS, cut_passages

COMPUTED = (
    "Computed: logP 1.31 (Crippen); polar surface area 63.6 \u00c5\u00b2; hydrogen bond donors 1, "
    "acceptors 3; rotatable bonds 2; rings 1; heavy atoms 13"
)
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def _compound(
    smiles: str,
    *,
    name: str = "",
    synonyms: tuple[str, ...] = (),
    fields: tuple[tuple[str, str], ...] = (),
) -> Compound:
    standard = standardise(read_structure("smiles", smiles))
    return Compound("a.smi", "record-1", "d", standard, name, synonyms, fields=fields)


def test_the_card_of_aspirin_reads_as_documented() -> None:
    compound = _compound(
        ASPIRIN,
        name="aspirin",
        synonyms=("acetylsalicylic acid", "ASA"),
        fields=(("Dose", "500"),),
    )

    assert compound_document(compound).text.split("\n\n") == [
        "aspirin",
        f"SMILES: {ASPIRIN}",
        "Name: aspirin",
        "InChIKey: BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
        "InChI: InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
        "Formula: C9H8O4; molecular weight 180.16 g/mol",
        "Synonyms: acetylsalicylic acid; ASA",
        COMPUTED,
        "Dose: 500",
    ]


@pytest.mark.parametrize(
    "smiles", [ASPIRIN, "[Na+].[Cl-]", "C/C=C/C", "C[C@H](N)C(=O)O", "[2H]OC"]
)
def test_the_first_passage_begins_with_the_canonical_smiles(smiles: str) -> None:
    compound = _compound(smiles, name="a name")
    document = compound_document(compound)

    first = cut_passages(document, "doc")[0]

    match = re.match(r"SMILES: (\S+)\n", first.text)
    assert match is not None
    assert match[1] == compound.standard.smiles


def test_a_usual_card_is_one_passage_and_a_long_one_is_cut_between_lines() -> None:
    usual = compound_document(_compound(ASPIRIN, name="aspirin", synonyms=("ASA",)))
    names = tuple(f"synonym number {number}" for number in range(200))
    long = compound_document(_compound(ASPIRIN, name="aspirin", synonyms=names))

    assert len(cut_passages(usual, "doc")) == 1
    pieces = cut_passages(long, "doc")
    assert len(pieces) > 3
    assert max(len(piece.text) for piece in pieces) < 1.5 * TARGET_CHARS


@pytest.mark.parametrize(
    ("name", "synonyms", "title"),
    [
        ("aspirin", ("ASA",), "aspirin"),
        ("", ("ASA",), "ASA"),
        ("", (), "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"),
    ],
)
def test_the_title_is_the_best_name_there_is(
    name: str, synonyms: tuple[str, ...], title: str
) -> None:
    document = compound_document(_compound(ASPIRIN, name=name, synonyms=synonyms))

    assert document.metadata.title == title
    assert document.blocks[0].kind is BlockKind.TITLE


def test_properties_are_sorted_unique_and_never_empty() -> None:
    document = compound_document(_compound(ASPIRIN, fields=(("b", "2"), ("a", "1"))))

    names = [name for name, _ in document.metadata.properties]
    assert names == sorted(set(names))
    assert all(value for _, value in document.metadata.properties)
    assert ("field:a", "1") in document.metadata.properties


def test_the_card_does_not_repeat_a_column_that_holds_nothing_but_its_names() -> None:
    fields = (
        ("name", "Aspirin"),
        ("Synonyms", "ASA; acetylsalicylic acid"),
        ("compound_id", "aspirin"),
        ("drug", "aspirin; another"),
        ("contains", "aspirin"),
    )
    compound = _compound(
        ASPIRIN, name="aspirin", synonyms=("acetylsalicylic acid", "ASA"), fields=fields
    )

    document = compound_document(compound)

    assert document.text.split("\n\n")[-1] == "drug: aspirin; another\ncontains: aspirin"
    properties = dict(document.metadata.properties)
    assert all(properties[f"field:{name}"] == value for name, value in fields)


def test_a_compound_is_cited_by_its_inchikey_before_any_other_id() -> None:
    compound = replace(_compound(ASPIRIN), ids=(("cas", "50-78-2"),))

    ids = compound_document(compound).metadata.ids.other

    assert [scheme for scheme, _ in ids] == ["inchikey", "parent-inchikey", "cas"]


def test_a_parent_that_is_the_compound_itself_is_not_repeated() -> None:
    assert "Parent SMILES" not in compound_document(_compound(ASPIRIN)).text
