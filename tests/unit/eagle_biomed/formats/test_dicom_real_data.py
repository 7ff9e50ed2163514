"""Every DICOM file of the data set: a document or a typed refusal."""

import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.dicom import parse, pictures
from eagle_biomed.formats.dicom_signs import accepts_dicom
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


def test_every_real_file_is_a_document_or_refused_with_a_reason() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data sets")
    found: Counter[str] = Counter()
    for path in sorted(Path(folder, "images_dicom_nifti").rglob("*.dcm")):
        data = path.read_bytes()
        source = Source(path.name, data, hashlib.sha256(data).hexdigest())
        assert accepts_dicom(source)
        try:
            document = parse(source, FormatTools(_no_xml)).documents[0]
        except UnreadableDocument as error:
            found[error.reason] += 1
            continue
        for block in document.blocks:
            text = document.text[block.start : block.end]
            assert text
            assert text == text.strip()
        assets = pictures(document, source)
        assert [asset.key for asset in assets] == [figure.key for figure in document.figures]
        found["picture" if assets else "no picture"] += 1

    assert found == {"picture": 50, "no picture": 63, "nothing-to-show": 7}
