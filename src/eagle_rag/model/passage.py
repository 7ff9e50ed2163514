"""Passages, what ingest decides about them, and their vectors."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from eagle_rag.model.document import SectionKind
from eagle_rag.model.slots import quick_init

__all__ = [
    "ChunkDecision",
    "EncodedBatch",
    "FloatArray",
    "Passage",
    "PicturePlace",
    "StoredAsset",
    "StoredPassage",
    "VectorSpec",
    "VisualAsset",
]

FloatArray = NDArray[np.float32]


@quick_init
@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one section's text; ``document_text[start:end] == text``, always.

    Args:
        id: ``psg1_`` and the first 32 hex digits of ``sha256`` over document id, start, end and text.
        document_id: The document it belongs to.
        ordinal: Position among the document's passages, from 0.
        section: ``Section.ordinal``.
        section_path: Titles of the section.
        section_kind: Kind of the section.
        start: First character in the canonical text.
        end: One past the last character.
        text: The characters between them.
        tags: What plugins stamped on it, sorted ``(name, value)`` pairs.
    """

    id: str
    document_id: str
    ordinal: int
    section: int
    section_path: tuple[str, ...]
    section_kind: SectionKind
    start: int
    end: int
    text: str
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class VisualAsset:
    """A picture found during ingest.

    Args:
        key: ``Figure.key`` or a name unique in the document.
        media_type: For example ``image/png``.
        data: The bytes.
        caption: What the source says about it.
    """

    key: str
    media_type: str
    data: bytes = field(repr=False)
    caption: str = ""


@dataclass(frozen=True, slots=True)
class PicturePlace:
    """Where a vector of a picture is: its collection, the encoder that made it, its ``chunk_type``."""

    collection: str
    encoder: str
    chunk_type: str


@dataclass(frozen=True, slots=True)
class StoredAsset:
    """What is kept of a picture besides its bytes.

    Args:
        key: ``VisualAsset.key``.
        media_type: For example ``image/png``.
        caption: What the source says about it.
        sha256: Of the bytes, hexadecimal.
        size_bytes: How many there are.
        file: Where they are, below the asset folder: ``<document id>/<version>/<name>``.
        places: Where its vectors are, by collection; empty when nothing took it in.
    """

    key: str
    media_type: str
    caption: str
    sha256: str
    size_bytes: int
    file: str
    places: tuple[PicturePlace, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkDecision:
    """Where one passage (or picture) goes.

    Args:
        target: Ordinal of the passage, or position of the asset.
        collection: Collection it is written to.
        encoder: Label of the encoder that fills it.
        chunk_type: ``text``, ``visual``, or a name of the plugin's.
        confidence: 0 to 1.
        rule: Name of the rule that decided.
        exclusive_group: Of all decisions for one target in one group, only the first stands.
        plugin: Stamped by the bus.
    """

    target: int
    collection: str
    encoder: str
    chunk_type: str = "text"
    confidence: float = 1.0
    rule: str = ""
    exclusive_group: str = ""
    plugin: str = ""


@dataclass(frozen=True, slots=True)
class VectorSpec:
    """The vector space of an index: two vectors compare only when all of it is equal.

    Args:
        encoder: Label, such as ``minilm``.
        digest: ``sha256`` of the checkpoint (weights and vocabulary), hexadecimal; for a remote
            encoder, of its model name and URL path.
        dim: Dimension.
        metric: ``cosine`` or ``ip``; higher is nearer.
        normalized: Vectors have unit length.
        pooling: ``mean``, ``cls``, ``none``.
        query_prefix: Put before every query.
        document_prefix: Put before every document.
    """

    encoder: str
    digest: str
    dim: int
    metric: str = "cosine"
    normalized: bool = True
    pooling: str = "mean"
    query_prefix: str = ""
    document_prefix: str = ""


@dataclass(frozen=True, slots=True)
class EncodedBatch:
    """Vectors of a batch of texts, in the order given.

    Args:
        vectors: ``float32``, shape ``(n, dim)``.
        spec: Their space.
        truncated: Which texts were longer than the encoder's window, by position in the batch.
    """

    vectors: FloatArray = field(repr=False)
    spec: VectorSpec
    truncated: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """One row of a collection.

    Args:
        row_id: ``<passage id>@<version>``, or ``<passage id>#<picture key>@<version>`` for a picture
            that hangs on the passage; unique in the collection.
        passage_id: ``Passage.id``.
        document_id: Its document.
        version: Version of the document this row belongs to; only the live one is served.
        namespace: Plugin namespace.
        kb_name: Knowledge base.
        text: The passage.
        lexemes: Search tokens joined by single spaces; what BM25 sees.
        vector: ``float32``, shape ``(dim,)``.
        path: Section titles joined by `` > ``.
        section_kind: ``SectionKind`` value.
        chunk_type: From the decision.
        source_type: Format of the document.
        source_chunk_id: Passage id; the anchor shared between collections.
        start: First character in the canonical text.
        end: One past the last.
        year: Publication year, or ``None``.
        extra: Values of the collection's extra fields, sorted by name. A picture's row fills
            ``image_id`` (its key), ``image_path`` (``StoredAsset.file``), ``parent_section`` and
            ``content_summary`` (its caption) where the collection has them.
    """

    row_id: str
    passage_id: str
    document_id: str
    version: int
    namespace: str
    kb_name: str
    text: str
    lexemes: str
    vector: FloatArray = field(repr=False, compare=False)
    path: str
    section_kind: str
    chunk_type: str
    source_type: str
    source_chunk_id: str
    start: int
    end: int
    year: int | None = None
    extra: tuple[tuple[str, str | None], ...] = ()
