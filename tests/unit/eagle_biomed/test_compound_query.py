"""What a text asks for: a structure, a name, a pattern, or nothing that is known."""

from collections.abc import Mapping

import pytest

from eagle_biomed.chemistry import MoleculeRefused
from eagle_biomed.compound_query import (
    entity_without_structure,
    is_inchikey,
    pattern_of,
    structure_of,
    unknown_compound,
)
from eagle_biomed.entities import Entity, ResolvedEntity, open_ontology
from eagle_rag.errors import InvalidQuery

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
KEY = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"


class Names:
    """An ontology of one compound, whose name is also SMILES."""

    entities: Mapping[str, Entity] = {"aspirin": Entity("aspirin", "drug")}

    def smiles_of(self, name: str) -> str:
        return {"aspirin": ASPIRIN, "con": "CCO"}.get(name.lower(), "")

    def resolve_entity(self, entity: str) -> ResolvedEntity:
        return ResolvedEntity(entity, found=False)


def _indexed(name: str) -> tuple[str, str]:
    return (ASPIRIN, "aspirin") if name in {"house drug", KEY} else ("", "")


@pytest.mark.parametrize(
    "text",
    [
        ASPIRIN,
        f"SMILES: {ASPIRIN}",
        f" smiles={ASPIRIN} ",
        "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
        KEY,
        "Aspirin",
        "house drug",
        f"what is like {ASPIRIN}",
    ],
)
def test_every_way_to_say_a_compound_gives_its_key(text: str) -> None:
    query = structure_of(text, Names(), _indexed)
    assert query is not None
    assert query.standard.inchikey == KEY


def test_a_known_name_wins_over_its_reading_as_smiles() -> None:
    query = structure_of("CON", Names(), _indexed)
    assert query is not None
    assert query.standard.smiles == "CCO"
    assert "by the ontology" in query.note


@pytest.mark.parametrize("text", ["nonsense", "CC(=O", "AAAAAAAAAAAAAA-UHFFFAOYSA-N", "a drug"])
def test_what_is_neither_gives_nothing(text: str) -> None:
    assert structure_of(text, Names(), _indexed) is None


def test_a_structure_too_large_is_refused_for_its_size() -> None:
    with pytest.raises(MoleculeRefused, match="atoms"):
        structure_of("C" * 3000, Names(), _indexed)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SMARTS:",
        "[C",
        "not a pattern",
        "C\0C",
        "C" * 30_000,
        "~".join("*" * 40),
        "C" * 200,
        "[$([$(C)])]" * 11,
        "[$(" + "C" * 13 + ")]",
        "[$(O[$(" + "C" * 13 + ")])]",
    ],
)
def test_a_pattern_that_is_none_or_too_costly_is_refused(text: str) -> None:
    with pytest.raises(InvalidQuery):
        pattern_of(text)


def test_a_pattern_may_say_that_it_is_one() -> None:
    assert pattern_of("SMARTS: [CX3](=O)[OX2H1]").GetNumAtoms() == 3


def test_an_unknown_name_is_told_with_near_ones() -> None:
    error = unknown_compound("asprin", ["aspirin", "ibuprofen"])
    assert "neither a structure" in str(error)
    assert "did you mean aspirin?" in str(error)
    assert "does not parse" in str(unknown_compound("CC(=O", []))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("trastuzumab", "'trastuzumab' is known (drug), without a structure of its own"),
        ("Herceptin", "'Herceptin' is trastuzumab (drug), known without a structure of its own"),
        ("trastuzumab", "eagle search trastuzumab; or give its structure, if it has one"),
        (" insulin ", "'insulin' is known (drug)"),
        ("ERBB2", "'ERBB2' is HER2 (gene)"),
        ("ERBB2", "eagle search ERBB2; or give one of its drugs: lapatinib, tucatinib"),
        ("Non-small  cell lung cancer", "(disease), without a structure"),
        ("Non-small cell lung cancer", "with: eagle search 'Non-small cell lung cancer'"),
    ],
)
def test_a_known_name_without_a_structure_is_told_with_what_to_do(text: str, said: str) -> None:
    ontology = open_ontology({})
    assert structure_of(text, ontology, _indexed) is None
    assert said in str(entity_without_structure(text, ontology))


def test_a_name_nobody_knows_is_no_entity() -> None:
    assert entity_without_structure("trastuzumabb", open_ontology({})) is None


@pytest.mark.parametrize(("text", "known"), [(KEY, True), (f" {KEY} ", True), ("BSYNRY", False)])
def test_an_inchikey_is_known_by_its_form(text: str, *, known: bool) -> None:
    assert is_inchikey(text) is known
