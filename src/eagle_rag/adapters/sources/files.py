"""Files, folders and archives to sources, without ever writing or leaving the place named.

Archives are read member by member in memory: nothing is unpacked to disk, so a member named
``../x`` or a link has nowhere to go; it is refused by name all the same.
"""

import bz2
import gzip
import hashlib
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tarfile import (  # type: ignore[attr-defined]  # the stubs lack the first one
    EOFHeaderError,
    HeaderError,
    ReadError,
)
from typing import IO, Any, Protocol, Self

from eagle_rag.adapters.sources.companions import ArchiveCompanions, FolderCompanions
from eagle_rag.model.document import Companions, Refusal, Source

__all__ = ["SourceLimits", "read_sources"]

_TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2")
_OPENERS: dict[str, Callable[..., Any]] = {  # three unrelated classes, each read like a file
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
# What the readers of the standard library raise for damaged files.
_READ_ERRORS = (
    OSError, EOFError, ValueError, NotImplementedError, lzma.LZMAError, zlib.error,
    tarfile.TarError, zipfile.BadZipFile, struct.error,
)  # fmt: skip
_CHUNK_BYTES = 1 << 20
_END_BYTES = 64 << 10  # tar pads its end to 10 KiB, or what the writer was told
_REPACK = "fetch or pack the archive anew"


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """How much is read before it is refused.

    Args:
        max_file_bytes: Largest single file or archive member, unpacked.
        max_archive_bytes: Largest sum of members of one archive, unpacked; stops archive bombs.
        max_members: Most members of one archive.
    """

    max_file_bytes: int = 64 << 20
    max_archive_bytes: int = 8 << 30
    max_members: int = 1_000_000


class _Readable(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


def read_sources(paths: Sequence[Path], limits: SourceLimits) -> Iterator[Source | Refusal]:
    """Yield every file below the paths, archives opened, in sorted order.

    A file is named as the user named it: ``papers/a.xml`` for the folder ``papers``, only by its own name
    when the path is absolute or leads upwards.

    Args:
        paths: Files, folders or archives. In folders, names that start with a dot and links that lead
            out of the folder are left out.
        limits: What is too large.

    Yields:
        A ``Source``, or a ``Refusal`` that names the file and why.
    """
    taken: dict[str, tuple[int, str]] = {}
    for position, path in enumerate(paths):
        for item in _read_path(path, limits):
            if isinstance(item, Source):
                first, digest = taken.setdefault(item.uri, (position, item.digest))
                if digest != item.digest:
                    # Both would be one document where the name is all that identifies a text.
                    yield _name_taken(item.uri, one_path=first == position)
                    continue
            yield item


def _name_taken(uri: str, *, one_path: bool) -> Refusal:
    if "!/" in uri and one_path:
        return Refusal(
            uri, "", "name-taken", "another member of the archive has this name",
            "rename one of them and pack the archive anew",
        )  # fmt: skip
    remedy = (
        "rename one of them: .gz, .xz and .bz2 at the end do not count"
        if one_path
        else "name a folder that holds both, or ingest them into two knowledge bases"
    )
    return Refusal(uri, "", "name-taken", "another file of this run has this name", remedy)


def _read_path(path: Path, limits: SourceLimits) -> Iterator[Source | Refusal]:
    name = _name_of(path)
    try:
        if path.is_dir():
            yield from _read_folder(path, name, limits)
        elif path.exists() or path.is_symlink():
            yield from _read_file(path, name, limits)
        else:
            yield Refusal(name, "", "absent", "no such file or folder", "check the path")
    except (OSError, ValueError) as error:
        yield Refusal(name, "", "unreadable-file", f"cannot be read: {error}", "check the path")


def _name_of(path: Path) -> str:
    if not path.is_absolute() and ".." not in path.parts:
        name = path.as_posix()
    else:
        name = path.name if path.name not in {"", ".."} else path.resolve().name
    return _printable("" if name == "." else name)


def _printable(name: str) -> str:
    """Return a name as text: bytes of it that are no UTF-8 are written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _read_folder(folder: Path, name: str, limits: SourceLimits) -> Iterator[Source | Refusal]:
    root = folder.resolve()
    for relative, error in _walk(folder):
        uri = _printable("/".join(part for part in (name, relative) if part))
        if error is None:
            yield from _read_entry(folder / relative, uri, root, limits)
        else:
            yield Refusal(
                uri or ".", "", "unreadable-folder", f"cannot be listed: {error.strerror}",
                "check its permissions and the length of its path",
            )  # fmt: skip


def _walk(folder: Path) -> Iterator[tuple[str, OSError | None]]:
    """Yield what is below a folder and no folder itself, sorted, and folders that cannot be listed.

    Without recursion, as folders nest deeper than Python's stack.
    """
    waiting = [("", True)]
    while waiting:
        relative, is_folder = waiting.pop()
        if not is_folder:
            yield relative, None
            continue
        above = f"{relative}/" if relative else ""
        try:
            with os.scandir(folder / relative) as entries:
                below = [
                    (above + entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in entries
                    if not entry.name.startswith(".")
                ]
        except OSError as error:
            yield relative, error
        else:
            waiting.extend(sorted(below, reverse=True))


def _read_entry(
    path: Path, uri: str, root: Path, limits: SourceLimits
) -> Iterator[Source | Refusal]:
    try:
        if path.is_dir():  # a link to a folder, maybe to one above
            return
        if path.is_symlink() and path.exists() and not path.resolve().is_relative_to(root):
            yield Refusal(uri, "", "link", "links out of the folder", "name the target itself")
        else:
            yield from _read_file(path, uri, limits)
    except OSError as error:
        yield Refusal(
            uri, "", "unreadable-file", f"cannot be read: {error.strerror}",
            "check its permissions and the length of its path",
        )  # fmt: skip


def _read_file(path: Path, uri: str, limits: SourceLimits) -> Iterator[Source | Refusal]:
    name = path.name.lower()
    special = _special(path)
    if special:
        yield Refusal(uri, "", "not-a-file", f"is {special}", "name a file or a folder")
        return
    beside = FolderCompanions(os.path.abspath(path.parent), path.name, limits.max_file_bytes)  # noqa: PTH100 - resolving links would change the folder
    try:
        if name.endswith(_TAR_SUFFIXES):
            yield from _read_tar(path, uri, limits)
        elif name.endswith(".zip"):
            yield from _read_zip(path, uri, limits)
        elif path.suffix.lower() in _OPENERS:
            with _OPENERS[path.suffix.lower()](path) as stream:
                found = _read_stream(stream, uri, limits.max_file_bytes)
            # A refusal keeps the name the user knows; parsers go by the name without the ending.
            bare = uri.rsplit(".", 1)[0]
            found = _beside(found, beside)
            yield replace(found, uri=bare) if isinstance(found, Source) else found
        else:
            with path.open("rb") as plain:
                yield _beside(_read_stream(plain, uri, limits.max_file_bytes), beside)
    except _READ_ERRORS as error:
        yield Refusal(uri, "", "unreadable-file", f"cannot be read: {error}", "check the file")


def _beside(found: Source | Refusal, companions: Companions) -> Source | Refusal:
    return replace(found, companions=companions) if isinstance(found, Source) else found


def _in_archive(path: Path, member: str, limits: SourceLimits) -> ArchiveCompanions:
    archive = os.path.abspath(path)  # noqa: PTH100 - resolving links may change the ending
    return ArchiveCompanions(archive, member, limits.max_file_bytes, limits.max_archive_bytes)


def _special(path: Path) -> str:
    """Return what a path is that holds no bytes to read, or nothing; opening a pipe would wait."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        if path.is_symlink():
            return f"a link that leads nowhere: {error.strerror}"
        raise
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


class _StrictHeader(tarfile.TarInfo):
    """A header that must be whole: ``tarfile`` takes a damaged one for the end of the archive."""

    @classmethod
    def fromtarfile(cls, tarfile: tarfile.TarFile) -> Self:  # the name is tarfile's own
        """Read the next header."""
        try:
            return super().fromtarfile(tarfile)
        except EOFHeaderError:
            raise
        except HeaderError as error:
            raise ReadError(str(error)) from error


def _read_tar(path: Path, uri: str, limits: SourceLimits) -> Iterator[Source | Refusal]:
    last = ""
    try:
        with tarfile.open(path, "r:*", tarinfo=_StrictHeader) as archive:
            for member, outcome in _tar_members(archive, uri, _Budget(limits)):
                if outcome is not None:
                    yield _beside(outcome, _in_archive(path, member, limits))
                last = member
    except _READ_ERRORS as error:
        if not last:
            raise
        yield Refusal(
            uri, "", "damaged-archive",
            f"damaged after member {_printable(last)}: what follows was not read ({error})",
            _REPACK,
        )  # fmt: skip


def _tar_members(
    archive: tarfile.TarFile, uri: str, budget: "_Budget"
) -> Iterator[tuple[str, Source | Refusal | None]]:
    """Yield the name of every member, and what it gave.

    Raises:
        ReadError: What follows is damaged.
    """
    for member in archive:
        if member.isdir() or _is_hidden(member.name):
            yield member.name, None
            continue
        name = _printable(f"{uri}!/{member.name}")
        outcome: Source | Refusal | None
        outcome = budget.refusal(name, member.name, declared_bytes=member.size)
        if outcome is None and not member.isfile():
            outcome = Refusal(
                name, "", "link", "is a link or a device in an archive", "add the file itself"
            )
        if outcome is None:
            stream: IO[bytes] | None = archive.extractfile(member)
            outcome = None if stream is None else budget.read(stream, name)
        yield member.name, outcome
        if budget.spent and isinstance(outcome, Refusal):
            return
    _check_end(archive)


def _check_end(archive: tarfile.TarFile) -> None:
    """Refuse an end that is none: a header overwritten with zeros, or a second archive behind it."""
    stream = archive.fileobj
    if stream is not None:
        stream.seek(archive.offset)
        if stream.read(_END_BYTES).strip(b"\0"):
            message = "there is more behind the end"
            raise ReadError(message)


def _read_zip(path: Path, uri: str, limits: SourceLimits) -> Iterator[Source | Refusal]:
    budget = _Budget(limits)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.filename.endswith("/") or _is_hidden(member.filename):
                continue
            name = _printable(f"{uri}!/{member.filename}")
            # The declared size of a zip member is what its maker claims: it is not asked.
            refusal = budget.refusal(name, member.filename, declared_bytes=0)
            if refusal is None and stat.S_ISLNK(member.external_attr >> 16):
                refusal = Refusal(
                    name, "", "link", "is a link in an archive", "add the file itself"
                )
            if refusal is None and member.flag_bits & 1:
                refusal = Refusal(
                    name, "", "encrypted", "is encrypted", "decrypt the archive first"
                )
            if refusal is not None:
                yield refusal
                if budget.spent:
                    return
                continue
            try:
                with archive.open(member) as stream:
                    found = budget.read(stream, name)
                yield _beside(found, _in_archive(path, member.filename, limits))
            except _READ_ERRORS as error:
                yield Refusal(
                    name, "", "unreadable-file", f"cannot be unpacked: {error}",
                    _REPACK,
                )  # fmt: skip


class _Budget:
    """Counts what one archive has given so far."""

    def __init__(self, limits: SourceLimits) -> None:
        self._limits = limits
        self._bytes_left = limits.max_archive_bytes
        self._members_left = limits.max_members

    @property
    def spent(self) -> bool:
        """Whether the archive has given all that it may."""
        return self._bytes_left <= 0 or self._members_left < 0

    def refusal(self, uri: str, name: str, *, declared_bytes: int) -> Refusal | None:
        """Return why this member is not read, or ``None``; ``declared_bytes`` is its size, or 0."""
        self._members_left -= 1
        if declared_bytes > self._bytes_left:
            self._bytes_left = 0
        if self.spent:
            return Refusal(
                uri, "", "archive-too-large", "the archive unpacks to more than is allowed",
                "split it, or raise ingest.max_archive_bytes",
            )  # fmt: skip
        parts = PurePosixPath(name.replace("\\", "/"))
        if not parts.parts:
            return Refusal(uri, "", "unsafe-path", "the member has no name", _REPACK)
        if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
            return Refusal(uri, "", "unsafe-path", "the member's path leaves the archive", _REPACK)
        return None

    def read(self, stream: _Readable, uri: str) -> Source | Refusal:
        """Read a member within what is left."""
        outcome = _read_stream(stream, uri, min(self._limits.max_file_bytes, self._bytes_left))
        used = len(outcome.data) if isinstance(outcome, Source) else self._limits.max_file_bytes
        self._bytes_left -= used
        return outcome


def _read_stream(stream: _Readable, uri: str, limit: int) -> Source | Refusal:
    digest = hashlib.sha256()
    pieces: list[bytes] = []
    size = 0
    while piece := stream.read(min(_CHUNK_BYTES, limit - size + 1)):
        size += len(piece)
        if size > limit:
            return Refusal(
                uri, "", "too-large", f"is larger than {limit:,} bytes",
                "split it, or raise ingest.max_file_bytes",
            )  # fmt: skip
        digest.update(piece)
        pieces.append(piece)
    return Source(uri, b"".join(pieces), digest.hexdigest())


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(part.startswith("._") or part == "__MACOSX" for part in parts)
