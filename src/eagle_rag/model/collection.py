"""Collections and encoders as cards: what exists, before any weight is loaded."""

from dataclasses import dataclass
from typing import Literal

from eagle_rag.model.passage import VectorSpec

__all__ = ["CollectionProfile", "CollectionSchema", "EncoderCard", "Modality", "StoreHit"]

Modality = Literal["text", "visual", "rerank"]


@dataclass(frozen=True, slots=True)
class EncoderCard:
    """What an encoder is, known without loading it.

    Args:
        label: Name used in configuration and in every index.
        modality: ``text``, ``visual`` or ``rerank``.
        dim: Output dimension; 1 for ``rerank``.
        runtime: ``onnx``, ``torch``, ``http`` or ``hash``.
        checkpoint: Package, path or hub id of the weights.
        max_tokens: Window; longer texts are truncated, counted and reported.
        metric: ``cosine`` or ``ip``.
        licence: Licence of the weights.
        extra: The pip extra that brings what it needs; empty for the default install.
        queries_text: A visual encoder that also has a text tower in the same space.
    """

    label: str
    modality: Modality
    dim: int
    runtime: str
    checkpoint: str = ""
    max_tokens: int = 512
    metric: str = "cosine"
    licence: str = ""
    extra: str = ""
    queries_text: bool = False


@dataclass(frozen=True, slots=True)
class CollectionProfile:
    """A collection as configured: who fills it and how it is searched.

    Args:
        name: Collection name, such as ``eagle_text``.
        dim: Dimension of its vectors.
        default_encoder: Label of the encoder that fills it; empty when nothing does in this profile:
            then it is not made, nothing may be written to it, and ``doctor`` says so.
        metric: ``cosine`` or ``ip``.
        hybrid_enabled: It has a BM25 arm as well as the dense one.
        chunk_type: Default ``chunk_type`` of its rows.
        extra_output_fields: Fields beyond ``StoredPassage``'s own; text, nullable.
    """

    name: str
    dim: int
    default_encoder: str
    metric: str = "cosine"
    hybrid_enabled: bool = True
    chunk_type: str = "text"
    extra_output_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionSchema:
    """What a store creates a collection from.

    Args:
        name: Collection name.
        spec: Vector space of its rows.
        hybrid: Build a BM25 index on ``lexemes``.
        extra_fields: Nullable text columns beyond ``StoredPassage``'s own, sorted.
    """

    name: str
    spec: VectorSpec
    hybrid: bool = True
    extra_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoreHit:
    """One row found by one arm of one collection.

    Args:
        row_id: ``StoredPassage.row_id``.
        passage_id: Its passage.
        document_id: Its document.
        version: Its version.
        kb_name: Its knowledge base.
        score: Higher is better: cosine (or inner product) for dense, BM25 for lexical.
        rank: From 1; ties are broken by ``row_id``.
        extra: Values of the extra fields, sorted by name.
    """

    row_id: str
    passage_id: str
    document_id: str
    version: int
    kb_name: str
    score: float
    rank: int
    extra: tuple[tuple[str, str | None], ...] = ()
