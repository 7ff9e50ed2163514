"""The pure stages one by one: route, parse, chunk, classify, embed, upsert."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from eagle_rag.errors import PluginError, StoreError, UnreadableDocument, VectorSpaceMismatch
from eagle_rag.ingest.chunk import ContextMode, chunk_document, context_of, passage_lexemes
from eagle_rag.ingest.classify import classify_passages
from eagle_rag.ingest.embed import embed_texts
from eagle_rag.ingest.parse import parse_source
from eagle_rag.ingest.route import route_source
from eagle_rag.ingest.upsert import upsert_rows
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.bus import BoundBus, HookBus
from eagle_rag.kernel.plugins import Implementation, hook_parameters
from eagle_rag.model.document import Citation, ParsedDocument, ParseOutcome, Source
from eagle_rag.model.passage import ChunkDecision, EncodedBatch, Passage, VectorSpec
from eagle_rag.testing.plugin_contract import sample_document, sample_passages

MakeBus = Callable[..., BoundBus]
SOURCE = Source("a.xml", b"<a/>", "0" * 64)
SPEC = VectorSpec("tiny", "0" * 64, 2)
OTHER = VectorSpec("other", "1" * 64, 2)


def test_route_sets_the_pipeline_a_plugin_chose(make_bus: MakeBus) -> None:
    bus = make_bus(ingest_route_selectors=lambda source: source.uri.rpartition(".")[2])
    assert route_source(bus, SOURCE) == replace(SOURCE, pipeline="xml")


@pytest.mark.parametrize("data", [b"", b" \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_h1_route_refuses_what_is_empty(make_bus: MakeBus, data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match="is empty") as caught:
        route_source(
            make_bus(ingest_route_selectors=lambda **_: "xml"), replace(SOURCE, data=data)
        )
    assert caught.value.reason == "empty"


def test_route_refuses_what_no_parser_takes(make_bus: MakeBus) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        route_source(make_bus(), SOURCE)
    assert caught.value.reason == "unsupported-format"


def test_parse_returns_what_the_parser_found(make_bus: MakeBus) -> None:
    outcome = ParseOutcome((sample_document(),))
    assert parse_source(make_bus(parse=lambda **_: outcome), SOURCE) is outcome


def test_parse_names_the_pipeline_that_nobody_implements(make_bus: MakeBus) -> None:
    with pytest.raises(PluginError, match="'molecules'"):
        parse_source(make_bus(), replace(SOURCE, pipeline="molecules"))


def test_chunk_cuts_and_lets_plugins_tag(make_bus: MakeBus) -> None:
    def tag(document: ParsedDocument, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        return tuple(replace(item, tags=(("from", document.format),)) for item in passages)

    passages = chunk_document(make_bus(chunk=tag), sample_document(), "doc1_x", target_chars=900)
    assert passages
    assert all(item.tags == (("from", "text"),) for item in passages)
    assert all(item.document_id == "doc1_x" for item in passages)


@pytest.mark.parametrize(
    ("mode", "context"), [("none", ""), ("title", "{title}"), ("title+section", "{title} Results")]
)
def test_context_is_the_title_and_the_section_as_asked(mode: ContextMode, context: str) -> None:
    document = sample_document()
    expected = context.format(title=document.metadata.title)
    assert context_of(document, sample_passages()[1], mode) == expected


def _cited(text: str, *markers: str) -> str:
    document = replace(sample_document(), text=text, citations=tuple(
        Citation(text.index(marker), text.index(marker) + len(marker), ("r",)) for marker in markers
    ))  # fmt: skip
    passage = replace(sample_passages()[1], start=0, end=len(text), text=text)
    return passage_lexemes(document, (passage,), "none")[0]


def test_numeric_citation_markers_are_no_search_tokens() -> None:
    assert "12" not in _cited("Kinase fell [12].", "[12]").split()
    assert "34" not in _cited("Kinase fell^34 again.", "34").split()


def test_numbers_that_are_no_markers_stay() -> None:
    assert "12" in _cited("Kinase fell in 12 mice [3].", "[3]").split()


def test_author_year_markers_stay() -> None:
    assert "smith" in _cited("Kinase fell (Smith 2010).", "(Smith 2010)").split()


def test_lexemes_start_with_those_of_the_context() -> None:
    document, passages = sample_document(), sample_passages()
    plain = passage_lexemes(document, passages, "none")
    titled = passage_lexemes(document, passages, "title")
    assert all(
        long.endswith(short) and long != short for long, short in zip(titled, plain, strict=True)
    )


def _deciding(*plugins: tuple[str, Sequence[ChunkDecision]]) -> BoundBus:
    parameters = hook_parameters("classify_chunk")
    return HookBus(
        [
            Implementation("classify_chunk", name, "core", 100 - at, lambda found=found, **_: tuple(found), parameters)
            for at, (name, found) in enumerate(plugins)
        ],
        AuditLog(10),
    ).bind("core")  # fmt: skip


def _classified(*plugins: tuple[str, Sequence[ChunkDecision]]) -> list[tuple[int, str, str]]:
    decisions = classify_passages(_deciding(*plugins), sample_document(), sample_passages())
    return [(item.target, item.collection, item.plugin) for item in decisions]


CORE = ("core", [ChunkDecision(0, "text", "e"), ChunkDecision(1, "text", "e")])


def test_the_cores_decision_stands_only_where_nobody_else_decided() -> None:
    own = ("lab", [ChunkDecision(1, "chem", "e")])
    assert _classified(own, CORE) == [(0, "text", "core"), (1, "chem", "lab")]


def test_several_collections_for_one_passage_all_stand() -> None:
    own = ("lab", [ChunkDecision(0, "b", "e"), ChunkDecision(0, "a", "e")])
    assert _classified(own, CORE) == [(0, "a", "lab"), (0, "b", "lab"), (1, "text", "core")]


def test_the_first_of_an_exclusive_group_stands() -> None:
    first = ("lab1", [ChunkDecision(0, "a", "e", exclusive_group="g")])
    second = ("lab2", [ChunkDecision(0, "b", "e", exclusive_group="g")])
    assert _classified(first, second, CORE)[0] == (0, "a", "lab1")
    assert len(_classified(first, second, CORE)) == 2


def test_the_first_decision_for_one_collection_stands() -> None:
    first = ("lab1", [ChunkDecision(0, "a", "e1")])
    second = ("lab2", [ChunkDecision(0, "a", "e2")])
    assert [item[2] for item in _classified(first, second, CORE)] == ["lab1", "core"]


def test_a_decision_on_no_passage_is_refused_with_the_plugins_name() -> None:
    with pytest.raises(PluginError, match="'lab' decided on passage 7 of 2"):
        _classified(("lab", [ChunkDecision(7, "a", "e")]))


def test_a_passage_nobody_decides_on_is_refused() -> None:
    with pytest.raises(PluginError, match="passage 1 of"):
        _classified(("lab", [ChunkDecision(0, "a", "e")]))


def _batch(count: int, spec: VectorSpec = SPEC, dim: int = 2) -> EncodedBatch:
    return EncodedBatch(np.zeros((count, dim), np.float32), spec)


def test_embed_returns_the_batch(make_bus: MakeBus) -> None:
    bus = make_bus(embed_text=lambda texts, **_: _batch(len(texts)))
    assert embed_texts(bus, ["a", "b"], encoder="tiny", expected=SPEC).vectors.shape == (2, 2)


@pytest.mark.parametrize(
    ("batch", "error", "said"),
    [
        (None, PluginError, "no plugin encodes with 'tiny'"),
        (_batch(1), PluginError, r"shape \(1, 2\) for 2 texts"),
        (_batch(2, dim=3), PluginError, r"shape \(2, 3\) for 2 texts"),
        (_batch(2, OTHER), VectorSpaceMismatch, "'other'.*'tiny'"),
    ],
)
def test_k4_embed_refuses_what_does_not_fit_the_collection(
    make_bus: MakeBus, batch: EncodedBatch | None, error: type[Exception], said: str
) -> None:
    bus = make_bus(embed_text=lambda **_: batch)
    with pytest.raises(error, match=said):
        embed_texts(bus, ["a", "b"], encoder="tiny", expected=SPEC)


@pytest.mark.parametrize("written", [None, 0])
def test_upsert_refuses_rows_that_were_not_all_written(
    make_bus: MakeBus, written: int | None
) -> None:
    bus = make_bus(upsert_vectors=lambda **_: written)
    with pytest.raises(StoreError, match="0 of 1 rows were written to collection 'text'"):
        upsert_rows(bus, "text", [None])  # type: ignore[list-item]  # nobody looks at the row
