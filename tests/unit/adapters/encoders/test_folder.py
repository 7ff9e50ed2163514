import json
from pathlib import Path
from typing import Any

import pytest

from eagle_rag.adapters.encoders.checkpoint import file_digest
from eagle_rag.adapters.encoders.folder import (
    ExportCard,
    FolderCheckpoint,
    exported_digest,
    is_exported,
    read_card,
)
from eagle_rag.errors import EncoderLoadError


def exported(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_text(name, "utf-8")
    files = {path.name: file_digest(path) for path in folder.iterdir()}
    card = ExportCard("text", "lab/model", 8, 16, "mean", licence="MIT", files=files)
    (folder / "card.json").write_text(json.dumps(card.as_json() | changes), "utf-8")
    return folder


def test_card_survives_writing_and_reading(tmp_path: Path) -> None:
    card = read_card(exported(tmp_path / "a"))
    assert card is not None
    assert (card.kind, card.source, card.dim, card.max_tokens) == ("text", "lab/model", 8, 16)
    assert (card.pooling, card.precision, card.licence) == ("mean", "fp32", "MIT")
    assert sorted(card.files) == ["model.onnx", "tokenizer.json"]


def test_folder_without_a_card_is_a_bare_one(tmp_path: Path) -> None:
    assert read_card(tmp_path) is None
    assert not is_exported(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"")
    assert is_exported(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layout": 2}, "has layout 2, expected 1"),
        ({"kind": "sound"}, "kind 'sound', expected one of text, pair, open_clip, vision"),
        ({"kind": "open_clip"}, r"lists no visual\.onnx, text\.onnx, preprocess\.json"),
        ({"files": ["model.onnx"]}, "must map file names"),
        ({"files": {"../secret": "0"}}, "must map file names of the folder"),
        ({"dim": "many"}, "lacks or garbles a field"),
        ({"max_tokens": None}, "lacks or garbles a field"),
    ],
)
def test_damaged_card_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(EncoderLoadError, match=message):
        read_card(exported(tmp_path / "a", **changes))


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_card_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text, "utf-8")
    with pytest.raises(EncoderLoadError, match=r"card\.json"):
        read_card(tmp_path)


def test_digest_covers_every_exported_file(tmp_path: Path) -> None:
    first, second = exported(tmp_path / "a"), exported(tmp_path / "b")
    card = read_card(first)
    assert card is not None
    assert exported_digest(first, card) == exported_digest(second, card)
    assert FolderCheckpoint(first).digest() == exported_digest(first, card)


def test_file_changed_after_the_export_is_refused(tmp_path: Path) -> None:
    """Half a copy must not fill an index."""
    folder = exported(tmp_path / "a")
    (folder / "model.onnx").write_text("other", "utf-8")
    with pytest.raises(EncoderLoadError, match=r"model\.onnx has sha256 .*, its card says"):
        FolderCheckpoint(folder).digest()


def test_file_that_the_card_lists_and_is_missing_is_refused(tmp_path: Path) -> None:
    folder = exported(tmp_path / "a")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(EncoderLoadError, match=r"cannot read .*tokenizer\.json"):
        FolderCheckpoint(folder).digest()


def test_folder_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderLoadError, match="kind 'text', expected 'pair'"):
        FolderCheckpoint(exported(tmp_path / "a"), "pair").digest()
