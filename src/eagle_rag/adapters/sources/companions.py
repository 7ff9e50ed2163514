"""The files beside a source: of its folder, of its folder inside a zip or tar archive.

What a document names is never trusted: a name reaches into the source's own folder and one level of
folders below it, never out of it, through no link. Nothing is listed or opened before it is asked for.
"""

import atexit
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BufferedReader
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import IO

__all__ = ["ArchiveCompanions", "FolderCompanions", "clean_name"]

_MAX_LISTED = 10_000
"""A folder of more files is a heap of papers, not the package of one: it is not listed, only asked."""

_MAX_DEPTH = 2
_SHELF_FILES = 1_000
_SHELF_BYTES = 256 << 20
_READ_ERRORS = (
    OSError, EOFError, ValueError, NotImplementedError, RuntimeError, tarfile.TarError,
    zipfile.BadZipFile, lzma.LZMAError, zlib.error, struct.error,
)  # fmt: skip


def clean_name(name: str) -> str:
    """Return a name in normal form, or empty when it may leave the folder, is hidden or too deep."""
    if not name or "\\" in name or "\0" in name:
        return ""
    path = PurePosixPath(name)
    outside = path.is_absolute() or not path.parts or len(path.parts) > _MAX_DEPTH
    if outside or any(part.startswith(".") or ":" in part for part in path.parts):
        return ""
    return path.as_posix()


@dataclass(frozen=True, slots=True)
class FolderCompanions:
    """The files beside a file.

    Args:
        folder: The source's folder, absolute.
        own: The source's own file name.
        max_file_bytes: Larger files count as absent.
    """

    folder: str
    own: str
    max_file_bytes: int

    def names(self) -> tuple[str, ...]:
        """Return the names below the folder, one level of folders included, sorted.

        None when the folder holds more than 10,000 entries: its files can still be read by name.
        """
        listed = _listed(self.folder, _changed(self.folder))
        return tuple(name for name in listed if name != self.own)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a regular file of that name that no link leads to."""
        wanted = clean_name(name)
        if not wanted or wanted == self.own:
            return None
        path = Path(self.folder) / wanted
        try:
            state = path.lstat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > self.max_file_bytes:
                return None
            if "/" in wanted and path.parent.is_symlink():
                return None
            with path.open("rb") as stream:
                return _read_within(stream, self.max_file_bytes)
        except _READ_ERRORS:
            return None


def _changed(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=4)
def _listed(folder: str, changed: int) -> tuple[str, ...]:
    del changed  # part of the key: a folder that changed is listed anew
    found: list[str] = []
    below: list[str] = []
    if not _list(folder, "", found, below):
        return ()
    for name in sorted(below):
        if not _list(f"{folder}/{name}", f"{name}/", found, []):
            break
    return tuple(sorted(found))


def _list(folder: str, prefix: str, found: list[str], below: list[str]) -> bool:
    """Add files and folders of a folder; ``False`` when there are too many to go on."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(found) + len(below) >= _MAX_LISTED:
                    return False
                if not clean_name(prefix + entry.name):
                    continue
                if entry.is_file(follow_symlinks=False):
                    found.append(prefix + entry.name)
                elif not prefix and entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
    except OSError:
        return bool(prefix)  # one folder below that cannot be read hides no other
    return True


@dataclass(frozen=True, slots=True)
class ArchiveCompanions:
    """The files beside a member of a zip or tar archive.

    Args:
        archive: The archive, absolute.
        member: The source's own name in it.
        max_file_bytes: Larger files count as absent.
        max_archive_bytes: What lies behind so many unpacked bytes of a tar counts as absent.
    """

    archive: str
    member: str
    max_file_bytes: int
    max_archive_bytes: int

    def names(self) -> tuple[str, ...]:
        """Return the names below the member's folder, one level of folders included, sorted."""
        folder, own = _place(self.member)
        with _LAST.lock:
            archive = _LAST.opened(self)
            found = () if archive is None else archive.below(folder)
        return tuple(name for name in found if name != own)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a regular member of that name."""
        folder, own = _place(self.member)
        wanted = clean_name(name)
        if not wanted or wanted == own:
            return None
        with _LAST.lock:
            archive = _LAST.opened(self)
            if archive is None:
                return None
            return archive.read(folder, wanted, self.max_file_bytes)


def _place(member: str) -> tuple[str, str]:
    path = PurePosixPath(member)
    folder = path.parent.as_posix()
    return ("" if folder == "." else folder), path.name


def _inside(name: str) -> str:
    """Return a member's name in normal form, or empty when it leaves the archive."""
    path = PurePosixPath(name)
    unsafe = path.is_absolute() or ".." in path.parts or "\\" in name or not path.parts
    return "" if unsafe else path.as_posix()


