import hashlib
import json
from dataclasses import dataclass, field
from io import BytesIO

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.images_signs import accepts_picture
from eagle_biomed.formats.raster import parse, pictures
from eagle_biomed.formats.raster_png import MAX_PIXELS
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, Source


@dataclass(frozen=True)
class Beside:
    """Files beside a picture, in memory."""

    files: dict[str, bytes] = field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


TOOLS = FormatTools(_no_xml)


def encoded(image: Image.Image | None = None, kind: str = "PNG", **options: object) -> bytes:
    stream = BytesIO()
    plain = image or Image.linear_gradient("L").resize((40, 30))
    plain.save(stream, kind, **options)
    return stream.getvalue()


def source_of(
    data: bytes | None = None,
    name: str = "chest_film-2.png",
    beside: dict[str, bytes] | None = None,
) -> Source:
    raw = encoded() if data is None else data
    return Source(name, raw, hashlib.sha256(raw).hexdigest(), companions=Beside(beside or {}))


def read(source: Source) -> ParsedDocument:
    return parse(source, TOOLS).documents[0]


def caption_of(document: ParsedDocument) -> str:
    span = document.figures[0].caption
    assert span is not None
    return document.text[span.start : span.end]


def picture_of(source: Source) -> Image.Image:
    (asset,) = pictures(read(source), source)
    assert asset.media_type == "image/png"
    return Image.open(BytesIO(asset.data))


def refusal(source: Source) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        parse(source, TOOLS)
    return caught.value


def test_a_picture_nobody_describes_has_its_name_as_words() -> None:
    document = read(source_of())

    assert document.text == "Chest film 2"
    assert dict(document.metadata.properties) == {
        "file_format": "PNG",
        "height_px": "30",
        "width_px": "40",
    }


@pytest.mark.parametrize("name", ["film.caption.txt", "film.txt", "film.md", "film.png.txt"])
def test_a_text_beside_a_picture_is_its_caption(name: str) -> None:
    source = source_of(name="film.png", beside={name: b"Left lower\nlobe pneumonia."})

    document = read(source)

    assert caption_of(document) == "Left lower lobe pneumonia."
    assert pictures(document, source)[0].caption == "Left lower lobe pneumonia."
    assert document.metadata.title == "Film"


def test_a_json_beside_a_picture_gives_title_caption_and_modality() -> None:
    told = json.dumps({"Title": "Case 4", "caption": "Nodule.", "modality": "CT", "patient": "ZZ"})
    document = read(source_of(name="x.png", beside={"x.json": told.encode()}))

    assert document.metadata.title == "Case 4"
    assert caption_of(document) == "CT. Nodule."
    assert ("modality", "CT") in document.metadata.properties
    assert "ZZ" not in document.text


@pytest.mark.parametrize(
    "broken", [b"[" * 100_000, b"{", b"[1]", b'{"caption": 4}', b"\xff\xfe\0"]
)
def test_a_broken_json_beside_a_picture_says_nothing(broken: bytes) -> None:
    assert read(source_of(name="x.png", beside={"x.json": broken})).text == "X"


def test_a_description_inside_a_png_is_read() -> None:
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Title", "A retina")
    texts.add_text("Description", "Fundus photograph with haemorrhages.")

    document = read(source_of(encoded(pnginfo=texts)))

    assert document.metadata.title == "A retina"
    assert caption_of(document) == "Fundus photograph with haemorrhages."


def test_a_description_inside_a_tiff_and_in_exif_is_read() -> None:
    exif = Image.Exif()
    exif[270] = "Skin lesion."

    assert caption_of(read(source_of(encoded(kind="JPEG", exif=exif), "a.jpg"))) == "Skin lesion."
    tiff = encoded(kind="TIFF", description="Histology.")
    assert caption_of(read(source_of(tiff, "a.tif"))) == "Histology."


def test_o3_owner_place_and_serial_number_are_never_kept() -> None:
    exif = Image.Exif()
    exif[0x013B] = "ZZARTIST"
    exif[0x8298] = "ZZCOPYRIGHT"
    exif[0xA431] = "ZZSERIAL"
    exif.get_ifd(0x8825)[29] = "1945:06:12"
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", "ZZAUTHOR")
    for source in (
        source_of(encoded(kind="JPEG", exif=exif), "a.jpg"),
        source_of(encoded(exif=exif, pnginfo=texts)),
    ):
        document = read(source)
        (asset,) = pictures(document, source)
        assert "ZZ" not in repr((document, document.text))
        assert b"ZZ" not in asset.data
        kept = Image.open(BytesIO(asset.data))
        assert kept.info == {}
        assert not kept.getexif()


