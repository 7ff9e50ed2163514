"""Files, folders and archives to sources: names, order, limits, damage."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eagle_rag.adapters.sources import SourceLimits, read_sources
from eagle_rag.model.document import Refusal, Source
from eagle_rag.testing.articles import write_files

LIMITS = SourceLimits()


def read(*paths: Path, limits: SourceLimits = LIMITS) -> list[Source | Refusal]:
    """Return everything below the paths."""
    return list(read_sources(paths, limits))


def names(items: list[Source | Refusal]) -> list[str]:
    """Return each source's name, and each refusal's with its reason."""
    return [
        item.uri if isinstance(item, Source) else f"{item.source_uri} ({item.reason})"
        for item in items
    ]


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def tarred(path: Path, files: dict[str, bytes]) -> Path:
    """Write a tar archive, compressed as its name says."""
    mode = {".xz": "w:xz", ".gz": "w:gz", ".bz2": "w:bz2"}.get(path.suffix, "w")
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # the mode is computed
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def test_a_source_carries_its_bytes_and_their_digest(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.xml": b"<a/>"})
    [source] = read(tmp_path / "a.xml")
    assert isinstance(source, Source)
    assert (source.uri, source.data) == ("a.xml", b"<a/>")
    assert source.digest == hashlib.sha256(b"<a/>").hexdigest()


def test_a_folder_is_read_in_sorted_order_without_hidden_files(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "in",
        {"b.xml": "b", "a/c.xml": "c", ".git/x": "x", ".hidden": "h", "a.xml": "a"},
    )
    assert names(read(folder)) == ["in/a/c.xml", "in/a.xml", "in/b.xml"]


@pytest.mark.parametrize(
    ("given", "named"),
    [("papers", "papers/a.xml"), ("./papers/", "papers/a.xml"), (".", "papers/a.xml"),
     ("papers/a.xml", "papers/a.xml"), ("papers/../papers", "papers/a.xml")],
)  # fmt: skip
def test_a_file_is_named_as_the_user_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, named: str
) -> None:
    write_files(tmp_path, {"papers/a.xml": "a"})
    monkeypatch.chdir(tmp_path)
    assert names(read(Path(given))) == [named]


def test_a_path_that_leads_upwards_is_named_by_its_last_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"papers/a.xml": "a", "here/b.xml": "b"})
    monkeypatch.chdir(tmp_path / "here")
    assert names(read(Path("../papers"))) == ["papers/a.xml"]
    assert names(read(Path("..")))[0].startswith(f"{tmp_path.name}/")


def test_the_second_of_two_files_of_one_name_is_refused(tmp_path: Path) -> None:
    one = write_files(tmp_path / "1", {"notes.txt": "one"}) / "notes.txt"
    two = write_files(tmp_path / "2", {"notes.txt": "two"}) / "notes.txt"
    assert names(read(one, two)) == ["notes.txt", "notes.txt (name-taken)"]


def test_one_file_named_twice_is_read_twice_and_not_refused(tmp_path: Path) -> None:
    path = write_files(tmp_path, {"notes.txt": "one"}) / "notes.txt"
    assert names(read(path, path)) == ["notes.txt", "notes.txt"]


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_a_compressed_file_is_read_unpacked_and_loses_the_ending(
    tmp_path: Path, suffix: str, opener: Callable[[bytes], bytes]
) -> None:
    write_files(tmp_path, {f"a.xml{suffix}": opener(b"<a/>")})
    [source] = read(tmp_path / f"a.xml{suffix}")
    assert isinstance(source, Source)
    assert (source.uri, source.data) == ("a.xml", b"<a/>")


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.tar.xz", "a.tar.bz2", "a.zip"])
def test_archive_members_are_named_after_the_archive(tmp_path: Path, name: str) -> None:
    files = {"x/1.xml": b"1", "._1.xml": b"mac", "__MACOSX/1.xml": b"mac", "2.xml": b"2"}
    path = tmp_path / name
    written = zipped(path, files) if name.endswith("zip") else tarred(path, files)
    assert written == path
    assert names(read(path)) == [f"{name}!/x/1.xml", f"{name}!/2.xml"]


def test_an_archive_in_a_folder_is_opened(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    zipped(tmp_path / "in" / "a.zip", {"1.xml": b"1"})
    assert names(read(tmp_path / "in")) == ["in/a.zip!/1.xml"]


def test_i5_a_link_out_of_the_folder_is_refused_and_one_inside_is_read(tmp_path: Path) -> None:
    outside = write_files(tmp_path / "outside", {"secret.txt": "secret"})
    folder = write_files(tmp_path / "in", {"a.txt": "a"})
    (folder / "b.txt").symlink_to(folder / "a.txt")
    (folder / "c.txt").symlink_to(outside / "secret.txt")
    (folder / "d").symlink_to(outside)
    assert names(read(folder)) == ["in/a.txt", "in/b.txt", "in/c.txt (link)"]


def test_i5_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    write_files(tmp_path / "in", {"a.txt": b"x" * 11, "b.txt": b"x" * 10})
    found = read(tmp_path / "in", limits=SourceLimits(max_file_bytes=10))
    assert names(found) == ["in/a.txt (too-large)", "in/b.txt"]


@pytest.mark.parametrize("suffix", [".gz", ".tar.gz", ".zip"])
def test_i5_a_bomb_is_not_unpacked_beyond_the_limit(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb.txt{suffix}"
    zeros = b"0" * (32 << 20)
    if suffix == ".gz":
        path.write_bytes(gzip.compress(zeros))
    else:
        (zipped if suffix == ".zip" else tarred)(path, {"0.txt": zeros})
    [refusal] = read(path, limits=SourceLimits(max_file_bytes=1 << 20))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == "too-large"


def test_i5_an_archive_stops_at_its_limit_of_bytes(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {f"{n}.txt": b"x" * 10 for n in range(5)})
    found = read(path, limits=SourceLimits(max_file_bytes=10, max_archive_bytes=25))
    assert names(found) == [
        "a.zip!/0.txt", "a.zip!/1.txt", "a.zip!/2.txt (too-large)",
        "a.zip!/3.txt (archive-too-large)",
    ]  # fmt: skip


def test_i5_an_archive_stops_at_its_limit_of_members(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar", {f"{n}.txt": b"x" for n in range(5)})
    found = read(path, limits=SourceLimits(max_members=2))
    assert names(found) == ["a.tar!/0.txt", "a.tar!/1.txt", "a.tar!/2.txt (archive-too-large)"]


def test_i5_a_tar_member_that_says_it_is_larger_than_the_archive_may_be_ends_it(
    tmp_path: Path,
) -> None:
    path = tarred(tmp_path / "a.tar.gz", {"0.txt": b"0" * (8 << 20), "1.txt": b"1"})
    found = read(path, limits=SourceLimits(max_archive_bytes=1 << 20))
    assert names(found) == ["a.tar.gz!/0.txt (archive-too-large)"]


@pytest.mark.parametrize("name", ["", ".", "/", "//x", "a/../../b", "C:/x"])
def test_i5_a_member_without_a_place_in_the_archive_is_refused(tmp_path: Path, name: str) -> None:
    found = read(tarred(tmp_path / "a.tar", {name: b"x", "good.txt": b"good"}))
    assert names(found)[-1] == "a.tar!/good.txt"
    assert all(isinstance(item, Refusal) for item in found[:-1])


def test_an_encrypted_zip_member_is_refused_by_name(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": b"secret", "b.txt": b"open"})
    data = bytearray(path.read_bytes())
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    path.write_bytes(data)
    assert names(read(path)) == ["a.zip!/a.txt (encrypted)", "a.zip!/b.txt"]


def test_g6_a_damaged_zip_member_is_refused_and_the_rest_is_read(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a.txt": os.urandom(100), "b.txt": b"whole"})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    assert names(read(path)) == ["a.zip!/a.txt (unreadable-file)", "a.zip!/b.txt"]


@pytest.mark.parametrize(
    "suffix", [".zip", ".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".gz", ".xz"]
)
@pytest.mark.parametrize("seed", range(4))
def test_g6_damage_anywhere_gives_refusals_and_never_an_exception(
    tmp_path: Path, suffix: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    path = tmp_path / f"a{suffix}"
    files = {f"{n}.xml": rng.bytes(400) for n in range(4)}
    if suffix in {".gz", ".xz"}:
        data = files["0.xml"]
        path.write_bytes(gzip.compress(data) if suffix == ".gz" else lzma.compress(data))
    else:
        (zipped if suffix == ".zip" else tarred)(path, files)
    whole = path.read_bytes()
    for _ in range(40):
        damaged = bytearray(whole)
        for position in rng.integers(0, len(damaged), size=rng.integers(1, 9)):
            damaged[position] = rng.integers(0, 256)
        path.write_bytes(damaged[: rng.integers(1, len(damaged) + 1)])
        assert all(isinstance(item, Source | Refusal) for item in read(path))


@pytest.mark.parametrize("path", ["absent.xml", "x" * 5_000, "a\0b"])
def test_a_path_that_cannot_be_there_is_refused(tmp_path: Path, path: str) -> None:
    [refusal] = read(tmp_path / path)
    assert isinstance(refusal, Refusal)
    assert refusal.reason in {"absent", "unreadable-file"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:2048] + b"\xff" * 512 + data[2560:],
        lambda data: data[:2048] + bytes(512) + data[2560:],
        lambda data: data[:2048],
        lambda data: data[: 2048 + 100],
        lambda data: data[: 2048 + 512 + 1],
    ],
    ids=["0xff", "zeros", "between members", "in a header", "in a member"],
)
@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_g6_members_lost_to_a_damaged_header_are_told_and_those_before_are_kept(
    tmp_path: Path, damage: Callable[[bytes], bytes], suffix: str
) -> None:
    whole = tarred(tmp_path / "w.tar", {f"{n}.txt": b"x" * 9 for n in range(4)}).read_bytes()
    data = damage(whole)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(data) if suffix == ".tar.gz" else data)
    found = read(path)
    assert names(found) == [
        f"a{suffix}!/0.txt", f"a{suffix}!/1.txt", f"a{suffix} (damaged-archive)"
    ]  # fmt: skip
    assert isinstance(found[-1], Refusal)
    assert "damaged after member 1.txt: what follows was not read" in found[-1].message


def test_an_archive_that_is_used_up_exactly_refuses_the_next_member(tmp_path: Path) -> None:
    path = tarred(tmp_path / "a.tar", {f"{n}.txt": b"x" * 10 for n in range(3)})
    found = read(path, limits=SourceLimits(max_archive_bytes=20))
    assert names(found)[-1] == "a.tar!/2.txt (archive-too-large)"


def test_an_empty_tar_gives_nothing(tmp_path: Path) -> None:
    assert read(tarred(tmp_path / "a.tar", {})) == []


def test_a_compressed_file_beside_the_plain_one_is_refused(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "in", {"a.txt": b"one", "a.txt.gz": gzip.compress(b"two")})
    assert names(read(folder)) == ["in/a.txt", "in/a.txt (name-taken)"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_the_second_of_two_members_of_one_name_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", b"one")
            archive.writestr("a.txt", b"two")
    else:
        one = tarred(tmp_path / "1.tar", {"a.txt": b"one"}).read_bytes()[:1024]
        path.write_bytes(one + tarred(tmp_path / "2.tar", {"a.txt": b"two"}).read_bytes())
    assert names(read(path)) == [f"a{suffix}!/a.txt", f"a{suffix}!/a.txt (name-taken)"]


def test_a_folder_deeper_than_the_stack_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    deep = "in" + "/d" * 1_500
    Path("in").mkdir()
    for end in range(2, len(deep) + 1, 2):
        Path(deep[:end]).mkdir(exist_ok=True)
    Path(deep, "a.txt").write_text("a")
    found = names(read(Path("in")))
    Path(deep, "a.txt").unlink()
    os.removedirs(deep)  # too deep for what clears the temporary folder
    assert found == [f"{deep}/a.txt"]


def test_a_folder_whose_path_is_too_long_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "in", {"a.txt": "a"})
    monkeypatch.chdir(folder)
    for _ in range(20):
        os.mkdir("d" * 250)  # noqa: PTH102 - one step at a time: the whole path is too long to name
        monkeypatch.chdir("d" * 250)
    monkeypatch.chdir(tmp_path)
    found = names(read(Path("in")))
    assert found[0] == "in/a.txt"
    assert found[1].startswith("in/ddd")
    assert found[1].endswith("(unreadable-folder)")


def test_what_is_no_file_is_refused_by_name_and_never_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path / "in", {"a.txt": "a"})
    os.mkfifo("in/f.txt")
    Path("in/l.txt").symlink_to("gone.txt")
    Path("in/o.txt").symlink_to("o.txt")
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("in/s.txt")
    special = [f"in/{name}.txt (not-a-file)" for name in "flos"]
    assert names(read(Path("in"))) == ["in/a.txt", *special]
    assert [names(read(Path(f"in/{name}.txt"))) for name in "flos"] == [[text] for text in special]
    assert names(read(Path("/dev/null"))) == ["null (not-a-file)"]


@pytest.mark.parametrize("data", [gzip.compress(b"x" * 11), b"no gzip"], ids=["cut", "none"])
def test_a_refused_compressed_file_has_the_name_the_user_gave(tmp_path: Path, data: bytes) -> None:
    write_files(tmp_path, {"a.txt.gz": data})
    [refusal] = read(tmp_path / "a.txt.gz", limits=SourceLimits(max_file_bytes=10))
    assert isinstance(refusal, Refusal)
    assert refusal.source_uri == "a.txt.gz"
    assert refusal.remedy


def test_every_refusal_of_a_zip_has_a_remedy(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"../a.txt": b"a", "b.txt": os.urandom(100)})
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("l.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "b.txt")
    refusals = [item for item in read(path) if isinstance(item, Refusal)]
    assert [item.reason for item in refusals] == ["unsafe-path", "link"]
    assert all(item.remedy for item in refusals)