class _Archive:
    """An open archive and where its regular members are."""

    def __init__(self, opened: zipfile.ZipFile | tarfile.TarFile, most_bytes: int) -> None:
        self._opened = opened
        self._members = (
            _zip_members(opened)
            if isinstance(opened, zipfile.ZipFile)
            else _tar_members(opened, most_bytes)
        )
        # Going back in a compressed tar means unpacking it from its beginning.
        self._is_stream = isinstance(opened, tarfile.TarFile) and not isinstance(
            opened.fileobj, BufferedReader
        )
        self._shelf: tuple[str, dict[str, bytes]] | None = None
        folders: dict[str, list[str]] = {}
        for name in self._members:
            parts = name.split("/")
            for depth in range(1, min(_MAX_DEPTH, len(parts)) + 1):
                relative = "/".join(parts[-depth:])
                if clean_name(relative):
                    folders.setdefault("/".join(parts[:-depth]), []).append(relative)
        # In the order of the archive: that is the order to read them in.
        self._folders = {folder: tuple(names) for folder, names in folders.items()}

    def below(self, folder: str) -> tuple[str, ...]:
        names = self._folders.get(folder, ())
        return () if len(names) > _MAX_LISTED else tuple(sorted(names))

    def read(self, folder: str, relative: str, most_bytes: int) -> bytes | None:
        if self._is_stream and self._fits_shelf(folder):
            if self._shelf is None or self._shelf[0] != folder:
                self._shelf = (folder, self._read_all(folder, most_bytes))
            return self._shelf[1].get(relative)
        return self._read(_joined(folder, relative), most_bytes)

    def close(self) -> None:
        self._opened.close()

    def _fits_shelf(self, folder: str) -> bool:
        names = self._folders.get(folder, ())
        if len(names) > _SHELF_FILES:
            return False
        sizes = (self._members[_joined(folder, name)].size for name in names)
        return sum(sizes) <= _SHELF_BYTES

    def _read_all(self, folder: str, most_bytes: int) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for name in self._folders.get(folder, ()):
            data = self._read(_joined(folder, name), most_bytes)
            if data is not None:
                found[name] = data
        return found

    def _read(self, name: str, most_bytes: int) -> bytes | None:
        member = self._members.get(name)
        if member is None or member.size > most_bytes:
            return None
        try:
            stream = member.open()
            if stream is None:
                return None
            with stream:
                return _read_within(stream, most_bytes)
        except _READ_ERRORS:
            return None


@dataclass(frozen=True, slots=True)
class _Member:
    size: int
    open: Callable[[], IO[bytes] | None]


def _joined(folder: str, relative: str) -> str:
    return f"{folder}/{relative}" if folder else relative


def _zip_members(archive: zipfile.ZipFile) -> dict[str, _Member]:
    found: dict[str, _Member] = {}
    for member in archive.infolist():
        name = _inside(member.filename)
        mode = member.external_attr >> 16
        if name and not member.is_dir() and not stat.S_ISLNK(mode) and not member.flag_bits & 1:
            # A member that says less than it unpacks to is cut there and fails its checksum.
            found[name] = _Member(member.file_size, partial(archive.open, member))
    return found


def _tar_members(archive: tarfile.TarFile, most_bytes: int) -> dict[str, _Member]:
    found: dict[str, _Member] = {}
    try:
        for member in archive:
            if member.offset_data + member.size > most_bytes:
                break
            name = _inside(member.name)
            if name and member.isreg():
                found[name] = _Member(member.size, partial(archive.extractfile, member))
    except _READ_ERRORS:
        pass  # what stands before the damage is there; reading the archive itself reports it
    return found


class _Last:
    """The archive asked last, kept open: documents of one archive come one after another."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._key: tuple[str, int, int] | None = None
        self._archive: _Archive | None = None

    def opened(self, wanted: ArchiveCompanions) -> _Archive | None:
        """Return the open archive, or ``None`` when it cannot be opened; the lock is held."""
        try:
            state = Path(wanted.archive).stat()
        except OSError:
            return None
        key = (wanted.archive, state.st_mtime_ns, state.st_size)
        if key != self._key:
            self.close()
            self._key = key
            try:
                self._archive = _open(wanted)
            except _READ_ERRORS:
                return None
        return self._archive

    def close(self) -> None:
        """Close what is open."""
        if self._archive is not None:
            self._archive.close()
        self._archive = self._key = None


def _open(wanted: ArchiveCompanions) -> _Archive:
    opened = (
        zipfile.ZipFile(wanted.archive)
        if wanted.archive.lower().endswith(".zip")
        else tarfile.open(wanted.archive, "r:*")  # noqa: SIM115 - kept open, closed by _Last
    )
    return _Archive(opened, wanted.max_archive_bytes)


def _read_within(stream: IO[bytes], most_bytes: int) -> bytes | None:
    data = stream.read(most_bytes + 1)
    return None if len(data) > most_bytes else data


_LAST = _Last()
atexit.register(_LAST.close)
