"""The allow-list: every element of a DICOM file that is read, and why it names nobody.

An element that is not in one of these tables is not even loaded (``specific_tags`` of pydicom), so it
cannot reach text, metadata, warnings or logs. Left out on purpose:

====================================  ==========================================================
left out                              because
====================================  ==========================================================
patient, physician, operator, staff   they are the identity
dates, times, ages, sex, UIDs,        they single out a person or a visit
accession and device numbers
institution, station, address         with a date they single out a visit
study, series, protocol, image and    free text: names are typed there
contrast agent descriptions, labels,
comments, derivation descriptions
code meanings                         free text; the dictionary's meaning is shown instead
private elements                      nobody knows what they hold
overlays, icons, curves               drawn-in names
====================================  ==========================================================
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydicom.dataset import Dataset
from pydicom.uid import UID

from eagle_biomed.formats.dicom_codes import meanings_of
from eagle_biomed.formats.dicom_terms import FIELD_TERMS, MODALITIES, body_part, vendor
from eagle_biomed.formats.dicom_values import number_text, numbers_of, text_of, texts_of

__all__ = [
    "CARD_FIELDS",
    "CONTENT_KEYWORDS",
    "PIXEL_KEYWORDS",
    "CardField",
    "card_properties",
    "field_text",
    "modality_of",
    "uid_name",
]

_LARGEST = 1e5

Show = Callable[[Dataset, str], str]


def _terms(dataset: Dataset, keyword: str) -> str:
    known = FIELD_TERMS[keyword]
    shown = (known.get(value.upper(), "") for value in texts_of(dataset, keyword))
    return ", ".join(dict.fromkeys(filter(None, shown)))


def _numbers(dataset: Dataset, keyword: str) -> str:
    # Larger ones are no rows, millimetres or kilovolts, but may be a date or a number of a person.
    small = (number for number in numbers_of(dataset, keyword)[:3] if abs(number) < _LARGEST)
    return " x ".join(map(number_text, small))


def _codes(dataset: Dataset, keyword: str) -> str:
    return ", ".join(meanings_of(dataset, keyword))


def _body_part(dataset: Dataset, keyword: str) -> str:
    return body_part(text_of(dataset, keyword))


def _vendor(dataset: Dataset, keyword: str) -> str:
    return vendor(text_of(dataset, keyword))


def modality_of(dataset: Dataset) -> str:
    """Return the defined term of the modality, such as ``CT``, or nothing."""
    value = text_of(dataset, "Modality").upper()
    return value if value in MODALITIES else ""


def _modality(dataset: Dataset, keyword: str) -> str:
    del keyword
    return modality_of(dataset)


def uid_name(value: str) -> str:
    """Return the standard's name of a UID, or nothing: an unknown UID is never shown."""
    uid = UID(value, validation_mode=0)
    return str(uid.name) if uid and str(uid.name) != str(uid) else ""


def _uid(dataset: Dataset, keyword: str) -> str:
    return uid_name(text_of(dataset, keyword))


@dataclass(frozen=True, slots=True)
class CardField:
    """One element that is shown.

    Args:
        keyword: Its keyword in the standard.
        label: What stands before it in the text.
        name: Its name among the properties.
        show: Returns what is shown of it, or nothing.
        reason: Why it can name nobody.
        unit: Written behind the value.
    """

    keyword: str
    label: str
    name: str
    show: Show
    reason: str
    unit: str = ""


_LISTED = "closed list of terms"
_NUMBER = "a number about the device or the picture"
_CODED = "code, shown by the dictionary's own meaning"

