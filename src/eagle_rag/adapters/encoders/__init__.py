"""Text encoders: hashed words, ONNX checkpoints, remote APIs. Weights load on first use."""

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.http import HttpRecipe, HttpTextEncoder
from eagle_rag.adapters.encoders.http_client import RetryPolicy
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import (
    OnnxRecipe,
    OnnxTextEncoder,
    minilm_encoder,
    onnx_encoder,
)

__all__ = [
    "MINILM_CARD",
    "HashEncoder",
    "HttpRecipe",
    "HttpTextEncoder",
    "OnnxRecipe",
    "OnnxTextEncoder",
    "RetryPolicy",
    "minilm_encoder",
    "onnx_encoder",
]
