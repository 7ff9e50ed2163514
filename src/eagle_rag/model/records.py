"""What the registry knows about a document besides its text."""

from dataclasses import dataclass, field

from eagle_rag.model.document import Block, Citation, Figure, ParsedDocument, Section, Table
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import Passage

__all__ = [
    "AuditEvent",
    "DocumentNames",
    "DocumentRecord",
    "DocumentView",
    "LiveState",
    "NewVersion",
    "PassageRecord",
    "PendingVersion",
    "RegistryStats",
]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A document about to go live.

    Args:
        document_id: Its id.
        work_key: First known identifier of the work, or the document id; the registry joins works
            that share any identifier.
        namespace, kb_name: Where.
        source_digest: ``Source.digest`` of the whole file, for "unchanged".
        config_digest: Digest of everything else that shapes the result (parser and chunker versions,
            encoder specs); an unchanged file under other settings is not unchanged.
        document: The parsed document.
        passages: Its passages, in order.
        collections: Collections its rows were written to, sorted.
        truncated: How many passages did not fit their encoder's window.
    """

    document_id: str
    work_key: str
    namespace: str
    kb_name: str
    source_digest: str
    config_digest: str
    document: ParsedDocument = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    collections: tuple[str, ...]
    truncated: int = 0


@dataclass(frozen=True, slots=True)
class PendingVersion:
    """A version whose rows may be in the store while the registry does not serve it.

    Args:
        document_id: The document.
        version: The version: being written, or replaced or deleted and not yet cleared.
        collections: Where its rows may be.
        state: ``writing`` or ``clearing``.
        namespace: In whose store; empty when it was begun before registries kept that.
    """

    document_id: str
    version: int
    collections: tuple[str, ...]
    state: str
    namespace: str


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One live document without its text.

    Args:
        document_id, work_id, version: Identity; ``version`` is the live one, from 1.
        namespace, kb_name: Where.
        source_uri, member, digest, source_digest, config_digest: Where it came from.
        format: Parser that read it.
        full_text: ``False`` for abstracts.
        metadata: Front matter. Without authors' affiliations when read in bulk.
        retracted: By its own word or a notice's.
        passages: How many it has.
        truncated: How many did not fit the encoder.
        ingested_at: UTC, ISO 8601.
        edition: ``Identity.edition`` of its source; 0 when its format has none.
    """

    document_id: str
    work_id: str
    version: int
    namespace: str
    kb_name: str
    source_uri: str
    member: str
    digest: str
    source_digest: str
    config_digest: str
    format: str
    full_text: bool
    metadata: DocumentMetadata
    retracted: bool
    passages: int
    truncated: int
    ingested_at: str
    edition: int = 0


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """One live passage, its text cut from the stored document text, and its document's data."""

    passage: Passage
    version: int
    document: DocumentRecord
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """What a live document is called: its title, its file, and its record inside that file."""

    title: str
    source_uri: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class LiveState:
    """What a search must know of every candidate's document.

    ``superseded``: its work has a document of a higher edition; search serves that one.
    """

    version: int
    work_id: str
    retracted: bool
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A whole live document, for reading."""

    record: DocumentRecord
    text: str = field(repr=False)
    sections: tuple[Section, ...] = field(repr=False)
    passages: tuple[Passage, ...] = field(repr=False)
    figures: tuple[Figure, ...] = field(repr=False)
    tables: tuple[Table, ...] = field(repr=False)
    citations: tuple[Citation, ...] = field(default=(), repr=False)
    blocks: tuple[Block, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One decision worth keeping.

    Args:
        category: ``classify_chunk``, ``route_query``, ``hook_failure`` ...
        plugin: Who decided.
        subject: Document, passage or query it is about.
        decision: What was decided, one short sentence.
        detail: Sorted ``(name, value)`` pairs.
    """

    category: str
    plugin: str
    subject: str
    decision: str
    detail: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RegistryStats:
    """Counts of what is live."""

    documents: int
    works: int
    passages: int
    characters: int
    references: int
    citations: int
    figures: int
    tables: int
    retracted: int
    truncated: int
    by_kb: tuple[tuple[str, int], ...]
    by_format: tuple[tuple[str, int], ...]
