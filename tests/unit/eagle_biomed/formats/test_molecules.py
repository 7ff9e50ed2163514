"""Compounds from structure files: records, refusals by number, merging, identity (CASES O1, O2)."""

import hashlib

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.molecules import MAX_REFUSALS, parse
from eagle_biomed.formats.molecules_signs import compound_kind
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source

ETHANOL = """ethanol
  test

  3  2  0  0  0  0            999 V2000
    0.0000    0.0000    0.0000 C   0  0
    1.0000    0.0000    0.0000 C   0  0
    2.0000    0.0000    0.0000 O   0  0
  1  2  1  0
  2  3  1  0
M  END
"""
METHYLAMINE_V3 = """methylamine

test
  0  0  0     0  0            999 V3000
M  V30 BEGIN CTAB
M  V30 COUNTS 2 1 0 0 0
M  V30 BEGIN ATOM
M  V30 1 C 0 0 0 0
M  V30 2 N 1 0 0 0
M  V30 END ATOM
M  V30 BEGIN BOND
M  V30 1 1 1 2
M  V30 END BOND
M  V30 END CTAB
M  END
"""
BROKEN = ETHANOL.replace("  1  2  1  0\n", "  1  9  1  0\n").replace("ethanol", "broken")
MOL2 = """@<TRIPOS>MOLECULE
methanol
 6 5 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
 1 C1 0.00 0.00 0.00 C.3 1 LIG 0.0
 2 O1 1.40 0.00 0.00 O.3 1 LIG 0.0
 3 H1 -0.40 1.00 0.00 H 1 LIG 0.0
 4 H2 -0.40 -0.50 0.90 H 1 LIG 0.0
 5 H3 -0.40 -0.50 -0.90 H 1 LIG 0.0
 6 H4 1.80 0.90 0.00 H 1 LIG 0.0
@<TRIPOS>BOND
 1 1 2 1
 2 1 3 1
 3 1 4 1
 4 1 5 1
 5 2 6 1
"""
NO_HYDROGENS = """@<TRIPOS>MOLECULE
methanol
 2 1 0 0 0
SMALL
NO_CHARGES

@<TRIPOS>ATOM
 1 C1 0.00 0.00 0.00 C.3 1 LIG 0.0
 2 O1 1.40 0.00 0.00 O.3 1 LIG 0.0
@<TRIPOS>BOND
 1 1 2 1
"""


def _source(name: str, text: str | bytes) -> Source:
    data = text.encode() if isinstance(text, str) else text
    return Source(name, data, hashlib.sha256(data).hexdigest())


def _no_xml(source: Source) -> object:
    message = f"{source.uri} is no XML"
    raise AssertionError(message)


def _parse(name: str, text: str | bytes) -> ParseOutcome:
    return parse(_source(name, text), FormatTools(_no_xml))


def _only(name: str, text: str) -> ParsedDocument:
    (document,) = _parse(name, text).documents
    return document


def _property(document: ParsedDocument, name: str) -> str:
    return dict(document.metadata.properties).get(name, "")


def _sdf(*records: str) -> str:
    return "".join(f"{record}$$$$\n" for record in records)


def test_a_mol_file_is_one_compound_without_a_member() -> None:
    document = _only("a/ethanol.mol", ETHANOL)

    assert (document.member, document.metadata.title) == ("", "ethanol")
    assert document.format == "compound"
    assert _property(document, "smiles") == "CCO"


def test_an_sdf_gives_a_document_a_record_in_v2000_and_v3000() -> None:
    outcome = _parse("a.sdf", _sdf(ETHANOL, METHYLAMINE_V3))

    assert [each.metadata.title for each in outcome.documents] == ["ethanol", "methylamine"]
    assert [each.member for each in outcome.documents] == ["record-1", "record-2"]
    assert [_property(each, "smiles") for each in outcome.documents] == ["CCO", "CN"]


def test_o1_one_bad_molecule_in_a_thousand_is_refused_by_its_number() -> None:
    chains = [f"{'C' * (length % 40 + 1)}{'O' if length % 3 else 'N'}" for length in range(999)]
    lines = [f"{smiles}\tname {at}" for at, smiles in enumerate(chains)]
    lines.insert(500, "C(C(C\tbad")

    outcome = _parse("a.smi", "\n".join(lines))

    assert [each.member for each in outcome.refusals] == ["record-501"]
    assert "record 501" in outcome.refusals[0].message
    assert outcome.refusals[0].reason == "bad-structure"
    assert len(outcome.documents) == len(set(chains))


