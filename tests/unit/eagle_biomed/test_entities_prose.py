"""CASES C5 on the ontology that ships: words of prose that are also names."""

import pytest

from eagle_biomed.entities import open_ontology

WORDS = (
    "patients who met receptor criteria",
    "met mutation criteria",
    "criteria were met\nInhibitor treatment",
    "criteria were met - receptor status",
    "criteria were met \u2014 receptor status",
    "those who met\n\nInhibitor",
    "test kit mutation panel",
    "kit inhibitor screen",
    "\u03b2cat phosphorylation",
    "\u03b2-cat phosphorylation",
    "Patients who Met Receptor Criteria",
    "We met kinase experts at the meeting.",
    "The primary endpoint was met; inhibitor dosing went on.",
    "Those enrolled met exon sequencing standards.",
    "Both groups met phosphorylation thresholds before day 8.",
    "Met mutation carriers in two families, then wrote to them.",
    "No need was met. Inhibitor use fell.",
    "Hepatitis C met the definition of an outbreak.",
    "Adults in group C met amplification targets.",
    "Walking is 3.3 MET hours a week.",
    "It reached 12 MET-min per day.",
    "The kit mutation list is in the manual.",
    "Each kit amplification step took an hour.",
    "A vitamin C kit was bought.",
    "Kit inhibitor controls were supplied by the vendor.",
    "Our first-aid kit\nkinase buffers were kept apart.",
    "The pit was used for ret fusion of flax fibres.",
    "Farmers ret mutant flax in ponds.",
    "All mutations were confirmed twice.",
    "We sequenced all exon boundaries.",
    "ALL PARTICIPANTS SIGNED A FORM",
    "In all, inhibitor doses were halved.",
    "A cat mutation changes coat colour.",
    "The cat receptor for feline coronavirus is known.",
    "Cat mutants were bred.",
    "A CAT scan showed nothing.",
    "The net inhibition was small.",
    "Bed nets and a net mutation rate of two.",
    "A set mutation rate was assumed.",
    "The data set amplification was checked.",
    "Set mutations aside for now.",
    "The rest receptor occupancy was low.",
    "Patients at rest; kinase levels were read.",
    "The impact mutations have on growth.",
    "High impact inhibitor trials were read.",
    "It was mutant, and that was phosphorylation.",
    "A notch mutation tool cut the strip.",
    "A V-notch receptor plate was used.",
    "task (MET) hours per week",
    "GTG CAT TGA",
    "the MET25 promoter",
    "Hearing aids amplification was set.",
    "The atm receptor of a bank card was broken.",
    "Pressure of 2 atm inhibition data were left out.",
    "An src attribute; src mutation of the page was logged.",
    "The gist mutations convey is simple.",
    "She gave her inhibitor to the nurse.",
    "Ask for the lag-3 mutation of the series.",
    "We plot tan-1 inhibition angles.",
    "PATIENTS WHO MET RECEPTOR CRITERIA",
    "THE KIT INHIBITOR SCREENING",
)
"""None of these names an entity of a guarded name."""

NAMES = (
    ("MET amplification", "MET"),
    ("a tumour with MET exon 14 skipping", "MET"),
    ("We found that the Met kinase is active.", "MET"),
    ("MET AMPLIFICATION IN LUNG CANCER", "MET"),
    ("c-met inhibitor", "MET"),
    ("C-Met is raised.", "MET"),
    ("KIT-positive cells", "KIT"),
    ("loss of c-kit", "KIT"),
    ("through its Kit receptor", "KIT"),
    ("RET fusion", "RET"),
    ("catalase (CAT) and SOD activity", "CAT"),
    ("children with ALL were", "acute lymphoblastic leukemia"),
    ("MYC amplified tumours", "MYC"),
    ("tumours with myc amplification", "MYC"),
    ("c-Src and EGFR", "SRC"),
    ("her2 positive breast cancer", "HER2"),
    ("Her-2 status", "HER2"),
    ("lag3 inhibitor", "LAG3"),
    ("\u03b1PD-1 antibody", "PD-1"),
    ("serum TNF\u03b1", "TNF"),
    ("nuclear \u03b2-catenin", "CTNNB1"),
    ("nuclear \u03b2 catenin", "CTNNB1"),
)

GUARDED = {
    "MET", "KIT", "RET", "CAT", "SRC", "ATM", "ATR", "APC", "ABL1", "NOTCH1", "NTRK", "LAG3", "HER2",
    "acute lymphoblastic leukemia", "neuroendocrine tumor", "gastrointestinal stromal tumor",
    "acquired immunodeficiency syndrome", "Notch signaling",
}  # fmt: skip


@pytest.mark.parametrize("text", WORDS)
def test_c5_a_word_of_prose_is_no_name(text: str) -> None:
    assert not GUARDED & set(open_ontology({}).match_entities(text))


@pytest.mark.parametrize(("text", "expected"), NAMES)
def test_c5_a_gene_is_found_in_the_forms_that_genes_have(text: str, expected: str) -> None:
    assert expected in open_ontology({}).match_entities(text)


@pytest.mark.parametrize("following", ["kinase", "receptor criteria", "inhibitor", "exon 14"])
@pytest.mark.parametrize("name", ["met", "kit", "ret", "cat", "all", "net", "atm", "src", "abl"])
def test_c5_small_letters_never_name_what_is_also_a_word(name: str, following: str) -> None:
    assert open_ontology({}).match_entities(f"it {name} {following} of") == ()