CARD_FIELDS: tuple[CardField, ...] = (
    CardField("Modality", "Modality", "modality", _modality, _LISTED),
    CardField("BodyPartExamined", "Body part", "body_part", _body_part, _LISTED),
    CardField("AnatomicRegionSequence", "Anatomic region", "anatomic_region", _codes, _CODED),
    CardField(
        "PrimaryAnatomicStructureSequence", "Anatomic structure", "anatomic_structure", _codes,
        _CODED,
    ),
    CardField("ProcedureCodeSequence", "Procedure", "procedure", _codes, _CODED),
    CardField(
        "PerformedProtocolCodeSequence", "Protocol", "protocol", _codes, _CODED,
    ),
    CardField("ViewPosition", "View", "view", _terms, _LISTED),
    CardField("ViewCodeSequence", "View (coded)", "view_code", _codes, _CODED),
    CardField("Laterality", "Laterality", "laterality", _terms, _LISTED),
    CardField("PatientPosition", "Position", "position", _terms, _LISTED),
    CardField("SOPClassUID", "Object", "object", _uid, "UID of the standard, shown by name"),
    CardField("ImageType", "Image type", "image_type", _terms, _LISTED),
    CardField("PhotometricInterpretation", "Pixels", "photometric", _terms, _LISTED),
    CardField("Rows", "Rows", "rows", _numbers, _NUMBER),
    CardField("Columns", "Columns", "columns", _numbers, _NUMBER),
    CardField("NumberOfFrames", "Frames", "frames", _numbers, _NUMBER),
    CardField("PixelSpacing", "Pixel spacing", "pixel_spacing_mm", _numbers, _NUMBER, "mm"),
    CardField("SliceThickness", "Slice thickness", "slice_thickness_mm", _numbers, _NUMBER, "mm"),
    CardField("KVP", "Tube voltage", "kvp", _numbers, _NUMBER, "kV"),
    CardField("MagneticFieldStrength", "Field strength", "field_strength_t", _numbers, _NUMBER, "T"),
    CardField("ScanningSequence", "Sequence", "scanning_sequence", _terms, _LISTED),
    CardField("MRAcquisitionType", "Acquisition", "acquisition", _terms, _LISTED),
    CardField("RepetitionTime", "Repetition time", "repetition_time_ms", _numbers, _NUMBER, "ms"),
    CardField("EchoTime", "Echo time", "echo_time_ms", _numbers, _NUMBER, "ms"),
    CardField("SegmentationType", "Segmentation", "segmentation", _terms, _LISTED),
    CardField("DoseType", "Dose", "dose", _terms, _LISTED),
    CardField("DoseSummationType", "Dose of", "dose_summation", _terms, _LISTED),
    CardField("Manufacturer", "Manufacturer", "manufacturer", _vendor, "closed list of makers"),
)  # fmt: skip
"""What the card shows, in its order."""

CONTENT_KEYWORDS: tuple[str, ...] = (
    "ContentSequence",  # reports: concept codes and numbers, see ``dicom_content``
    "ConceptNameCodeSequence",  # the code of the report's title
    "SegmentSequence",  # segments: coded kinds, see ``dicom_content``
)
"""Sequences whose coded parts are read."""

PIXEL_KEYWORDS: tuple[str, ...] = (
    "BurnedInAnnotation", "RecognizableVisualFeatures",  # whether the picture may be shown
    "SamplesPerPixel", "PlanarConfiguration", "BitsAllocated", "BitsStored", "HighBit",
    "PixelRepresentation", "PixelPaddingValue", "RescaleSlope", "RescaleIntercept",
    "ModalityLUTSequence", "WindowCenter", "WindowWidth", "VOILUTFunction", "VOILUTSequence",
    "PresentationLUTShape",
    "RedPaletteColorLookupTableDescriptor", "GreenPaletteColorLookupTableDescriptor",
    "BluePaletteColorLookupTableDescriptor", "RedPaletteColorLookupTableData",
    "GreenPaletteColorLookupTableData", "BluePaletteColorLookupTableData",
    "SegmentedRedPaletteColorLookupTableData", "SegmentedGreenPaletteColorLookupTableData",
    "SegmentedBluePaletteColorLookupTableData",
    "SequenceOfUltrasoundRegions",  # where echoes are drawn: what is around them is text
    "ExtendedOffsetTable", "ExtendedOffsetTableLengths",
    "PixelData", "FloatPixelData", "DoubleFloatPixelData",
)  # fmt: skip
"""What turns pixels into a picture; never shown."""


def field_text(dataset: Dataset, card: CardField) -> str:
    """Return what is shown of an element, with its unit, or nothing."""
    shown = card.show(dataset, card.keyword)
    return f"{shown} {card.unit}" if shown and card.unit else shown


def card_properties(dataset: Dataset) -> Mapping[str, str]:
    """Return every shown element by the name of its property, without the empty ones."""
    found = ((card.name, card.show(dataset, card.keyword)) for card in CARD_FIELDS)
    return {name: shown for name, shown in found if shown}
