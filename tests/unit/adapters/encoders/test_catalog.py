import subprocess
import sys
from dataclasses import replace

import pytest

from eagle_rag.adapters.encoders import (
    HashEncoder,
    HttpRecipe,
    HttpTextEncoder,
    OnnxRecipe,
    OnnxTextEncoder,
    default_encoders,
)
from eagle_rag.adapters.encoders.minilm import MINILM_CARD


def test_default_install_has_hash_and_minilm() -> None:
    assert [card.label for card, _ in default_encoders()] == ["hash", "minilm"]


def test_configured_encoders_join_sorted_by_label() -> None:
    remote = HttpRecipe("api", "https://example.org/v1", "model-a", 256)
    other = replace(MINILM_CARD, label="other", checkpoint="folder")
    encoders = default_encoders(onnx=[(other, OnnxRecipe())], remotes=[remote])
    assert [card.label for card, _ in encoders] == ["api", "hash", "minilm", "other"]


@pytest.mark.parametrize("at", [0, 1, 2])
def test_factories_make_the_encoder_of_the_card(at: int) -> None:
    remote = HttpRecipe("remote", "https://example.org/v1", "model-a", 256, metric="ip")
    card, factory = default_encoders(remotes=[remote])[at]
    encoder = factory()
    assert isinstance(encoder, HashEncoder | OnnxTextEncoder | HttpTextEncoder)
    assert encoder.card == card
    assert (encoder.spec.encoder, encoder.spec.metric) == (card.label, card.metric)


def test_importing_and_listing_loads_no_runtime() -> None:
    code = (
        "import sys\n"
        "from eagle_rag.adapters.encoders import default_encoders\n"
        "default_encoders()\n"
        "print({'onnxruntime', 'tokenizers', 'httpx', 'torch'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert out.stdout.strip() == "set()"
