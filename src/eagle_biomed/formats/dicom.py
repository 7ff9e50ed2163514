"""DICOM: a card of allow-listed elements as text, and one windowed frame as picture.

Nothing that names a patient is read: see ``dicom_fields`` for the list and the reasons. The name of the
file is the user's own and is kept as it is.
"""

from pydicom.dataset import Dataset

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.dicom_codes import first_meaning
from eagle_biomed.formats.dicom_content import report_lines, segment_names
from eagle_biomed.formats.dicom_fields import (
    CARD_FIELDS,
    card_properties,
    field_text,
    modality_of,
    uid_name,
)
from eagle_biomed.formats.dicom_pixels import frame_picture
from eagle_biomed.formats.dicom_reading import read_dicom
from eagle_biomed.formats.dicom_terms import MODALITIES, NOT_IMAGES, RADIOGRAPHS
from eagle_biomed.formats.dicom_values import integer_of, text_of
from eagle_biomed.formats.raster_quiet import quiet
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    Figure,
    ParsedDocument,
    ParseOutcome,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import VisualAsset
from eagle_rag.ops.outline import CanonicalText

__all__ = ["parse", "pictures"]

_KEY = "frame"
_DIRECTORY = "Media Storage Directory Storage"


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the one document of a DICOM file.

    Raises:
        UnreadableDocument: What ``read_dicom`` raises; ``dicom-directory``; ``not-dicom`` when nothing
            of the standard is in it; ``nothing-to-show`` when no allowed element says anything.
    """
    del tools
    with quiet("pydicom"):
        dataset = read_dicom(source)
        _check(source, dataset)
        picture, warning = frame_picture(dataset)
        return ParseOutcome((_document(source, dataset, picture, warning),))


def pictures(document: ParsedDocument, source: Source) -> tuple[VisualAsset, ...]:
    """Return the frame that ``parse`` found to be a picture, if any."""
    if not document.figures:
        return ()
    with quiet("pydicom"):
        picture, _ = frame_picture(read_dicom(source))
    caption = document.figures[0].caption
    text = "" if caption is None else document.text[caption.start : caption.end]
    return (VisualAsset(_KEY, "image/png", picture, text),) if picture else ()


def _check(source: Source, dataset: Dataset) -> None:
    meta_class = uid_name(text_of(dataset.file_meta, "MediaStorageSOPClassUID"))
    if meta_class == _DIRECTORY:
        raise UnreadableDocument(
            source.uri, "dicom-directory", "this is the directory of a medium, not an image",
            remedy="name the files it lists",
        )  # fmt: skip
    named = modality_of(dataset) or uid_name(text_of(dataset, "SOPClassUID"))
    if not named and not (integer_of(dataset, "Rows") and integer_of(dataset, "Columns")):
        raise UnreadableDocument(
            source.uri, "nothing-to-show",
            "the file names no modality, no object of the standard and no size of an image",
            remedy="export the file anew, with its SOP class and modality",
        )  # fmt: skip


def _document(source: Source, dataset: Dataset, picture: bytes, warning: str) -> ParsedDocument:
    title = _title(dataset)
    text = CanonicalText()
    text.add(BlockKind.TITLE, title, text.open_section((), SectionKind.TITLE))
    caption = text.add(
        BlockKind.CAPTION, _caption(dataset), text.open_section(("Image",), SectionKind.CAPTION)
    )
    _add_list(text, "Segments", segment_names(dataset))
    _add_list(text, "Report", report_lines(dataset))
    _add_list(text, "Acquisition", _field_lines(dataset))
    canonical, sections, blocks = text.finish()
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="dicom",
        metadata=DocumentMetadata(
            title=title,
            article_type="medical-image",
            properties=tuple(sorted(card_properties(dataset).items())),
        ),
        text=canonical,
        sections=sections,
        blocks=blocks,
        figures=(Figure(_KEY, "", caption, ()),) if picture else (),
        warnings=(warning,) if warning else (),
    )


def _add_list(text: CanonicalText, title: str, lines: tuple[str, ...]) -> None:
    if not lines:
        return
    section = text.open_section((title,), SectionKind.BODY)
    text.add(BlockKind.HEADING, title, section)
    for line in lines:
        text.add(BlockKind.LIST_ITEM, line, section)


def _field_lines(dataset: Dataset) -> tuple[str, ...]:
    shown = ((card.label, field_text(dataset, card)) for card in CARD_FIELDS)
    syntax = uid_name(text_of(dataset.file_meta, "TransferSyntaxUID"))
    lines = [f"{label}: {value}" for label, value in shown if value]
    return (*lines, f"Transfer syntax: {syntax}") if syntax else tuple(lines)


def _part(dataset: Dataset) -> str:
    part = card_properties(dataset).get("body_part", "")
    region = first_meaning(dataset, "AnatomicRegionSequence")
    structure = first_meaning(dataset, "PrimaryAnatomicStructureSequence")
    return part or region.lower() or structure.lower()


def _title(dataset: Dataset) -> str:
    modality, part = modality_of(dataset), _part(dataset)
    report = first_meaning(dataset, "ConceptNameCodeSequence") if modality == "SR" else ""
    if report:
        return f"{report} (structured report)"
    if modality == "SEG":
        names = segment_names(dataset)
        return f"Segmentation of {', '.join(names[:5]).lower()}" if names else "Segmentation"
    if modality in RADIOGRAPHS:
        head = f"{part.capitalize()} radiograph" if part else "Radiograph"
        return f"{head} ({modality} image)"
    if modality in NOT_IMAGES:
        return _words(modality)
    kind = f"{modality} image" if modality else uid_name(text_of(dataset, "SOPClassUID"))
    kind = kind or "Medical image"
    return f"{kind} of {part}" if part else kind


def _caption(dataset: Dataset) -> str:
    """Return one or two sentences with every word by which a person would look for the image."""
    modality, part = modality_of(dataset), _part(dataset)
    sentence = f"{_words(modality)} ({modality})" if modality else _words(modality)
    sentence += f" of {part}" if part else ""
    if modality in RADIOGRAPHS:
        sentence += f": {part} radiograph, {part} X-ray" if part else ": radiograph"
    shown = card_properties(dataset)
    details = [
        shown[name] for name in ("view", "view_code", "laterality", "image_type") if name in shown
    ]
    names = segment_names(dataset)
    if names:
        details.append(f"Segments: {', '.join(names[:20])}")
    return f"{sentence}. {'; '.join(details)}." if details else f"{sentence}."


def _words(modality: str) -> str:
    words = MODALITIES.get(modality, "medical image")
    return f"{words[0].upper()}{words[1:]}"
