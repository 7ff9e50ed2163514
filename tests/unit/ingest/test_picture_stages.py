"""Pictures through the stages: bounds, decisions, the passage they hang on, vectors."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from eagle_rag.errors import HookFailed, InvalidInput, PluginError
from eagle_rag.ingest.classify import classify_pictures
from eagle_rag.ingest.extract import extract_pictures
from eagle_rag.ingest.picture_rows import anchor_pictures, document_picture_rows
from eagle_rag.ingest.prepare import PreparedDocument
from eagle_rag.ingest.rows import CommitConfig, ReadyDocument, numbered
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.document import Figure, Source, Span, Table
from eagle_rag.model.passage import (
    ChunkDecision,
    EncodedBatch,
    PicturePlace,
    VectorSpec,
    VisualAsset,
)
from eagle_rag.testing.plugin_contract import sample_document, sample_passages

MakeBus = Callable[..., BoundBus]
SOURCE = Source("a.xml", b"<a/>", "0" * 64)
SPEC = VectorSpec("eye", "0" * 64, 2)
CONFIG = CommitConfig(
    "ns", "kb", "digest", {"eyes": CollectionSchema("eyes", SPEC, extra_fields=("image_path",))}
)
GOOD, BAD = b"good", b"bad"


def asset(key: str, data: bytes = GOOD) -> VisualAsset:
    """Return a picture."""
    return VisualAsset(key, "image/png", data, f"Caption of {key}.")


def prepared(*assets: VisualAsset) -> PreparedDocument:
    """Return the sample document with a figure ``f1`` in its second passage, and these pictures."""
    body = sample_passages()[1]
    document = replace(
        sample_document(),
        figures=(Figure("f1", "", Span(body.start + 5, body.end), ()),),
        tables=(Table("t1", "", Span(body.start, body.end), (), (), (), no_cells=True),),
    )
    return PreparedDocument(
        "doc1_sample", "w", document, sample_passages(), ("a", "b"), ("", ""), assets
    )


def ready(*assets: VisualAsset) -> ReadyDocument:
    """Return it with every picture decided on."""
    decisions = tuple(ChunkDecision(at, "eyes", "eye", "picture") for at in range(len(assets)))
    return ReadyDocument(anchor_pictures(prepared(*assets)), (), decisions)


def embed_visual(encoder: str, images: Sequence[bytes]) -> EncodedBatch:
    """Encode what is good, refuse the batch that holds what is not."""
    if BAD in images:
        message = f"{encoder} cannot decode a picture"
        raise InvalidInput(message)
    return EncodedBatch(np.full((len(images), 2), 0.5, np.float32), SPEC)


def test_of_several_pictures_with_one_key_the_first_stands(make_bus: MakeBus) -> None:
    bus = make_bus(ingest_visual_extract=lambda **_: (asset("a"), asset("b"), asset("a", BAD)))
    kept, warnings = extract_pictures(bus, sample_document(), SOURCE, most=9, most_bytes=99)
    assert kept == (asset("a"), asset("b"))
    assert warnings == ()


@pytest.mark.parametrize(("most", "most_bytes"), [(1, 99), (9, 7)])
def test_what_is_beyond_the_bounds_is_left_out_and_said(
    make_bus: MakeBus, most: int, most_bytes: int
) -> None:
    bus = make_bus(ingest_visual_extract=lambda **_: (asset("a"), asset("b")))
    kept, warnings = extract_pictures(
        bus, sample_document(), SOURCE, most=most, most_bytes=most_bytes
    )
    assert kept == (asset("a"),)
    assert len(warnings) == 1


def test_keys_and_captions_that_no_store_takes_are_escaped(make_bus: MakeBus) -> None:
    odd = VisualAsset("f\ud800", "image/png", GOOD, "c\udfff")
    bus = make_bus(ingest_visual_extract=lambda **_: (odd, asset(""), asset("e", b"")))
    kept, warnings = extract_pictures(bus, sample_document(), SOURCE, most=9, most_bytes=99)
    assert [(each.key, each.caption) for each in kept] == [("f\\ud800", "c\\udfff")]
    assert len(warnings) == 2


def test_a_picture_that_nobody_decides_on_goes_nowhere(make_bus: MakeBus) -> None:
    bus = make_bus(classify_visual=lambda **_: (ChunkDecision(1, "eyes", "eye"),))
    decisions = classify_pictures(bus, sample_document(), (asset("a"), asset("b")))
    assert [(each.target, each.plugin) for each in decisions] == [(1, "lab-classify_visual")]


def test_nobody_is_asked_about_no_pictures(make_bus: MakeBus) -> None:
    def never(**_: object) -> None:
        raise AssertionError

    assert classify_pictures(make_bus(classify_visual=never), sample_document(), ()) == ()


def test_a_decision_on_a_picture_that_is_not_there_is_refused(make_bus: MakeBus) -> None:
    bus = make_bus(classify_visual=lambda **_: (ChunkDecision(1, "eyes", "eye"),))
    with pytest.raises(PluginError, match="decided on picture 1 of 1"):
        classify_pictures(bus, sample_document(), (asset("a"),))


@pytest.mark.parametrize(
    ("key", "ordinal"), [("f1", 1), ("f1#2", 1), ("t1", 1), ("other", 0), ("other#2", 0)]
)
def test_a_picture_hangs_on_the_passage_of_its_caption_or_the_first(
    key: str, ordinal: int
) -> None:
    passages = anchor_pictures(prepared(asset(key))).passages
    assert [("picture", key) in each.tags for each in passages] == [
        position == ordinal for position in range(2)
    ]


def test_a_row_is_its_passage_and_its_picture(make_bus: MakeBus) -> None:
    made = document_picture_rows(make_bus(embed_visual=embed_visual), [ready(asset("f1"))], CONFIG)
    (row,) = made.rows["eyes"]
    passage = sample_passages()[1]
    final = numbered(row, 7)
    assert final.row_id == f"{passage.id}#f1@7"
    assert (final.text, final.start, final.end) == (passage.text, passage.start, passage.end)
    assert final.lexemes == "b"
    path = dict(final.extra)["image_path"]
    assert path is not None
    assert path.startswith("doc1_sample/7/")
    assert made.places == {"doc1_sample": {"f1": [PicturePlace("eyes", "eye", "picture")]}}


def test_one_undecodable_picture_costs_only_itself(make_bus: MakeBus) -> None:
    pictures = [asset(f"p{number}", BAD if number == 3 else GOOD) for number in range(5)]
    made = document_picture_rows(make_bus(embed_visual=embed_visual), [ready(*pictures)], CONFIG)
    assert len(made.rows["eyes"]) == 4
    assert made.unreadable == [("doc1_sample", "p3", "eye cannot decode a picture")]


@pytest.mark.parametrize("error", [OSError("truncated"), SyntaxError("broken PNG")])
def test_what_a_library_raises_for_a_broken_picture_costs_only_that(
    make_bus: MakeBus, error: Exception
) -> None:
    def broken(**_: object) -> None:
        raise error

    made = document_picture_rows(make_bus(embed_visual=broken), [ready(asset("a"))], CONFIG)
    assert made.rows == {}
    assert len(made.unreadable) == 1


def test_a_bug_in_a_plugin_is_not_taken_for_a_broken_picture(make_bus: MakeBus) -> None:
    def buggy(**_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(HookFailed):
        document_picture_rows(make_bus(embed_visual=buggy), [ready(asset("a"))], CONFIG)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_h1_a_vector_without_direction_is_no_row(make_bus: MakeBus, value: float) -> None:
    batch = EncodedBatch(np.full((1, 2), value, np.float32), SPEC)
    bus = make_bus(embed_visual=lambda **_: batch)
    made = document_picture_rows(bus, [ready(asset("a"))], CONFIG)
    assert made.rows == {}
    assert made.unreadable[0][2] == "its vector has no direction"


def test_a_decision_for_an_unknown_encoder_or_collection_is_the_plugins_fault(
    make_bus: MakeBus,
) -> None:
    with pytest.raises(PluginError, match="no plugin encodes with 'eye'"):
        document_picture_rows(make_bus(), [ready(asset("a"))], CONFIG)
    with pytest.raises(PluginError, match="unknown collection 'eyes'"):
        document_picture_rows(make_bus(), [ready(asset("a"))], replace(CONFIG, schemas={}))
