"""What is asked of the ontology."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_biomed.entities import Ontology, ResolvedEntity, open_ontology
from eagle_biomed.ontology_file import read_ontology_file
from eagle_rag.errors import ConfigurationError, InvalidInput

_YAML = """
entities:
  EGFR: {type: gene, group: oncogenes, aliases: [ErbB1, HER1, ERBB], cui: C0034802, pathways: [MAPK, PI3K-AKT],
         related_drugs: [osimertinib]}
  VEGFR: {type: gene, aliases: [KDR], pathways: [angiogenesis]}
  MET: {type: gene, aliases: [c-MET, HGFR], pathways: [MAPK], guard: case}
  KIT: {type: gene, aliases: [CD117, c-KIT], guard: case}
  PD-1: {type: gene, aliases: [PDCD1, CD279]}
  PD-L1: {type: gene, aliases: [CD274]}
  TNF-\u03b1: {type: gene, aliases: [TNF]}
  osimertinib: {type: drug, aliases: [AZD9291, Tagrisso], smiles: "C=CC(=O)N"}
  leukemia: {type: disease, aliases: [leukaemia], guarded_aliases: [ALL]}
  JAK-STAT: {type: pathway}
entity_keywords: [kinase, mutation, cell line]
chemical:
  name_aliases: {aspirin: CC(=O)Oc1ccccc1C(=O)O, ethanol: CCO}
