"""SMILES in text: chemistry is found, prose is not taken for it (CASES O2)."""

import os
from pathlib import Path

import pytest
from lxml import etree

from eagle_biomed.chemistry import parse_smiles
from eagle_biomed.smiles_text import find_smiles, smiles_shape

CHEMISTRY = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "c1ccccc1",
    "C[C@H](N)C(=O)O",
    "N[C@@H](C)C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "COc1cc2ncnc(Nc3ccc(F)c(Cl)c3)c2cc1OCCCN1CCOCC1",
    "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "CC(=O)Oc1ccccc1C(=O)[O-].[Na+]",
    "[O-][N+](=O)c1ccccc1",
    "C1CCCCC1",
    "C1CC1CCC",
    "C1CNCCN1",
    "C1COCCOCCOCCO1",
    "OCC1OC(O)C(O)C(O)C1O",
    "OC(=O)CC(O)(C(=O)O)CC(=O)O",
    "F/C=C/C(F)C",
    "N#Cc1ccccc1",
    "C#CCC(C)C",
    "[2H]C([2H])([2H])Oc1ccccc1",
    "[13CH3]C(=O)Nc1ccc(O)cc1",
    "CCN(CC)C(=O)C",
    "c1ccc2c(c1)C(=O)OC23c4ccc(c(c4Oc5c3ccc(c5Br)O)Br)O",
    "C%10CCCCC%10",
    "CS(=O)(=O)c1ccc(cc1)Cl",
    "OP(=O)(O)OCC",
    "Brc1cccc(Nc2ncnc3cc4ccccc4cc23)c1",
    "Cc1ccc(c(c1)/N=N/c2ccccc2)O",
    "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
    "InChI=1S/CH4/h1H4",
    "InChI=1/CH4O/c1-2/h2H,1H3",
)
MARKED = (
    ("SMILES: CCO", "CCO"),
    ("SMILES CCO", "CCO"),
    ("SMILES:CCO", "CCO"),
    ("SMILES: C", "C"),
    ("canonical SMILES = CCCC", "CCCC"),
    ("SMILES (CCN)", "CCN"),
    ("SMILES string: CCOC", "CCOC"),
    ("smiles: CCO.", "CCO"),
    ("Parent SMILES: CC(C)C", "CC(C)C"),
    ("SMILES: [Na+].[Cl-]", "[Na+].[Cl-]"),
    ("SMILES: CONS", "CONS"),
    ("SMILES = PCC", "PCC"),
    ("smiles: OCC", "OCC"),
    ("SMILES CCCCOCC", "CCCCOCC"),
    ("SMILES CCCl", "CCCl"),
    ("SMILES CCO.CCN", "CCO.CCN"),
    ("SMILES C=O", "C=O"),
    ("SMILES N#N", "N#N"),
    ("SMILES OCC(O)CO", "OCC(O)CO"),
    ("SMILES C1CC1", "C1CC1"),
    ("SMILES [Na+]", "[Na+]"),
)
# Acronyms that are SMILES by the grammar, behind the word without a colon.
ACRONYMS = (
    *("CONS", "BINS", "PCC", "NICOS", "CNN", "CNS", "PCOS", "NCCN", "CCNS", "CCSO", "SCC", "BCC"),
    *("CCI", "CCP", "CCF", "CCB", "CC", "C", "CNN-CNN", "SOS/CNN", "SNP(S)", "COP(S)", "IFN-I"),
)
PROSE = (
    *(
        "CO",
        "CNS",
        "SOS",
        "COPD",
        "NO",
        "BIN",
        "CNN",
        "In",
        "I",
        "C",
        "CCO",
        "(CI)",
        "[12]",
        "[1,2]",
    ),
    *(
        "PIK3CA",
        "BRCA1",
        "SOCS3",
        "NOS2",
        "CCNB1",
        "SCN1B",
        "POU5F1",
        "CDK4/6",
        "CD4+",
        "HER2",
        "p53",
    ),
    *(
        "SNP1CC1",
        "SNP1CCC1",
        "CNO1CNO1",
        "SOCS1/SOCS1",
        "CCN1-CCN1",
        "NOS1/NOS2",
        "CCNB1/CCNB2",
        "IFN-I",
        "C5a",
        "CF3",
        "CO2",
        "SO4",
        "H2O",
    ),
    *(
        "C6H12O6",
        "NaCl",
        "Ca2+",
        "[Ca2+]i",
        "[K+]/[Na+]",
        "[18F]FDG",
        "[11C]PiB",
        "(C=O)",
        "C=C",
        "N=N",
    ),
    *(
        "p=0.05",
        "P=0.001",
        "n=12",
        "N=10(n=10)",
        "(n=3)",
        "c=0",
        "I2=0%",
        "P<0.05",
        "CI=1.1-2.3",
        "r=.55",
    ),
    *(
        "C(10)-C(11)",
        "N(1)",
        "Si(OC)4",
        "i.e.",
        "e.g.",
        "SNP(s)",
        "in/on",
        "COP26",
        "OB/GYN",
        "B/C/N/O/F",
    ),
    *(
        "10.1016/j.cc.2010.01.001",
        "http://foo.on/cc(1)",
        "x=c(1,2)",
        "C#",
        "Non",
        "Bison",
        "Corsico",
        "obscons",
    ),
    *(
        "in",
        "on",
        "scoop",
        "ONCOSCOPIC",
        "C-C-C-C-C-C",
        "CC(CC)CC(CC)CC",
        "IC50",
        "CC50/CI50",
        "f(n)=n",
    ),
    "Patients with COPD (CI 0.8-1.2, p=0.04) and CNS disease [12] were given NO by the SOS protocol.",
    "She smiles: no one knows why. In SMILES notation, CNN models read strings; a SMILES CNN did best.",
    "The SMILES is given in Table 1. SMILES can be long. SMILES In vitro. SMILES on.",
    "InChI and InChIKey are identifiers. InChI=1S/ is how they begin.",
)