def test_o1_a_bad_record_of_an_sdf_is_refused_and_the_rest_loads() -> None:
    outcome = _parse("a.sdf", _sdf(ETHANOL, BROKEN, METHYLAMINE_V3))

    assert [each.member for each in outcome.documents] == ["record-1", "record-3"]
    assert [each.member for each in outcome.refusals] == ["record-2"]


def test_the_fields_of_a_record_become_properties_names_and_identifiers() -> None:
    record = ETHANOL.replace("ethanol\n", "1\n") + (
        ">  <PUBCHEM_COMPOUND_CID>  (1)\n702\n\n"
        "> <NAME>\nethyl alcohol\n\n"
        "> <Synonyms>\nspirit; grain alcohol\nEtOH\n\n"
        "> <CAS>\n64-17-5\n\n"
        "> <ChEMBL_ID>\nCHEMBL545\n\n"
        "> <Colour>\nnone\nto speak of\n\n"
        "> <SMILES>\nOCC\n\n"
    )

    document = _only("a.sdf", _sdf(record))

    assert document.metadata.title == "ethyl alcohol"
    assert _property(document, "synonyms") == "spirit; grain alcohol; EtOH"
    assert dict(document.metadata.ids.other) == {
        "cas": "64-17-5",
        "chembl": "CHEMBL545",
        "inchikey": "LFQSCWFLJHTTHZ-UHFFFAOYSA-N",
        "parent-inchikey": "LFQSCWFLJHTTHZ-UHFFFAOYSA-N",
        "pubchem-cid": "702",
    }
    assert _property(document, "field:Colour") == "none to speak of"
    assert _property(document, "field:SMILES") == ""


def test_a_cas_number_with_a_wrong_check_digit_is_no_identifier() -> None:
    document = _only("a.sdf", _sdf(ETHANOL + "> <CAS>\n64-17-6\n\n"))

    assert "cas" not in dict(document.metadata.ids.other)


def test_identity_is_the_inchikey_and_the_work_its_scheme() -> None:
    identity = _only("a.mol", ETHANOL).identity

    assert identity is not None
    assert identity.key == "LFQSCWFLJHTTHZ-UHFFFAOYSA-N"
    assert identity.work == "inchikey:LFQSCWFLJHTTHZ-UHFFFAOYSA-N"


def test_a_compound_without_inchi_is_known_by_its_smiles_and_says_so() -> None:
    document = _only("a.smi", "*CC wildcard")

    assert document.identity is not None
    assert document.identity.work == "smiles-sha256:" + hashlib.sha256(b"*CC").hexdigest()
    assert document.warnings


def test_records_of_one_compound_become_one_document_that_keeps_all_they_say() -> None:
    outcome = _parse("a.csv", "name,smiles,assay\none,Oc1ccccn1,A\ntwo,O=c1cccc[nH]1,B\n")

    (document,) = outcome.documents
    assert document.metadata.title == "one"
    assert _property(document, "synonyms") == "two"
    assert _property(document, "field:assay") == "A; B"
    assert _property(document, "other_smiles") == "O=c1cccc[nH]1"


def test_o2_a_salt_is_kept_beside_its_parent() -> None:
    document = _only("a.smi", "CC(=O)Oc1ccccc1C(=O)[O-].[Na+] sodium aspirin")

    assert _property(document, "parent_inchikey") == "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
    assert _property(document, "inchikey") != _property(document, "parent_inchikey")
    assert _property(document, "has_salt") == "true"
    assert "Parent SMILES: CC(=O)Oc1ccccc1C(=O)O" in document.text


def test_mol2_files_may_hold_several_molecules() -> None:
    thiol = MOL2.replace("O1 1.40", "S1 1.40").replace("O.3", "S.3").replace("methanol", "****")

    outcome = _parse("a.mol2", "# made by hand\n" + MOL2 + thiol)

    assert [_property(each, "smiles") for each in outcome.documents] == ["CO", "CS"]
    assert [each.metadata.title for each in outcome.documents] == [
        "methanol",
        "LSDPWZHWYPCBBB-UHFFFAOYSA-N",
    ]


