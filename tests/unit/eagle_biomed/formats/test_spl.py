"""Drug labels in SPL, on small fictional labels."""

import hashlib

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.labels_signs import looks_like_spl
from eagle_biomed.formats.selector import biomed_format_selector
from eagle_biomed.formats.spl import parse
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind, Source
from eagle_rag.testing.plugin_services import plain_xml

_PRODUCT = """
<component><section><code code="48780-1"/><subject><manufacturedProduct><manufacturedProduct>
<code code="9999-0001" codeSystem="2.16.840.1.113883.6.69"/>
<name>ZORBANIB<suffix>XR</suffix></name><formCode displayName="TABLET"/>
<asEntityWithGeneric><genericMedicine><name>zorbanib</name></genericMedicine></asEntityWithGeneric>
<ingredient classCode="ACTIB"><quantity><numerator value="40" unit="mg"/>
<denominator value="0.8" unit="mL"/></quantity><ingredientSubstance>
<code code="AB12CD34EF" codeSystem="2.16.840.1.113883.4.9"/><name>ZORBANIB MESYLATE</name>
</ingredientSubstance></ingredient>
<ingredient classCode="IACT"><ingredientSubstance><name>WATER</name></ingredientSubstance></ingredient>
<asContent><containerPackagedProduct><code code="9999-0001-02" codeSystem="2.16.840.1.113883.6.69"/>
</containerPackagedProduct></asContent></manufacturedProduct>
<subjectOf><approval><id extension="NDA123456"/><code displayName="NDA"/></approval></subjectOf>
<consumedIn><substanceAdministration><routeCode displayName="ORAL"/></substanceAdministration>
</consumedIn></manufacturedProduct></subject></section></component>"""


def _source(data: str | bytes, uri: str = "label.xml") -> Source:
    raw = data.encode() if isinstance(data, str) else data
    return Source(uri, raw, hashlib.sha256(raw).hexdigest())


def _xml(sections: str, *, title: str = "Zorbanib label", version: str = "3") -> str:
    return (
        '<?xml version="1.0"?><document xmlns="urn:hl7-org:v3"><id root="DOC-1"/>'
        f'<code displayName="HUMAN PRESCRIPTION DRUG LABEL"/><title>{title}</title>'
        '<effectiveTime value="20210304"/><setId root="SET-1"/>'
        f'<versionNumber value="{version}"/><author><assignedEntity><representedOrganization>'
        "<name>Fictive Pharma</name></representedOrganization></assignedEntity></author>"
        f"<component><structuredBody>{sections}</structuredBody></component></document>"
    )


def _section(body: str, *, code: str = "", title: str = "", inner: str = "") -> str:
    coded = f'<code code="{code}"/>' if code else ""
    titled = f"<title>{title}</title>" if title else ""
    return f"<component><section>{coded}{titled}<text>{body}</text>{inner}</section></component>"


def _label(sections: str, *, title: str = "Zorbanib label", version: str = "3") -> ParsedDocument:
    outcome = parse(_source(_xml(sections, title=title, version=version)), FormatTools(plain_xml))
    return outcome.documents[0]


def _texts(document: ParsedDocument, kind: BlockKind) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind is kind]


def test_o4_a_boxed_warning_is_kept_with_its_own_kind() -> None:
    """It is the one section no reader may miss, titled or not."""
    document = _label(_section("<paragraph>May stop hearts.</paragraph>", code="34066-1"))
    section = document.sections[1]
    assert (section.path, section.kind) == (("BOXED WARNING",), SectionKind.BOXED_TEXT)
    assert document.text[section.start : section.end] == "May stop hearts."


def test_o4_a_section_without_code_and_title_is_kept() -> None:
    document = _label(_section("<paragraph>Stray words.</paragraph>"))
    assert "Stray words." in document.text
    assert document.sections[1].path == ()


def test_the_written_title_stands_in_the_path_and_in_the_text() -> None:
    document = _label(_section("<paragraph>x</paragraph>", code="34067-9", title="1 USES"))
    assert document.sections[1].path == ("1 USES",)
    assert _texts(document, BlockKind.HEADING) == ["1 USES"]


def test_a_section_without_title_gets_that_of_its_code_in_the_path_alone() -> None:
    document = _label(_section("<paragraph>For fictions.</paragraph>", code="34067-9"))
    assert document.sections[1].path == ("INDICATIONS & USAGE",)
    assert _texts(document, BlockKind.HEADING) == []


def test_nested_sections_keep_their_whole_path() -> None:
    inner = _section("<paragraph>y</paragraph>", title="5.1 Hearts")
    document = _label(
        _section("<paragraph>x</paragraph>", code="43685-7", title="5 WARNINGS", inner=inner)
    )
    assert document.sections[-1].path == ("5 WARNINGS", "5.1 Hearts")


def test_highlights_are_a_section_of_their_own_below_the_section_they_sum_up() -> None:
    excerpt = (
        "<excerpt><highlight><text><paragraph>In short.</paragraph></text></highlight></excerpt>"
    )
    document = _label(_section("<paragraph>At length.</paragraph>", title="1 USES", inner=excerpt))
    assert document.sections[-1].path == ("1 USES", "Highlights")


def test_o4_a_table_is_a_grid_and_its_cells_are_not_prose() -> None:
    table = (
        "<table><caption>Table 1. Rates</caption><thead><tr><th>Event</th>"
        '<th colspan="2">Zorbanib</th></tr></thead><tbody><tr><td rowspan="2">Rash</td>'
        "<td>10%</td><td>12%</td></tr><tr><td>1%</td><td>2%</td></tr></tbody></table>"
    )
    document = _label(_section(table, title="6 REACTIONS"))
    (found,) = document.tables
    assert found.rows == (("Rash", "10%", "12%"), ("Rash", "1%", "2%"))
    assert found.column_paths == (("Event",), ("Zorbanib",), ("Zorbanib",))
    assert found.row_paths == (("Rash",), ("Rash",))
    assert found.label == "Table 1"
    assert found.caption is not None
    assert document.text[found.caption.start : found.caption.end] == "Table 1. Rates"
    assert "10%" not in document.text


