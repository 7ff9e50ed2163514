"""Ground functions of chemistry: reading, refusing, the parent beside the original (CASES O2)."""

import pytest

from eagle_biomed.chemistry import (
    MAX_HEAVY_ATOMS,
    MoleculeRefused,
    Standard,
    looks_like_smiles,
    parse_inchi,
    parse_smiles,
    read_line,
    read_structure,
    standardise,
)

HUGE_V3000 = """


  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 1000000000 0 0 0 0
M  V30 END CTAB
M  END
"""
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
ASPIRIN_KEY = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"


def _standard(smiles: str) -> Standard:
    return standardise(read_structure("smiles", smiles))


def test_aspirin_is_described_with_the_published_numbers() -> None:
    found = _standard("OC(=O)c1ccccc1OC(C)=O")

    assert (found.smiles, found.inchikey, found.formula) == (ASPIRIN, ASPIRIN_KEY, "C9H8O4")
    assert found.molecular_weight == pytest.approx(180.16, abs=0.01)
    assert found.tpsa == pytest.approx(63.6, abs=0.01)
    assert (found.heavy_atoms, found.hbd, found.hba, found.rings) == (13, 1, 3, 1)
    assert (found.has_stereo, found.has_isotopes, found.has_salt) == (False, False, False)


@pytest.mark.parametrize("given", ["CCO", "InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3"])
def test_a_line_is_inchi_when_it_begins_like_one_and_else_smiles(given: str) -> None:
    assert standardise(read_line(given)).smiles == "CCO"


@pytest.mark.parametrize("given", ["InChI=1S//", "ethanol", "", "inchi=1S/CH4/h1H4"])
def test_a_line_that_is_neither_is_refused(given: str) -> None:
    with pytest.raises(MoleculeRefused):
        read_line(given)


@pytest.mark.parametrize(
    ("given", "parent"),
    [
        ("CC(=O)Oc1ccccc1C(=O)[O-].[Na+]", ASPIRIN),
        ("CC(=O)Oc1ccccc1C(=O)O[Na]", ASPIRIN),
        ("CN.Cl.O", "CN"),
        ("C[NH3+].[Cl-]", "CN"),
        ("CC(=O)c1ccccc1.CC(=O)c1ccccc1", "CC(=O)c1ccccc1"),
        ("C[N+](C)(C)CCO.[Cl-]", "C[N+](C)(C)CCO"),
        ("[O-][n+]1ccccc1", "[O-][n+]1ccccc1"),
    ],
)
def test_o2_the_parent_drops_salt_solvent_and_charge(given: str, parent: str) -> None:
    found = _standard(given)

    assert found.parent_smiles == parent
    assert found.parent_inchikey == _standard(parent).inchikey


@pytest.mark.parametrize("given", ["[Na+].[Cl-]", "N.N.Cl[Pt]Cl", "O"])
def test_what_has_no_organic_part_or_is_a_complex_is_its_own_parent(given: str) -> None:
    found = _standard(given)

    assert found.parent_smiles == found.smiles
    assert found.parent_inchikey == found.inchikey


def test_o2_a_salt_keeps_its_own_identity_beside_the_parent() -> None:
    salt = _standard("CC(=O)Oc1ccccc1C(=O)[O-].[Na+]")

    assert salt.has_salt
    assert salt.inchikey != ASPIRIN_KEY
    assert salt.parent_inchikey == ASPIRIN_KEY


def test_o2_enantiomers_have_keys_of_their_own() -> None:
    left, right = _standard("C[C@H](N)C(=O)O"), _standard("C[C@@H](N)C(=O)O")

    assert left.has_stereo
    assert right.has_stereo
    assert left.inchikey != right.inchikey
    assert left.inchikey[:14] == right.inchikey[:14]
    assert "@" in left.parent_smiles


