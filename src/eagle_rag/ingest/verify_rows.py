"""What the rows of a live document must say, and what a row says otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from eagle_rag.model.passage import StoredPassage
from eagle_rag.model.records import DocumentView
from eagle_rag.ops.ids import passage_id
from eagle_rag.ops.pictures import picture_key
from eagle_rag.ops.placement import collections_noted

__all__ = ["ExpectedRows", "expected_rows", "row_problem", "row_subject"]

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
        missing_places: Collection and passage of each row, not seen so far, of a passage that is in
            several collections.
        pictures: Passage id by key of each picture that hangs on it.
        picture_rows: Collection and key of each row of a picture; ``None`` when that is not known.
        missing_pictures: Those of them that were not seen so far.
    """

    version: int
    of_document: tuple[str, str, str, int | None]
    passages: dict[str, _Fields] | None
    missing: set[str]
    missing_places: set[tuple[str, str]] = field(default_factory=set)
    pictures: Mapping[str, str] = field(default_factory=dict)
    picture_rows: frozenset[tuple[str, str]] | None = None
    missing_pictures: set[tuple[str, str]] = field(default_factory=set)

    def note(self, row: StoredPassage, collection: str) -> None:
        """Note that a row is there."""
        key = picture_key(row.row_id, row.passage_id, row.version)
        if key:
            self.missing_pictures.discard((collection, key))
        else:
            self.missing.discard(row.passage_id)
            self.missing_places.discard((collection, row.passage_id))


def expected_rows(
    view: DocumentView,
    lexemes: tuple[str, ...] | None,
    *,
    pictures: Mapping[str, str] | None = None,
    picture_rows: frozenset[tuple[str, str]] | None = None,
) -> ExpectedRows:
    """Return what a document's rows must say.

    Args:
        view: The document.
        lexemes: Of each passage, or ``None`` when they cannot be known.
        pictures: Passage id by key of each picture.
        picture_rows: Collection and key of each row of a picture, or ``None``.
    """
    record = view.record
    # A hash each, since all documents' are held until the rows were read.
    hashes = [None] * len(view.passages) if lexemes is None else [hash(each) for each in lexemes]
    passages = {
        passage.id: (" > ".join(passage.section_path), passage.section_kind.value, hashed)
        for passage, hashed in zip(view.passages, hashes, strict=True)
    }
    of_document = (record.namespace, record.kb_name, record.format, record.metadata.year)
    return ExpectedRows(
        record.version,
        of_document,
        passages,
        set(passages),
        missing_places={
            (collection, passage.id)
            for passage in view.passages
            for collection in collections_noted(passage)
        },
        pictures=pictures or {},
        picture_rows=picture_rows,
        missing_pictures=set(picture_rows or ()),
    )


def row_subject(row: StoredPassage) -> str:
    """Return what a row is of: there is one a collection."""
    key = picture_key(row.row_id, row.passage_id, row.version)
    return f"{row.passage_id}#{key}" if key else row.passage_id


def row_problem(
    row: StoredPassage, live: dict[str, ExpectedRows], seen: set[str], *, collection: str
) -> tuple[str, str] | None:
    """Return kind and message of what is wrong with a row, or ``None``.

    Args:
        row: A row of a collection.
        live: Every live document by id.
        seen: Subjects whose row in this collection was right.
        collection: The collection.
    """
    expected = live.get(row.document_id)
    if expected is None:
        return "orphan-row", "belongs to no live document"
    if expected.version != row.version:
        return "stale-row", "is of a version that is not live"
    if row_subject(row) in seen:
        return "duplicate-row", "is there once more"
    known = expected.passages is None or row.passage_id in expected.passages
    proof = passage_id(row.document_id, row.start, row.end, row.text)
    if not known or proof != row.passage_id:
        return "text-mismatch", "is not its passage"
    return _wrong_content(row, expected, collection)


def _wrong_content(
    row: StoredPassage, expected: ExpectedRows, collection: str
) -> tuple[str, str] | None:
    if _is_extra(row, expected, collection):
        return "extra-row", "is of a picture that its document does not have there"
    wrong = _stale_fields(row, expected)
    return ("stale-fields", f"has another {', '.join(wrong)} than the registry") if wrong else None


def _is_extra(row: StoredPassage, expected: ExpectedRows, collection: str) -> bool:
    key = picture_key(row.row_id, row.passage_id, row.version)
    if not key or expected.passages is None:
        return False
    if expected.pictures.get(key) != row.passage_id:
        return True
    return expected.picture_rows is not None and (collection, key) not in expected.picture_rows


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