_JATS = (
    b'<?xml version="1.0"?><article xmlns:xlink="http://www.w3.org/1999/xlink"><fig><graphic '
    b'mime-subtype="tiff" xlink:href="paper-fig1.tif"/></fig></article>'
)


@pytest.mark.parametrize(
    ("name", "paper"),
    [
        ("paper.xml", _JATS),
        ("paper.nxml", _JATS.replace(b".tif", b"")),
        ("paper.html", b"<html><img class='a' src='./paper-fig1.png'></html>"),
        ("paper.md", b"# Title\n\n![a curve](paper-fig1.jpg)\n"),
    ],
)
def test_a_figure_of_a_paper_beside_it_belongs_to_the_paper(name: str, paper: bytes) -> None:
    error = refusal(source_of(name="paper-fig1.png", beside={name: paper}))

    assert error.reason == "part-of-document"
    assert name in str(error)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("paper.xml", _JATS.replace(b"fig1", b"fig2")),
        ("manifest.xml", b'<dar><graphic href="paper-fig1.png"/></dar>'),
        ("paper.md", b"see ![x](other/paper-fig1.png) and paper-fig1.png"),
    ],
)
def test_a_picture_that_no_paper_shows_stands_alone(name: str, other: bytes) -> None:
    assert read(source_of(name="paper-fig1.png", beside={name: other})).text == "Paper fig1"


def test_a_large_picture_is_kept_small() -> None:
    kept = picture_of(source_of(encoded(Image.new("RGB", (3000, 1500), "red"))))

    assert kept.size == (1024, 512)
    assert kept.mode == "RGB"


def test_a_deep_tiff_is_windowed() -> None:
    deep = np.linspace(1000, 3000, 64 * 64).reshape(64, 64).astype(np.uint16)

    kept = np.asarray(picture_of(source_of(encoded(Image.fromarray(deep), "TIFF"), "x.tif")))

    assert kept.dtype == np.uint8
    assert kept.min() == 0
    assert kept.max() == 255


def test_a_transparent_ground_becomes_white() -> None:
    kept = picture_of(source_of(encoded(Image.new("RGBA", (8, 8), (0, 0, 0, 0)))))

    assert kept.getpixel((0, 0)) == (255, 255, 255)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "GIF", "BMP", "WEBP"])
def test_every_kind_is_told_by_its_bytes_and_shown(kind: str) -> None:
    source = source_of(encoded(Image.new("RGB", (9, 7), "red"), kind), "no-ending")

    assert accepts_picture(source)
    assert picture_of(source).size == (9, 7)


def test_of_an_animation_the_first_frame_is_kept_with_a_warning() -> None:
    frames = [Image.new("L", (9, 7), grey) for grey in (10, 90, 200)]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])

    assert read(source_of(data, "a.gif")).warnings == ("only the first of several frames is kept",)


def test_a_declared_giant_is_refused_before_decoding() -> None:
    data = bytearray(encoded())
    side = int(MAX_PIXELS**0.5) + 1
    header = b"IHDR" + side.to_bytes(4) + side.to_bytes(4) + bytes(data[24:29])
    data[12:29] = header
    import zlib

    data[29:33] = zlib.crc32(header).to_bytes(4)

    assert refusal(source_of(bytes(data))).reason == "too-many-pixels"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"not a picture", "not-a-picture"),
        (encoded()[:60], "damaged-picture"),
        (encoded(kind="TIFF", compression="tiff_lzw")[:150], "not-a-picture"),
    ],
)
def test_damage_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    assert refusal(source_of(data)).reason in {reason, "damaged-picture"}


def test_a_damaged_tiff_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)
    data = bytearray(encoded(Image.fromarray(noise), "TIFF", compression="tiff_lzw"))
    data[200:260] = b"\xff" * 60

    error = refusal(source_of(bytes(data), "x.tif"))

    assert error.reason in {"damaged-picture", "not-a-picture"}
    assert capfd.readouterr().err == ""


def test_markup_under_a_pictures_name_is_left_to_the_core() -> None:
    assert not accepts_picture(source_of(b"<html>404</html>", "fig.png"))
    assert accepts_picture(source_of(b"\x00\x01", "fig.png"))
    assert not accepts_picture(source_of(b"plain text", "notes.txt"))
