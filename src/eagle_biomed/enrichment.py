"""Tags on passages from what the document itself says: section, document type, drugs named.

Runs in worker processes, without encoders. Text, offsets and ids stay as they are; a passage is never
cut again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from eagle_biomed.doc_types import detect_doc_type
from eagle_biomed.section_codes import read_codes
from eagle_biomed.sections import detect_section
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import Passage

__all__ = [
    "DOC_TYPE_TAG",
    "DRUGS_TAG",
    "MAX_DRUGS",
    "SECTION_TAG",
    "DrugNames",
    "enrich_passages",
    "tag",
    "with_tags",
]

SECTION_TAG = "biomed_section"
DOC_TYPE_TAG = "biomed_doc_type"
DRUGS_TAG = "primary_drugs"
MAX_DRUGS = 8
"""Names a passage's ``primary_drugs`` holds at most."""

_NAME_CHARS = 2048  # of a path, a title or a file name: a heading of megabytes is no heading
_TEXT_CHARS = 512  # of a passage that are read for drugs: what it is about stands at its head


class DrugNames(Protocol):
    """What enrichment needs of the ontology."""

    def match_drug_entities(self, text: str) -> Sequence[str]:
        """Return the canonical names of the drugs a text names, by first occurrence."""
        ...


def enrich_passages(
    document: ParsedDocument, passages: Sequence[Passage], names: DrugNames
) -> tuple[Passage, ...]:
    """Return the passages with ``biomed_section``, ``biomed_doc_type`` and ``primary_drugs``.

    A tag without a value is left out. Drugs are looked for, in this order, in the source's name, the
    section's path, the first 512 characters of the passage, the record's name in its source and the title; each
    is named once, at most eight.

    Args:
        document: The parsed document.
        passages: Its passages.
        names: Finds drugs.
    """
    codes = read_codes(document)
    sections = [detect_section(passage, codes.get(passage.section, ())) for passage in passages]
    doc_type = detect_doc_type(document, sections)
    found = _Drugs(document, names)
    return tuple(
        with_tags(
            passage,
            {SECTION_TAG: section, DOC_TYPE_TAG: doc_type, DRUGS_TAG: found.of(passage)},
        )
        for passage, section in zip(passages, sections, strict=True)
    )


def with_tags(passage: Passage, values: Mapping[str, str]) -> Passage:
    """Return the passage with further tags; empty values and names it has already are left out."""
    taken = {name for name, _ in passage.tags}
    new = ((name, value) for name, value in values.items() if value and name not in taken)
    return replace(passage, tags=tuple(sorted((*passage.tags, *new))))


def tag(passage: Passage, name: str) -> str:
    """Return the value of a tag, or empty."""
    return next((value for known, value in passage.tags if known == name), "")


class _Drugs:
    """Drugs of one document's passages; what passages share is read once."""

    def __init__(self, document: ParsedDocument, names: DrugNames) -> None:
        self._names = names
        self._before = self._match(document.source_uri)
        self._after = (*self._match(document.member), *self._match(document.metadata.title))
        self._paths: dict[tuple[str, ...], tuple[str, ...]] = {}

    def of(self, passage: Passage) -> str:
        """Return the names, joined by commas."""
        path = self._paths.get(passage.section_path)
        if path is None:
            path = self._match(" > ".join(passage.section_path))
            self._paths[passage.section_path] = path
        own = self._match(passage.text[:_TEXT_CHARS])
        return ",".join(_first_of((*self._before, *path, *own, *self._after)))

    def _match(self, text: str) -> tuple[str, ...]:
        return tuple(self._names.match_drug_entities(text[:_NAME_CHARS])) if text else ()


def _first_of(names: Iterable[str]) -> list[str]:
    # A name with a comma would read as two: such systematic names are no drug anybody filters by.
    return [name for name in dict.fromkeys(names) if "," not in name][:MAX_DRUGS]
