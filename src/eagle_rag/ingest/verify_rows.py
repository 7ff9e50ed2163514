"""What the rows of a live document must say, and what a row says otherwise."""

from dataclasses import dataclass

from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.records import DocumentView
from eagle_rag.ops.ids import passage_id

__all__ = ["ExpectedRows", "expected_rows", "row_problem"]

_Fields = tuple[str, str, int | None]
"""Path, kind of section, and a hash of the lexemes (``None``: made under other settings)."""


@dataclass(slots=True)
class ExpectedRows:
    """What the registry says of a live document's rows.

    Args:
        version: Its live version.
        of_document: Namespace, knowledge base, source type and year of every row.
        passages: The other fields by passage; ``None`` when the document cannot be read.
        missing: Passages of which no row was seen so far.
    """

    version: int
    of_document: tuple[str, str, str, int | None]
    passages: dict[str, _Fields] | None
    missing: set[str]


def expected_rows(view: DocumentView, lexemes: tuple[str, ...] | None) -> ExpectedRows:
    """Return what a document's rows must say.

    Args:
        view: The document.
        lexemes: Of each passage, or ``None`` when they cannot be known.
    """
    record = view.record
    # A hash each, since all documents' are held until the rows were read.
    hashes = [None] * len(view.passages) if lexemes is None else [hash(each) for each in lexemes]
    passages = {
        passage.id: (" > ".join(passage.section_path), passage.section_kind.value, hashed)
        for passage, hashed in zip(view.passages, hashes, strict=True)
    }
    of_document = (record.namespace, record.kb_name, record.format, record.metadata.year)
    return ExpectedRows(record.version, of_document, passages, set(passages))


def row_problem(
    row: StoredPassage, live: dict[str, ExpectedRows], seen: set[str]
) -> tuple[str, str] | None:
    """Return kind and message of what is wrong with a row, or ``None``.

    Args:
        row: A row of a collection.
        live: Every live document by id.
        seen: Passages whose row in this collection was right.
    """
    expected = live.get(row.document_id)
    if expected is None:
        return "orphan-row", "belongs to no live document"
    if expected.version != row.version:
        return "stale-row", "is of a version that is not live"
    if row.passage_id in seen:
        return "duplicate-row", "is there once more"
    known = expected.passages is None or row.passage_id in expected.passages
    proof = passage_id(row.document_id, row.start, row.end, row.text)
    if not known or proof != row.passage_id:
        return "text-mismatch", "is not its passage"
    wrong = _stale_fields(row, expected)
    return ("stale-fields", f"has another {', '.join(wrong)} than the registry") if wrong else None


def _stale_fields(row: StoredPassage, expected: ExpectedRows) -> list[str]:
    if expected.passages is None:
        return []
    path, kind, hashed = expected.passages[row.passage_id]
    namespace, kb_name, source_type, year = expected.of_document
    pairs = {
        "namespace": row.namespace == namespace,
        "kb_name": row.kb_name == kb_name,
        "source_type": row.source_type == source_type,
        "year": row.year == year,
        "path": row.path == path,
        "section_kind": row.section_kind == kind,
        "lexemes": hashed is None or hash(row.lexemes) == hashed,
    }
    return [name for name, same in pairs.items() if not same]
