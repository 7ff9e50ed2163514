"""What every visual encoder must do: inherit from ``VisualEncoderContract`` in your own tests.

Example::

    class TestMyEncoder(VisualEncoderContract):
        def make_encoder(self) -> VisualEncoder:
            return MyEncoder()
"""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from eagle_rag.errors import InvalidInput
from eagle_rag.ports.encoders import VisualEncoder

__all__ = ["VisualEncoderContract", "sample_picture"]

_SAME = 1e-5  # two encodings of one picture may differ by rounding, not by more
_SIZES = ((40, 56), (32, 32), (90, 31), (20, 24), (64, 48))


class VisualEncoderContract:
    """Contract tests of ``VisualEncoder``; a subclass says how to make one.

    Attributes:
        decodes: ``False`` for an encoder that takes bytes as they are.
    """

    decodes = True

    def make_encoder(self) -> VisualEncoder:
        """Return a fresh encoder."""
        raise NotImplementedError

    def test_card_and_spec_agree(self) -> None:
        """The registry trusts the card before the weights are loaded."""
        encoder = self.make_encoder()
        assert encoder.card.modality == "visual"
        assert (encoder.card.label, encoder.card.dim, encoder.card.metric) == (
            encoder.spec.encoder,
            encoder.spec.dim,
            encoder.spec.metric,
        )

    def test_digest_is_sha256_and_the_same_for_two_instances(self) -> None:
        """An index opened tomorrow must be recognised as the same space."""
        digest = self.make_encoder().spec.digest
        assert len(digest) == 64
        assert int(digest, 16) >= 0
        assert digest == self.make_encoder().spec.digest

    def test_spec_is_the_same_after_encoding(self) -> None:
        """Loading must not change the space."""
        encoder = self.make_encoder()
        before = encoder.spec
        assert encoder.encode_images(_pictures()[:1]).spec == before

    def test_pictures_come_as_finite_float32_rows(self) -> None:
        """Stores rely on shape and type."""
        encoder = self.make_encoder()
        vectors = encoder.encode_images(_pictures()).vectors
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(_SIZES), encoder.spec.dim)
        assert np.isfinite(vectors).all()

    def test_vectors_have_unit_length(self) -> None:
        """Cosine and inner product agree only then."""
        encoder = self.make_encoder()
        lengths = np.linalg.norm(encoder.encode_images(_pictures()).vectors, axis=1)
        assert encoder.spec.normalized
        assert np.allclose(lengths, 1, atol=1e-4)

    def test_no_pictures_give_no_rows(self) -> None:
        """A document without figures is no special case."""
        encoder = self.make_encoder()
        assert encoder.encode_images([]).vectors.shape == (0, encoder.spec.dim)

    def test_result_does_not_depend_on_batching(self) -> None:
        """An interrupted ingest resumes with other batches and must write the same vectors."""
        encoder, pictures = self.make_encoder(), _pictures()
        together = encoder.encode_images(pictures).vectors
        alone = np.concatenate([encoder.encode_images([one]).vectors for one in pictures])
        assert np.abs(together - alone).max() < _SAME

    def test_order_is_kept(self) -> None:
        """Pictures may be run in any order inside, not come out in it."""
        encoder, pictures = self.make_encoder(), _pictures()
        forward = encoder.encode_images(pictures).vectors
        backward = encoder.encode_images(pictures[::-1]).vectors
        assert np.abs(forward - backward[::-1]).max() < _SAME

    def test_different_pictures_have_different_vectors(self) -> None:
        """An encoder that sees nothing passes everything else."""
        first, second = self.make_encoder().encode_images(_pictures()[:2]).vectors
        assert np.abs(first - second).max() > 1e-3

    def test_lossless_formats_of_one_picture_are_one_vector(self) -> None:
        """What counts is what is seen."""
        if not self.decodes:
            pytest.skip("takes bytes as they are")
        png, bmp = sample_picture(40, 56, seed=3), sample_picture(40, 56, seed=3, kind="BMP")
        first, second = self.make_encoder().encode_images([png, bmp]).vectors
        assert np.abs(first - second).max() < _SAME

    @pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
    def test_every_kind_of_colours_is_encoded(self, mode: str) -> None:
        """Scans come grey, with 16 bits, in palettes and in print colours."""
        picture = sample_picture(40, 56, seed=4, kind="TIFF", mode=mode)
        assert np.isfinite(self.make_encoder().encode_images([picture]).vectors).all()

    @pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 200), (200, 1)])
    def test_every_shape_is_encoded(self, height: int, width: int) -> None:
        """Lines and dots are figures, too."""
        picture = sample_picture(height, width)
        assert np.isfinite(self.make_encoder().encode_images([picture]).vectors).all()

    @pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n"])
    def test_bytes_that_are_no_picture_are_refused_by_position(self, data: bytes) -> None:
        """One broken figure must not cost a whole batch its message."""
        if not self.decodes:
            pytest.skip("takes bytes as they are")
        with pytest.raises(InvalidInput, match="picture 1 of the batch"):
            self.make_encoder().encode_images([sample_picture(40, 56), data])

    def test_cut_file_is_refused(self) -> None:
        """A download that broke off is not half a picture."""
        if not self.decodes:
            pytest.skip("takes bytes as they are")
        whole = sample_picture(40, 56)
        with pytest.raises(InvalidInput, match="picture 0 of the batch"):
            self.make_encoder().encode_images([whole[: len(whole) // 2]])

    def test_text_query_lies_in_the_same_space_or_is_refused(self) -> None:
        """Whether text finds pictures is on the card."""
        encoder = self.make_encoder()
        if not encoder.card.queries_text:
            with pytest.raises(InvalidInput, match="pictures only"):
                encoder.encode_query("chest radiograph")
            return
        batch = encoder.encode_query("chest radiograph")
        assert batch.vectors.shape == (1, encoder.spec.dim)
        assert batch.spec == encoder.spec
        assert np.allclose(np.linalg.norm(batch.vectors), 1, atol=1e-4)

    @pytest.mark.parametrize("text", ["", " ", "\0\a", "\ud800", "word " * 2000])
    def test_odd_text_queries_give_finite_vectors(self, text: str) -> None:
        """Whatever a user can type is searched for."""
        encoder = self.make_encoder()
        if not encoder.card.queries_text:
            pytest.skip("has no text tower")
        assert np.isfinite(encoder.encode_query(text).vectors).all()

    def test_threads_may_share_an_encoder(self) -> None:
        """Search and ingest encode at the same time."""
        encoder, pictures = self.make_encoder(), _pictures()
        with ThreadPoolExecutor(4) as pool:
            rows = list(pool.map(lambda one: encoder.encode_images([one]).vectors[0], pictures))
        assert np.abs(np.array(rows) - encoder.encode_images(pictures).vectors).max() < _SAME


def sample_picture(
    height: int, width: int, *, seed: int = 0, kind: str = "PNG", mode: str = "RGB"
) -> bytes:
    """Return a picture file: soft coloured patches, so that resizing keeps something to see.

    Args:
        height: In pixels.
        width: In pixels.
        seed: Of its colours.
        kind: Pillow's name of the format.
        mode: Pillow's name of the colours.
    """
    rng = np.random.default_rng(seed)
    patches = Image.fromarray(rng.integers(0, 256, (4, 4, 3), np.uint8))
    picture = patches.resize((width, height), Image.Resampling.BICUBIC)
    if mode == "I;16":
        deep = np.asarray(picture.convert("L"), np.uint16) * np.uint16(200)
        picture = Image.fromarray(deep)
    elif mode != "RGB":
        picture = picture.convert(mode)
    file = BytesIO()
    picture.save(file, kind)
    return file.getvalue()


def _pictures() -> list[bytes]:
    return [sample_picture(*size, seed=seed) for seed, size in enumerate(_SIZES)]
