"""Pictures in folders: ``<document id>/<version>/``, a file each and an index that names them all.

A version's folder is written under another name and then renamed, so it is there whole or not at all.
File names are hashes: a key comes from a document and may be any text.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from eagle_rag.errors import InvalidInput, NotFound, StoreError
from eagle_rag.model.passage import PicturePlace, StoredAsset, VisualAsset
from eagle_rag.ops.pictures import picture_file

__all__ = ["AssetFolder"]

_INDEX = "index.json"
_HALF = ".half-"
_REPAIR = (
    "run `eagle verify`; deleting the document and ingesting it again brings its pictures back"
)


class AssetFolder:
    """``AssetStore`` in a folder, which is made on first use. One process writes at a time.

    Args:
        root: The folder of one workspace and namespace.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._changing = Lock()

    def put(
        self,
        document_id: str,
        version: int,
        assets: Sequence[VisualAsset],
        places: Mapping[str, Sequence[PicturePlace]],
    ) -> tuple[StoredAsset, ...]:
        """See ``AssetStore.put``."""
        folder = self._folder(document_id, version)
        half = folder.with_name(f"{_HALF}{version}")
        try:
            with self._changing:
                _remove(half)
                half.mkdir(parents=True)
                kept = [_write(half, folder, asset, places.get(asset.key, ())) for asset in assets]
                kept.sort(key=lambda item: item.key)
                index = json.dumps([asdict(item) for item in kept], sort_keys=True)
                _write_bytes(half / _INDEX, index.encode())
                _sync_folder(half)
                _remove(folder)
                half.rename(folder)
                _sync_folder(folder.parent)
                _sync_folder(self._root)
        except OSError as error:
            message = f"the pictures of {document_id} cannot be written: {error}"
            raise StoreError(message, remedy="check the disk of the data folder") from error
        return tuple(kept)

    def list(self, document_id: str, version: int) -> tuple[StoredAsset, ...]:
        """See ``AssetStore.list``."""
        folder = self._folder(document_id, version)
        try:
            found = json.loads((folder / _INDEX).read_bytes())
            return tuple(_stored(item) for item in found)
        except FileNotFoundError:
            if not folder.is_dir():
                return ()
            message = f"the index of the pictures of {document_id} is gone"
            raise StoreError(message, remedy=_REPAIR) from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            message = f"the index of the pictures of {document_id} cannot be read: {error}"
            raise StoreError(message, remedy=_REPAIR) from error

    def get(self, document_id: str, version: int, key: str) -> bytes:
        """See ``AssetStore.get``."""
        found = next((item for item in self.list(document_id, version) if item.key == key), None)
        if found is None:
            message = f"document {document_id} has no picture {key!r}"
            raise NotFound(message, remedy="`eagle show` lists those it has")
        # By the key, not by what the index says: a damaged index must not name a file elsewhere.
        path = self._folder(document_id, version) / picture_file(key, found.media_type)
        try:
            data = path.read_bytes()
        except OSError as error:
            message = f"picture {key!r} of {document_id} cannot be read: {error}"
            raise StoreError(message, remedy=_REPAIR) from error
        if sha256(data).hexdigest() != found.sha256:
            message = f"picture {key!r} of {document_id} is not what was kept"
            raise StoreError(message, remedy=_REPAIR)
        return data

    def delete_version(self, document_id: str, version: int) -> None:
        """See ``AssetStore.delete_version``."""
        parent = self._folder(document_id, version).parent
        try:
            with self._changing:
                for half in parent.glob(f"{_HALF}{version or '*'}"):
                    _remove(half)
                _remove(parent / str(version))
                if parent.is_dir() and not any(parent.iterdir()):
                    parent.rmdir()
                    _sync_folder(self._root)
        except OSError as error:
            message = f"the pictures of {document_id} cannot be removed: {error}"
            raise StoreError(message, remedy="check the rights of the data folder") from error

    def versions(self) -> Iterator[tuple[str, int]]:
        """See ``AssetStore.versions``."""
        if not self._root.is_dir():
            return
        for document in sorted(path for path in self._root.iterdir() if path.is_dir()):
            numbers = [_version(path.name) for path in document.iterdir()]
            for version in sorted({number for number in numbers if number is not None} or {0}):
                yield document.name, version

    def _folder(self, document_id: str, version: int) -> Path:
        plain = document_id.replace("_", "").replace("-", "").replace(".", "")
        if not (plain.isascii() and plain.isalnum()) or document_id.startswith("."):
            message = f"{document_id!r} is no document id"
            raise InvalidInput(message, remedy="`eagle search` shows ids")
        return self._root / document_id / str(version)


def _version(name: str) -> int | None:
    if name.startswith(_HALF):
        return 0
    return int(name) if name.isascii() and name.isdigit() else None


def _write(
    half: Path, folder: Path, asset: VisualAsset, places: Sequence[PicturePlace]
) -> StoredAsset:
    name = picture_file(asset.key, asset.media_type)
    _write_bytes(half / name, asset.data)
    return StoredAsset(
        key=asset.key,
        media_type=asset.media_type,
        caption=asset.caption,
        sha256=sha256(asset.data).hexdigest(),
        size_bytes=len(asset.data),
        file=f"{folder.parent.name}/{folder.name}/{name}",
        places=tuple(sorted(places, key=lambda place: place.collection)),
    )


def _write_bytes(path: Path, data: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(path: Path) -> None:
    """Make names in a folder durable, where a folder can be synchronised at all."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)


def _stored(item: Mapping[str, Any]) -> StoredAsset:
    places = tuple(PicturePlace(**place) for place in item["places"])
    return StoredAsset(**{**item, "places": places})
