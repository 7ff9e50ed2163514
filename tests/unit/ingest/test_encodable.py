"""Documents that UTF-8 cannot write."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from eagle_rag.ingest.encodable import find_surrogate
from eagle_rag.ingest.prepare import PrepareConfig, prepare_source
from eagle_rag.kernel.bus import BoundBus
from eagle_rag.model.document import (
    Figure,
    ParsedDocument,
    ParseOutcome,
    Reference,
    Section,
    SectionKind,
    Source,
    Table,
)
from eagle_rag.model.metadata import Author, Identifiers
from eagle_rag.testing.plugin_contract import sample_document

LONE = "a\ud800b"
SAMPLE = sample_document()


def _table(cell: str, *, path: str = "") -> Table:
    return Table("t", "", None, ((cell,),), ((path,),), ((),), no_cells=False)


CASES = {
    "its text": [replace(SAMPLE, text=LONE)],
    "its metadata": [
        replace(SAMPLE, metadata=replace(SAMPLE.metadata, title=LONE)),
        replace(SAMPLE, metadata=replace(SAMPLE.metadata, authors=(Author(family=LONE),))),
        replace(SAMPLE, metadata=replace(SAMPLE.metadata, ids=Identifiers(other=(("x", LONE),)))),
        # Joining the two would make a whole character of them.
        replace(SAMPLE, metadata=replace(SAMPLE.metadata, keywords=("\ud83d", "\ude00"))),
        replace(SAMPLE, warnings=(LONE,)),
        replace(SAMPLE, member=LONE),
    ],
    "a section title": [
        replace(SAMPLE, sections=(Section(0, ("A", LONE), SectionKind.BODY, 0, 1),))
    ],
    "a table": [
        replace(SAMPLE, tables=(_table(LONE),)),
        replace(SAMPLE, tables=(_table("", path=LONE),)),
    ],
    "a figure": [replace(SAMPLE, figures=(Figure("f", LONE, None, ()),))],
    "a reference": [replace(SAMPLE, references=(Reference("r", "", LONE),))],
}


@pytest.mark.parametrize(
    ("part", "document"), [(part, one) for part, found in CASES.items() for one in found]
)
def test_a_lone_surrogate_is_found_wherever_it_is(part: str, document: ParsedDocument) -> None:
    assert find_surrogate(document) == part


def test_any_other_text_can_be_written() -> None:
    title = "Wirkung \u03b2 \u4e2d \U0001f600"
    document = replace(SAMPLE, text=title, metadata=replace(SAMPLE.metadata, title=title))
    assert find_surrogate(document) is None


@pytest.mark.parametrize("document", [CASES["its text"][0], *CASES["its metadata"]])
def test_such_a_document_is_refused_and_the_others_of_its_file_are_kept(
    make_bus: Callable[..., BoundBus], document: ParsedDocument
) -> None:
    bus = make_bus(
        ingest_route_selectors=lambda **_: "x",
        parse=lambda **_: ParseOutcome((document, SAMPLE)),
    )
    config = PrepareConfig("ns", "kb", 900, "title", "none", refuse_abstracts=False)
    found = prepare_source(bus, Source("a.x", b"x", "d"), config)
    assert len(found.documents) == 1
    (refusal,) = found.refusals
    assert (refusal.source_uri, refusal.reason) == (SAMPLE.source_uri, "surrogates")
    assert "lone surrogate" in refusal.message
    assert refusal.remedy
    refusal.member.encode()