def test_a_mol2_that_left_out_its_hydrogens_is_refused_rather_than_read_as_a_radical() -> None:
    with pytest.raises(UnreadableDocument, match="hydrogens are missing"):
        _parse("a.mol2", NO_HYDROGENS)


def test_the_digest_is_that_of_the_record() -> None:
    both = _parse("a.sdf", _sdf(ETHANOL, METHYLAMINE_V3)).documents
    other = _parse("b.sdf", _sdf(METHYLAMINE_V3, ETHANOL)).documents

    assert both[0].digest == other[1].digest != both[1].digest


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.sdf", "", "empty"),
        ("a.sdf", "\n\n \n", "empty"),
        ("a.mol", "just words\n", "bad-structure"),
        ("a.smi", "# only a comment\n", "no-records"),
        ("a.csv", "smiles,name\n", "no-records"),
        ("a.mol2", "nothing of the kind\n", "no-records"),
        ("a.smi", "word\n" * 1000, "not-compounds"),
        ("a.mol", "x" * 2_100_000, "bad-record"),
    ],
)
def test_a_file_without_compounds_is_refused_with_its_reason(
    name: str, text: str, reason: str
) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _parse(name, text)

    assert caught.value.reason == reason
    assert caught.value.remedy


def test_refusals_are_listed_up_to_a_limit_and_counted_beyond() -> None:
    outcome = _parse("a.smi", "CCO good\n" + "bad\n" * (MAX_REFUSALS + 5))

    assert len(outcome.refusals) == MAX_REFUSALS + 1
    assert outcome.refusals[-1].reason == "more-refused"
    assert outcome.refusals[-1].message.startswith("5 more")


def test_encodings_of_names_are_told_by_their_bytes() -> None:
    texts = ("CCO \u00e9thanol".encode("cp1252"), "\ufeffCCO \u00e9thanol".encode("utf-16-le"))

    titles = [_parse("a.smi", text).documents[0].metadata.title for text in texts]

    assert titles == ["\u00e9thanol", "\u00e9thanol"]


def test_fields_are_bounded_in_number_and_length() -> None:
    fields = "".join(f"> <F{number}>\n{'long ' * 400}\n\n" for number in range(80))

    document = _only("a.sdf", _sdf(ETHANOL + fields))

    kept = [value for name, value in document.metadata.properties if name.startswith("field:")]
    assert len(kept) == 50
    assert max(map(len, kept)) == 500


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("a.sdf", b"x", "sdf"),
        ("A.SDF", b"x", "sdf"),
        ("a.mol", b"x", "mol"),
        ("a.mol2", b"x", "mol2"),
        ("a.smi", b"CCO", "smiles"),
        ("a.smi", b"<SAMI>", ""),
        ("a.inchi", b"InChI=1S/CH4/h1H4", "inchi"),
        ("a.txt", b"InChI=1S/CH4/h1H4", "inchi"),
        ("a.txt", b"InChI is an identifier.", ""),
        ("a.txt", ETHANOL.encode(), "sdf"),
        ("noname", MOL2.encode(), "mol2"),
        ("a.txt", b"A paper on SMILES.\n\n\n123456 V2000 is a year.", ""),
        ("a.csv", b"id,SMILES\n1,CCO", "table"),
        ("a.csv", b"id;Canonical Smiles\n1;CCO", "table"),
        ("a.tsv", b"id\tinchi\n1\tInChI=1S/CH4/h1H4", "table"),
        ("a.csv", b"id,value\n1,2", ""),
        ("a.csv", b"smile,value\n1,2", ""),
        ("a.sdf", b"\0\0\0", ""),
        ("a.xml", b"<smiles>CCO</smiles>", ""),
        ("a.md", b"smiles,name\nCCO,x", ""),
    ],
)
def test_sources_are_told_by_name_and_first_bytes(name: str, head: bytes, kind: str) -> None:
    assert compound_kind(_source(name, head)) == kind


def test_g6_a_file_of_mostly_bad_records_is_not_read_to_its_end() -> None:
    outcome = _parse("a.smi", "CCO ethanol\n" + "x\n" * 30_000)

    assert len(outcome.documents) == 1
    assert "too-many-records" in {refusal.reason for refusal in outcome.refusals}
    assert "most of the first 20001 records are bad" in outcome.refusals[-2].message
