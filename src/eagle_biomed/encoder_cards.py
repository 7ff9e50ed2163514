"""The plugin's encoders as cards: seven of the reference, and Morgan fingerprints for the default install.

Licences are those of the published weights, as their publishers state them. None of the weights is
part of this package. No library of chemistry or of models is imported here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from eagle_rag.model.collection import EncoderCard, Modality
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe

__all__ = [
    "MORGAN_CARD",
    "NATIVE",
    "NativeEncoder",
    "OpenedWith",
    "native_cards",
    "opened_with",
    "prefers_open_clip",
]

MORGAN_CARD = EncoderCard(
    label="morgan",
    modality="text",
    dim=1024,
    runtime="rdkit",
    checkpoint="rdkit",
    max_tokens=2000,
    licence="BSD-3-Clause (RDKit; there are no weights)",
)
"""Computed by RDKit; ``max_tokens`` are characters of one SMILES string."""


@dataclass(frozen=True, slots=True)
class NativeEncoder:
    """One line of the reference's table of encoders.

    Args:
        card: Its card with the default checkpoint; runtime ``auto``.
        variable: Environment variable that names another checkpoint.
        recipe: How the checkpoint becomes an encoder; pictures get theirs from the checkpoint.
        reads_structures: The model is given the SMILES string of a text, not the text.
    """

    card: EncoderCard
    variable: str
    recipe: TextRecipe | PairRecipe | None = None
    reads_structures: bool = False


@dataclass(frozen=True, slots=True)
class OpenedWith:
    """What a runtime is given to open an encoder.

    Args:
        card: The card with the checkpoint that is opened.
        recipe: The recipe.
    """

    card: EncoderCard
    recipe: TextRecipe | VisualRecipe | PairRecipe


def _card(
    label: str, modality: Modality, *, dim: int, checkpoint: str, licence: str, metric: str
) -> EncoderCard:
    return EncoderCard(
        label=label,
        modality=modality,
        dim=dim,
        runtime="auto",
        checkpoint=checkpoint,
        max_tokens=512,
        metric=metric,
        licence=licence,
        extra="torch",
    )


def _text(label: str, checkpoint: str, licence: str) -> EncoderCard:
    return _card(label, "text", dim=768, checkpoint=checkpoint, licence=licence, metric="cosine")


_MEAN = TextRecipe(pooling="mean", fit_dim=True)
_CLS = TextRecipe(pooling="cls", fit_dim=True)
_NCBI = "public domain (NCBI, United States Government Work)"
_QUERY, _ARTICLE = "medcpt-query", "medcpt-article"

NATIVE: tuple[NativeEncoder, ...] = (
    NativeEncoder(
        _text(
            "pubmedbert",
            "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext",
            "MIT",
        ),
        "EAGLE_BIOMED_PUBMEDBERT_MODEL",
        _MEAN,
    ),
    NativeEncoder(
        _text(
            "molformer",
            "seyonec/ChemBERTa-zinc-base-v1",
            "none stated by the publisher: ask before redistributing",
        ),
        "EAGLE_BIOMED_MOLFORMER_MODEL",
        _MEAN,
        reads_structures=True,
    ),
    NativeEncoder(
        _text(_QUERY, "ncbi/MedCPT-Query-Encoder", _NCBI),
        "EAGLE_BIOMED_MEDCPT_QUERY_MODEL",
        _CLS,
    ),
    NativeEncoder(
        _text(_ARTICLE, "ncbi/MedCPT-Article-Encoder", _NCBI),
        "EAGLE_BIOMED_MEDCPT_ARTICLE_MODEL",
        _CLS,
    ),
    NativeEncoder(
        _card(
            "medimageinsight",
            "visual",
            dim=1024,
            checkpoint="microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224",
            licence="MIT",
            metric="ip",
        ),
        "EAGLE_BIOMED_MEDIMAGE_MODEL",
    ),
    NativeEncoder(
        _card(
            "uni2",
            "visual",
            dim=1536,
            checkpoint="MahmoodLab/UNI2-h",
            licence="CC-BY-NC-ND-4.0, non-commercial research only; gated: register on the hub and accept its terms",
            metric="ip",
        ),
        "EAGLE_BIOMED_UNI2_MODEL",
    ),
    NativeEncoder(
        _card(
            "medcpt-rerank",
            "rerank",
            dim=1,
            checkpoint="ncbi/MedCPT-Cross-Encoder",
            licence=_NCBI,
            metric="cosine",
        ),
        "EAGLE_BIOMED_MEDCPT_RERANK_MODEL",
        PairRecipe(),
    ),
)
"""The reference's table, in its order."""

