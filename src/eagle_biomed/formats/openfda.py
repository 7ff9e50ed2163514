"""Drug labels as openFDA gives them: one record or a page of them, JSON.

A field of text is a section; its name gives the title. Tables come as HTML beside the text of their
section. The records' harmonised names (``openfda``) are metadata.
"""

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.external_ids import external_ids
from eagle_biomed.formats.json_records import (
    items_at,
    node_at,
    read_json,
    record_digest,
    string_at,
    words_at,
)
from eagle_biomed.formats.openfda_tables import read_html_table
from eagle_biomed.formats.sectioned import SectionedText
from eagle_biomed.formats.spl import label_identity, label_ids
from eagle_biomed.formats.spl_codes import SECTION_TITLES, field_title
from eagle_biomed.formats.spl_products import unique
from eagle_biomed.formats.spl_tables import float_label
from eagle_biomed.formats.xml_nodes import iso_date, too_deep
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import (
    ParsedDocument,
    ParseOutcome,
    Refusal,
    SectionKind,
    Source,
)
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.ops.outline import kind_of_title

__all__ = ["parse"]

_NO_TEXT = frozenset({"id", "set_id", "version", "effective_time", "openfda", "@epoch", "meta"})
_TABLE = "_table"
_BOXED_TITLE = SECTION_TITLES["34066-1"]
# The harmonised names, and what they are called in the metadata.
_PROPERTIES = (
    ("active_ingredients", "substance_name"),
    ("brand_names", "brand_name"),
    ("generic_names", "generic_name"),
    ("labeler", "manufacturer_name"),
    ("routes", "route"),
    ("product_type", "product_type"),
    ("pharm_class", "pharm_class_epc"),
)
_IDS = (
    ("application", "application_number"),
    ("ndc", "product_ndc"),
    ("ndc", "package_ndc"),
    ("unii", "unii"),
    ("rxcui", "rxcui"),
)


def parse(source: Source, tools: FormatTools) -> ParseOutcome:
    """Return every label of a file; a record that is none is a refusal.

    Raises:
        UnreadableDocument: The reasons of the JSON reader, or ``no-records``.
    """
    del tools
    try:
        return _page(source, read_json(source))
    except RecursionError as error:
        raise too_deep(source.uri) from error


def _page(source: Source, value: object) -> ParseOutcome:
    page = isinstance(value, list) or node_at(value, "results") is not None
    records = items_at(value, "results") if isinstance(value, dict) and page else items_at(value)
    documents: list[ParsedDocument] = []
    refusals: list[Refusal] = []
    for number, record in enumerate(records, 1):
        member = f"record-{number}" if page else ""
        document = _label(record, source, member)
        if document is None:
            message = f"record {number} is no drug label: it has no set id, or no text"
            refusals.append(Refusal(source.uri, member, "not-a-label", message))
        else:
            documents.append(document)
    if not documents:
        raise UnreadableDocument(
            source.uri,
            "no-records",
            f"none of its {len(records)} records is a drug label",
            remedy="give records of openFDA's drug/label endpoint",
        )
    return ParseOutcome(tuple(documents), tuple(refusals))


def _label(record: object, source: Source, member: str) -> ParsedDocument | None:
    set_id = _set_id(record)
    if not isinstance(record, dict) or not set_id:
        return None
    text = SectionedText()
    title = _title(record)
    text.title(title)
    names = {
        name.removesuffix(_TABLE)
        for name in record
        if isinstance(name, str) and name not in _NO_TEXT
    }
    fields = sorted((*field_title(name), name) for name in names)
    for _, name, field in fields:
        _section(text, record, field, name)
    canonical, sections, blocks = text.finish()
    if all(section.kind is SectionKind.TITLE for section in sections):
        return None
    return ParsedDocument(
        source_uri=source.uri,
        member=member,
        digest=record_digest(record) if member else source.digest,
        format="openfda-label",
        metadata=_metadata(record, title),
        text=canonical,
        sections=sections,
        blocks=blocks,
        tables=tuple(text.tables),
        warnings=tuple(text.warnings),
        identity=label_identity(set_id, words_at(record, "version")),
    )


def _set_id(record: object) -> str:
    harmonised = items_at(record, "openfda", "spl_set_id")
    first = words_at(harmonised[0]) if harmonised else ""
    return (words_at(record, "set_id") or first).lower()


def _section(text: SectionedText, record: object, field: str, title: str) -> None:
    paragraphs = [words_at(one) for one in items_at(record, field)]
    tables = [string_at(one) for one in items_at(record, field + _TABLE)]
    if not any((*paragraphs, *tables)):
        return
    kind = SectionKind.BOXED_TEXT if title == _BOXED_TITLE else kind_of_title(title)
    text.open((title,), kind, heading=title)
    for paragraph in paragraphs:
        text.paragraph(paragraph)
    for markup in filter(None, tables):
        table = read_html_table(markup)
        if table is None:
            text.warnings.append(f"a table of {title} is not read: it is no simple HTML table")
            continue
        text.table(table.grid, label=float_label(table.caption), caption=table.caption)


def _title(record: object) -> str:
    brand = ", ".join(unique(map(words_at, items_at(record, "openfda", "brand_name"))))
    generic = ", ".join(unique(map(words_at, items_at(record, "openfda", "generic_name"))))
    if brand and generic and brand.lower() != generic.lower():
        return f"{brand} ({generic})"
    return brand or generic or f"Drug label {_set_id(record)}"


def _metadata(record: object, title: str) -> DocumentMetadata:
    published = iso_date(words_at(record, "effective_time")[:8])
    others = {
        (scheme, words_at(value))
        for scheme, name in _IDS
        for value in items_at(record, "openfda", name)
    }
    others.add(("spl", words_at(record, "id").lower()))
    properties = {
        name: "; ".join(unique(map(words_at, items_at(record, "openfda", field))))
        for name, field in _PROPERTIES
    }
    version = words_at(record, "version")
    properties["version"] = version
    return DocumentMetadata(
        ids=external_ids(label_ids(_set_id(record), version), others),
        title=title,
        published=published,
        year=int(published[:4]) if published else None,
        article_type=properties["product_type"],
        properties=tuple(sorted((name, value) for name, value in properties.items() if value)),
    )
