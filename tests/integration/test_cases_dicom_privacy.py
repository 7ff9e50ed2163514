"""Medical images through a whole engine: who the patient is stands nowhere (CASES O3).

Planted identifiers are looked for in every file of the index, in all that commands print and log, and in
what refusals say. A word that may stand there is looked for in the same way: what finds nothing proves nothing.
"""

import json
import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.uid import (
    UID,
    BasicTextSRStorage,
    CTImageStorage,
    DeflatedExplicitVRLittleEndian,
    DigitalXRayImageStorageForPresentation,
    ExplicitVRLittleEndian,
    MediaStorageDirectoryStorage,
    UltrasoundImageStorage,
)

from eagle_rag.model.query import SearchRequest

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

RADIOLOGY = "eagle_medical_radiology"
COLLECTIONS = (RADIOLOGY, "eagle_text", "eagle_text_biomed")
REFUSED_SOME = 3  # exit code
ENOUGH_PICTURES, ENOUGH_TAKEN = 4, 10
SHOWN = "computed tomography"  # may stand everywhere: the control
# Every value below is long enough to stand nowhere by chance.
TEXTS = {
    "PatientName": "ZZPATIENT^ZZJ\u00d6RG",
    "OtherPatientNames": "ZZALIAS",
    "PatientBirthName": "ZZBIRTHNAME",
    "PatientMotherBirthName": "ZZMOTHER",
    "PatientID": "ZZ-471199",
    "PatientBirthDate": "19450612",
    "PatientBirthTime": "071313.131313",
    "PatientAge": "079Y",
    "PatientComments": "ZZCOMMENT of ZZPATIENT",
    "PatientAddress": "ZZSTREET 13, ZZTOWN",
    "PatientTelephoneNumbers": "+490000471199",
    "EthnicGroup": "ZZETHNIC",
    "Occupation": "ZZOCCUPATION",
    "AdditionalPatientHistory": "ZZHISTORY",
    "InstitutionName": "ZZHOSPITAL",
    "InstitutionAddress": "ZZROAD",
    "InstitutionalDepartmentName": "ZZDEPARTMENT",
    "ReferringPhysicianName": "ZZDOCTOR^PLANTED",
    "PerformingPhysicianName": "ZZPERFORMER",
    "OperatorsName": "ZZOPERATOR",
    "RequestingPhysician": "ZZREQUESTER",
    "StationName": "ZZSTATION",
    "AccessionNumber": "ZZACCESSION",
    "StudyID": "ZZSTUDYID",
    "StudyDate": "20190203",
    "AcquisitionDateTime": "20190203141516",
    "StudyDescription": "ZZSTUDY",
    "SeriesDescription": "ZZSERIES",
    "ProtocolName": "ZZPROTOCOL",
    "ImageComments": "ZZIMAGE",
    "DerivationDescription": "ZZDERIVED",
    "DeviceSerialNumber": "ZZSERIAL",
    "StudyInstanceUID": "1.2.826.0.1.471199.1",
    "SeriesInstanceUID": "1.2.826.0.1.471199.2",
    "FrameOfReferenceUID": "1.2.826.0.1.471199.3",
    # Elements that are read, misused for names.
    "BodyPartExamined": "ZZBODY",
    "Manufacturer": "ZZMAKER",
    "ManufacturerModelName": "ZZMODEL",
    "ViewPosition": "ZZVIEW",
}
INSTANCE = "1.2.826.0.1.471199.4"
PLANTED = (
    *(value for value in TEXTS.values() if " " not in value and "^" not in value),
    *("ZZPATIENT", "ZZJ\u00d6RG", "ZZCOMMENT", "ZZSTREET", "ZZTOWN", "ZZDOCTOR", INSTANCE),
    *("ZZPRIVATE", "ZZTYPE", "ZZMEANING", "ZZREQUEST", "ZZOBSERVER", "ZZFINDING", "ZZFILESET"),
)
# As files, databases and JSON write a text.
ENCODINGS = (
    lambda text: text.encode(),
    lambda text: text.encode("latin-1"),
    lambda text: text.encode("utf-16-le"),
    lambda text: json.dumps(text)[1:-1].encode(),
)
# Every process of a command, workers too, logs all it can, pydicom's own debugging included.
_LOUD = """
import logging
logging.basicConfig(level=logging.DEBUG)
import pydicom.config
pydicom.config.debug(True)
logging.getLogger("loud").debug("every process says this")
"""


