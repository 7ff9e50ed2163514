"""What reports and segmentations say in codes and numbers; their free text is never read."""

import re
from collections.abc import Iterator

from pydicom.dataset import Dataset

from eagle_biomed.formats.dicom_codes import first_meaning, items_of, meanings_of
from eagle_biomed.formats.dicom_values import number_text, numbers_of, text_of

__all__ = ["report_lines", "segment_names"]

_MAX_DEPTH = 32
_MAX_LINES = 2000
_MAX_SEGMENTS = 5000
# Concepts about people, visits and devices, by the words of the dictionary.
_ABOUT_PEOPLE = re.compile(
    r"\b(?:subject|patient|person|mother|observer|physician|operator|staff|age|sex|gender|birth|date"
    r"|time of|datetime|identifier|identity|uid|name|issuer|address|institution|facility|organization"
    r"|location|weight|height|ethnicity|race|pregnan\w*|smok\w*)\b",
    re.IGNORECASE,
)


def segment_names(dataset: Dataset) -> tuple[str, ...]:
    """Return the coded kinds of the segments, such as ``Liver``, in order, repeats removed."""
    names: list[str] = []
    for number, segment in enumerate(items_of(dataset, "SegmentSequence")):
        if number >= _MAX_SEGMENTS:
            break
        kind = first_meaning(segment, "SegmentedPropertyTypeCodeSequence")
        region = first_meaning(segment, "AnatomicRegionSequence")
        name = ", ".join(filter(None, (kind, region)))
        if name:
            names.append(name)
    return tuple(dict.fromkeys(names))


def report_lines(dataset: Dataset) -> tuple[str, ...]:
    """Return the coded findings and measured numbers of a report, in its order.

    Args:
        dataset: The report, or one of its containers.
    """
    lines: list[str] = []
    for line in _walk(dataset, 0):
        lines.append(line)
        if len(lines) >= _MAX_LINES:
            break
    return tuple(dict.fromkeys(lines))


def _walk(dataset: Dataset, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    for item in items_of(dataset, "ContentSequence"):
        concept = first_meaning(item, "ConceptNameCodeSequence")
        if not concept or _ABOUT_PEOPLE.search(concept):
            continue  # and nothing below it
        line = _line(item, concept)
        if line:
            yield line
        yield from _walk(item, depth + 1)


def _line(item: Dataset, concept: str) -> str:
    kind = text_of(item, "ValueType")
    if kind == "CODE":
        value = ", ".join(meanings_of(item, "ConceptCodeSequence"))
        return f"{concept}: {value}" if value and not _ABOUT_PEOPLE.search(value) else ""
    if kind == "NUM":
        return _measured(item, concept)
    return ""


def _measured(item: Dataset, concept: str) -> str:
    for value in items_of(item, "MeasuredValueSequence"):
        numbers = numbers_of(value, "NumericValue")
        if numbers:
            unit = first_meaning(value, "MeasurementUnitsCodeSequence")
            return f"{concept}: {number_text(numbers[0])} {unit}".rstrip()
    return ""
