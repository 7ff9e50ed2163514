"""Which module runs which card, and what is said where a library is missing."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.hashed import HashPairScorer, HashVisualEncoder
from eagle_rag.adapters.encoders.libraries import needed, require_installed
from eagle_rag.adapters.encoders.minilm import MINILM_CARD
from eagle_rag.adapters.encoders.onnx import OnnxTextEncoder
from eagle_rag.adapters.encoders.runtimes import open_pairs, open_text, open_visual
from eagle_rag.errors import EncoderLoadError
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe

TEXT = EncoderCard("t", "text", 8, "auto", checkpoint="lab/bert", max_tokens=16)
VISUAL = EncoderCard("v", "visual", 8, "auto", checkpoint="lab/clip")
PAIR = EncoderCard("p", "rerank", 1, "auto", checkpoint="lab/cross")
Opener = Callable[[str], Any]
OPENERS: list[Opener] = [
    lambda runtime: open_text(replace(TEXT, runtime=runtime), TextRecipe()),
    lambda runtime: open_visual(replace(VISUAL, runtime=runtime), VisualRecipe()),
    lambda runtime: open_visual(
        replace(VISUAL, runtime=runtime), VisualRecipe(backend="open_clip")
    ),
    lambda runtime: open_pairs(replace(PAIR, runtime=runtime), PairRecipe()),
]
no_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="torch is installed"
)


def test_hash_runtime_stands_in_for_every_modality() -> None:
    made = [opener("hash") for opener in OPENERS]
    assert [type(encoder) for encoder in made] == [
        HashEncoder,
        HashVisualEncoder,
        HashVisualEncoder,
        HashPairScorer,
    ]
    assert made[0].card == replace(TEXT, runtime="hash")


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("runtime", ["http", "", "cuda"])
def test_unknown_runtime_is_refused(opener: Opener, runtime: str) -> None:
    with pytest.raises(EncoderLoadError, match=f"no runtime '{runtime}'.*onnx, torch, auto"):
        opener(runtime)


@no_torch
@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("runtime", ["torch", "auto"])
def test_missing_torch_is_named_with_its_extra(opener: Opener, runtime: str) -> None:
    with pytest.raises(EncoderLoadError, match=r"torch, .*pip install 'eagle-rag\[torch\]'"):
        opener(runtime)


def test_missing_library_is_named_with_its_extra() -> None:
    for check in (require_installed, needed):
        with pytest.raises(EncoderLoadError, match=r"'t' needs the package no_such.*eagle-rag\["):
            check("no_such", "t")


def test_auto_takes_an_exported_folder(tiny_bert: Any) -> None:
    """The folder tells: no torch is asked for."""
    card = replace(TEXT, checkpoint=str(tiny_bert.folder))
    encoder = open_text(card, TextRecipe())
    assert isinstance(encoder, OnnxTextEncoder)
    assert encoder.encode_query("drug").vectors.shape == (1, 8)


def test_auto_takes_the_default_encoders_package() -> None:
    card = replace(MINILM_CARD, runtime="auto")
    assert isinstance(open_text(card, TextRecipe()), OnnxTextEncoder)


def test_nothing_is_read_before_use(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    open_text(replace(TEXT, runtime="onnx", checkpoint=absent), TextRecipe())
    open_visual(replace(VISUAL, runtime="onnx", checkpoint=absent), VisualRecipe())
    open_pairs(replace(PAIR, runtime="onnx", checkpoint=absent), PairRecipe())


def test_opening_and_encoding_import_no_torch(tiny_bert: Any) -> None:
    """torch takes seconds to import and may be broken; the default install must not notice."""
    script = f"""
import sys
from eagle_rag.adapters.encoders.runtimes import open_pairs, open_text, open_visual
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
card = EncoderCard("t", "text", 8, "auto", checkpoint={str(tiny_bert.folder)!r}, max_tokens=16)
open_text(card, TextRecipe()).encode_query("drug")
open_visual(EncoderCard("v", "visual", 8, "hash"), VisualRecipe()).encode_images([b"a"])
open_pairs(EncoderCard("p", "rerank", 1, "hash"), PairRecipe()).score_pairs("a", ["b"])
heavy = {{"torch", "torchvision", "transformers", "open_clip", "timm", "huggingface_hub"}}
assert heavy.isdisjoint(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)  # noqa: S603 - our own script