def _image(sop_class: str, modality: str, *, syntax: str = ExplicitVRLittleEndian) -> FileDataset:
    """Return a grey ramp of 8 x 16 pixels with identifiers wherever they are met."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UID(sop_class)
    meta.MediaStorageSOPInstanceUID = UID(INSTANCE)
    meta.TransferSyntaxUID = UID(syntax)
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"ZZPRIVATE".ljust(128, b"\0"))
    dataset.SpecificCharacterSet = "ISO_IR 192"
    dataset.SOPClassUID, dataset.SOPInstanceUID, dataset.Modality = sop_class, INSTANCE, modality
    dataset.Rows, dataset.Columns, dataset.SamplesPerPixel = 8, 16, 1
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, 12, 11
    dataset.PixelRepresentation = 0
    dataset.PixelData = np.tile(np.arange(16, dtype="<u2") * 100, (8, 1)).tobytes()
    for keyword, value in TEXTS.items():
        setattr(dataset, keyword, value)
    dataset.ImageType = ["ORIGINAL", "ZZTYPE"]
    dataset.private_block(0x0019, "ZZPRIVATE", create=True).add_new(0x01, "LO", "ZZPRIVATE value")
    dataset.AnatomicRegionSequence = [_code("39607008", "SCT", "ZZMEANING of ZZPATIENT")]
    request = Dataset()
    request.ScheduledProcedureStepDescription = "ZZREQUEST"
    dataset.RequestAttributesSequence = [request]
    return dataset


def _code(value: str, scheme: str, meaning: str) -> Dataset:
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return item


def _dictated() -> FileDataset:
    dataset = _image(BasicTextSRStorage, "SR")
    del dataset.PixelData
    observer, finding = Dataset(), Dataset()
    observer.ValueType, observer.PersonName = "PNAME", "ZZOBSERVER"
    observer.ConceptNameCodeSequence = [_code("121008", "DCM", "ZZMEANING")]
    finding.ValueType, finding.TextValue = "TEXT", "ZZFINDING in ZZPATIENT"
    finding.ConceptNameCodeSequence = [_code("121071", "DCM", "ZZMEANING")]
    dataset.ContentSequence = [observer, finding]
    return dataset


def _bytes(dataset: FileDataset) -> bytes:
    stream = BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def _files() -> dict[str, bytes]:
    """Return images that are taken, and damaged ones of which most are refused."""
    chest = _image(DigitalXRayImageStorageForPresentation, "DX")
    chest.BodyPartExamined = "CHEST"
    directory = _image(MediaStorageDirectoryStorage, "CT")
    directory.FileSetID = "ZZFILESET"
    bare = _image(CTImageStorage, "CT")
    del bare.PixelData
    whole = _bytes(_image(CTImageStorage, "CT"))
    nameless = _image(CTImageStorage, "CT")
    for keyword in ("SOPClassUID", "Modality", "Rows", "Columns"):
        delattr(nameless, keyword)
    files = {
        "ct.dcm": whole,
        "chest.dcm": _bytes(chest),
        "ultrasound.dcm": _bytes(_image(UltrasoundImageStorage, "US")),
        "report.dcm": _bytes(_dictated()),
        "bare.dcm": _bytes(bare),
        "deflated.dcm": _bytes(
            _image(CTImageStorage, "CT", syntax=DeflatedExplicitVRLittleEndian)
        ),
        "no-preamble.dcm": whole[132:],
        "DICOMDIR": _bytes(directory),
        "nameless.dcm": _bytes(nameless),
        "names-alone.dcm": "".join(TEXTS.values()).encode(),
        "flipped-length.dcm": whole[:150] + b"\xff\xff" + whole[152:],
    }
    generator = np.random.default_rng(5)
    for number in range(12):
        damaged = bytearray(whole[: int(generator.integers(200, len(whole)))])
        for at in generator.integers(132, len(damaged), 10):
            damaged[at] = generator.integers(256)
        files[f"damaged-{number}.dcm"] = bytes(damaged)
    return files


@dataclass(frozen=True, slots=True)
class Run:
    """One command: what it printed and what it said, logs of all its processes included."""

    code: int
    out: str
    said: str


OPTIONS: dict[str, object] = {
    "encoder_mode": "deterministic",
    "encoders": {"eagle_text_biomed": "hash", RADIOLOGY: "medimageinsight"},
}
SETTINGS: dict[str, object] = {
    "plugins.enabled": ["biomed"],
    "plugins.default_namespace": "biomed",
    "plugins.options.biomed": OPTIONS,
}


class Shelf:
    """A folder with images, an index of them, and the commands that run on both."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "in").mkdir()
        (folder / "site").mkdir()
        (folder / "site" / "sitecustomize.py").write_text(_LOUD, encoding="utf-8")
        for name, data in _files().items():
            (folder / "in" / name).write_bytes(data)

    @property
    def index(self) -> Path:
        return self.folder / "index"

    def eagle(self, *arguments: str) -> Run:
        environ = {name: value for name, value in os.environ.items() if "EAGLE" not in name}
        environ["PYTHONPATH"] = str(self.folder / "site")
        sets = {
            "plugins.enabled": "[biomed]",
            "plugins.default_namespace": "biomed",
            "collections.eagle_text.encoder": "hash",
            "plugins.options.biomed": json.dumps(OPTIONS),
        }
        given = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
        command = [sys.executable, "-m", "eagle_rag.surfaces.cli.main", "--profile", "core"]
        done = subprocess.run(  # noqa: S603 - this interpreter, arguments of this file
            [*command, "--data-dir", str(self.index), *given, *arguments],
            cwd=self.folder, env=environ, check=False, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Return the folder; its index is filled by ``ingested``."""
    return Shelf(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def ingested(shelf: Shelf) -> Run:
    """Return what the command said that read all images."""
    return shelf.eagle("ingest", "in", "--json")


@pytest.fixture(scope="module")
def engine(shelf: Shelf, ingested: Run) -> Iterator["Engine"]:
    """Return an engine on the index that the command wrote."""
    from eagle_rag.engine import open_engine
    from eagle_rag.kernel.settings import load_settings

    assert ingested.code == REFUSED_SOME, ingested.said
    overrides = {
        **SETTINGS,
        "profile": "core",
        "data_dir": str(shelf.index),
        "collections.eagle_text.encoder": "hash",
    }
    engine = open_engine(load_settings(overrides=overrides, environ={}))
    yield engine
    engine.close()


def _planted_in(data: bytes) -> list[str]:
    """Return the planted identifiers that stand in bytes, in any encoding and case."""
    lower = data.lower()
    return [text for text in PLANTED if any(form in lower for form in _forms(text))]


def _forms(text: str) -> set[bytes]:
    return {encode(form).lower() for encode in ENCODINGS for form in (text, text.lower())}


def _report(run: Run) -> dict[str, list[dict[str, str]]]:
    report: dict[str, list[dict[str, str]]] = json.loads(run.out.splitlines()[-1])
    return report


def _unpacked(registry: Path) -> bytes:
    """Return all values of the registry; what it compressed is unpacked."""
    connection = sqlite3.connect(registry)
    try:
        asked = "SELECT name FROM sqlite_master WHERE type = 'table'"
        names = [name for (name,) in connection.execute(asked)]
        rows = [row for name in names for row in connection.execute(f'SELECT * FROM "{name}"')]  # noqa: S608 - names of its own tables
    finally:
        connection.close()
    return b"\n".join(_plain(value) for row in rows for value in row)


def _plain(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


def test_the_planted_identifiers_are_in_the_files_and_would_be_found(shelf: Shelf) -> None:
    """Deflated ones apart, each file that is whole holds nearly all of them."""
    for name in ("ct.dcm", "chest.dcm", "ultrasound.dcm", "report.dcm", "bare.dcm"):
        assert len(_planted_in((shelf.folder / "in" / name).read_bytes())) > len(PLANTED) - 6
    files = b"".join(path.read_bytes() for path in (shelf.folder / "in").iterdir())
    assert set(_planted_in(files)) == set(PLANTED)


def test_o3_images_are_taken_with_their_pictures_and_damaged_ones_refused(
    engine: "Engine", ingested: Run
) -> None:
    """Otherwise nothing below would be proved."""
    report = _report(ingested)
    assert engine.store.count(RADIOLOGY) >= ENOUGH_PICTURES
    assert len(report["added"]) >= ENOUGH_TAKEN
    reasons = {each["reason"] for each in report["refused"]}
    assert {"dicom-directory", "nothing-to-show", "dicom-syntax"} <= reasons
    assert len(report["refused"]) + len(report["added"]) == len(_files())
    assert engine.verify().clean


def test_o3_no_identifier_stands_in_any_file_of_the_index(shelf: Shelf, engine: "Engine") -> None:
    assert engine.verify().clean  # it is open: what waits to be written lies in files too
    files = [path for path in shelf.index.rglob("*") if path.is_file()]
    told = {path: path.read_bytes() for path in files}
    assert {str(path): found for path, data in told.items() if (found := _planted_in(data))} == {}
    controls = {path.suffix for path, data in told.items() if SHOWN.encode() in data.lower()}
    assert {".lance", ".json"} <= controls


def test_o3_no_identifier_stands_in_the_registry_when_it_is_unpacked(
    shelf: Shelf, ingested: Run
) -> None:
    del ingested
    told = _unpacked(shelf.index / "registry.db")
    assert SHOWN.encode() in told.lower()
    assert _planted_in(told) == []


def test_o3_no_identifier_is_shown_by_the_library(engine: "Engine") -> None:
    shown = [engine.show(each.document_id) for each in engine.documents()]
    rows = [row for name in COLLECTIONS for batch in engine.store.scan(name) for row in batch]
    told = repr((shown, rows, engine.search(SearchRequest("computed tomography", explain=True))))
    assert SHOWN in told.lower()
    assert _planted_in(told.encode()) == []


@pytest.mark.parametrize("word", ["ZZPATIENT", "ZZHOSPITAL", "471199", "19450612", "ZZFINDING"])
def test_o3_no_image_is_found_by_an_identifier(engine: "Engine", word: str) -> None:
    assert engine.search(SearchRequest(word, mode="lexical")).hits == ()
    assert engine.search(SearchRequest("tomography", mode="lexical")).hits


def test_o3_no_identifier_is_printed_or_logged_while_images_are_read(ingested: Run) -> None:
    """Reasons of refused files included."""
    assert "every process says this" in ingested.said
    assert "in/ct.dcm" in ingested.out
    assert _planted_in((ingested.out + ingested.said).encode()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "chest radiograph", "--explain", "--json"),
        ("search", "computed tomography of the lung"),
    ],
)
def test_o3_no_identifier_is_printed_or_logged_by_a_search(
    shelf: Shelf, ingested: Run, arguments: tuple[str, ...]
) -> None:
    del ingested
    run = shelf.eagle(*arguments)
    assert run.code == 0, run.said
    assert arguments[1].split(maxsplit=1)[0] in run.out.lower()
    assert _planted_in((run.out + run.said).encode()) == []


def test_o3_no_identifier_is_printed_or_logged_when_a_document_is_shown(
    shelf: Shelf, ingested: Run
) -> None:
    events = [json.loads(line) for line in ingested.out.splitlines()]
    chest = next(each for each in events if each.get("source_uri") == "in/chest.dcm")
    run = shelf.eagle("show", chest["document_id"], "--json")
    assert run.code == 0, run.said
    assert "in/chest.dcm" in run.out
    assert _planted_in((run.out + run.said).encode()) == []
