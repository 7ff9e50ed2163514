"""The format selector: every format of the plugin, in the order they are asked."""

from eagle_biomed.formats.catalog import FormatCard, select_format
from eagle_biomed.formats.dicom_signs import accepts_dicom
from eagle_biomed.formats.images_signs import accepts_nifti, accepts_picture
from eagle_biomed.formats.labels_signs import looks_like_openfda, looks_like_spl
from eagle_biomed.formats.layout_signs import accepts_docx, accepts_pdf, accepts_pptx
from eagle_biomed.formats.molecules_signs import accepts_compounds
from eagle_biomed.formats.patents_signs import looks_like_patent
from eagle_biomed.formats.structures_signs import accepts_structures
from eagle_biomed.formats.trials_signs import looks_like_trial
from eagle_rag.model.document import Source

__all__ = ["FORMATS", "biomed_format_selector", "format_card"]

FORMATS: tuple[FormatCard, ...] = (
    FormatCard("spl", looks_like_spl, "eagle_biomed.formats.spl"),
    FormatCard("openfda-label", looks_like_openfda, "eagle_biomed.formats.openfda"),
    FormatCard("ctgov", looks_like_trial, "eagle_biomed.formats.ctgov"),
    FormatCard("patent", looks_like_patent, "eagle_biomed.formats.patents"),
    FormatCard("dicom", accepts_dicom, "eagle_biomed.formats.dicom", pictures="pictures"),
    FormatCard("nifti", accepts_nifti, "eagle_biomed.formats.nifti", pictures="pictures"),
    FormatCard("picture", accepts_picture, "eagle_biomed.formats.raster", pictures="pictures"),
    FormatCard("pdf", accepts_pdf, "eagle_biomed.formats.pdf"),
    FormatCard("docx", accepts_docx, "eagle_biomed.formats.office", parse="parse_docx"),
    FormatCard("pptx", accepts_pptx, "eagle_biomed.formats.office", parse="parse_pptx"),
    FormatCard("structure", accepts_structures, "eagle_biomed.formats.structures"),
    FormatCard("compound", accepts_compounds, "eagle_biomed.formats.molecules"),
)
"""Asked from the first to the last; what is told by its bytes comes before what is told by its name."""


def biomed_format_selector(source: Source) -> str | None:
    """Return the format of a source, or ``None`` to leave it to the core."""
    return select_format(FORMATS, source)


def format_card(name: str) -> FormatCard | None:
    """Return a format by name, or ``None``."""
    return next((card for card in FORMATS if card.name == name), None)
