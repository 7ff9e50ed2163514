import hashlib
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
from pydicom.uid import (
    UID,
    CTImageStorage,
    DeflatedExplicitVRLittleEndian,
    DigitalXRayImageStorageForPresentation,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    JPEG2000Lossless,
    JPEGLSLossless,
    MediaStorageDirectoryStorage,
    SecondaryCaptureImageStorage,
    SegmentationStorage,
    UltrasoundImageStorage,
)

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.dicom import parse, pictures
from eagle_biomed.formats.dicom_signs import accepts_dicom
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, Source


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


TOOLS = FormatTools(_no_xml)


def image(sop_class: str = CTImageStorage, modality: str = "CT", syntax: str = "") -> FileDataset:
    """Return a grey ramp of 8 x 16 pixels with nothing else."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = UID(sop_class)
    meta.MediaStorageSOPInstanceUID = UID("1.2.3.4")
    meta.TransferSyntaxUID = UID(syntax or ExplicitVRLittleEndian)
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID = sop_class
    dataset.SOPInstanceUID = "1.2.3.4"
    dataset.Modality = modality
    dataset.Rows, dataset.Columns = 8, 16
    dataset.SamplesPerPixel = 1
    dataset.PhotometricInterpretation = "MONOCHROME2"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 16, 12, 11
    dataset.PixelRepresentation = 0
    dataset.PixelData = np.tile(np.arange(16, dtype="<u2") * 100, (8, 1)).tobytes()
    return dataset


def source_of(dataset: FileDataset, name: str = "scan.dcm") -> Source:
    stream = BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    data = stream.getvalue()
    return Source(name, data, hashlib.sha256(data).hexdigest())


def read(dataset: FileDataset) -> ParsedDocument:
    return parse(source_of(dataset), TOOLS).documents[0]


def shown(dataset: FileDataset) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    source = source_of(dataset)
    (asset,) = pictures(parse(source, TOOLS).documents[0], source)
    return np.asarray(Image.open(BytesIO(asset.data)))


def code(value: str, scheme: str, meaning: str) -> Dataset:
    item = Dataset()
    item.CodeValue, item.CodingSchemeDesignator, item.CodeMeaning = value, scheme, meaning
    return item


def plant(dataset: FileDataset) -> None:
    """Write ``ZZ...`` and one date into every place where identifiers are met."""
    dataset.PatientName = "ZZPATIENT^PLANTED"
    dataset.PatientID = "ZZ-4711"
    dataset.PatientBirthDate = "19450612"
    dataset.PatientSex = "O"
    dataset.PatientAge = "079Y"
    dataset.PatientComments = "ZZCOMMENT"
    dataset.InstitutionName = "ZZHOSPITAL"
    dataset.ReferringPhysicianName = "ZZDOCTOR^PLANTED"
    dataset.OperatorsName = "ZZOPERATOR"
    dataset.StationName = "ZZSTATION"
    dataset.AccessionNumber = "ZZACCESSION"
    dataset.StudyDate = "19450612"
    dataset.StudyDescription = "ZZSTUDY of Mr ZZPATIENT"
    dataset.SeriesDescription = "ZZSERIES"
    dataset.ProtocolName = "ZZPROTOCOL"
    dataset.ImageComments = "ZZIMAGE"
    dataset.ContrastBolusAgent = "ZZAGENT"
    dataset.DerivationDescription = "ZZDERIVED"
    dataset.DeviceSerialNumber = "ZZSERIAL"
    dataset.StudyInstanceUID = "1.2.826.0.1.19450612.4711"
    block = dataset.private_block(0x0019, "ZZPRIVATE", create=True)
    block.add_new(0x01, "LO", "ZZPRIVATE value")
    # Fields of coded values, misused for names.
    dataset.BodyPartExamined = "ZZPATIENT"
    dataset.Manufacturer = "ZZMANUFACTURER"
    dataset.ViewPosition = "ZZVIEW"
    dataset.ImageType = ["ORIGINAL", "ZZPATIENT"]
    dataset.KVP = "19450612"
    dataset.AnatomicRegionSequence = [
        code("39607008", "SCT", "ZZLUNG of ZZPATIENT"),
        code("ZZCODE", "99ZZ", "ZZMEANING"),
    ]
    dataset.RequestAttributesSequence = [Dataset()]
    dataset.RequestAttributesSequence[0].ScheduledProcedureStepDescription = "ZZREQUEST"


def everything(document: ParsedDocument, assets: tuple[object, ...]) -> str:
    return repr((document, document.text, document.blocks, document.figures, assets))


def test_o3_no_planted_identifier_is_stored_shown_or_drawn() -> None:
    dataset = image()
    plant(dataset)
    source = source_of(dataset)
    document = parse(source, TOOLS).documents[0]
    assets = pictures(document, source)

    told = everything(document, assets)
    assert "ZZ" not in told
    assert "19450612" not in told
    assert "4711" not in told
    assert "1.2.3.4" not in told
    assert b"ZZ" not in assets[0].data.replace(b"IDAT", b"")[:200]
    assert Image.open(BytesIO(assets[0].data)).info == {}


def test_o3_a_known_code_is_shown_by_the_dictionarys_meaning_not_the_files() -> None:
    dataset = image()
    dataset.AnatomicRegionSequence = [code("39607008", "SCT", "ZZ of the patient")]

    assert "Anatomic region: Lung" in read(dataset).text


def _told(source: Source) -> str:
    """Return all that a file gives, or all that its refusal says."""
    try:
        document = parse(source, TOOLS).documents[0]
    except UnreadableDocument as error:
        return repr((str(error), error.__cause__, error.__context__))
    return everything(document, pictures(document, source))


def test_o3_damaged_files_with_identifiers_do_not_quote_them(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    dataset = image()
    plant(dataset)
    data = source_of(dataset).data
    generator = np.random.default_rng(3)
    for _ in range(150):
        mutated = bytearray(data)
        for at in generator.integers(132, len(data), 12):
            mutated[at] = generator.integers(256)
        source = Source("scan.dcm", bytes(mutated), "d")
        assert "ZZ" not in _told(source)
    assert "ZZ" not in caplog.text + "".join(capfd.readouterr())


def test_o3_a_file_without_pixels_is_a_document_without_picture() -> None:
    dataset = image()
    del dataset.PixelData

    source = source_of(dataset)
    document = parse(source, TOOLS).documents[0]

    assert document.metadata.title == "CT image"
    assert document.figures == ()
    assert document.warnings == ()
    assert pictures(document, source) == ()


def test_o3_one_bit_frames_become_pictures() -> None:
    dataset = image(SegmentationStorage, "SEG")
    dataset.NumberOfFrames = 3
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 1, 1, 0
    dataset.SegmentationType = "BINARY"
    frames = np.zeros((3, 8, 16), dtype=np.uint8)
    frames[1, :, 8:] = 1
    dataset.PixelData = np.packbits(frames.ravel(), bitorder="little").tobytes()
    segment = Dataset()
    segment.SegmentedPropertyTypeCodeSequence = [code("10200004", "SCT", "ZZ")]
    dataset.SegmentSequence = [segment]

    pixels = shown(dataset)

    assert pixels[:, :8].max() == 0
    assert pixels[:, 8:].min() == 255
    assert read(dataset).metadata.title == "Segmentation of liver"


def test_a_chest_radiograph_is_called_so_in_title_and_caption() -> None:
    dataset = image(DigitalXRayImageStorageForPresentation, "DX")
    dataset.BodyPartExamined = "CHEST"
    dataset.ViewPosition = "PA"

    document = read(dataset)

    assert document.metadata.title == "Chest radiograph (DX image)"
    caption = document.figures[0].caption
    assert caption is not None
    told = document.text[caption.start : caption.end]
    assert "chest radiograph" in told
    assert "chest X-ray" in told
    assert "postero-anterior (PA)" in told
    assert ("body_part", "chest") in document.metadata.properties


def test_the_figure_is_keyed_like_its_picture_and_captioned_alike() -> None:
    source = source_of(image())
    document = parse(source, TOOLS).documents[0]
    (asset,) = pictures(document, source)

    span = document.figures[0].caption
    assert span is not None
    assert document.figures[0].key == asset.key
    assert asset.caption == document.text[span.start : span.end]
    assert "Computed tomography" in asset.caption


def test_the_files_own_window_decides_the_grey_values() -> None:
    dataset = image()
    dataset.RescaleSlope, dataset.RescaleIntercept = 1, -500
    dataset.WindowCenter, dataset.WindowWidth = 0, 401

    row = shown(dataset)[0]

    # Stored 300 is -200, the lower end; stored 700 is 200, the upper end (PS3.3 C.11.2.1.2).
    assert row[3] == 0
    assert row[7] == 255
    assert 120 <= row[5] <= 135


def test_monochrome1_is_inverted() -> None:
    dataset = image()
    dataset.PhotometricInterpretation = "MONOCHROME1"

    row = shown(dataset)[0]

    assert row[0] == 255
    assert row[-1] == 0


@pytest.mark.parametrize("planar", [0, 1])
def test_colour_keeps_its_channels_in_both_planar_configurations(planar: int) -> None:
    dataset = image(UltrasoundImageStorage, "US")
    dataset.BurnedInAnnotation = "NO"
    dataset.SamplesPerPixel, dataset.PlanarConfiguration = 3, planar
    dataset.PhotometricInterpretation = "RGB"
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 8, 8, 7
    pixels = np.zeros((8, 16, 3), dtype=np.uint8)
    pixels[..., 0] = 200
    pixels[0, 0] = (0, 0, 9)
    dataset.PixelData = (pixels.transpose(2, 0, 1) if planar else pixels).tobytes()

    assert shown(dataset)[4, 4].tolist() == [200, 0, 0]


def test_text_around_the_regions_of_an_ultrasound_is_blacked_out() -> None:
    dataset = image(UltrasoundImageStorage, "US")
    region = Dataset()
    region.RegionLocationMinX0, region.RegionLocationMinY0 = 4, 2
    region.RegionLocationMaxX1, region.RegionLocationMaxY1 = 15, 7
    dataset.SequenceOfUltrasoundRegions = [region]

    pixels = shown(dataset)

    assert pixels[:2].max() == 0
    assert pixels[:, :4].max() == 0
    assert pixels[2:, 15].min() > 0


@pytest.mark.parametrize("keyword", ["BurnedInAnnotation", "RecognizableVisualFeatures"])
def test_o3_pixels_that_show_who_it_is_give_no_picture(keyword: str) -> None:
    dataset = image()
    setattr(dataset, keyword, "YES")

    document = read(dataset)

    assert document.figures == ()
    assert "no picture is kept" in document.warnings[0]


@pytest.mark.parametrize(
    ("sop_class", "modality"),
    [
        (UltrasoundImageStorage, "US"),
        (SecondaryCaptureImageStorage, "CT"),
        (CTImageStorage, "OT"),
        (CTImageStorage, "XC"),
        (CTImageStorage, "SC"),
    ],
)
def test_o3_a_picture_of_a_kind_that_shows_names_is_withheld_until_the_file_says_it_has_none(
    sop_class: str, modality: str
) -> None:
    dataset = image(sop_class, modality)

    document = read(dataset)
    dataset.BurnedInAnnotation = "NO"

    assert document.figures == ()
    assert "BurnedInAnnotation NO in the file brings it" in document.warnings[0]
    assert len(read(dataset).figures) == 1


def test_o3_a_saved_screen_of_a_scanner_is_withheld() -> None:
    dataset = image()
    dataset.ImageType = ["DERIVED", "SECONDARY", "SCREEN SAVE"]

    assert read(dataset).figures == ()


def test_a_picture_that_sometimes_shows_text_is_kept_with_a_warning() -> None:
    assert "burned into" in read(image(modality="GM")).warnings[0]
    assert read(image()).warnings == ()


def test_a_syntax_that_is_not_decoded_is_named_in_the_warning() -> None:
    dataset = image(syntax=JPEGLSLossless)
    dataset.PixelData = b"\xfe\xff\x00\xe0\x00\x00\x00\x00\xfe\xff\xdd\xe0\x00\x00\x00\x00"
    dataset["PixelData"].is_undefined_length = True

    document = read(dataset)

    assert document.figures == ()
    assert "JPEG-LS Lossless" in document.warnings[0]


def test_a_pixel_bomb_is_refused_before_decoding() -> None:
    dataset = image(syntax=JPEG2000Lossless)
    dataset.Rows = dataset.Columns = 65535
    dataset.PixelData = b"\xfe\xff\x00\xe0\x00\x00\x00\x00\xfe\xff\xdd\xe0\x00\x00\x00\x00"
    dataset["PixelData"].is_undefined_length = True

    assert "too many" in read(dataset).warnings[0]


def test_a_deflated_bomb_is_refused_before_it_is_unpacked() -> None:
    import zlib

    head = source_of(image(syntax=DeflatedExplicitVRLittleEndian)).data
    end = head.index(DeflatedExplicitVRLittleEndian.encode()) + 22
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    bomb = b"".join(packer.compress(b"\0" * (1 << 20)) for _ in range(130)) + packer.flush()

    with pytest.raises(UnreadableDocument) as caught:
        parse(Source("bomb.dcm", head[:end] + bomb, "d"), TOOLS)
    assert caught.value.reason == "too-large"


def test_truncated_pixels_give_a_document_without_picture() -> None:
    dataset = image()
    dataset.PixelData = dataset.PixelData[:50]

    document = read(dataset)

    assert document.figures == ()
    assert document.warnings == ("the pixels cannot be decoded (ValueError): no picture is kept",)


def test_a_file_without_preamble_is_read() -> None:
    dataset = image(syntax=ImplicitVRLittleEndian)
    data = source_of(dataset).data
    start = data.index(b"\x08\x00\x16\x00")  # the first element behind the file meta group
    source = Source("old.dcm", data[start:], "d")

    document = parse(source, TOOLS).documents[0]

    assert accepts_dicom(source)
    assert document.metadata.title == "CT image"
    assert len(pictures(document, source)) == 1


def test_a_report_gives_codes_and_numbers_but_no_names() -> None:
    dataset = image("1.2.840.10008.5.1.4.1.1.88.22", "SR")
    del dataset.PixelData
    named, measured, aged = Dataset(), Dataset(), Dataset()
    named.ValueType, named.PersonName = "PNAME", "ZZPATIENT"
    named.ConceptNameCodeSequence = [code("121008", "DCM", "Person Observer Name")]
    measured.ValueType = "NUM"
    measured.ConceptNameCodeSequence = [code("81827009", "SCT", "ZZ")]
    aged.ValueType = "NUM"
    aged.ConceptNameCodeSequence = [code("121033", "DCM", "Subject Age")]
    for item, number in ((measured, "10"), (aged, "79")):
        value = Dataset()
        value.NumericValue = number
        value.MeasurementUnitsCodeSequence = [code("mm", "UCUM", "ZZ")]
        item.MeasuredValueSequence = [value]
    dataset.ContentSequence = [named, measured, aged]

    text = read(dataset).text

    assert "Diameter: 10 mm" in text
    assert "79" not in text
    assert "ZZ" not in text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\0" * 400, "empty"),
        (b"this is text, not an image, whatever its name may say", "nothing-to-show"),
    ],
)
def test_what_is_no_image_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        parse(Source("scan.dcm", data, "d"), TOOLS)
    assert caught.value.reason in {reason, "not-dicom"}


def test_the_directory_of_a_medium_is_refused_with_a_remedy() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read(image(MediaStorageDirectoryStorage))
    assert caught.value.reason == "dicom-directory"
    assert "files it lists" in caught.value.remedy
