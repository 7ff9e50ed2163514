"""Which files beside a source are pictures of its figures."""

from collections.abc import Mapping

import pytest

from eagle_rag.kernel.pictures import PictureLimits, extract_pictures
from eagle_rag.model.document import Figure, ParsedDocument, Source, Span, Table
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import VisualAsset

PNG = b"\x89PNG\r\n\x1a\n" + b"1"
JPEG = b"\xff\xd8\xff" + b"2"
TEXT = "Figure 1 A curve."


class Beside:
    """Files in memory; ``listed=False`` is a heap that is not listed."""

    def __init__(self, files: Mapping[str, bytes], *, listed: bool = True) -> None:
        self.files, self.listed = files, listed
        self.asked: list[str] = []

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.files)) if self.listed else ()

    def read(self, name: str) -> bytes | None:
        self.asked.append(name)
        return self.files.get(name)


def document(
    *figures: tuple[str, tuple[str, ...]], tables: tuple[Table, ...] = ()
) -> ParsedDocument:
    """Return a document with figures by key and files."""
    return ParsedDocument(
        "a.xml", "", "0" * 64, "jats", DocumentMetadata(), TEXT,
        figures=tuple(Figure(key, "", Span(0, len(TEXT)), names) for key, names in figures),
        tables=tables,
    )  # fmt: skip


def extract(
    made: ParsedDocument, beside: Beside | None, limits: PictureLimits | None = None
) -> tuple[VisualAsset, ...]:
    """Return the pictures of a document with these files beside it."""
    source = Source("dir/paper.xml", b"<a/>", "d", companions=beside)
    return extract_pictures(made, source, limits or PictureLimits())


@pytest.mark.parametrize(
    ("graphic", "name"),
    [
        ("fig1.png", "fig1.png"),
        ("fig1.tif", "fig1.png"),
        ("fig1", "fig1.jpg"),
        ("fig1.tif", "fig1"),
        ("pone.0012.g001", "pone.0012.g001.png"),
        ("pone.0012.g001.tif", "pone.0012.g001.PNG"),
        ("FIG1.TIF", "fig1.png"),
        ("figures/fig1.png", "figures/fig1.png"),
        ("figures/fig1.png", "fig1.png"),
        ("fig1.png", "figures/fig1.png"),
        ("fig1.tif", "Images/fig1.jpeg"),
        ("fig1.png", "paper/fig1.png"),
    ],
)
def test_a_file_is_found_by_name_stem_and_folder(graphic: str, name: str) -> None:
    found = extract(document(("f1", (graphic,))), Beside({name: PNG}))
    assert found == (VisualAsset("f1", "image/png", PNG, TEXT),)


@pytest.mark.parametrize(
    ("graphic", "name"),
    [
        ("fig1.png", "fig11.png"),
        ("fig1.png", "otherpaper/fig1.png"),
        ("https://example.org/fig1.png", "fig1.png"),
        ("data:image/png;base64,xyz", "xyz"),
        ("fig1.svg", "fig1.txt"),
        ("", "fig1.png"),
    ],
)
def test_what_is_not_that_figures_file_is_not_taken(graphic: str, name: str) -> None:
    assert extract(document(("f1", (graphic,))), Beside({name: PNG})) == ()


def test_no_companions_no_pictures() -> None:
    assert extract(document(("f1", ("fig1.png",))), None) == ()


def test_the_first_bytes_decide_and_not_the_ending() -> None:
    files = {"fig1.png": b"<html>not found</html>", "fig1.jpg": JPEG}
    (found,) = extract(document(("f1", ("fig1.png",))), Beside(files))
    assert (found.media_type, found.data) == ("image/jpeg", JPEG)


def test_forms_of_one_picture_are_one_and_panels_are_numbered() -> None:
    files = {"a.tif": b"II*\0", "a.jpg": JPEG, "b.png": PNG}
    made = document(("f1", ("a.tif", "a.jpg", "b.png")))
    assert [(each.key, each.media_type) for each in extract(made, Beside(files))] == [
        ("f1", "image/tiff"),
        ("f1#2", "image/png"),
    ]


def test_a_file_that_two_figures_name_is_taken_once() -> None:
    made = document(("f1", ("a.png",)), ("f2", ("a.png",)))
    assert [each.key for each in extract(made, Beside({"a.png": PNG}))] == ["f1"]


def test_tables_that_are_pictures_are_taken() -> None:
    table = Table("t1", "", None, (), (), (), no_cells=True, graphics=("t.gif",))
    found = extract(document(tables=(table,)), Beside({"t.gif": b"GIF89a"}))
    assert found == (VisualAsset("t1", "image/gif", b"GIF89a", ""),)


@pytest.mark.parametrize("graphic", ["fig1.tif", "fig1"])
def test_a_heap_that_is_not_listed_is_asked_by_name(graphic: str) -> None:
    beside = Beside({"fig1.jpg": JPEG}, listed=False)
    assert [each.key for each in extract(document(("f1", (graphic,))), beside)] == ["f1"]


def test_reading_stops_one_picture_beyond_the_limits() -> None:
    files = {f"{number}.png": PNG for number in range(9)}
    made = document(*((f"f{number}", (f"{number}.png",)) for number in range(9)))
    beside = Beside(files)
    assert len(extract(made, beside, PictureLimits(count=2))) == 3
    assert len(beside.asked) == 3
    assert len(extract(made, Beside(files), PictureLimits(total_bytes=2 * len(PNG)))) == 3


def test_i5_files_that_are_no_pictures_end_the_search_by_their_size() -> None:
    files = {f"{number}.png": b"x" * 100 for number in range(50)}
    made = document(*((f"f{number}", (f"{number}.png",)) for number in range(50)))
    beside = Beside(files)
    assert extract(made, beside, PictureLimits(total_bytes=1000)) == ()
    assert len(beside.asked) == 11