def test_o2_isotopes_are_kept_in_original_and_parent() -> None:
    heavy, light = _standard("[2H]C([2H])([2H])OC"), _standard("COC")

    assert heavy.has_isotopes
    assert "[2H]" in heavy.parent_smiles
    assert heavy.inchikey != light.inchikey


def test_o2_tautomers_stay_as_given_though_they_share_a_key() -> None:
    keto, enol = _standard("O=c1cccc[nH]1"), _standard("Oc1ccccn1")

    assert keto.smiles != enol.smiles
    assert keto.inchikey == enol.inchikey


def test_a_structure_without_inchi_is_known_by_its_smiles() -> None:
    found = _standard("*CC")

    assert (found.inchi, found.inchikey) == ("", "")
    assert len(found.key) == 64


@pytest.mark.parametrize(
    "text",
    ["", " ", "C(C", "notasmiles", "CC CO", "C\0C", "C\ud800", "[Xx]", "c1cccc1", "C" * 100_000],
)
def test_what_is_no_smiles_is_none_and_writes_nothing(
    text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert parse_smiles(text) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "text",
    ["", "InChI=", "InChI=1S//", "InChI=1S/C", "CCO", "InChI=1S/9999999CH4/h9999999*1H4",
     "InChI=1S/C99999/c1-2", "InChI=1S/CH4/c1000000*1"],
)  # fmt: skip
def test_what_is_no_inchi_or_a_huge_one_is_none(
    text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    if text != "InChI=1S/C":
        assert parse_inchi(text) is None
    assert capfd.readouterr() == ("", "")


def test_inchi_is_read_to_the_same_compound_as_smiles() -> None:
    mol = parse_inchi("InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)")

    assert mol is not None
    assert standardise(mol).inchikey == ASPIRIN_KEY


def _ladder(rungs: int) -> str:
    """Return two chains joined at every atom: ``rungs - 1`` rings."""
    labels = [f"%{number}" if number > 9 else str(number) for number in range(1, rungs + 1)]
    one = "".join(f"C{label}" for label in labels)
    return one + "." + "".join(f"C{label}" for label in labels)


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("smiles", "", "no-structure"),
        ("smiles", "C(", "bad-structure"),
        ("smiles", "C" * (MAX_HEAVY_ATOMS + 1), "too-many-atoms"),
        ("smiles", "C" * 50_000, "too-long"),
        ("smiles", ".".join([_ladder(99)] * 3), "too-many-rings"),
        ("inchi", "InChI=1S/5000CH4", "too-many-atoms"),
        ("molblock", "\n\n\n999999  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n", "bad-structure"),
        ("molblock", HUGE_V3000, "too-many-atoms"),
        ("molblock", "no molecule", "bad-structure"),
        ("molblock", "\n\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n", "no-structure"),
        ("mol2", "@<TRIPOS>MOLECULE\nx\n 1000000 0\n", "too-many-atoms"),
        ("mol2", "nothing", "bad-structure"),
    ],
)  # fmt: skip
def test_a_structure_that_cannot_be_used_is_refused_with_its_reason(
    kind: str, text: str, reason: str
) -> None:
    with pytest.raises(MoleculeRefused) as caught:
        standardise(read_structure(kind, text))

    assert caught.value.reason == reason
    assert caught.value.remedy


@pytest.mark.parametrize(
    "token", [ASPIRIN, "c1ccccc1", "C[C@H](N)C(=O)O", "SMILES CCO", "SMILES: CCO"]
)
def test_o2_chemistry_looks_like_smiles(token: str) -> None:
    assert looks_like_smiles(token)


@pytest.mark.parametrize(
    "token",
    ["CO", "CNS", "SOS", "COPD", "NO", "BIN", "CNN", "In", "I", "C", "CCO", "PIK3CA", "(CI)", "[12]",
     "p=0.05", "aspirin", "a word", "", f"take {ASPIRIN}", "c1cccc1CC(=O)"],
)  # fmt: skip
def test_o2_prose_does_not_look_like_smiles(token: str) -> None:
    assert not looks_like_smiles(token)
