"""The five collections against the reference's table, and on a live store."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eagle_biomed.collections import COLLECTIONS, collection_profiles
from eagle_biomed.options import REFERENCE_ENCODERS
from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.lance.store import LanceStore
from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.errors import ConfigurationError, VectorSpaceMismatch
from eagle_rag.model.collection import CollectionProfile, CollectionSchema, EncoderCard, Modality
from eagle_rag.model.passage import StoredPassage
from eagle_rag.ports.stores import CollectionStore

TEXT_FIELDS = ("biomed_section", "primary_drugs")
VISUAL_FIELDS = ("content_summary", "image_id", "image_path", "parent_section")
REFERENCE_CARDS = (
    EncoderCard("pubmedbert", "text", 768, "auto"),
    EncoderCard("medcpt-query", "text", 768, "auto"),
    EncoderCard("molformer", "text", 768, "auto"),
    EncoderCard("medimageinsight", "visual", 1024, "auto", metric="ip", queries_text=True),
    EncoderCard("uni2", "visual", 1536, "auto", metric="ip"),
)


def by_name(profiles: tuple[CollectionProfile, ...]) -> dict[str, CollectionProfile]:
    return {profile.name: profile for profile in profiles}


@pytest.mark.parametrize(
    ("name", "encoder", "dim", "metric", "hybrid", "chunk_type", "fields"),
    [
        ("eagle_text_biomed", "pubmedbert", 768, "cosine", True, "text", TEXT_FIELDS),
        ("eagle_text_medcpt", "medcpt-query", 768, "cosine", True, "text", TEXT_FIELDS),
        ("eagle_chemical", "molformer", 768, "cosine", False, "chemical", ()),
        ("eagle_medical_radiology", "medimageinsight", 1024, "ip", False, "medical_image", VISUAL_FIELDS),
        ("eagle_medical_pathology", "uni2", 1536, "ip", False, "medical_image", VISUAL_FIELDS),
    ],
)  # fmt: skip
def test_with_the_references_encoders_each_collection_is_the_references(  # noqa: PLR0913, PLR0917 - a row of a table
    name: str,
    encoder: str,
    dim: int,
    metric: str,
    hybrid: bool,  # noqa: FBT001 - a row of a table
    chunk_type: str,
    fields: tuple[str, ...],
) -> None:
    profile = by_name(collection_profiles(REFERENCE_ENCODERS, REFERENCE_CARDS))[name]
    assert profile == CollectionProfile(name, dim, encoder, metric, hybrid, chunk_type, fields)


def test_another_encoder_brings_its_own_dimension_and_metric() -> None:
    cards = (EncoderCard("tiny", "text", 12, "hash", metric="ip"),)
    profile = by_name(collection_profiles({"eagle_chemical": "tiny"}, cards))["eagle_chemical"]
    assert (profile.dim, profile.metric, profile.default_encoder) == (12, "ip", "tiny")


def test_a_collection_that_nothing_fills_is_registered_without_an_encoder() -> None:
    profiles = collection_profiles({"eagle_text_biomed": ""}, ())
    assert [profile.name for profile in profiles] == [shape.name for shape in COLLECTIONS]
    assert {profile.default_encoder for profile in profiles} == {""}
    assert by_name(profiles)["eagle_medical_pathology"].dim == 1536


def test_an_encoder_nobody_registered_is_refused_with_those_that_would_do() -> None:
    with pytest.raises(ConfigurationError, match=r"encoders\.eagle_chemical is 'morgn'") as caught:
        collection_profiles({"eagle_chemical": "morgn"}, REFERENCE_CARDS)
    assert "medcpt-query, molformer, pubmedbert" in caught.value.remedy


@pytest.mark.parametrize(
    ("collection", "label", "needs"),
    [("eagle_text_biomed", "uni2", "text"), ("eagle_medical_radiology", "pubmedbert", "visual")],
)
def test_an_encoder_of_the_wrong_kind_is_refused(
    collection: str, label: str, needs: Modality
) -> None:
    with pytest.raises(ConfigurationError, match=f"needs a {needs} one"):
        collection_profiles({collection: label}, REFERENCE_CARDS)


@pytest.fixture(params=["lance", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CollectionStore]:
    opened: CollectionStore = (
        LanceStore(tmp_path / "store") if request.param == "lance" else MemoryStore()
    )
    yield opened
    opened.close()


def schema(*extra: str) -> CollectionSchema:
    return CollectionSchema("eagle_text_biomed", HashEncoder(8).spec, extra_fields=extra)


def row(identity: str, **extra: str) -> StoredPassage:
    return StoredPassage(
        f"{identity}@1", identity, "doc1_a", 1, "biomed", "default", "Text", "text",
        np.eye(8, dtype=np.float32)[0], "Methods", "methods", "biomed_text", "jats", identity, 0, 4,
        extra=tuple(sorted(extra.items())),
    )  # fmt: skip


def test_a_live_collection_gets_the_column_it_lacks_and_keeps_its_rows(
    store: CollectionStore,
) -> None:
    """An index from before ``biomed_section`` serves old and new rows."""
    store.ensure(schema("primary_drugs"))
    store.upsert("eagle_text_biomed", [row("old", primary_drugs="aspirin")])
    store.ensure(schema(*TEXT_FIELDS))
    store.upsert(
        "eagle_text_biomed", [row("new", primary_drugs="imatinib", biomed_section="methods")]
    )
    found = {
        each.passage_id: dict(each.extra)
        for batch in store.scan("eagle_text_biomed")
        for each in batch
    }
    assert found["old"] == {"primary_drugs": "aspirin", "biomed_section": None}
    assert found["new"] == {"primary_drugs": "imatinib", "biomed_section": "methods"}
    described = store.describe("eagle_text_biomed")
    assert described is not None
    assert described.extra_fields == TEXT_FIELDS


def test_a_live_collection_of_another_space_is_not_migrated(store: CollectionStore) -> None:
    store.ensure(schema())
    other = replace(schema(), spec=HashEncoder(16).spec)
    with pytest.raises(VectorSpaceMismatch):
        store.ensure(other)
