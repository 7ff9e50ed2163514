"""Morgan fingerprints: what they see, what they do not, and what they refuse."""

import numpy as np
import pytest
from rdkit.Chem import MolFromSmiles, MolToSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator

from eagle_biomed.chemical_encoders import MorganEncoder
from eagle_biomed.encoder_cards import MORGAN_CARD
from eagle_rag.errors import InvalidInput, InvalidQuery

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
# Of rdkit 2025.3 to 2026.9: an index built by one is read by the others.
DIGEST = "b51369202bc80c02a71479fd5c8fa226c3f894186b0b5fa22a10ce43c192a894"


def vector(text: str) -> "np.typing.NDArray[np.float32]":
    vectors = MorganEncoder().encode_documents([text]).vectors
    return np.asarray(vectors[0], np.float32)


def test_the_vector_is_the_logarithm_of_the_counts_at_unit_length() -> None:
    counts = GetMorganGenerator(radius=2, fpSize=1024).GetCountFingerprint(MolFromSmiles(ASPIRIN))
    expected = np.zeros(1024)
    for place, count in counts.GetNonzeroElements().items():
        expected[place] = np.log(1 + count)
    expected /= np.linalg.norm(expected)
    assert vector(ASPIRIN) == pytest.approx(expected, abs=1e-6)


def test_card_and_space_agree() -> None:
    encoder = MorganEncoder()
    batch = encoder.encode_query(ASPIRIN)
    assert encoder.card is MORGAN_CARD
    assert batch.spec == encoder.spec
    assert batch.vectors.shape == (1, 1024)
    assert batch.vectors.dtype == np.dtype(np.float32)
    assert (encoder.spec.encoder, encoder.spec.dim) == ("morgan", 1024)


def test_the_space_is_the_one_of_indexes_that_exist() -> None:
    """When this fails, RDKit gives other vectors: indexes must be built anew, so say it in the log."""
    assert MorganEncoder().spec.digest == DIGEST


@pytest.mark.parametrize(
    "other",
    [
        "OC(=O)c1ccccc1OC(C)=O",
        "O=C(C)Oc1ccccc1C(=O)[O-].[Na+]",
        "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)",
    ],
)
def test_spelling_salt_and_notation_of_a_compound_make_no_difference(other: str) -> None:
    assert vector(other) == pytest.approx(vector(ASPIRIN), abs=1e-6)


def test_a_relative_is_nearer_than_a_stranger() -> None:
    aspirin = vector(ASPIRIN)
    salicylate = vector("OC(=O)c1ccccc1O")
    caffeine = vector("CN1C=NC2=C1C(=O)N(C)C(=O)N2C")
    assert aspirin @ salicylate > 2 * (aspirin @ caffeine)


@pytest.mark.parametrize(
    "text",
    [
        f"Aspirin\n\nSMILES: {ASPIRIN}\n\nParent SMILES: C1CCCCC1",
        f"We made {ASPIRIN} from c1ccccc1O and others.",
        f"the string C1CC1(C)(C)(C)C=O1 is none, SMILES: {ASPIRIN}",
    ],
)
def test_the_first_structure_that_is_chemistry_counts(text: str) -> None:
    assert vector(text) == pytest.approx(vector(ASPIRIN), abs=1e-6)


def test_the_line_of_a_compound_card_comes_before_other_strings() -> None:
    text = f"From c1ccccc1CC(=O)NC1CCCCC1\nSMILES: {ASPIRIN}"
    assert vector(text) == pytest.approx(vector(ASPIRIN), abs=1e-6)


def test_two_letters_after_the_word_of_a_card_are_a_molecule() -> None:
    assert vector("SMILES: CO") == pytest.approx(vector("SMILES: OC"), abs=1e-6)


@pytest.mark.parametrize("text", ["", "COX inhibitors", "SMILES: not one", "C(C)(C)(C)(C)(C)C=O"])
def test_a_text_without_a_molecule_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no structure was found in text 1"):
        MorganEncoder().encode_documents([ASPIRIN, text])
    with pytest.raises(InvalidQuery, match="no structure was found in the query"):
        MorganEncoder().encode_query(text)


def test_no_text_gives_no_vector() -> None:
    assert MorganEncoder().encode_documents([]).vectors.shape == (0, 1024)


def test_atom_order_makes_no_difference() -> None:
    mol = MolFromSmiles("CN1CCC[C@H]1c1cccnc1")
    spellings = {MolToSmiles(mol, canonical=False, rootedAtAtom=at) for at in range(12)}
    rows = MorganEncoder().encode_documents([f"SMILES: {each}" for each in sorted(spellings)])
    assert np.ptp(rows.vectors, axis=0).max() < 1e-6
