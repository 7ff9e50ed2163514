"""Drug labels of openFDA, on small fictional records."""

import hashlib
import json

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.openfda import parse
from eagle_biomed.formats.selector import biomed_format_selector
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, SectionKind, Source
from eagle_rag.testing.plugin_services import plain_xml

_RECORD: dict[str, object] = {
    "set_id": "SET-1",
    "id": "DOC-1",
    "version": "7",
    "effective_time": "20200131",
    "indications_and_usage": ["1 USES Zorbanib is for fictions."],
    "boxed_warning": ["WARNING: hearts"],
    "odd_new_field": ["Something else."],
    "openfda": {
        "brand_name": ["ZORBANIB"],
        "generic_name": ["zorbanib mesylate"],
        "manufacturer_name": ["Fictive Pharma"],
        "product_ndc": ["9999-0001"],
        "unii": ["AB12CD34EF"],
    },
}


def _source(value: object) -> Source:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Source("label.json", raw, hashlib.sha256(raw).hexdigest())


def _parse(value: object) -> ParseOutcome:
    return parse(_source(value), FormatTools(plain_xml))


def _one(**fields: object) -> ParsedDocument:
    return _parse(_RECORD | fields).documents[0]


def test_fields_become_sections_in_label_order_with_unknown_ones_last() -> None:
    paths = [section.path for section in _one().sections[1:]]
    assert paths == [("BOXED WARNING",), ("INDICATIONS & USAGE",), ("ODD NEW FIELD",)]


def test_o4_the_boxed_warning_is_kept_with_its_own_kind() -> None:
    assert _one().sections[1].kind is SectionKind.BOXED_TEXT


def test_e3_the_identity_is_that_of_the_same_label_in_spl() -> None:
    identity = _one().identity
    assert identity is not None
    assert (identity.key, identity.work, identity.edition) == ("set-1/7", "spl-set:set-1", 7)


def test_harmonised_names_are_metadata() -> None:
    metadata = _one().metadata
    assert metadata.title == "ZORBANIB (zorbanib mesylate)"
    assert ("labeler", "Fictive Pharma") in metadata.properties
    assert metadata.ids.other[:2] == (("spl-version", "set-1/7"), ("spl-set", "set-1"))
    assert ("unii", "AB12CD34EF") in metadata.ids.other
    assert metadata.published == "2020-01-31"


def test_a_simple_html_table_is_a_grid() -> None:
    html = (
        "<table><caption>Table 1: Rates</caption><thead><tr><th>Event</th><th>Rate</th></tr></thead>"
        "<tbody><tr><td>Rash</td><td>5 &lt; 6</td></tr></tbody></table>"
    )
    (table,) = _one(adverse_reactions_table=[html]).tables
    assert (table.label, table.rows) == ("Table 1", (("Rash", "5 < 6"),))
    assert table.column_paths == (("Event",), ("Rate",))


def test_a_table_inside_a_table_is_left_out_with_a_warning() -> None:
    html = "<table><tr><td><table><tr><td>x</td></tr></table></td></tr></table>"
    document = _one(adverse_reactions_table=[html])
    assert document.tables == ()
    assert "no simple HTML table" in document.warnings[0]


def test_o1_a_bad_record_of_a_page_is_refused_and_the_rest_loads() -> None:
    outcome = _parse({"meta": {}, "results": [_RECORD, 7, _RECORD | {"set_id": "SET-2"}]})
    assert [document.member for document in outcome.documents] == ["record-1", "record-3"]
    assert [refusal.member for refusal in outcome.refusals] == ["record-2"]


def test_the_same_label_twice_is_given_twice_under_one_key() -> None:
    """Which of the two stands is decided where documents are committed, for all formats."""
    outcome = _parse([_RECORD, _RECORD | {"warnings": ["new"]}])
    assert [document.member for document in outcome.documents] == ["record-1", "record-2"]
    assert len({document.identity for document in outcome.documents}) == 1
    assert outcome.refusals == ()


def test_records_of_one_page_have_digests_of_their_own() -> None:
    first, second = _parse([_RECORD, _RECORD | {"set_id": "SET-2"}]).documents
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"set_id": "x", "effective_time": "2020', "json-syntax"),
        (b"[" * 200_000, "nested-too-deep"),
        (b"[1, 2]", "no-records"),
        (b"", "empty"),
        (b'{"set_id": 1' + b"0" * 10_000 + b', "openfda": {}}', "no-records"),
    ],
)
def test_what_is_no_label_is_refused_by_name(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _parse(data)
    assert caught.value.reason == reason


def test_half_a_surrogate_pair_does_not_reach_the_text() -> None:
    document = _one(warnings=["a\ud800b"])
    document.text.encode()
    assert "a?b" in document.text


def test_only_records_are_recognised() -> None:
    assert biomed_format_selector(_source(_RECORD)) == "openfda-label"
    schema = {"properties": {"set_id": {"type": "string"}, "openfda": {"type": "object"}}}
    assert biomed_format_selector(_source(schema)) is None
    assert biomed_format_selector(_source([{"set_id": "x", "sections": []}])) is None
