"""The files beside a source: which are there, and which never are (I5)."""

import io
import os
import pickle
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from eagle_rag.adapters.sources import SourceLimits, read_sources
from eagle_rag.model.document import Companions, Source
from eagle_rag.testing.articles import write_files

FILES = {
    "pack/a.xml": b"<a/>",
    "pack/fig1.png": b"one",
    "pack/figures/fig2.png": b"two",
    "pack/figures/deep/fig3.png": b"three",
    "other/fig4.png": b"four",
    "top.png": b"top",
}


def folder(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return a folder with the files."""
    return write_files(place / "in", files)


def zipped(place: Path, files: Mapping[str, bytes]) -> Path:
    """Return a zip archive of the files."""
    path = place / "in.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(place: Path, files: Mapping[str, bytes], *, mode: str = "w:gz") -> Path:
    """Return a tar archive of the files."""
    path = place / "in.tar.gz"
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # a mode in a variable
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


Make = Callable[[Path, Mapping[str, bytes]], Path]
every_place = pytest.mark.parametrize("make", [folder, zipped, tarred])


def beside(path: Path, limits: SourceLimits | None = None, ending: str = "a.xml") -> Companions:
    """Return what lies beside the source of that ending."""
    found = [
        item
        for item in read_sources([path], limits or SourceLimits())
        if isinstance(item, Source) and item.uri.endswith(ending)
    ]
    assert found[0].companions is not None
    return found[0].companions


@every_place
def test_names_are_those_of_the_folder_and_one_level_below(tmp_path: Path, make: Make) -> None:
    assert beside(make(tmp_path, FILES)).names() == ("fig1.png", "figures/fig2.png")


@every_place
def test_files_are_read_by_their_relative_name(tmp_path: Path, make: Make) -> None:
    companions = beside(make(tmp_path, FILES))
    assert companions.read("fig1.png") == b"one"
    assert companions.read("./fig1.png") == b"one"
    assert companions.read("figures/fig2.png") == b"two"
    assert companions.read("absent.png") is None


@every_place
@pytest.mark.parametrize(
    "name",
    [
        "../top.png", "../other/fig4.png", "figures/../../top.png", "/etc/passwd", "", ".", "..",
        "figures", "figures/deep/fig3.png", "C:/x", "a\0b", "figures\\fig2.png", "a.xml", ".hidden",
    ],
)  # fmt: skip
def test_i5_nothing_else_is_ever_read(tmp_path: Path, make: Make, name: str) -> None:
    files = {**FILES, "pack/.hidden": b"secret"}
    assert beside(make(tmp_path, files)).read(name) is None


@every_place
def test_a_file_above_the_limit_counts_as_absent(tmp_path: Path, make: Make) -> None:
    files = {"a.xml": b"<a/>", "big.png": b"x" * 101, "small.png": b"x" * 100}
    companions = beside(make(tmp_path, files), SourceLimits(max_file_bytes=100))
    assert companions.read("big.png") is None
    assert companions.read("small.png") == b"x" * 100


@every_place
def test_they_pickle_and_say_the_same_afterwards(tmp_path: Path, make: Make) -> None:
    companions = beside(make(tmp_path, FILES))
    again = pickle.loads(pickle.dumps(companions))  # noqa: S301 - our own bytes
    assert again.names() == companions.names()
    assert again.read("fig1.png") == b"one"


@every_place
def test_a_source_is_the_same_whatever_lies_beside_it(tmp_path: Path, make: Make) -> None:
    with_pictures, without = tmp_path / "one", tmp_path / "two"
    with_pictures.mkdir()
    without.mkdir()

    def source(place: Path, files: Mapping[str, bytes]) -> object:
        items = read_sources([make(place, files)], SourceLimits())
        return next(item for item in items if getattr(item, "uri", "").endswith("a.xml"))

    assert source(with_pictures, FILES) == source(without, {"pack/a.xml": b"<a/>"})


def test_i5_a_link_beside_a_source_is_not_followed(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "out", {"secret.png": b"secret"})
    path = folder(tmp_path, {"a.xml": b"<a/>"})
    (path / "link.png").symlink_to(outside / "secret.png")
    (path / "figures").symlink_to(outside)
    companions = beside(path)
    assert companions.names() == ()
    assert companions.read("link.png") is None
    assert companions.read("figures/secret.png") is None


def test_i5_a_link_or_an_unsafe_member_of_an_archive_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "in.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, data in {"a.xml": b"<a/>", "../up.png": b"up", "/abs.png": b"abs"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("link.png")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    companions = beside(path)
    assert companions.names() == ()
    assert companions.read("link.png") is None


def test_i5_what_lies_behind_the_archive_limit_is_not_read(tmp_path: Path) -> None:
    path = tarred(tmp_path, {"a.xml": b"<a/>", "near.png": b"x", "far.png": b"x" * 50_000})
    limits = SourceLimits(max_archive_bytes=20_000)
    companions = beside(path, limits)
    assert companions.read("near.png") == b"x"
    assert companions.read("far.png") is None


def test_archives_may_be_asked_in_turns(tmp_path: Path) -> None:
    one = beside(zipped(tmp_path, {"a.xml": b"<a/>", "x.png": b"zip"}))
    two = beside(tarred(tmp_path, {"a.xml": b"<a/>", "x.png": b"tar"}))
    assert [each.read("x.png") for each in (one, two, one, two)] == [b"zip", b"tar"] * 2


@pytest.mark.parametrize("make", [zipped, tarred])
def test_an_archive_that_is_gone_or_damaged_has_nothing_beside(tmp_path: Path, make: Make) -> None:
    path = make(tmp_path, FILES)
    companions = beside(path)
    path.write_bytes(b"no archive")
    assert companions.names() == ()
    path.unlink()
    assert companions.read("fig1.png") is None


def test_a_file_written_later_is_found(tmp_path: Path) -> None:
    path = folder(tmp_path, {"a.xml": b"<a/>"})
    companions = beside(path)
    assert companions.names() == ()
    (path / "late.png").write_bytes(b"late")
    os.utime(path, ns=(1, 1))  # whatever the clock's grain is, the folder has another time
    assert companions.names() == ("late.png",)


def test_a_heap_of_files_is_not_listed_and_can_still_be_asked(tmp_path: Path) -> None:
    path = folder(tmp_path, {"a.xml": b"<a/>", "fig1.png": b"one"})
    for number in range(10_001):
        (path / f"{number}.txt").touch()
    companions = beside(path / "a.xml")
    assert companions.names() == ()
    assert companions.read("fig1.png") == b"one"


def test_a_packed_file_has_the_same_beside_it(tmp_path: Path) -> None:
    import gzip

    path = folder(tmp_path, {"a.xml.gz": gzip.compress(b"<a/>"), "fig1.png": b"one"})
    assert beside(path).names() == ("fig1.png",)
