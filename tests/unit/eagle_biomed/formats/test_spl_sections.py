"""From a label's file to the section tag of its passages: parser and tagger together (CASES O4)."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eagle_biomed.doc_profile_signals import build_sketch
from eagle_biomed.enrichment import SECTION_TAG, enrich_passages, tag
from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.spl import parse
from eagle_rag.adapters.documents.xml import read_xml
from eagle_rag.model.document import ParsedDocument, SectionKind, Source
from eagle_rag.model.passage import Passage


class NoDrugs:
    """Knows no drug."""

    def match_drug_entities(self, text: str) -> Sequence[str]:
        del text
        return ()


def _section(words: str, *, code: str = "", title: str = "", more: str = "") -> str:
    coded = f'<code code="{code}"/>' if code else ""
    titled = f"<title>{title}</title>" if title else ""
    text = f"<text><paragraph>{words}</paragraph></text>" if words else ""
    return f"<component><section>{coded}{titled}{text}{more}</section></component>"


def _highlights(words: str) -> str:
    return f"<excerpt><highlight><text><paragraph>{words}</paragraph></text></highlight></excerpt>"


def _read(data: bytes) -> ParsedDocument:
    source = Source("zorbanib.xml", data, hashlib.sha256(data).hexdigest(), "spl")
    return parse(source, FormatTools(read_xml)).documents[0]


def _label(*sections: str) -> ParsedDocument:
    return _read(
        f'<document xmlns="urn:hl7-org:v3"><title>Zorbanib</title><setId root="S"/><component>'
        f"<structuredBody>{''.join(sections)}</structuredBody></component></document>".encode()
    )


def _passages(document: ParsedDocument) -> tuple[Passage, ...]:
    """Return the blocks as tagged passages."""
    passages = []
    for number, block in enumerate(document.blocks):
        at = document.sections[block.section]
        text = document.text[block.start : block.end]
        passages.append(
            Passage(
                f"psg1_{number}", "doc1_0", number, at.ordinal, at.path, at.kind,
                block.start, block.end, text,
            )
        )  # fmt: skip
    return enrich_passages(document, passages, NoDrugs())


def _tags(document: ParsedDocument) -> dict[str, str]:
    return {each.text: tag(each, SECTION_TAG) for each in _passages(document)}


def _with_highlights() -> ParsedDocument:
    return _label(
        _section(
            "Boxed.",
            code="34066-1",
            title="WARNING: FICTIVE",
            more=_highlights("Boxed, short."),
        ),
        _section(
            "Uses.",
            code="34067-9",
            title="1 INDICATIONS AND USAGE",
            more=_highlights("Uses, short."),
        ),
        _section(
            "Doses.",
            code="34068-7",
            title="2 DOSAGE AND ADMINISTRATION",
            more=_highlights("Doses, short."),
        ),
        _section(
            "Effects.",
            code="34084-4",
            title="6 ADVERSE REACTIONS",
            more=_highlights("Effects, short."),
        ),
        _section("Alone.", title="Highlights"),
    )


def test_o4_the_highlights_of_a_section_have_its_tag() -> None:
    tags = _tags(_with_highlights())
    assert (tags["Boxed."], tags["Boxed, short."]) == ("warnings", "warnings")
    assert tags["Uses, short."] == "indications_and_usage"
    assert tags["Doses, short."] == "dosage"
    assert tags["Effects, short."] == tags["Alone."] == "body"


def test_o4_highlights_without_codes_have_the_tag_of_the_title_above() -> None:
    document = _with_highlights()
    bare = replace(document, metadata=replace(document.metadata, properties=()))
    assert _tags(bare) == _tags(document)


def test_the_routers_sketch_does_not_take_highlights_for_an_abstract() -> None:
    """What it takes for one stands first."""
    passages = _passages(_with_highlights())
    in_order = "\n\n".join(each.text for each in passages[:8])
    assert build_sketch(passages, 10_000) == in_order


@pytest.mark.parametrize(
    ("code", "title", "section"),
    [
        ("34066-1", "SUICIDALITY AND ANTIDEPRESSANTS DRUGS", "warnings"),
        ("34067-9", "What is Foo used for?", "indications_and_usage"),
        ("34068-7", "HOW TO TAKE FOO", "dosage"),
        ("34066-1", "Results", "warnings"),
        ("34068-7", "x" * 300, "dosage"),
        ("34084-4", "What may happen", "body"),
        ("42229-5", "Directions", "dosage"),
    ],
)
def test_o4_the_code_decides_and_the_written_title_stays(
    code: str, title: str, section: str
) -> None:
    document = _label(_section("Words.", code=code, title=title))
    assert document.sections[1].path == (title,)
    assert _tags(document)["Words."] == section


def test_o4_what_is_inside_a_coded_section_has_its_tag_unless_it_says_another() -> None:
    table = "<text><table><caption>Table 1. Rates</caption><tr><td>a</td><td>b</td></tr></table></text>"
    document = _label(
        _section("", code="34084-4", title="What may happen"),
        _section("", code="34089-3"),  # kept by nothing: ordinals go on behind it
        _section(
            "Outer.",
            code="34066-1",
            title="READ THIS",
            more=table
            + _section("Untitled.", code="42229-5")
            + _section("Inner.", title="Of the heart", more=_section("Deep.", title="At night"))
            + _section("Doses.", code="34068-7", title="How much"),
        ),
        _section("After.", title="Storage"),
    )
    tags = _tags(document)
    for text in ("Outer.", "Table 1. Rates", "Untitled.", "Inner.", "Deep."):
        assert tags[text] == "warnings", text
    assert (tags["Doses."], tags["After."], tags["What may happen"]) == ("dosage", "body", "body")


def test_o4_the_boxed_section_of_a_published_label_with_a_sentence_for_a_title_is_a_warning() -> (
    None
):
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    found = sorted(Path(folder, "labels_fda_spl").rglob("*Remdesivir.xml")) if folder else []
    if not found:
        pytest.skip(
            "EAGLE_RAG_TEST_DATA names no folder with the unpacked data set labels_fda_spl"
        )
    boxed = [
        tag(each, SECTION_TAG)
        for each in _passages(_read(found[0].read_bytes()))
        if each.section_kind is SectionKind.BOXED_TEXT
    ]
    assert set(boxed) == {"warnings"}
