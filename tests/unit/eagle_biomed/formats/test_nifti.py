import gzip
import hashlib
import os
from io import BytesIO
from pathlib import Path

import nibabel as nib
import numpy as np
import pytest
from PIL import Image

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.images_signs import accepts_nifti
from eagle_biomed.formats.nifti import parse, pictures
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, Source

Voxels = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


def _no_xml(source: Source) -> None:
    raise AssertionError(source.uri)


TOOLS = FormatTools(_no_xml)


def source_of(
    voxels: Voxels, affine: Voxels | None = None, name: str = "scan.nii", version: int = 1
) -> Source:
    make = nib.Nifti1Image if version == 1 else nib.Nifti2Image
    image = make(voxels, np.eye(4) if affine is None else affine)  # type: ignore[no-untyped-call]  # nibabel leaves it so
    image.header["descrip"] = b"ZZPATIENT"
    if version == 1:
        image.header["db_name"] = b"ZZDATABASE"
    data = image.to_bytes()
    return Source(name, data, hashlib.sha256(data).hexdigest())


def read(source: Source) -> ParsedDocument:
    return parse(source, TOOLS).documents[0]


def slices(source: Source) -> dict[str, Voxels]:
    found = pictures(read(source), source)
    return {asset.key: np.asarray(Image.open(BytesIO(asset.data))) for asset in found}


def ramp(*shape: int) -> Voxels:
    return np.arange(np.prod(shape), dtype=np.int16).reshape(shape, order="F")


def test_a_volume_gives_its_header_and_three_slices() -> None:
    source = source_of(ramp(8, 10, 12), np.diag([2.0, 2.0, 3.5, 1.0]))

    document = read(source)

    assert dict(document.metadata.properties) == {
        "data_type": "int16",
        "dimensions": "8 x 10 x 12",
        "file_format": "NIfTI-1",
        "orientation": "RAS",
        "voxel_size_mm": "2 x 2 x 3.5",
    }
    assert [figure.key for figure in document.figures] == [
        "slice-axial",
        "slice-coronal",
        "slice-sagittal",
    ]
    assert set(slices(source)) == {figure.key for figure in document.figures}
    for figure in document.figures:
        assert figure.caption is not None
        caption = document.text[figure.caption.start : figure.caption.end]
        assert figure.key.removeprefix("slice-") in caption.lower()


def test_o3_free_text_of_the_header_is_never_shown() -> None:
    source = source_of(ramp(8, 8, 8))
    assert b"ZZPATIENT" in source.data

    document = read(source)

    assert "ZZ" not in repr((document, document.text, pictures(document, source)))


def test_the_front_is_up_and_the_patients_right_at_the_left() -> None:
    voxels = np.zeros((8, 8, 8), dtype=np.int16)
    voxels[7, 7, :] = 100  # right and anterior in RAS+

    axial = slices(source_of(voxels))["slice-axial"]

    assert axial[0, 0] == 255
    assert axial[-1, -1] == 0


def test_the_direction_of_the_affine_is_followed() -> None:
    voxels = np.zeros((8, 8, 8), dtype=np.int16)
    voxels[7, 7, :] = 100
    flipped = np.diag([-1.0, -1.0, 1.0, 1.0])  # the first axis grows to the left, the second back

    axial = slices(source_of(voxels, flipped))["slice-axial"]

    assert axial[-1, -1] == 255
    assert axial[0, 0] == 0


def test_thick_slices_are_stretched_to_square_pixels() -> None:
    coronal = slices(source_of(ramp(10, 10, 5), np.diag([1.0, 1.0, 4.0, 1.0])))["slice-coronal"]

    assert coronal.shape == (20, 10)


@pytest.mark.parametrize("dtype", [">i2", "<f4", "<c8", "u1"])
def test_byte_orders_floats_and_complex_numbers_are_shown(dtype: str) -> None:
    assert len(slices(source_of(ramp(6, 6, 6).astype(dtype)))) == 3


def test_rgb_voxels_keep_their_colour() -> None:
    voxels = np.zeros((6, 6, 6), dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
    voxels["G"][3:] = 200

    assert slices(source_of(voxels))["slice-axial"].shape[-1] == 3


def test_the_first_volume_of_a_series_is_shown() -> None:
    voxels = np.zeros((6, 6, 6, 3), dtype=np.int16)
    voxels[..., 0] = ramp(6, 6, 6)

    assert len(slices(source_of(voxels, version=2))) == 3


def test_a_flat_image_has_one_slice() -> None:
    assert set(slices(source_of(ramp(9, 7)))) == {"slice-axial"}


def test_not_a_number_does_not_hide_the_rest() -> None:
    voxels = ramp(6, 6, 6).astype(np.float32)
    voxels[0, 0, :] = np.nan
    voxels[1, 1, :] = np.inf

    assert slices(source_of(voxels))["slice-axial"].max() == 255


def test_known_words_of_the_name_tell_the_kind_and_others_are_left_out() -> None:
    document = read(source_of(ramp(6, 6, 6), name="sub-ZZ_T1w.nii"))

    assert document.metadata.title == "Image volume (NIfTI): T1-weighted MRI"
    assert "ZZ" not in document.text


def test_a_packed_member_of_an_archive_is_unpacked() -> None:
    plain = source_of(ramp(6, 6, 6))
    source = Source("a.zip!/scan.nii.gz", gzip.compress(plain.data), "d")

    assert accepts_nifti(source)
    assert read(source).text == read(plain).text


def test_missing_voxels_give_a_document_without_pictures() -> None:
    whole = source_of(ramp(16, 16, 16))

    document = read(Source("cut.nii", whole.data[:400], "d"))

    assert document.figures == ()
    assert document.warnings == ("no slice can be shown: the pixels are missing or all equal",)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no header at all", "not-nifti"),
        (b"", "not-nifti"),
        (b"\x1f\x8b damaged", "not-nifti"),
        (gzip.compress(b"\0" * (257 << 20), 1), "too-large"),
    ],
)
def test_what_is_no_volume_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read(Source("scan.nii.gz", data, "d"))
    assert caught.value.reason == reason


def test_a_matrix_without_space_is_refused() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read(source_of(ramp(1, 1, 1, 1, 10, 10), version=2))
    assert caught.value.reason == "not-a-volume"


def test_the_header_of_a_pair_is_refused() -> None:
    data = bytearray(source_of(ramp(6, 6, 6)).data)
    data[344:348] = b"ni1\0"

    with pytest.raises(UnreadableDocument) as caught:
        read(Source("scan.hdr", bytes(data), "d"))
    assert caught.value.reason == "nifti-pair"


def test_a_declared_giant_is_not_allocated() -> None:
    data = bytearray(source_of(ramp(6, 6, 6)).data)
    data[40:48] = np.array([3, 32767, 32767, 32767], dtype="<i2").tobytes()

    assert read(Source("giant.nii", bytes(data), "d")).figures == ()


def test_every_real_volume_is_a_document_or_refused_with_a_reason() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data sets")
    found = []
    for path in sorted(Path(folder, "images_dicom_nifti", "nipy+nibabel").rglob("*.nii*")):
        source = Source(path.name, path.read_bytes(), "d")
        assert accepts_nifti(source)
        try:
            found.append(str(len(slices(source))))
        except UnreadableDocument as error:
            found.append(f"{path.name} {error.reason}")
    assert sorted(found) == ["3"] * 7 + ["row_major.dconn.nii not-a-volume"]
