"""Rows, schemas and nasty strings for tests of stores."""

from collections.abc import Sequence

import numpy as np

from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import FloatArray, StoredPassage, VectorSpec

__all__ = ["NASTY", "make_row", "make_schema", "unit"]

NASTY = (
    "it's",
    'say "x"',
    "'; DROP TABLE passages; --",
    "x' OR '1'='1",
    "{x}",
    "$where",
    "%s %(a)s",
    "a\\b\\'c",
    "`tick`",
    "line\nbreak\r\n",
    "nul\0inside",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "*",
    "\u202ertl\u200b\ufeff",
    "😀 Ångström",
)
"""Strings that break an engine that pastes text."""


def unit(*components: float) -> FloatArray:
    """Return a float32 vector of length 1 in this direction."""
    vector = np.array(components, dtype=np.float32)
    return (vector / np.float32(np.linalg.norm(vector))).astype(np.float32)


def make_schema(
    name: str, *, dim: int = 3, metric: str = "cosine", extra_fields: tuple[str, ...] = ()
) -> CollectionSchema:
    """Return a hybrid collection of a made-up encoder."""
    spec = VectorSpec("hash", "0" * 64, dim, metric=metric)
    return CollectionSchema(name, spec, extra_fields=extra_fields)


def make_row(  # noqa: PLR0913  # a row has many fields; tests name those they are about
    row_id: str,
    vector: Sequence[float] | FloatArray,
    lexemes: str,
    *,
    document_id: str = "doc",
    kb_name: str = "one",
    year: int | None = None,
    extra: tuple[tuple[str, str | None], ...] = (),
) -> StoredPassage:
    """Return a row with the given fields, the others filled plausibly."""
    return StoredPassage(
        row_id=row_id,
        passage_id=f"{row_id}-p",
        document_id=document_id,
        version=1,
        namespace="core",
        kb_name=kb_name,
        text=f"Text of {row_id}.",
        lexemes=lexemes,
        vector=np.array(vector, dtype=np.float32),
        path="Results > Cohort",
        section_kind="results",
        chunk_type="text",
        source_type="jats",
        source_chunk_id=f"{row_id}-p",
        start=10,
        end=24,
        year=year,
        extra=extra,
    )
