"""Five kinds of question, by the reference's table; the first row that fits wins."""

from collections.abc import Sequence

import pytest

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.intent import (
    KnownEntity,
    detect_retrieval_intent,
    named_drugs,
    section_cues_of,
)
from eagle_rag.model.query import QueryIntent

CHEMICAL = QueryIntent("chemical", (), ("compound",), require_entity_match=True)
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


@pytest.fixture(scope="module")
def names() -> Ontology:
    """The ontology that ships."""
    return open_ontology({})


CHEMICAL_QUERIES = (
    "SMILES of osimertinib",
    f"smiles {ASPIRIN}",
    ASPIRIN,
    f"trials of {ASPIRIN} in stroke",
    "InChI of aspirin",
    "InChIKey BSYNRYMUTXBXSQ-UHFFFAOYSA-N",
    "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",
    "compound with a quinazoline core",
    "compounds that inhibit MET",
    "Compound 17 in mice",
    "ligand of the EGFR kinase domain",
    "ligands docked into KRAS",
    "molecular formula of gefitinib",
    "molecular formulas of kinase inhibitors",
    # Chemistry comes before labels, combinations and drugs.
    "compound in the drug label of imatinib",
    "combination of gefitinib plus a compound of osimertinib",
    # Its section cue is its own, whatever else the query asks for.
    "compound osimertinib, dosage and warnings",
    "ligand with indications and usage",
    "molecular formulae of the drugs",
)


@pytest.mark.parametrize("query", CHEMICAL_QUERIES)
def test_a_question_about_compounds_is_chemical(query: str, names: Ontology) -> None:
    assert detect_retrieval_intent(query, names) == CHEMICAL


REGULATORY: dict[str, tuple[str, ...]] = {
    "drug label of osimertinib": (),
    "Drug Labels with boxed warnings": ("warnings", "boxed_warning"),  # the second is ours
    "drug labeling of imatinib": (),
    "prescribing information for Tagrisso": (),
    "prescribing information, warnings and dosing": ("warnings", "dosage"),
    "indications and usage of pembrolizumab": ("indications_and_usage",),
    "INDICATIONS AND USAGE": ("indications_and_usage",),
    "indications & usage": ("indications_and_usage",),
    "indications_and_usage imatinib": ("indications_and_usage",),
    "dosage and administration": ("dosage",),
    "dosage and administration of osimertinib plus gefitinib": ("dosage",),
    # Labels come before combinations and drugs, and need no drug.
    "prescribing information for the combination of dabrafenib and trametinib": (),
    "drug label warnings of dabrafenib plus trametinib": ("warnings",),
    "Dosage & Administration": ("dosage",),
    "drug label: indications, dosing, warnings": ("warnings", "dosage", "indications_and_usage"),
}


@pytest.mark.parametrize(("query", "cues"), REGULATORY.items())
def test_a_question_about_labels_leaves_chemistry_out(
    query: str, cues: tuple[str, ...], names: Ontology
) -> None:
    expected = QueryIntent("regulatory", ("eagle_chemical",), cues, require_entity_match=True)
    assert detect_retrieval_intent(query, names) == expected


COMBINATION: dict[str, tuple[str, ...]] = {
    "combination of dabrafenib and trametinib": (),
    "pembrolizumab plus lenvatinib": (),
    "dabrafenib + trametinib": (),
    "osimertinib combined with savolitinib": (),
    "warfarin co-administered with aspirin": (),
    "warfarin coadministered with aspirin": (),
    "Tagrisso plus HMPL-504 dosing": ("dosage",),
    "combinations of encorafenib with cetuximab, warnings": ("warnings",),
    "co-administration of warfarin and aspirin": (),
    "COMBINED WITH: osimertinib, savolitinib": (),
    "combination of osimertinib, savolitinib and Fruzaqla": (),
    "indications of pembrolizumab plus lenvatinib": ("indications_and_usage",),
}


@pytest.mark.parametrize(("query", "cues"), COMBINATION.items())
def test_a_question_about_two_drugs_together_is_a_combination(
    query: str, cues: tuple[str, ...], names: Ontology
) -> None:
    expected = QueryIntent("combination", (), cues, require_entity_match=True)
    assert detect_retrieval_intent(query, names) == expected


DRUG: dict[str, tuple[str, ...]] = {
    "osimertinib resistance": (),
    "HMPL-013 in colorectal cancer": (),
    "Fruzaqla": (),
    "AZD9291": (),
    "Tagrisso interstitial lung disease warning": ("warnings",),
    "everolimus": (),
    "imatinib dosing in children": ("dosage",),
    "metformin usage and indications": ("indications_and_usage",),
    # Two drugs without a word that joins them; a word that joins them without two drugs.
    "gefitinib versus erlotinib": (),
    "gefitinib in combination with chemotherapy": (),
    "osimertinib plus Tagrisso": (),
    "AZD9291 combined with osimertinib": (),
    "surplus imatinib and nilotinib": (),
    # Words that hold a cue and are none.
    "compounded semaglutide": (),
    "compounding pharmacies and semaglutide": (),
    "drug labelled with fluorescein, imatinib": (),
    "trastuzumab label-free quantification": (),
    "drug labeling with zirconium of trastuzumab": (),
    "death-ligand 1 and pembrolizumab": (),
}


