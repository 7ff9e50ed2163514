"""How a checkpoint becomes an encoder: what its card does not say."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["PairRecipe", "Pooling", "TextRecipe", "VisualRecipe"]

Pooling = Literal["mean", "cls", "none"]


@dataclass(frozen=True, slots=True)
class TextRecipe:
    """How token vectors become a text's vector.

    Args:
        pooling: ``mean`` over the tokens of the attention mask, ``cls`` (the first token), ``none`` for a
            model that pools by itself.
        normalized: Scale to unit length.
        fit_dim: Cut or zero-pad the model's vectors to ``card.dim`` instead of refusing another
            dimension.
        query_checkpoint: Checkpoint of the query's tower when it has weights of its own; empty for one
            tower.
        query_prefix, document_prefix: Put before the text.
    """

    pooling: Pooling = "mean"
    normalized: bool = True
    fit_dim: bool = False
    query_checkpoint: str = ""
    query_prefix: str = ""
    document_prefix: str = ""


@dataclass(frozen=True, slots=True)
class VisualRecipe:
    """How a picture becomes a vector.

    Args:
        backend: ``open_clip`` (two towers in one space) or ``vision`` (a picture model with
            ``image_embeds`` or ``last_hidden_state``, averaged).
        architecture: open_clip's model name for a bare weights file.
        pretrained: open_clip's tag of pretrained weights for a bare architecture.
        fit_dim: As in ``TextRecipe``.
        model_args: How a timm checkpoint is built where its own configuration does not say; a value may
            be the name of a layer class, such as ``SwiGLUPacked``.
    """

    backend: Literal["open_clip", "vision"] = "vision"
    architecture: str = "ViT-B-16"
    pretrained: str = "openai"
    fit_dim: bool = False
    model_args: tuple[tuple[str, str | float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class PairRecipe:
    """How a cross-encoder scores.

    Args:
        batch_size: Most pairs a run; equal lengths go together, and memory shortage halves it.
    """

    batch_size: int = 16