def test_leading_bold_rows_of_a_table_without_head_are_its_head() -> None:
    bold = '<content styleCode="bold">{}</content>'
    head = f"<tr><td>{bold.format('Dose')}</td><td>{bold.format('N')}</td></tr>"
    document = _label(
        _section(f"<table><tbody>{head}<tr><td>10</td><td>5</td></tr></tbody></table>")
    )
    assert document.tables[0].column_paths == (("Dose",), ("N",))
    assert document.tables[0].rows == (("10", "5"),)


def test_footnotes_of_cells_stand_below_the_caption_with_their_marks() -> None:
    table = (
        "<table><caption>Table 2</caption><tbody>"
        '<tr><td>a<footnote ID="f1">First.</footnote></td><td>b<footnoteRef IDREF="f1"/></td></tr>'
        '<tr><td colspan="2">Data of 2020.</td></tr></tbody></table>'
    )
    document = _label(_section(table))
    assert document.tables[0].rows == (("a*", "b*"),)
    assert _texts(document, BlockKind.FOOTNOTE) == ["Data of 2020.", "* First."]


def test_superscript_numbers_get_a_caret_and_subscripts_do_not() -> None:
    body = "<paragraph>10<sup>6</sup> cells, H<sub>2</sub>O, CD4<sup>+</sup></paragraph>"
    assert "10^6 cells, H2O, CD4+" in _label(_section(body)).text


def test_list_items_are_blocks_and_nested_lists_follow_their_item() -> None:
    body = "<list><item>one<list><item>one a</item></list></item><item>two</item></list>"
    assert _texts(_label(_section(body)), BlockKind.LIST_ITEM) == ["one", "one a", "two"]


def test_white_space_around_inline_markup_is_neither_lost_nor_made() -> None:
    body = "<paragraph>pre<content>fix</content> and <content>word</content>s<br/>next</paragraph>"
    assert "prefix and words next" in _label(_section(body)).text


def test_references_are_entries_and_not_text() -> None:
    body = "<list><item>Doe J. A trial. J Fict. 2001;1:2-3.</item></list>"
    document = _label(_section(body, code="34093-5", title="15 REFERENCES"))
    assert [one.year for one in document.references] == [2001]
    assert "A trial" not in document.text


def test_pictures_name_their_files() -> None:
    body = '<renderMultiMedia referencedObject="M1"><caption>Figure 1: A vial</caption></renderMultiMedia>'
    media = (
        '<component><observationMedia ID="M1"><value><reference value="vial.jpg"/></value>'
        "</observationMedia></component>"
    )
    document = _label(_section(body, inner=media))
    (figure,) = document.figures
    assert (figure.key, figure.label, figure.graphics) == ("M1", "Figure 1", ("vial.jpg",))


def test_product_data_become_metadata_and_a_line_of_text() -> None:
    document = _label(_PRODUCT)
    properties = dict(document.metadata.properties)
    assert properties["active_ingredients"] == "ZORBANIB MESYLATE"
    assert properties["labeler"] == "Fictive Pharma"
    assert properties["marketing_category"] == "NDA"
    assert properties["routes"] == "ORAL"
    assert document.metadata.ids.other == (
        ("spl-version", "set-1/3"),
        ("spl-set", "set-1"),
        ("application", "NDA123456"),
        ("ndc", "9999-0001"),
        ("ndc", "9999-0001-02"),
        ("spl", "doc-1"),
        ("unii", "AB12CD34EF"),
    )
    assert "ZORBANIB MESYLATE 40 mg / 0.8 mL (UNII AB12CD34EF)" in document.text


def test_e3_versions_of_one_set_are_one_work_with_growing_editions() -> None:
    old, new = (_label(_section("<paragraph>x</paragraph>"), version=v) for v in ("3", "4"))
    assert old.identity is not None
    assert new.identity is not None
    assert (old.identity.key, new.identity.key) == ("set-1/3", "set-1/4")
    assert old.identity.work == new.identity.work == "spl-set:set-1"
    assert (old.identity.edition, new.identity.edition) == (3, 4)


@pytest.mark.parametrize("title", ["", "Drug Facts", "These highlights do not include all of it"])
def test_a_title_that_says_nothing_gives_way_to_the_products_name(title: str) -> None:
    assert _label(_PRODUCT, title=title).metadata.title == "ZORBANIB XR (zorbanib)"


def test_the_effective_time_is_the_date_of_publication() -> None:
    metadata = _label(_section("<paragraph>x</paragraph>")).metadata
    assert (metadata.published, metadata.year) == ("2021-03-04", 2021)


def test_a_span_of_millions_is_refused_with_a_warning() -> None:
    cells = '<td colspan="999999" rowspan="999999">x</td>' * 20
    document = _label(_section(f"<table><tbody><tr>{cells}</tr></tbody></table>"))
    assert document.tables == ()
    assert "spans more cells" in document.warnings[0]


def test_a_label_without_a_word_is_refused_by_name() -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _label("", title="")
    assert caught.value.reason == "no-sections"


def test_other_xml_is_not_taken_for_a_label() -> None:
    assert not looks_like_spl(_source("<document><p/></document>"))
    assert not looks_like_spl(_source('<ClinicalDocument xmlns="urn:hl7-org:v3"/>'))
    assert biomed_format_selector(_source(_xml(""))) == "spl"