@pytest.mark.parametrize(("query", "cues"), DRUG.items())
def test_a_question_that_names_a_drug_is_about_it(
    query: str, cues: tuple[str, ...], names: Ontology
) -> None:
    expected = QueryIntent("drug_entity", (), cues, require_entity_match=True)
    assert detect_retrieval_intent(query, names) == expected


GENERAL: dict[str, tuple[str, ...]] = {
    "": (),
    "EGFR T790M": (),
    "what causes headache": (),
    "compound heterozygous variants of GBA": (),
    "compound mutations in EGFR": (),
    "open compound fractures": (),
    "programmed death-ligand 1 expression": (),
    "CD40 ligand on platelets": (),
    "Fas ligand": (),
    "early warning score": ("warnings",),
    "codon usage": ("indications_and_usage",),
    "radiation dosage": ("dosage",),
    "combination chemotherapy": (),
    "EGFR plus MET": (),
    "isotope labelled glucose": (),
    "nibble of cheese": (),
    "no indication of progression": (),
}


@pytest.mark.parametrize(("query", "cues"), GENERAL.items())
def test_any_other_question_is_general_and_asks_for_no_entity(
    query: str, cues: tuple[str, ...], names: Ontology
) -> None:
    expected = QueryIntent("general", (), cues, require_entity_match=False)
    assert detect_retrieval_intent(query, names) == expected


@pytest.mark.parametrize(
    ("query", "cues"),
    [
        ("warning", ("warnings",)),
        ("Warnings", ("warnings",)),
        ("dosage", ("dosage",)),
        ("dosing", ("dosage",)),
        ("dosage and dosing", ("dosage",)),
        ("indications", ("indications_and_usage",)),
        ("usage", ("indications_and_usage",)),
        ("usage, dosage, warnings", ("warnings", "dosage", "indications_and_usage")),
        ("overdosage", ()),
        ("contraindications", ()),
    ],
)
def test_words_of_a_query_point_to_sections(query: str, cues: tuple[str, ...]) -> None:
    assert section_cues_of(query) == cues


@pytest.mark.parametrize(
    ("query", "cue"),
    [
        ("boxed warning of adalimumab", "boxed_warning"),
        ("black box warning", "boxed_warning"),
        ("black-box", "boxed_warning"),
        ("side effects of sildenafil", "adverse_reactions"),
        ("a side-effect", "adverse_reactions"),
        ("adverse events of CAR-T", "adverse_reactions"),
        ("is sildenafil contraindicated with nitrates", "contraindications"),
        ("a contra-indication", "contraindications"),
        ("sildenafil overdose", "overdosage"),
        ("the primary endpoint", "outcomes"),
        ("secondary end-points", "outcomes"),
        ("patients who overdosed", "overdosage"),
    ],
)
def test_words_beyond_the_reference_point_to_headings_of_other_words(query: str, cue: str) -> None:
    assert cue in section_cues_of(query)


@pytest.mark.parametrize("query", ["in boxes", "on the other side", "adverse weather", "dose"])
def test_other_words_point_nowhere(query: str) -> None:
    assert section_cues_of(query) == ()


class Untyped:
    """As a large lexicon: nothing has a type, and the suffix rule misses everolimus."""

    def __init__(self, known: Ontology) -> None:
        self._known = known
        self.match_entities = known.match_entities
        self.resolve_entity = known.resolve_entity
        self.smiles_of = known.smiles_of
        self.resolve_compound_query = known.resolve_compound_query
        self.expand_query_for_dense_retrieval = known.expand_query_for_dense_retrieval

    def match_drug_entities(self, text: str) -> Sequence[str]:
        return [name for name in self._known.match_entities(text) if name.endswith("nib")]


def test_an_entity_of_known_structure_is_a_drug_whatever_its_type(names: Ontology) -> None:
    """The reference's q-exp-053: everolimus was known, and its relatives were asked for instead."""
    assert named_drugs("everolimus and imatinib", Untyped(names)) == ("everolimus", "imatinib")


def test_drugs_are_named_once_by_their_canonical_names(names: Ontology) -> None:
    found = named_drugs("Tagrisso, AZD-9291 or Fruzaqla", names)
    assert found == ("osimertinib", "fruquintinib")


def test_the_ontology_is_what_the_query_side_asks_for(names: Ontology) -> None:
    known: KnownEntity = names.resolve_entity("HMPL-013")
    related: Sequence[str] = known.related_drugs
    assert (known.entity, "Fruzaqla" in known.aliases) == ("fruquintinib", True)
    assert related
