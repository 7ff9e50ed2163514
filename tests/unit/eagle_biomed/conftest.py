"""A library of compounds in memory, for the tests of compound search."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from eagle_biomed.chemistry import read_structure, standardise
from eagle_biomed.formats.compound_card import Compound, compound_document
from eagle_rag.errors import UnknownName
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.document import ParsedDocument, SectionKind
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentRecord


@dataclass
class FakeLibrary:
    """Live documents one can change; it counts how many records were read."""

    records: dict[str, DocumentRecord] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    rows: tuple[StoreHit, ...] = ()
    filled: bool = False
    changes: int = 0
    read: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    hidden: set[str] = field(default_factory=set)

    def add(
        self, smiles: str, name: str = "", *, kb: str = "a", synonyms: tuple[str, ...] = ()
    ) -> str:
        """Add a compound, or replace the one of its structure and knowledge base; return its id."""
        standard = standardise(read_structure("smiles", smiles))
        document = compound_document(
            Compound("mem.smi", "", "0" * 64, standard, name=name, synonyms=synonyms)
        )
        document_id = f"doc1_{standard.key.lower()}_{kb}"
        known = self.records.get(document_id)
        version = 1 if known is None else known.version + 1
        self.records[document_id] = _record(document, document_id, kb, version=version)
        self.texts[document_id] = document.text
        self.changes += 1
        return document_id

    def remove(self, document_id: str) -> None:
        """Delete a document."""
        del self.records[document_id]
        self.changes += 1

    def find(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """See ``Library.find``."""
        self.asked.append(identifier)
        scheme, _, value = identifier.partition(":")
        found = [
            record
            for key, record in sorted(self.records.items())
            if (key == identifier or (scheme, value) in record.metadata.ids.other)
            and self._visible(record, kb_names)
        ]
        self.read += [record.document_id for record in found]
        return tuple(found)

    def of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """See ``Library.of_format``."""
        for _, record in sorted(self.records.items()):
            if record.format == source_format and self._visible(record, kb_names):
                self.read.append(record.document_id)
                yield record

    def versions_of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``Library.versions_of_format``."""
        return {
            key: record.version
            for key, record in self.records.items()
            if record.format == source_format and self._visible(record, kb_names)
        }

    def passages(
        self, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[Passage, ...]:
        """See ``Library.passages``."""
        record = self.records.get(document_id)
        if record is None or not self._visible(record, kb_names):
            return ()
        text = self.texts[document_id]
        start = text.index("SMILES: ")
        kind = SectionKind.BODY
        cut = text[start:]
        return (
            Passage(f"psg1_{document_id}", document_id, 0, 0, (), kind, start, len(text), cut, ()),
        )

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """See ``Library.nearest``."""
        del query, where
        if not self.filled:
            kind = "collection that an encoder fills"
            raise UnknownName(kind, collection, ())
        return self.rows[:limit]

    def generation(self) -> int:
        """See ``Library.generation``."""
        return self.changes

    def narrowed(self, *kb_names: str) -> "FakeLibrary":
        """Return what a caller sees who may see these knowledge bases alone."""
        hidden = {r.kb_name for r in self.records.values()} - set(kb_names)
        return replace(self, hidden=hidden)

    def _visible(self, record: DocumentRecord, kb_names: Sequence[str] | None) -> bool:
        return record.kb_name not in self.hidden and (
            kb_names is None or record.kb_name in kb_names
        )


def _record(
    document: ParsedDocument, document_id: str, kb_name: str, *, version: int
) -> DocumentRecord:
    return DocumentRecord(
        document_id=document_id,
        work_id=document_id,
        version=version,
        namespace="n",
        kb_name=kb_name,
        source_uri=document.source_uri,
        member="",
        digest=document.digest,
        source_digest="",
        config_digest="",
        format=document.format,
        full_text=True,
        metadata=document.metadata,
        retracted=False,
        passages=1,
        truncated=0,
        ingested_at="",
    )


@pytest.fixture
def make_library() -> Callable[..., FakeLibrary]:
    """Make a library of compounds: ``make_library("CCO", ("CC(=O)O", "acetic acid"))``."""

    def make(*compounds: str | tuple[str, str]) -> FakeLibrary:
        library = FakeLibrary()
        for each in compounds:
            library.add(*((each,) if isinstance(each, str) else each))
        return library

    return make
