"""Pictures in folders: the contract, damage, and what a killed writer leaves."""

from pathlib import Path

import pytest

from eagle_rag.adapters.assets import AssetFolder
from eagle_rag.errors import InvalidInput, StoreError
from eagle_rag.model.passage import VisualAsset
from eagle_rag.testing.asset_contract import AssetStoreContract

ONE = VisualAsset("fig1", "image/png", b"one", "The first.")


class TestAssetFolder(AssetStoreContract):
    @pytest.fixture
    def assets(self, tmp_path: Path) -> AssetFolder:
        return AssetFolder(tmp_path / "assets")


def files(folder: Path) -> list[str]:
    """Return every file below a folder."""
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_a_deleted_document_leaves_no_file_and_no_folder(tmp_path: Path) -> None:
    assets = AssetFolder(tmp_path)
    assets.put("doc1_a", 1, [ONE], {})
    assert len(files(tmp_path)) == 2
    assets.delete_version("doc1_a", 1)
    assert list(tmp_path.iterdir()) == []


def test_the_path_that_is_told_is_the_file(tmp_path: Path) -> None:
    (kept,) = AssetFolder(tmp_path).put("doc1_a", 3, [ONE], {})
    assert kept.file.startswith("doc1_a/3/")
    assert kept.file.endswith(".png")
    assert (tmp_path / kept.file).read_bytes() == b"one"


@pytest.mark.parametrize("document_id", ["../x", "a/b", "", ".", "..", "a\0b", ".half"])
def test_i4_a_document_id_that_is_a_path_is_refused(tmp_path: Path, document_id: str) -> None:
    with pytest.raises(InvalidInput, match="is no document id"):
        AssetFolder(tmp_path / "in").put(document_id, 1, [ONE], {})
    assert list(tmp_path.iterdir()) == []


def test_a_changed_file_is_damage_and_not_a_picture(tmp_path: Path) -> None:
    assets = AssetFolder(tmp_path)
    (kept,) = assets.put("doc1_a", 1, [ONE], {})
    (tmp_path / kept.file).write_bytes(b"two")
    with pytest.raises(StoreError, match="is not what was kept"):
        assets.get("doc1_a", 1, "fig1")


@pytest.mark.parametrize("content", [None, b"", b"{", b"[{}]", b"[1]"])
def test_a_lost_or_broken_index_is_said(tmp_path: Path, content: bytes | None) -> None:
    assets = AssetFolder(tmp_path)
    assets.put("doc1_a", 1, [ONE], {})
    index = tmp_path / "doc1_a" / "1" / "index.json"
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    with pytest.raises(StoreError, match="index of the pictures of doc1_a"):
        assets.list("doc1_a", 1)


def test_g4_what_a_killed_writer_left_is_listed_as_nothing_and_removed(tmp_path: Path) -> None:
    assets = AssetFolder(tmp_path)
    half = tmp_path / "doc1_a" / ".half-2"
    half.mkdir(parents=True)
    (half / "x.png").write_bytes(b"x")
    assert assets.list("doc1_a", 2) == ()
    assert list(assets.versions()) == [("doc1_a", 0)]
    assets.delete_version("doc1_a", 2)
    assert list(assets.versions()) == []


def test_g4_writing_goes_on_where_a_killed_writer_stopped(tmp_path: Path) -> None:
    assets = AssetFolder(tmp_path)
    half = tmp_path / "doc1_a" / ".half-1"
    half.mkdir(parents=True)
    (half / "x.png").write_bytes(b"x")
    assets.put("doc1_a", 1, [ONE], {})
    assert list(assets.versions()) == [("doc1_a", 1)]
    assert len(files(tmp_path)) == 2
