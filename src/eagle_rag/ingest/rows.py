"""From ready documents to rows: embedding what is new, reusing vectors of unchanged passages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from eagle_rag.errors import PluginError
from eagle_rag.ingest.embed import embed_texts
from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.ingest.reuse import KnownVectors
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import ChunkDecision, FloatArray, StoredPassage, VectorSpec
from eagle_rag.ops.pictures import picture_key, row_id
from eagle_rag.ports.stores import AssetStore

__all__ = [
    "CommitConfig",
    "ReadyDocument",
    "document_rows",
    "numbered",
    "passage_row",
    "schema_of",
]

_Item = tuple[PreparedDocument, ChunkDecision]


@dataclass(frozen=True, slots=True)
class CommitConfig:
    """What shapes committing.

    Args:
        namespace, kb_name: Where documents go.
        config_digest: Digest of everything that shapes rows besides the source.
        schemas: Schema of every collection that may be written, by name.
        batch_passages: Passages embedded and written together; documents are never split.
        optimize_every: Documents between two ``optimize`` calls.
        assets: Where pictures are kept; ``None`` keeps none.
    """

    namespace: str
    kb_name: str
    config_digest: str
    schemas: Mapping[str, CollectionSchema]
    batch_passages: int = 256
    optimize_every: int = 500
    assets: AssetStore | None = None


@dataclass(frozen=True, slots=True)
class ReadyDocument:
    """A prepared document with the decisions on its passages and its pictures."""

    prepared: PreparedDocument
    decisions: tuple[ChunkDecision, ...]
    picture_decisions: tuple[ChunkDecision, ...] = ()

    @property
    def id(self) -> str:
        """Its document id."""
        return self.prepared.document_id

    @property
    def collections(self) -> tuple[str, ...]:
        """Collections its rows go to, sorted."""
        both = (*self.decisions, *self.picture_decisions)
        return tuple(sorted({decision.collection for decision in both}))


def document_rows(
    bus: BoundBus,
    documents: Iterable[ReadyDocument],
    config: CommitConfig,
    *,
    known: KnownVectors | None = None,
) -> tuple[dict[str, list[StoredPassage]], dict[str, int]]:
    """Embed documents and return their rows by collection, version 0, and truncations by document.

    Args:
        bus: Hooks.
        documents: Documents with decisions.
        config: Namespace, knowledge base and schemas.
        known: Vectors of earlier versions, by collection, document and passage text; a passage whose
            text is among them is not encoded again.
    """
    wanted: dict[tuple[str, str], list[_Item]] = {}
    for ready in documents:
        for decision in ready.decisions:
            key = (decision.collection, decision.encoder)
            wanted.setdefault(key, []).append((ready.prepared, decision))
    rows: dict[str, list[StoredPassage]] = {}
    truncated: dict[str, set[int]] = {}
    for (collection, encoder), items in wanted.items():
        schema = schema_of(config, collection)
        vectors, cut = _vectors(
            bus, items, encoder=encoder, spec=schema.spec, known=_of(known, collection)
        )
        for position in cut:
            document, decision = items[position]
            truncated.setdefault(document.document_id, set()).add(decision.target)
        target = rows.setdefault(collection, [])
        for (document, decision), vector in zip(items, vectors, strict=True):
            target.append(passage_row(document, decision, config=config, vector=vector))
    return rows, {identity: len(ordinals) for identity, ordinals in truncated.items()}


def schema_of(config: CommitConfig, collection: str) -> CollectionSchema:
    """Return the schema of a collection that a decision names.

    Raises:
        PluginError: Nobody registered it, or no encoder fills it in this profile.
    """
    schema = config.schemas.get(collection)
    if schema is None:
        message = f"decision for unknown collection {collection!r}, or for one no encoder fills"
        raise PluginError(message, remedy="register the collection in on_load, with an encoder")
    return schema


def numbered(row: StoredPassage, version: int) -> StoredPassage:
    """Return a row of version 0 as a row of this version."""
    key = picture_key(row.row_id, row.passage_id, row.version)
    head = f"{row.document_id}/{row.version}/"
    extra = tuple(
        (name, f"{row.document_id}/{version}/{value.removeprefix(head)}")
        if name == "image_path" and key and value
        else (name, value)
        for name, value in row.extra
    )
    own = row_id(row.passage_id, version, key)
    return replace(row, row_id=own, version=version, extra=extra)


def _of(known: KnownVectors | None, collection: str) -> Mapping[tuple[str, str], FloatArray]:
    return {} if known is None else known.get(collection, {})


def _vectors(
    bus: BoundBus,
    items: list[_Item],
    *,
    encoder: str,
    spec: VectorSpec,
    known: Mapping[tuple[str, str], FloatArray],
) -> tuple[FloatArray, list[int]]:
    """Return a vector for each item, shape ``(n, dim)``, and which texts were truncated."""
    texts = [_dense_text(document, decision.target) for document, decision in items]
    vectors = np.empty((len(items), spec.dim), dtype=np.float32)
    new: list[int] = []
    for position, (document, _) in enumerate(items):
        found = known.get((document.document_id, texts[position]))
        if found is None:
            new.append(position)
        else:
            vectors[position] = found
    if not new:
        return vectors, []
    batch = embed_texts(bus, [texts[position] for position in new], encoder=encoder, expected=spec)
    vectors[new] = batch.vectors
    return vectors, [new[position] for position in batch.truncated]


def _dense_text(document: PreparedDocument, ordinal: int) -> str:
    context, text = document.contexts[ordinal], document.passages[ordinal].text
    return f"{context}\n\n{text}" if context else text


def passage_row(
    prepared: PreparedDocument,
    decision: ChunkDecision,
    *,
    config: CommitConfig,
    vector: FloatArray,
) -> StoredPassage:
    """Return the row of one decision on a passage, version 0."""
    passage = prepared.passages[decision.target]
    tags = dict(passage.tags)
    fields = config.schemas[decision.collection].extra_fields
    return StoredPassage(
        row_id=row_id(passage.id, 0),
        passage_id=passage.id,
        document_id=prepared.document_id,
        version=0,
        namespace=config.namespace,
        kb_name=config.kb_name,
        text=passage.text,
        lexemes=prepared.lexemes[decision.target],
        vector=vector,
        path=" > ".join(passage.section_path),
        section_kind=passage.section_kind.value,
        chunk_type=decision.chunk_type,
        source_type=prepared.document.format,
        source_chunk_id=passage.id,
        start=passage.start,
        end=passage.end,
        year=prepared.document.metadata.year,
        extra=tuple((name, tags.get(name)) for name in sorted(fields)),
    )
