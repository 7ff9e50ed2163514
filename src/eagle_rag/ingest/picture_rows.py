"""From ready documents to the rows of their pictures: each hangs on the passage that describes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eagle_rag.errors import HookFailed, InvalidInput, PluginError, UnknownName
from eagle_rag.ingest.embed import embed_images
from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.ingest.rows import CommitConfig, ReadyDocument, passage_row, schema_of
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import Figure, ParsedDocument, Span, Table
from eagle_rag.model.passage import (
    ChunkDecision,
    FloatArray,
    Passage,
    PicturePlace,
    StoredPassage,
    VectorSpec,
    VisualAsset,
)
from eagle_rag.ops.pictures import PICTURE_TAG, picture_file, row_id

__all__ = ["PictureRows", "anchor_pictures", "document_picture_rows"]

_Item = tuple[PreparedDocument, ChunkDecision]
_BATCH = 16
_SUMMARY_CHARS = 2_000
# What Pillow and the readers built on it raise for bytes that are no picture, or a broken one.
_UNDECODABLE = (OSError, ValueError, SyntaxError, EOFError)


@dataclass(slots=True)
class PictureRows:
    """What became of the pictures of some documents.

    Args:
        rows: Rows by collection, version 0.
        places: By document id and key, where the picture's vectors are.
        unreadable: Document id, key and reason of each picture that its encoder could not decode.
    """

    rows: dict[str, list[StoredPassage]] = field(default_factory=dict)
    places: dict[str, dict[str, list[PicturePlace]]] = field(default_factory=dict)
    unreadable: list[tuple[str, str, str]] = field(default_factory=list)


def anchor_pictures(prepared: PreparedDocument) -> PreparedDocument:
    """Return the document with a tag on the passage that each picture hangs on.

    That is the passage with the caption of the figure or table whose key the picture has, else the
    first one. The tags are how the registry knows which pictures there must be.
    """
    if not prepared.assets or not prepared.passages:
        return replace(prepared, assets=())
    spans = _caption_spans(prepared.document)
    tags: dict[int, list[tuple[str, str]]] = {}
    for asset in prepared.assets:
        ordinal = _holding(prepared.passages, _span_of(asset.key, spans))
        tags.setdefault(ordinal, []).append((PICTURE_TAG, asset.key))
    passages = tuple(
        replace(each, tags=tuple(sorted((*each.tags, *tags[each.ordinal]))))
        if each.ordinal in tags
        else each
        for each in prepared.passages
    )
    return replace(prepared, passages=passages)


def _caption_spans(document: ParsedDocument) -> dict[str, Span]:
    floats: tuple[Figure | Table, ...] = (*document.figures, *document.tables)
    return {each.key: each.caption for each in floats if each.caption is not None}


def _span_of(key: str, spans: dict[str, Span]) -> Span | None:
    # Further pictures of one figure are named key#2, key#3 ...
    return spans.get(key) or spans.get(key.rpartition("#")[0])


def _holding(passages: tuple[Passage, ...], span: Span | None) -> int:
    if span is not None:
        for passage in passages:
            if passage.start <= span.start < passage.end:
                return passage.ordinal
    return passages[0].ordinal


def document_picture_rows(
    bus: BoundBus, documents: Iterable[ReadyDocument], config: CommitConfig
) -> PictureRows:
    """Embed the pictures that were decided on.

    Args:
        bus: Hooks.
        documents: Documents with decisions and anchored pictures.
        config: Namespace, knowledge base and schemas.

    Raises:
        PluginError: A decision for a collection or an encoder that nobody registered.
    """
    made = PictureRows()
    wanted: dict[tuple[str, str], list[_Item]] = {}
    for ready in documents:
        for decision in ready.picture_decisions:
            key = (decision.collection, decision.encoder)
            wanted.setdefault(key, []).append((ready.prepared, decision))
    for (collection, encoder), items in wanted.items():
        spec = schema_of(config, collection).spec
        for start in range(0, len(items), _BATCH):
            batch = items[start : start + _BATCH]
            images = [prepared.assets[decision.target].data for prepared, decision in batch]
            found = _encoded(bus, images, encoder=encoder, spec=spec)
            for (prepared, decision), vector in zip(batch, found, strict=True):
                _take(made, prepared, decision, vector=vector, config=config)
    return made


def _encoded(
    bus: BoundBus, images: Sequence[bytes], *, encoder: str, spec: VectorSpec
) -> list[FloatArray | str]:
    """Return the vector of each picture, or why there is none."""
    try:
        vectors = embed_images(bus, images, encoder=encoder, expected=spec).vectors
    except UnknownName as error:
        message = f"a decision names an encoder that nobody registered: {error.message}"
        raise PluginError(message, remedy="register it in on_load") from error
    except (InvalidInput, HookFailed) as error:
        if isinstance(error, HookFailed) and not isinstance(error.error, _UNDECODABLE):
            raise
        if len(images) == 1:
            return [error.message]
        # One of them: each alone, so that the others are taken in.
        return [_encoded(bus, (image,), encoder=encoder, spec=spec)[0] for image in images]
    return [
        vector if np.isfinite(vector).all() and vector.any() else "its vector has no direction"
        for vector in vectors
    ]


def _take(
    made: PictureRows,
    prepared: PreparedDocument,
    decision: ChunkDecision,
    *,
    vector: FloatArray | str,
    config: CommitConfig,
) -> None:
    asset = prepared.assets[decision.target]
    if isinstance(vector, str):
        made.unreadable.append((prepared.document_id, asset.key, vector))
        return
    row = _row(prepared, decision, asset=asset, vector=vector, config=config)
    made.rows.setdefault(decision.collection, []).append(row)
    place = PicturePlace(decision.collection, decision.encoder, decision.chunk_type)
    made.places.setdefault(prepared.document_id, {}).setdefault(asset.key, []).append(place)


def _row(
    prepared: PreparedDocument,
    decision: ChunkDecision,
    *,
    asset: VisualAsset,
    vector: FloatArray,
    config: CommitConfig,
) -> StoredPassage:
    tag = (PICTURE_TAG, asset.key)
    passage = next(each for each in prepared.passages if tag in each.tags)
    hung = replace(decision, target=passage.ordinal)
    row = passage_row(prepared, hung, config=config, vector=vector)
    own = {
        "image_id": asset.key,
        "image_path": f"{prepared.document_id}/0/{picture_file(asset.key, asset.media_type)}",
        "parent_section": row.path,
        "content_summary": asset.caption[:_SUMMARY_CHARS],
    }
    extra = tuple((name, own.get(name, value)) for name, value in row.extra)
    return replace(row, row_id=row_id(row.passage_id, row.version, asset.key), extra=extra)
