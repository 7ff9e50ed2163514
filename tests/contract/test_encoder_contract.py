"""The shipped contract suite, run on the encoders of the default install."""

from functools import cache

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.onnx import OnnxTextEncoder, minilm_encoder
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.testing.encoder_contract import TextEncoderContract


@cache
def _minilm() -> OnnxTextEncoder:
    return minilm_encoder()


class TestHashEncoder(TextEncoderContract):
    def make_encoder(self) -> TextEncoder:
        return HashEncoder()


class TestMinilm(TextEncoderContract):
    def make_encoder(self) -> TextEncoder:
        return _minilm()
