import pytest

from eagle_rag.adapters.lance.indexes import DenseIndex


@pytest.mark.parametrize(
    ("rows", "dim", "wanted"),
    [
        (0, 384, None),
        (10_000, 384, None),
        (10_001, 384, "IvfFlat"),
        (180_850, 384, "IvfFlat"),
        (180_850, 768, "IvfHnswFlat"),
    ],
)
def test_the_index_follows_the_size(rows: int, dim: int, wanted: str | None) -> None:
    assert DenseIndex().choose(rows, dim) == wanted
