"""Every real file of compounds and structures, when ``EAGLE_RAG_TEST_DATA`` names where they are."""

import gzip
import hashlib
import os
from functools import cache
from pathlib import Path

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.selector import biomed_format_selector, format_card
from eagle_rag.model.document import ParsedDocument, ParseOutcome, Source

# File, documents, refused records. Records of one InChIKey in one file are one document.
COUNTS = (
    ("egfr.sdf", 364, 0),
    ("solubility.test.sdf", 257, 0),
    ("first_200.props.sdf", 200, 0),
    ("cdk2.sdf", 47, 0),
    ("Jnk1_ligands.sdf", 21, 0),
    ("first_5K.smi", 4892, 8),
    ("delaney-processed.csv", 1117, 0),
    ("tox21.csv", 7820, 9),
    ("EGFR_compounds.csv", 5568, 0),
)
STRUCTURES = 18


@cache
def _files() -> dict[str, Source]:
    root = os.environ.get("EAGLE_RAG_TEST_DATA")
    folder = Path(root, "compounds") if root else None
    if folder is None or not folder.is_dir():
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data set 'compounds'")
    sources = {}
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        data, name = path.read_bytes(), str(path)
        if path.suffix == ".gz":
            data, name = gzip.decompress(data), name.removesuffix(".gz")
        sources[name.rpartition("/")[2]] = Source(name, data, hashlib.sha256(data).hexdigest())
    return sources


def _no_xml(source: Source) -> object:
    message = f"{source.uri} is no XML"
    raise AssertionError(message)


def _parse(source: Source) -> ParseOutcome:
    card = format_card(biomed_format_selector(source) or "")
    assert card is not None
    return card.parser()(source, FormatTools(_no_xml))


def _check(document: ParsedDocument) -> None:
    joined = "".join(document.text[block.start : block.end] for block in document.blocks)
    assert "".join(joined.split()) == "".join(document.text.split())
    for block in document.blocks:
        piece = document.text[block.start : block.end]
        assert piece == piece.strip() != ""
    names = [name for name, _ in document.metadata.properties]
    assert names == sorted(set(names))
    assert document.metadata.title


@pytest.mark.parametrize(("name", "documents", "refused"), COUNTS)
def test_o1_a_real_file_of_compounds_loads_but_for_its_bad_records(
    name: str, documents: int, refused: int
) -> None:
    outcome = _parse(_files()[name])

    assert (len(outcome.documents), len(outcome.refusals)) == (documents, refused)
    assert all(each.identity is not None for each in outcome.documents)
    assert all("\nSMILES: " in each.text for each in outcome.documents)
    for document in outcome.documents:
        _check(document)


def test_every_real_structure_is_read() -> None:
    sources = [
        source for source in _files().values() if biomed_format_selector(source) == "structure"
    ]

    documents = [document for source in sources for document in _parse(source).documents]

    assert len(documents) == len(sources) == STRUCTURES
    for document in documents:
        _check(document)


def test_no_other_real_file_is_taken_for_compounds_or_structures() -> None:
    taken = {
        name
        for name, source in _files().items()
        if biomed_format_selector(source) in {"compound", "structure"}
    }

    assert not {"NOTE.txt", "LICENSE", "license.txt"} & taken