_ARCHITECTURE = "EAGLE_BIOMED_OPENCLIP_ARCH"
_PRETRAINED = "EAGLE_BIOMED_OPENCLIP_PRETRAINED"
_UNI2 = re.compile(r"uni2(-h)?", re.IGNORECASE)
# How UNI2-h is built with timm, as its model card says; its weights do not say it themselves.
_UNI2_ARGS: tuple[tuple[str, str | float | bool], ...] = (
    ("img_size", 224),
    ("patch_size", 14),
    ("depth", 24),
    ("num_heads", 24),
    ("init_values", 1e-5),
    ("embed_dim", 1536),
    ("mlp_ratio", 2.66667 * 2),
    ("num_classes", 0),
    ("no_embed_class", True),
    ("mlp_layer", "SwiGLUPacked"),
    ("act_layer", "silu"),
    ("reg_tokens", 8),
    ("dynamic_img_size", True),
)


def native_cards(environ: Mapping[str, str]) -> dict[str, EncoderCard]:
    """Return the cards of the seven by label, with the checkpoints the environment names.

    Args:
        environ: Empty values count as unset. A checkpoint of another publisher has a licence of its own.
    """
    return {native.card.label: _in_force(native, environ) for native in NATIVE}


def _in_force(native: NativeEncoder, environ: Mapping[str, str]) -> EncoderCard:
    named = environ.get(native.variable, "").strip()
    card = native.card
    if named and named != card.checkpoint:
        card = replace(card, checkpoint=named, licence="that of the checkpoint")
    if card.modality == "visual":
        card = replace(card, queries_text=prefers_open_clip(card.label, card.checkpoint))
    return card


def prefers_open_clip(label: str, checkpoint: str) -> bool:
    """Return whether open_clip runs a visual checkpoint: two towers, so texts find pictures."""
    return label == "medimageinsight" or "clip" in checkpoint.lower()


def opened_with(
    native: NativeEncoder, cards: Mapping[str, EncoderCard], environ: Mapping[str, str]
) -> OpenedWith:
    """Return what a runtime opens for one of the seven.

    Both labels of MedCPT open the same pair: documents by the article encoder, queries by the query
    encoder.

    Args:
        native: Which one.
        cards: ``native_cards``.
        environ: Names architecture and tag of a bare open_clip checkpoint.
    """
    card = cards[native.card.label]
    if card.label in {_QUERY, _ARTICLE}:
        recipe = replace(_CLS, query_checkpoint=cards[_QUERY].checkpoint)
        return OpenedWith(replace(card, checkpoint=cards[_ARTICLE].checkpoint), recipe)
    if native.recipe is not None:
        return OpenedWith(card, native.recipe)
    if not prefers_open_clip(card.label, card.checkpoint):
        name = card.checkpoint.rstrip("/").rsplit("/", 1)[-1]
        args = _UNI2_ARGS if _UNI2.fullmatch(name) else ()
        return OpenedWith(card, VisualRecipe("vision", fit_dim=True, model_args=args))
    defaults = VisualRecipe("open_clip", fit_dim=True)
    return OpenedWith(
        card,
        replace(
            defaults,
            architecture=environ.get(_ARCHITECTURE, "").strip() or defaults.architecture,
            pretrained=environ.get(_PRETRAINED, "").strip() or defaults.pretrained,
        ),
    )
