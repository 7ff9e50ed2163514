"""The suffix rule, and structures by name."""

import pytest

from eagle_biomed.drugs import CompoundNames, is_drug


@pytest.mark.parametrize(
    "name",
    [
        "adalimumab",
        "Trastuzumab",
        "camrelizumab",
        "imatinib",
        "sorafenib",
        "olaparib",
        "selinexor-senib",
        "tofacitinib",
        "atorvastatin",
        "metformin",
        "phenformin",
    ],
)
def test_a_name_without_a_type_is_a_drug_by_its_suffix(name: str) -> None:
    assert is_drug(name, "")


@pytest.mark.parametrize("name", ["aspirin", "EGFR", "metformins", "melanoma"])
def test_other_names_without_a_type_are_no_drugs(name: str) -> None:
    assert not is_drug(name, "")


def test_a_type_decides_before_the_suffix() -> None:
    assert is_drug("aspirin", "drug")
    assert not is_drug("JAK-STAT", "pathway")
    assert not is_drug("prostate cancer", "disease")


def test_names_of_compounds_ignore_case_and_hyphens_and_the_first_wins() -> None:
    names = CompoundNames({"aspirin": "A"}, [(["Aspirin", "ASA"], "B"), (["AZD-9291"], "C")])
    assert names.smiles_of("ASPIRIN") == "A"
    assert names.smiles_of("asa") == "B"
    assert names.smiles_of("AZD9291") == "C"
    assert names.smiles_of("unheard") == ""