"""


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return Ontology(read_ontology_file(_YAML.encode()))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("VEGFR1 expression", ("VEGFR",)),
        ("EGFR mutation", ("EGFR",)),
        ("PD-1 inhibitor", ("PD-1",)),
        ("metastatic site", ()),
    ],
)
def test_c5_the_table_of_the_reference_holds(
    ontology: Ontology, query: str, expected: tuple[str, ...]
) -> None:
    assert ontology.match_entities(query) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the patients met the criteria", ()),
        ("MET amplification", ("MET",)),
        ("the Met kinase", ("MET",)),
        ("Met kinase", ()),
        ("c-MET and c-Met", ("MET",)),
        ("ALL PATIENTS RECEIVED TREATMENT", ()),
        ("children with ALL", ("leukemia",)),
        ("all patients", ()),
        ("a test kit", ()),
        ("VEGFR and EGFR", ("VEGFR", "EGFR")),
        ("overexpressed VEGFRs", ()),
    ],
)
def test_c5_entities_in_prose(ontology: Ontology, text: str, expected: tuple[str, ...]) -> None:
    assert ontology.match_entities(text) == expected


@pytest.mark.parametrize("text", ["TNF-\u03b1", "TNF-alpha", "TNF alpha", "TNF\u03b1", "TNFalpha"])
def test_c1_a_name_in_any_of_its_spellings_is_one_entity(ontology: Ontology, text: str) -> None:
    assert ontology.match_entities(f"In \u03b2 cells {text} rose.") == ("TNF-\u03b1",)


def test_entities_come_once_by_first_occurrence(ontology: Ontology) -> None:
    assert ontology.match_entities("PDL1 then HER1, EGFR and PD-L1") == ("PD-L1", "EGFR")


def test_keywords_are_told_apart_from_entities(ontology: Ontology) -> None:
    text = "Kinase domain mutation, kinases, in a cell line"
    assert ontology.match_keywords(text) == ("kinase", "mutation", "cell line")
    assert ontology.match_entities(text) == ()


def test_drug_entities_are_those_of_type_drug(ontology: Ontology) -> None:
    text = "Tagrisso in EGFR with JAK-STAT"
    assert ontology.match_drug_entities(text) == ("osimertinib",)


@pytest.mark.parametrize("name", ["EGFR", "egfr", "ErbB-1", "HER 1"])
def test_an_entity_is_resolved_in_any_spelling(ontology: Ontology, name: str) -> None:
    assert ontology.resolve_entity(name) == ResolvedEntity(
        "EGFR", found=True, cui="C0034802", aliases=("ErbB1", "HER1", "ERBB"),
        pathways=("MAPK", "PI3K-AKT"), related_drugs=("osimertinib",),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["unheard", "", "-", "x" * 500])
def test_an_unknown_entity_is_not_found_and_keeps_its_name(ontology: Ontology, name: str) -> None:
    assert ontology.resolve_entity(name) == ResolvedEntity(name, found=False)


def test_expansion_takes_two_aliases_and_one_pathway_each_without_doubles(
    ontology: Ontology,
) -> None:
    suffix = ontology.expand_query_with_entities("MET and EGFR and VEGFR")
    assert suffix == "[biomed entities: c-MET, HGFR, MAPK, ErbB1, HER1, KDR, angiogenesis]"


@pytest.mark.parametrize(("limit", "suffix"), [(0, ""), (2, "[biomed entities: ErbB1, HER1]")])
def test_expansion_is_capped(ontology: Ontology, limit: int, suffix: str) -> None:
    assert ontology.expand_query_with_entities("EGFR", limit=limit) == suffix


def test_a_negative_limit_is_refused(ontology: Ontology) -> None:
    with pytest.raises(InvalidInput, match="at least 0, got -1"):
        ontology.expand_query_with_entities("EGFR", limit=-1)


def test_dense_expansion_follows_the_query(ontology: Ontology) -> None:
    assert (
        ontology.expand_query_for_dense_retrieval("EGFR drug")
        == "EGFR drug [biomed entities: ErbB1, HER1, MAPK]"
    )
    assert ontology.expand_query_for_dense_retrieval("weather") == "weather"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Aspirin", "CC(=O)Oc1ccccc1C(=O)O"),
        ("tagrisso", "C=CC(=O)N"),
        ("AZD-9291", "C=CC(=O)N"),
        ("CCO", "CCO"),
        ("CC(=O)N", "CC(=O)N"),
        ("unheard of", "unheard of"),
    ],
)
def test_a_compound_query_becomes_smiles_or_stays(
    ontology: Ontology, query: str, expected: str
) -> None:
    assert ontology.resolve_compound_query(query) == expected


def test_o2_a_known_name_wins_over_what_could_be_smiles() -> None:
    file = read_ontology_file(b"chemical: {name_aliases: {CO: '[C-]#[O+]'}}")
    assert Ontology(file).resolve_compound_query("CO") == "[C-]#[O+]"


def test_a_canonical_name_is_never_anothers_alias() -> None:
    yaml = b"entities: {A1B: {type: gene, aliases: [C2D]}, C2D: {type: gene}}"
    ontology = Ontology(read_ontology_file(yaml))
    assert ontology.match_entities("C2D") == ("C2D",)
    assert ontology.resolve_entity("C2D").entity == "C2D"


def test_entities_are_looked_up_in_any_spelling_and_listed_once(ontology: Ontology) -> None:
    assert ontology.entities["pd l1"].name == "PD-L1"
    assert len(ontology.entities) == len(list(ontology.entities)) == 10
    with pytest.raises(KeyError):
        ontology.entities["unheard"]


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("entities: {EGFR: {type: gen}}", "`type` of entity 'EGFR'"),
        ("entities: {EGFR: {type: gene, alias: [x]}}", "unknown key 'alias'"),
        ("entities: {EGFR: {type: gene, aliases: x}}", "must be a list"),
        ("entities: {EGFR: {type: gene, aliases: [1]}}", "must be a text, got 1"),
        ("entities: {EGFR: {type: gene, guard: yes please}}", "`guard` of entity 'EGFR'"),
        ("entities: [EGFR]", "must be a mapping"),
        ("entities: {", "not YAML"),
        ("!!python/object/apply:os.getcwd []", "not YAML"),
        ("", "must be a mapping"),
    ],
)
def test_a_wrong_ontology_file_is_refused_by_place(yaml: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_ontology_file(yaml.encode())


@pytest.fixture
def options(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    path = tmp_path / "ontology.yaml"
    path.write_text(_YAML, encoding="utf-8")

    def make(**more: object) -> dict[str, Any]:
        return {"ontology_path": str(path), "cache_dir": str(tmp_path / "cache"), **more}

    return make


def test_an_ontology_of_equal_content_is_built_once(
    options: Callable[..., dict[str, Any]],
) -> None:
    assert open_ontology(options()) is open_ontology(options())


def test_a_changed_file_is_another_ontology(
    options: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    before = open_ontology(options())
    (tmp_path / "ontology.yaml").write_text("entities: {ABC1: {type: gene}}", encoding="utf-8")
    assert open_ontology(options()) is not before
    assert open_ontology(options()).match_entities("ABC1 EGFR") == ("ABC1",)


def test_an_absent_ontology_file_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        open_ontology({"ontology_path": str(tmp_path / "absent.yaml")})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("VEGFR1 expression", ("VEGFR",)),
        ("EGFR mutation", ("EGFR",)),
        ("PD-1 inhibitor", ("PD-1",)),
        ("metastatic site", ()),
        ("the patients met the criteria", ()),
        ("a CAT scan and a test kit", ()),
    ],
)
def test_c5_the_table_holds_for_the_ontology_that_ships(
    query: str, expected: tuple[str, ...]
) -> None:
    assert open_ontology({}).match_entities(query) == expected


def test_every_name_of_the_ontology_that_ships_finds_its_entity() -> None:
    ontology = open_ontology({})
    for entity in ontology.entities.values():
        assert ontology.match_entities(entity.name) == (entity.name,), entity.name
        for alias in entity.aliases:
            assert ontology.match_entities(alias), alias


def test_the_page_lists_what_of_the_reference_has_no_concept() -> None:
    page = Path(__file__).parents[3] / "docs" / "ontology.md"
    section = page.read_text(encoding="utf-8").partition("### Concept identifiers")[2]
    lists = re.findall(r"^- (?:genes|drugs|pathways): ((?:.|\n  )+)$", section, re.MULTILINE)
    names = [name.strip() for each in lists for name in each.replace("\n", " ").split(",")]
    entities = open_ontology({}).entities
    assert len(names) == 49
    assert [name for name in names if entities[name].cui] == []
    with_concept = sum(bool(entity.cui) for entity in entities.values())
    assert f"{with_concept} of {len(entities)} entities have one." in section
