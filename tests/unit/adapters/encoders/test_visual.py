"""Visual encoders on an exported model made here: two towers, one space of three dimensions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from eagle_rag.adapters.encoders import wire
from eagle_rag.adapters.encoders.checkpoint import file_digest
from eagle_rag.adapters.encoders.folder import ExportCard
from eagle_rag.adapters.encoders.memory import NotEnoughMemory
from eagle_rag.adapters.encoders.onnx_visual import onnx_visual
from eagle_rag.adapters.encoders.visual import CheckpointVisualEncoder
from eagle_rag.adapters.encoders.wordpiece import bert_tokenizer
from eagle_rag.errors import EncoderLoadError, InvalidInput
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import VisualRecipe
from eagle_rag.model.passage import FloatArray
from eagle_rag.ports.encoders import VisualEncoder
from eagle_rag.testing.visual_contract import VisualEncoderContract, sample_picture

CARD = EncoderCard("scans", "visual", 3, "onnx", metric="ip", queries_text=True, max_tokens=8)
CLIP, VISION = VisualRecipe(backend="open_clip"), VisualRecipe(backend="vision")
PREPROCESS = {"size": [8, 8], "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.2, 0.2]}
PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "chest", "scan")


def visual_tower() -> bytes:
    """Return a model that gives the mean of each colour."""
    return wire.model(
        [
            wire.node(
                "ReduceMean",
                ["pixel_values"],
                ["image_embeds"],
                attributes={"axes": (2, 3), "keepdims": 0},
            )
        ],
        [],
        inputs=[wire.value("pixel_values", "float32", ["n", 3, 8, 8])],
        outputs=[wire.value("image_embeds", "float32", ["n", 3])],
        opsets={"": 17},
    )


def text_tower(size: int = 8) -> bytes:
    """Return a model that gives the sum of the rows of its ids."""
    rows = np.random.default_rng(3).normal(0, 1, (len(PIECES), 3)).astype(np.float32)
    return wire.model(
        [
            wire.node("Gather", ["rows", "input_ids"], ["words"]),
            wire.node("ReduceSum", ["words", "axis"], ["text_embeds"], attributes={"keepdims": 0}),
        ],
        [wire.tensor("rows", rows), wire.tensor("axis", np.array([1], np.int64))],
        inputs=[wire.value("input_ids", "int64", ["n", size])],
        outputs=[wire.value("text_embeds", "float32", ["n", 3])],
        opsets={"": 17},
    )


@pytest.fixture
def clip_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "clip"
    folder.mkdir()
    (folder / "visual.onnx").write_bytes(visual_tower())
    (folder / "text.onnx").write_bytes(text_tower())
    (folder / "preprocess.json").write_text(json.dumps(PREPROCESS), "utf-8")
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES), "utf-8")
    bert_tokenizer(tmp_path / "vocab.txt").save(str(folder / "tokenizer.json"))
    return folder


def seal(folder: Path, kind: Any, *, max_tokens: int = 8) -> Path:
    files = {path.name: file_digest(path) for path in folder.iterdir()}
    card = ExportCard(kind, "lab/clip", 3, max_tokens, files=files)
    (folder / "card.json").write_text(json.dumps(card.as_json()), "utf-8")
    return folder


def open_at(folder: Path, recipe: VisualRecipe = CLIP, **changes: Any) -> CheckpointVisualEncoder:
    return onnx_visual(replace(CARD, checkpoint=str(folder), **changes), recipe)


class TestClip(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, clip_folder: Path) -> None:
        self.folder = seal(clip_folder, "open_clip")

    def make_encoder(self) -> VisualEncoder:
        return open_at(self.folder)


class TestBareVision(VisualEncoderContract):
    @pytest.fixture(autouse=True)
    def _folder(self, clip_folder: Path) -> None:
        self.folder = clip_folder

    def make_encoder(self) -> VisualEncoder:
        return open_at(self.folder, VISION, queries_text=False)


def test_vector_is_that_of_the_pixels(clip_folder: Path) -> None:
    picture = np.zeros((8, 8, 3), np.uint8)
    picture[:4] = (255, 51, 0)
    expected = (np.array([0.5, 0.1, 0.0]) - PREPROCESS["mean"]) / 0.2
    encoder = open_at(clip_folder)
    file = clip_folder / "picture.png"
    Image.fromarray(picture).save(file)
    vector = encoder.encode_images([file.read_bytes()]).vectors[0]
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_text_is_padded_to_the_length_of_the_tower(clip_folder: Path) -> None:
    rows = np.random.default_rng(3).normal(0, 1, (len(PIECES), 3)).astype(np.float32)
    expected = rows[[2, 5, 3, 0, 0, 0, 0, 0]].sum(0)
    vector = open_at(clip_folder).encode_query("chest").vectors[0]
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_padding_id_is_the_tokenizers(clip_folder: Path) -> None:
    tokenizer = bert_tokenizer(clip_folder.parent / "vocab.txt")
    tokenizer.enable_padding(pad_id=4, pad_token="[MASK]", length=8)  # noqa: S106 - a vocabulary entry
    tokenizer.save(str(clip_folder / "tokenizer.json"))
    rows = np.random.default_rng(3).normal(0, 1, (len(PIECES), 3)).astype(np.float32)
    expected = rows[[2, 5, 3, 4, 4, 4, 4, 4]].sum(0)
    vector = open_at(clip_folder).encode_query("chest").vectors[0]
    np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-5)


def test_length_of_the_tower_is_the_exports_not_the_cards(clip_folder: Path) -> None:
    encoder = open_at(seal(clip_folder, "open_clip"), max_tokens=512)
    assert encoder.encode_query("chest " * 6).truncated == ()
    assert encoder.encode_query("chest " * 7).truncated == (0,)


def test_metric_is_the_cards(clip_folder: Path) -> None:
    assert open_at(clip_folder).spec.metric == "ip"
    assert open_at(clip_folder, metric="cosine").spec.metric == "cosine"


def test_card_without_text_refuses_text(clip_folder: Path) -> None:
    with pytest.raises(InvalidInput, match="'scans' encodes pictures only"):
        open_at(clip_folder, queries_text=False).encode_query("chest")


def test_vision_export_has_no_text_tower_whatever_the_card_says(clip_folder: Path) -> None:
    with pytest.raises(InvalidInput, match="has no text tower"):
        open_at(clip_folder, VISION).encode_query("chest")


@pytest.mark.parametrize("name", ["visual.onnx", "text.onnx", "tokenizer.json", "preprocess.json"])
def test_digest_covers_every_file(clip_folder: Path, name: str) -> None:
    before = open_at(clip_folder).spec.digest
    with (clip_folder / name).open("ab") as file:
        file.write(b"\n")
    assert open_at(clip_folder).spec.digest != before


@pytest.mark.parametrize("name", ["visual.onnx", "text.onnx", "tokenizer.json", "preprocess.json"])
def test_missing_file_is_named(clip_folder: Path, name: str) -> None:
    (clip_folder / name).unlink()
    with pytest.raises(EncoderLoadError, match=name):
        open_at(clip_folder).encode_images([sample_picture(8, 8)])


def test_export_of_another_kind_is_refused(clip_folder: Path) -> None:
    with pytest.raises(EncoderLoadError, match="kind 'open_clip', expected 'vision'"):
        open_at(seal(clip_folder, "open_clip"), VISION).encode_images([sample_picture(8, 8)])


def test_text_model_is_no_visual_tower(clip_folder: Path) -> None:
    (clip_folder / "visual.onnx").write_bytes(text_tower())
    with pytest.raises(EncoderLoadError, match=r"takes \['input_ids'\].*pixel_values"):
        open_at(clip_folder).encode_images([sample_picture(8, 8)])


@pytest.mark.parametrize("dim", [2, 5])
def test_other_dimensions_are_fitted_when_the_recipe_says_so(clip_folder: Path, dim: int) -> None:
    picture = [sample_picture(8, 8)]
    whole = open_at(clip_folder).encode_images(picture).vectors[0]
    expected = np.zeros(dim, np.float32)
    expected[: min(dim, 3)] = whole[:dim]
    got = open_at(clip_folder, replace(CLIP, fit_dim=True), dim=dim).encode_images(picture)
    np.testing.assert_allclose(got.vectors[0], expected / np.linalg.norm(expected), atol=1e-5)
    with pytest.raises(EncoderLoadError, match=f"3 dimensions, its card says {dim}"):
        open_at(clip_folder, dim=dim).encode_images(picture)


class Towers:
    """A device with room for two pictures."""

    most_pictures = 8

    def __init__(self) -> None:
        self.runs: list[int] = []

    def pixels(self, picture: Any) -> FloatArray:
        return np.asarray(picture, np.float32).transpose(2, 0, 1)

    def embed_pixels(self, pixels: FloatArray) -> FloatArray:
        self.runs.append(len(pixels))
        if len(pixels) > 2:
            message = "full"
            raise NotEnoughMemory(message)
        means: FloatArray = pixels.mean(axis=(2, 3))
        return means

    def embed_text(self, text: str) -> tuple[FloatArray, bool]:
        raise NotImplementedError(text)


class Source:
    def __init__(self, towers: Towers) -> None:
        self.towers = towers

    def load(self) -> Towers:
        return self.towers

    def digest(self) -> str:
        return "0" * 64


def test_k3_memory_shortage_halves_the_batch() -> None:
    towers = Towers()
    encoder = CheckpointVisualEncoder(CARD, Source(towers))
    pictures = [sample_picture(8, 8, seed=seed) for seed in range(5)]
    vectors = encoder.encode_images(pictures).vectors
    assert towers.runs == [5, 2, 2, 1]
    alone = np.concatenate([encoder.encode_images([one]).vectors for one in pictures])
    np.testing.assert_array_equal(vectors, alone)


def test_position_of_a_broken_picture_is_that_in_the_batch_given() -> None:
    encoder = CheckpointVisualEncoder(CARD, Source(Towers()))
    pictures = [sample_picture(8, 8), sample_picture(8, 8), b"broken"]
    with pytest.raises(InvalidInput, match="picture 2 of the batch"):
        encoder.encode_images(pictures)
