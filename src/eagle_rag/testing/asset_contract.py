"""The contract every store of pictures keeps, as tests its author inherits.

::

    from eagle_rag.testing.asset_contract import AssetStoreContract


    class TestMyStore(AssetStoreContract):
        @pytest.fixture
        def assets(self) -> MyStore:
            return MyStore()
"""

from hashlib import sha256

import pytest

from eagle_rag.errors import NotFound
from eagle_rag.model.passage import PicturePlace, VisualAsset
from eagle_rag.ports.stores import AssetStore
from eagle_rag.testing.store_rows import NASTY

__all__ = ["AssetStoreContract"]

_ONE = VisualAsset("fig1", "image/png", b"one", "The first.")
_TWO = VisualAsset("fig2", "image/jpeg", b"two", "The second.")
_PLACE = PicturePlace("colours", "eye", "picture")


class AssetStoreContract:
    """Inherit in a test class and override the fixture ``assets`` with an empty store."""

    @pytest.fixture
    def assets(self) -> AssetStore:
        """Return an empty store."""
        raise NotImplementedError

    def test_what_is_put_is_listed_by_key_and_read_back(self, assets: AssetStore) -> None:
        """With everything that is known of it."""
        kept = assets.put("doc1_a", 1, [_TWO, _ONE], {"fig2": [_PLACE]})
        assert kept == assets.list("doc1_a", 1)
        assert [item.key for item in kept] == ["fig1", "fig2"]
        assert [item.places for item in kept] == [(), (_PLACE,)]
        assert kept[0].sha256 == sha256(b"one").hexdigest()
        assert (kept[0].media_type, kept[0].caption, kept[0].size_bytes) == (
            "image/png",
            "The first.",
            3,
        )
        assert assets.get("doc1_a", 1, "fig2") == b"two"

    def test_versions_do_not_see_each_other(self, assets: AssetStore) -> None:
        """A new version is written while the old one is served."""
        assets.put("doc1_a", 1, [_ONE], {})
        assets.put("doc1_a", 2, [_TWO], {})
        assets.delete_version("doc1_a", 1)
        assert assets.list("doc1_a", 1) == ()
        assert assets.get("doc1_a", 2, "fig2") == b"two"
        assert list(assets.versions()) == [("doc1_a", 2)]

    def test_putting_again_replaces_the_whole_version(self, assets: AssetStore) -> None:
        """What is not in it any more is gone."""
        assets.put("doc1_a", 1, [_ONE, _TWO], {})
        assets.put("doc1_a", 1, [_TWO], {})
        assert [item.key for item in assets.list("doc1_a", 1)] == ["fig2"]
        with pytest.raises(NotFound, match="has no picture 'fig1'"):
            assets.get("doc1_a", 1, "fig1")

    def test_i4_keys_are_data(self, assets: AssetStore) -> None:
        """Whatever a key says, it is stored and read back, and names no file."""
        nasty = [VisualAsset(key, "image/png", key.encode(), key) for key in NASTY]
        assets.put("doc1_a", 1, nasty, {})
        assert [item.key for item in assets.list("doc1_a", 1)] == sorted(NASTY)
        for key in NASTY:
            assert assets.get("doc1_a", 1, key) == key.encode()

    def test_deleting_leaves_nothing_and_may_be_repeated(self, assets: AssetStore) -> None:
        """A crash in between is followed by the same call."""
        assets.put("doc1_a", 1, [_ONE], {})
        for _ in range(2):
            assets.delete_version("doc1_a", 1)
        assert list(assets.versions()) == []
        with pytest.raises(NotFound):
            assets.get("doc1_a", 1, "fig1")
