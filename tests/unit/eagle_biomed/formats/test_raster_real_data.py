"""Every picture of the data sets: a document, a paper's figure, or a typed refusal."""

import hashlib
import os
from collections import Counter
from pathlib import Path

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.images_signs import accepts_picture
from eagle_biomed.formats.raster import parse, pictures
from eagle_biomed.formats.selector import biomed_format_selector
from eagle_rag.adapters.sources.companions import FolderCompanions
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import Source


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


def test_every_real_picture_is_a_document_or_refused_with_a_reason() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data sets")
    found: Counter[str] = Counter()
    for part in ("images_dicom_nifti", "jats_with_figures"):
        for path in sorted(Path(folder, part).rglob("*")):
            if not path.is_file():
                continue
            data = path.read_bytes()
            beside = FolderCompanions(str(path.parent), path.name, 64 << 20)
            digest = hashlib.sha256(data).hexdigest()
            source = Source(path.name, data, digest, companions=beside)
            if biomed_format_selector(source) != "picture":
                continue
            assert accepts_picture(source)
            try:
                document = parse(source, FormatTools(_no_xml)).documents[0]
            except UnreadableDocument as error:
                found[f"{part} {error.reason}"] += 1
                continue
            assert len(pictures(document, source)) == 1
            found[f"{part} picture"] += 1

    assert found == {
        "images_dicom_nifti picture": 11,
        "jats_with_figures part-of-document": 103,
        "jats_with_figures picture": 39,
    }