@pytest.mark.parametrize("text", CHEMISTRY)
def test_o2_chemistry_is_found_in_a_sentence(text: str) -> None:
    sentence = f"The compound ({text}), as published."

    found = find_smiles(sentence)

    assert [mention.text for mention in found] == [text]
    assert sentence[found[0].start : found[0].end] == text


@pytest.mark.parametrize(("text", "smiles"), MARKED)
def test_o2_what_stands_after_the_word_smiles_is_chemistry(text: str, smiles: str) -> None:
    assert [mention.text for mention in find_smiles(text)] == [smiles]


@pytest.mark.parametrize("word", ACRONYMS)
@pytest.mark.parametrize("sentence", ["SMILES {} was best.", "We used SMILES ({}) here."])
def test_o2_an_acronym_after_the_bare_word_is_not_taken_for_chemistry(
    word: str, sentence: str
) -> None:
    assert find_smiles(sentence.format(word)) == ()


@pytest.mark.parametrize("text", PROSE)
def test_o2_prose_is_not_taken_for_chemistry(text: str) -> None:
    assert find_smiles(text) == ()


def test_mentions_come_in_order_and_do_not_overlap() -> None:
    text = "SMILES: CC(=O)Oc1ccccc1C(=O)O and c1ccccc1; InChI=1S/CH4/h1H4."

    found = find_smiles(text)

    assert [each.text for each in found] == [
        "CC(=O)Oc1ccccc1C(=O)O",
        "c1ccccc1",
        "InChI=1S/CH4/h1H4",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "C1CC",
        "C(C",
        "C)C",
        "C==C",
        "(C)C",
        "C(1)C",
        "C11",
        "C1C1",
        "F(C)C",
        "O(C)(C)C",
        "C=",
        ".C",
    ],
)
def test_a_string_that_breaks_the_grammar_has_no_shape(text: str) -> None:
    assert smiles_shape(text) is None


def test_a_shape_counts_what_a_string_consists_of() -> None:
    shape = smiles_shape("C[C@H](N)C(=O)Oc1ccccc1")

    assert shape is not None
    assert (shape.atoms, shape.carbons, shape.aromatic) == (12, 9, 6)
    assert (shape.rings, shape.branches, shape.multiple_bonds, shape.stereo) == (1, 2, 1, 1)


@pytest.mark.parametrize(
    "text", ["(" * 50_000, "C(" * 1000, "[" * 50_000, "C1" * 1000, "=" * 3000]
)
def test_hostile_strings_are_no_chemistry_and_take_no_time(text: str) -> None:
    assert find_smiles(text) == ()


def test_o2_what_is_found_in_real_papers_is_chemistry() -> None:
    root = os.environ.get("EAGLE_RAG_TEST_DATA")
    papers = sorted(Path(root, "xml").rglob("*.xml"))[:200] if root else []
    if not papers:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with unpacked papers")
    texts = (" ".join(map(str, etree.parse(paper).getroot().itertext())) for paper in papers)

    found = [mention.text for text in texts for mention in find_smiles(text)]

    assert [text for text in found if parse_smiles(text) is None] == []
    assert len(found) < 2 * len(papers)
