"""Text encoders: hashed words, ONNX checkpoints, remote APIs. Weights load on first use."""

from eagle_rag.adapters.encoders.catalog import default_encoders
from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import (
    OnnxRecipe,
    OnnxTextEncoder,
    folder_encoder,
    minilm_encoder,
)

__all__ = [
    "MINILM_CARD",
    "HashEncoder",
    "OnnxRecipe",
    "OnnxTextEncoder",
    "default_encoders",
    "folder_encoder",
    "minilm_encoder",
]
