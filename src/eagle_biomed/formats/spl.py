"""Drug labels in SPL, the FDA's XML (HL7 version 3): one label a file.

The written titles of sections stand in their paths; a section without one gets the title of its
LOINC code. The codes that say which part of a label a section is are a property of the document
(``section_codes``). Product data become metadata and one section of plain lines.
"""

from typing import TYPE_CHECKING

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.external_ids import external_ids
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.spl_codes import SECTION_TITLES
from eagle_biomed.formats.spl_products import Product, product_lines, read_products, unique
from eagle_biomed.formats.spl_text import LabelText
from eagle_biomed.formats.xml_nodes import (
    attribute,
    children,
    first,
    iso_date,
    name_of,
    text_at,
    too_deep,
)
from eagle_biomed.section_codes import SECTION_CODES, write_codes
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    BlockKind,
    Identity,
    ParsedDocument,
    ParseOutcome,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["label_edition", "label_identity", "label_ids", "label_title", "parse"]

_BOILERPLATE = "these highlights do not include"
_GENERIC_TITLES = frozenset({"drug facts", "drug facts:", "package label", "label"})
_MAX_VERSION_DIGITS = 9


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return the label of a file.

    Raises:
        UnreadableDocument: The reasons of the XML reader, ``not-spl``, ``no-sections``, or
            ``nested-too-deep``.
    """
    root = tools.read_xml(source)
    if name_of(root) != "document":
        raise UnreadableDocument(
            source.uri,
            "not-spl",
            f"the root element is <{name_of(root)}>, not <document>",
            remedy="give the label's SPL file, as DailyMed offers it",
        )
    try:
        return ParseOutcome((_label(root, source),))
    except RecursionError as error:
        raise too_deep(source.uri) from error


def _label(root: "etree._Element", source: Source) -> ParsedDocument:
    products = read_products(root)
    text = SectionedText()
    title = text_at(root, "title")
    text.title(title or label_title("", products))
    body = LabelText(text, _media(root))
    for part in children(root, "component"):
        for structured in children(part, "structuredBody"):
            for component in children(structured, "component"):
                for section in children(component, "section"):
                    body.section(section)
    lines = product_lines(products)
    if lines:
        text.open((SECTION_TITLES["48780-1"],), SectionKind.BODY)
    for line in lines:
        text.block(BlockKind.LIST_ITEM, line)
    if text.empty:
        raise UnreadableDocument(
            source.uri,
            "no-sections",
            "the label has neither a title nor a section with text",
            remedy="download the label again from DailyMed",
        )
    canonical, sections, blocks = text.finish()
    set_id = attribute(root, ("setId",), "root").lower()
    version = attribute(root, ("versionNumber",), "value")
    return ParsedDocument(
        source_uri=source.uri,
        member="",
        digest=source.digest,
        format="spl",
        metadata=_metadata(root, products, write_codes(text.codes)),
        text=canonical,
        sections=sections,
        blocks=blocks,
        figures=tuple(body.figures),
        tables=tuple(text.tables),
        references=tuple(body.references),
        warnings=tuple(text.warnings),
        identity=label_identity(set_id, version),
    )


def label_edition(version: str) -> int:
    """Return a label's version as a number, 0 when it is none."""
    usable = version.isascii() and version.isdigit() and len(version) <= _MAX_VERSION_DIGITS
    return int(version) if usable else 0


def label_identity(set_id: str, version: str) -> Identity | None:
    """Return what a label is called: all versions of one set id are one work.

    Args:
        set_id: The label's set id; without one it has no name of its own.
        version: Its version as written.
    """
    if not set_id:
        return None
    edition = label_edition(version)
    return Identity(f"{set_id}/{version or '0'}", f"spl-set:{set_id}", edition)


def label_ids(set_id: str, version: str) -> tuple[tuple[str, str], ...]:
    """Return what a label is cited by: its set id with the version, where it has both, and alone."""
    edition = f"{set_id}/{version}" if set_id and version else ""
    return (("spl-version", edition), ("spl-set", set_id))


def label_title(written: str, products: tuple[Product, ...]) -> str:
    """Return the name a reader knows the label by.

    Every prescription label begins with one sentence about highlights, and most over-the-counter
    labels are called "Drug Facts": for these the product's name says more.
    """
    plain = written.lower()
    if written and plain not in _GENERIC_TITLES and not plain.startswith(_BOILERPLATE):
        return written
    named = next((one for one in products if one.name), None)
    if named is None:
        return written
    generic = ", ".join(named.generics) or ", ".join(unique(one.name for one in named.active()))
    same = not generic or generic.lower() == named.name.lower()
    return named.name if same else f"{named.name} ({generic})"


def _media(root: "etree._Element") -> dict[str, str]:
    """Return picture files by the id of their observation."""
    return {
        one.get("ID") or "": attribute(one, ("value", "reference"), "value")
        for one in root.iter()
        if name_of(one) == "observationMedia"
    }


def _metadata(
    root: "etree._Element", products: tuple[Product, ...], codes: str
) -> DocumentMetadata:
    published = iso_date(attribute(root, ("effectiveTime",), "value")[:8])
    document_id = attribute(root, ("id",), "root").lower()
    set_id = attribute(root, ("setId",), "root").lower()
    active = [one for product in products for one in product.active()]
    others = {
        *(("ndc", code) for product in products for code in product.ndcs),
        *(("unii", one.unii) for one in active),
        *(("application", product.application) for product in products),
        ("spl", document_id),
    }
    version = attribute(root, ("versionNumber",), "value")
    labeler = first(root, "author", "assignedEntity", "representedOrganization")
    properties = {
        "active_ingredients": "; ".join(unique(one.name for one in active)),
        "brand_names": "; ".join(unique(product.name for product in products)),
        "dosage_forms": "; ".join(unique(product.form for product in products)),
        "generic_names": "; ".join(unique(name for one in products for name in one.generics)),
        "labeler": text_at(labeler, "name"),
        "marketing_category": "; ".join(unique(product.category for product in products)),
        "routes": "; ".join(unique(route for one in products for route in one.routes)),
        SECTION_CODES: codes,
        "schedule": "; ".join(unique(product.schedule for product in products)),
        "version": version,
    }
    return DocumentMetadata(
        ids=external_ids(label_ids(set_id, version), others),
        title=label_title(text_at(root, "title"), products),
        published=published,
        year=int(published[:4]) if published else None,
        article_type=attribute(root, ("code",), "displayName"),
        language=attribute(root, ("languageCode",), "code"),
        properties=tuple(sorted((name, value) for name, value in properties.items() if value)),
    )
