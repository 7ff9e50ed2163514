"""Tanimoto and substructure search: exact, ordered totally, scoped."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from rdkit.Chem import MolFromSmarts, MolFromSmiles
from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.DataStructs import TanimotoSimilarity

from eagle_biomed.compound_index import CompoundIndex, empty_rows, morgan_words
from eagle_biomed.compound_store import make_rows

if TYPE_CHECKING:
    from tests.unit.eagle_biomed.conftest import FakeLibrary

SMILES = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "O=C(O)c1ccccc1O",
    "COC(=O)c1ccccc1O",
    "CC(=O)Nc1ccc(O)cc1",
    "CC(C)Cc1ccc(C(C)C(=O)O)cc1",
    "Cn1c(=O)c2c(ncn2C)n(C)c1=O",
    "c1ccc2[nH]ccc2c1",
    "C1CCCCC1",
    "CCO",
    "C[C@H](N)C(=O)O",
    "C[C@@H](N)C(=O)O",
    "NC(=O)c1cccnc1",
)

FULLERENE = (
    "c12c3c4c5c1c1c6c7c2c2c8c3c3c9c4c4c%10c5c5c1c1c6c6c%11c7c2c2c7c8c3c3c8c9c4c4c9c%10c5c5c1c1c6c6c"
    "%11c2c2c7c3c3c8c4c4c9c5c1c1c6c2c3c41"
)

Make = Callable[..., "FakeLibrary"]


def _index(library: "FakeLibrary") -> CompoundIndex:
    return CompoundIndex(make_rows(library.of_format("compound"))[0])


def _smiles(library: "FakeLibrary", index: CompoundIndex, row: int) -> str:
    record = library.records[index.rows.documents[row].decode()]
    return dict(record.metadata.properties)["smiles"]


def test_similarities_are_those_of_rdkit(make_library: Make) -> None:
    library = make_library(*SMILES)
    index = _index(library)
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    query = MolFromSmiles("CC(=O)Oc1ccccc1C(=O)OC")
    own = generator.GetFingerprint(query)
    expected = {
        smiles: TanimotoSimilarity(own, generator.GetFingerprint(MolFromSmiles(smiles)))
        for smiles in SMILES
    }
    found = index.nearest(morgan_words(query), limit=len(SMILES)).found
    assert {_smiles(library, index, row): score for row, score in found} == expected
    assert [score for _, score in found] == sorted(expected.values(), reverse=True)


def test_equal_similarities_are_ordered_by_inchikey_and_cut_there(make_library: Make) -> None:
    library = make_library(*SMILES)
    index = _index(library)
    query = morgan_words(MolFromSmiles("CC(N)C(=O)O"))
    both = index.nearest(query, limit=2).found
    assert [score for _, score in both] == [1.0, 1.0]
    keys = [index.rows.keys[row] for row, _ in both]
    assert keys == sorted(keys)
    assert index.nearest(query, limit=1).found == both[:1]


@pytest.mark.parametrize("smarts", ["c1ccccc1", "[CX3](=O)[OX2H1]", "[#7;R]", "[C@H](N)", "Br"])
def test_containing_agrees_with_asking_every_molecule(make_library: Make, smarts: str) -> None:
    library = make_library(*SMILES)
    index = _index(library)
    query = MolFromSmarts(smarts)
    expected = {each for each in SMILES if MolFromSmiles(each).HasSubstructMatch(query)}
    found = index.containing(query, limit=100)
    assert {_smiles(library, index, row) for row, _ in found.found} == expected
    assert found.complete


def test_the_smallest_molecules_come_first_and_a_limit_ends_the_search(
    make_library: Make,
) -> None:
    library = make_library(*SMILES)
    index = _index(library)
    found = index.containing(MolFromSmiles("c1ccccc1"), limit=3)
    heavy = [int(index.rows.heavy[row]) for row, _ in found.found]
    assert heavy == [9, 10, 11]  # indole, salicylic acid, then one of eleven atoms
    assert not found.complete
    assert not found.timed_out
    assert found.found[0][1] == pytest.approx(6 / 9)


def test_a_search_that_runs_out_of_time_says_so(make_library: Make) -> None:
    chains = tuple("C" * length for length in range(1, 90))
    index = _index(make_library(*chains))
    found = index.containing(MolFromSmarts("[#6]~[#7,#6;D3]"), limit=5, time_limit_s=-1.0)
    assert found.timed_out
    assert found.looked_at < found.candidates


def test_a_pattern_that_keeps_one_molecule_busy_is_ended(make_library: Make) -> None:
    """24 carbons in a row that end in none of a fullerene's: more paths than can be walked."""
    index = _index(make_library(FULLERENE))
    endless = MolFromSmarts("[#6]" + "~[#6]" * 40 + "~[#6;D2]")
    found = index.containing(endless, limit=5, time_limit_s=0.1)
    assert (found.found, found.looked_at, found.timed_out) == ((), 0, True)
    assert index.containing(MolFromSmarts("c1cccc1"), limit=5).complete


def test_i6_only_the_knowledge_bases_asked_for_are_searched(make_library: Make) -> None:
    library = make_library()
    library.add("CCO", kb="mine")
    library.add("CCCO", kb="theirs")
    index = _index(library)
    query = morgan_words(MolFromSmiles("CCO"))
    for names, count in ((None, 2), (("mine",), 1), (("nobody",), 0), ((), 0)):
        assert len(index.nearest(query, limit=5, kb_names=names).found) == count
        part = index.containing(MolFromSmiles("CO"), limit=5, kb_names=names)
        assert len(part.found) == count


def test_o2_a_salt_is_found_by_the_group_that_only_its_parent_has(make_library: Make) -> None:
    library = make_library("CC(=O)[O-].[Na+]")
    index = _index(library)
    acid = index.containing(MolFromSmarts("[CX3](=O)[OX2H1]"), limit=5)
    sodium = index.containing(MolFromSmarts("[Na]"), limit=5)
    assert (len(acid.found), len(sodium.found)) == (1, 1)


def test_no_compounds_give_no_answer() -> None:
    index = CompoundIndex(empty_rows())
    assert index.nearest(morgan_words(MolFromSmiles("CCO")), limit=5).found == ()
    assert index.containing(MolFromSmiles("CCO"), limit=5).found == ()
