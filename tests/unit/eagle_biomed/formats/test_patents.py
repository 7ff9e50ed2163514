"""Patents of the USPTO in four dialects, on small fictional ones."""

import hashlib

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.patents import parse
from eagle_biomed.formats.patents_aps import read_aps
from eagle_biomed.formats.patents_front import patent_number
from eagle_biomed.formats.selector import biomed_format_selector
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import BlockKind, ParsedDocument, ParseOutcome, SectionKind, Source
from eagle_rag.model.metadata import Author
from eagle_rag.testing.plugin_services import plain_xml

_DESCRIPTION = """<heading level="1">BACKGROUND</heading><p>Old ways.</p>
<heading level="2">Details</heading><p>With a list:<ul><li>one 10<sup>6</sup></li><li>two</li></ul>
and an end.</p>"""
_CLAIMS = """<claims><claim num="1"><claim-text><b>1</b>. A kit comprising:
<claim-text>a vial; and</claim-text><claim-text>a cap.</claim-text></claim-text></claim>
<claim num="2"><claim-text><b>2</b>. The kit of <claim-ref>claim 1</claim-ref>, in red.</claim-text>
</claim></claims>"""


def _grant(
    description: str = _DESCRIPTION, claims: str = _CLAIMS, number: str = "07123456"
) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE us-patent-grant SYSTEM "us-patent-grant-v44-2013-05-16.dtd" [ ]>\n'
        "<us-patent-grant><us-bibliographic-data-grant><publication-reference><document-id>"
        f"<country>US</country><doc-number>{number}</doc-number><kind>B2</kind>"
        "<date>20140318</date></document-id></publication-reference>"
        '<application-reference appl-type="utility"><document-id><doc-number>12000001</doc-number>'
        "<date>20090331</date></document-id></application-reference>"
        "<invention-title>Kit of fictions</invention-title>"
        "<us-references-cited><us-citation><nplcit><othercit>Doe, J Fict. 2001.</othercit></nplcit>"
        "</us-citation></us-references-cited>"
        "<us-parties><inventors><inventor><addressbook><last-name>Doe</last-name>"
        "<first-name>Jo</first-name></addressbook></inventor></inventors></us-parties>"
        "<assignees><assignee><addressbook><orgname>Fictive Inc.</orgname></addressbook></assignee>"
        "</assignees></us-bibliographic-data-grant><abstract><p>In short.</p></abstract>"
        f"<description>{description}</description><us-claim-statement>What is claimed is:"
        f"</us-claim-statement>{claims}</us-patent-grant>\n"
    )


_PATDOC = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE PATDOC SYSTEM "ST32-US-Grant-025xml.dtd" [
<!ENTITY P00001.TIF SYSTEM "P00001.TIF" NDATA TIF>
]>
<PATDOC><SDOBI><B100><B110><DNUM><PDAT>06123456</PDAT></DNUM></B110><B130><PDAT>B1</PDAT></B130>
<B140><DATE><PDAT>20020827</PDAT></DATE></B140><B190><PDAT>US</PDAT></B190></B100>
<B500><B540><STEXT><PDAT>Old kit</PDAT></STEXT></B540></B500><B700><B720><B721><PARTY-US><NAM>
<FNM><PDAT>Jo</PDAT></FNM><SNM><STEXT><PDAT>Doe</PDAT></STEXT></SNM></NAM></PARTY-US></B721></B720>
</B700></SDOBI><SDOAB><BTEXT><PARA><PTEXT><PDAT>Short.</PDAT></PTEXT></PARA></BTEXT></SDOAB>
<SDODE><BRFSUM><BTEXT><PARA><PTEXT><PDAT>Before a heading, N</PDAT><HIL><SB><PDAT>1</PDAT></SB></HIL>
<PDAT>.</PDAT></PTEXT></PARA><H LVL="1"><STEXT><PDAT>FIELD</PDAT></STEXT></H>
<PARA><PTEXT><PDAT>Kits &amp;agr;gr &amp;bgr;.</PDAT></PTEXT></PARA></BTEXT></BRFSUM></SDODE>
<SDOCL><H><STEXT><PDAT>What is claimed is:</PDAT></STEXT></H><CL><CLM ID="CLM-00001"><PARA><PTEXT>
<PDAT>1. A method:</PDAT></PTEXT></PARA><CLMSTEP><PTEXT><PDAT>stirring.</PDAT></PTEXT></CLMSTEP></CLM>
</CL></SDOCL></PATDOC>"""

_EARLY = """<?xml version="1.0"?><patent-application-publication>
<subdoc-bibliographic-information><document-id><doc-number>20010000001</doc-number>
<kind-code>A1</kind-code><document-date>20011018</document-date></document-id>
<technical-information><title-of-invention>Early kit</title-of-invention></technical-information>
<inventors><first-named-inventor><name><given-name>Jo</given-name><family-name>Doe</family-name>
</name></first-named-inventor></inventors></subdoc-bibliographic-information>
<subdoc-abstract><paragraph>Short.</paragraph></subdoc-abstract><subdoc-description>
<summary-of-invention><paragraph><number>0001</number>Summed
<highlight><subscript>50</subscript></highlight>.</paragraph></summary-of-invention>
</subdoc-description><subdoc-claims><claim><claim-text><highlight><bold>1</bold></highlight>. A kit.
</claim-text></claim></subdoc-claims></patent-application-publication>"""

_APS = """PATN
WKU  051234567
APT  1
TTL  Typewritten kit
ISD  19971223
INVT
NAM  Doe; Jo
PRIR
CNT  JPX
APD  19910621
APN  3-1
ABST
PAL  Short, at 5.degree. C. and
      10.sup.6 of CH.sub.3.
DETD
PAC  DETAILS
PAR  A table follows.
TBL  TABLE 1
      ____________
      a    b
CLMS
STM  What is claimed is:
NUM  1.
PAR  1. A kit comprising:
PA1  a vial.
NUM  2.
PAR  2. The kit of claim 1.
"""


def _source(text: str, uri: str = "patent.xml") -> Source:
    raw = text.encode()
    return Source(uri, raw, hashlib.sha256(raw).hexdigest())


def _parse(text: str, uri: str = "patent.xml") -> ParseOutcome:
    return parse(_source(text, uri), FormatTools(plain_xml))


def _one(text: str) -> ParsedDocument:
    return _parse(text).documents[0]


def _claims(document: ParsedDocument) -> list[str]:
    return [
        document.text[block.start : block.end]
        for block in document.blocks
        if document.sections[block.section].path == ("Claims",)
        and block.kind is BlockKind.PARAGRAPH
    ]


def test_a_patent_is_called_by_country_number_and_kind() -> None:
    identity = _one(_grant()).identity
    assert identity is not None
    assert (identity.key, identity.work) == ("US7123456B2", "patent:US7123456B2")


def test_the_first_page_is_metadata() -> None:
    metadata = _one(_grant()).metadata
    assert metadata.title == "Kit of fictions"
    assert metadata.authors == (Author("Doe", "Jo"),)
    assert dict(metadata.properties)["assignees"] == "Fictive Inc."
    assert (metadata.published, metadata.dates) == ("2014-03-18", (("filed", "2009-03-31"),))


def test_each_claim_is_one_whole_block_below_claims() -> None:
    assert _claims(_one(_grant())) == [
        "1. A kit comprising: a vial; and a cap.",
        "2. The kit of claim 1, in red.",
    ]


def test_headings_of_the_description_nest_by_their_level() -> None:
    paths = [section.path for section in _one(_grant()).sections]
    assert paths == [
        (),
        ("Abstract",),
        ("BACKGROUND",),
        ("BACKGROUND", "Details"),
        ("Claims",),
    ]


def test_a_paragraph_is_split_around_its_list() -> None:
    document = _one(_grant())
    texts = [document.text[block.start : block.end] for block in document.blocks]
    assert texts[5:9] == ["With a list:", "one 10^6", "two", "and an end."]


def test_the_abstract_has_its_kind_and_cited_literature_is_in_the_references() -> None:
    document = _one(_grant())
    assert document.sections[1].kind is SectionKind.ABSTRACT
    assert [one.year for one in document.references] == [2001]


def test_groups_of_a_table_are_laid_on_one_grid_by_their_widths() -> None:
    """Head and body of a patent's table have columns of their own."""
    widths = '<colspec colname="{0}" colwidth="{1}pt"/>'
    head = "".join(widths.format(*one) for one in (("a", 40), ("b", 60)))
    body = "".join(widths.format(*one) for one in (("a", 40), ("b", 30), ("c", 30)))
    table = (
        "<p>See<tables id='T1'><table>"
        f"<tgroup>{head}<thead><row><entry namest='a' nameend='b'>TABLE 1</entry></row></thead>"
        "<tbody><row><entry namest='a' nameend='b' rowsep='1'/></row>"
        "<row><entry>Ex.</entry><entry>Yield</entry></row></tbody></tgroup>"
        f"<tgroup>{body}<tbody><row><entry/><entry>first</entry><entry>second</entry></row>"
        "<row><entry namest='a' nameend='c' rowsep='1'/></row>"
        "<row><entry>A</entry><entry>90</entry><entry>95</entry></row>"
        "<row><entry namest='a' nameend='c' rowsep='1'/></row>"
        "<row><entry namest='a' nameend='c'>*in percent</entry></row></tbody></tgroup>"
        "</table></tables> it.</p>"
    )
    document = _one(_grant(description=table))
    (found,) = document.tables
    assert found.label == "Table 1"
    assert found.column_paths == (("Ex.",), ("Yield", "first"), ("Yield", "second"))
    assert found.rows == (("A", "90", "95"),)
    notes = [b for b in document.blocks if b.kind is BlockKind.FOOTNOTE]
    assert [document.text[b.start : b.end] for b in notes] == ["*in percent"]


def test_formulas_are_characters_in_order() -> None:
    formula = (
        "<p>So <maths><math><mi>x</mi><mo>=</mo><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn>"
        "</mrow></mfrac><msup><mi>y</mi><mn>2</mn></msup></math><img file='M1.TIF'/></maths>.</p>"
    )
    assert "So x=a/(b+1)y^2 ." in _one(_grant(description=formula)).text


def test_a_design_patent_without_description_is_read() -> None:
    text = _grant(claims="<claims><claim><claim-text>The design.</claim-text></claim></claims>")
    text = text.replace(f"<description>{_DESCRIPTION}</description>", "")
    document = _one(text.replace("07123456", "D0701016").replace("B2", "S1"))
    assert document.identity is not None
    assert document.identity.key == "USD701016S1"
    assert _claims(document) == ["The design."]


def test_the_sgml_dialect_says_the_same_in_other_elements() -> None:
    document = _one(_PATDOC)
    assert document.identity is not None
    assert document.identity.key == "US6123456B1"
    assert document.metadata.authors == (Author("Doe", "Jo"),)
    assert [section.path for section in document.sections] == [
        (),
        ("Abstract",),
        ("Brief Summary",),
        ("FIELD",),
        ("Claims",),
    ]
    assert "Before a heading, N1" in document.text
    assert _claims(document) == ["1. A method: stirring."]


def test_greek_letters_of_the_sgml_are_letters() -> None:
    assert "Kits \u03b1gr \u03b2." in _one(_PATDOC).text


def test_the_dialect_of_2001_says_the_same_in_other_elements() -> None:
    document = _one(_EARLY)
    assert document.identity is not None
    assert document.identity.key == "US20010000001A1"
    assert document.sections[2].path == ("Summary of Invention",)
    assert "Summed 50." in document.text
    assert _claims(document) == ["1. A kit."]


def test_aps_text_says_the_same_in_tagged_lines() -> None:
    document = _one(_APS)
    assert document.identity is not None
    assert document.identity.key == "US5123456A"
    assert "Short, at 5\u00b0 C. and 10^6 of CH3." in document.text
    assert _claims(document) == ["1. A kit comprising: a vial.", "2. The kit of claim 1."]
    assert dict(document.metadata.properties)["priorities"] == "JP 3-1 1991-06-21"


def test_typewritten_tables_are_named_and_left_out_with_a_warning() -> None:
    document = _one(_APS)
    assert document.warnings == ("the cells of Table 1 are not read: it is typewritten",)
    assert "____" not in document.text


def test_aps_markup_of_charges_leaves_no_tag_behind() -> None:
    record = read_aps("PATN\nTTL  X.sub.2.sup..crclbar. of .alpha. and .Alpha.\n")
    assert record.value("PATN", "TTL") == "X2\u2296 of \u03b1 and \u0391"


def test_o1_documents_of_a_bulk_file_are_read_one_by_one() -> None:
    sequence = '<?xml version="1.0"?><sequence-cwu><x/></sequence-cwu>'
    bulk = (
        _grant() + sequence + _grant(number="07123457") + '<?xml version="1.0"?><us-patent-grant>'
    )
    outcome = _parse(bulk)
    assert [one.member for one in outcome.documents] == ["US7123456B2", "US7123457B2"]
    assert [(one.member, one.reason) for one in outcome.refusals] == [
        ("record-2", "not-a-patent"),
        ("record-4", "xml-syntax"),
    ]
    assert len({one.digest for one in outcome.documents}) == 2


def test_the_same_patent_twice_is_given_twice_under_one_key() -> None:
    outcome = _parse(_grant() + _grant())
    assert [one.member for one in outcome.documents] == ["US7123456B2"] * 2
    assert outcome.refusals == ()


def test_several_patents_of_an_aps_file_are_read_one_by_one() -> None:
    outcome = _parse(_APS + _APS.replace("051234567", "051234575"), "bulk.txt")
    assert [one.member for one in outcome.documents] == ["US5123456A", "US5123457A"]


def test_a_patent_with_a_thousand_pictures_is_not_taken_for_an_attack() -> None:
    entities = "".join(f'<!ENTITY P{n}.TIF SYSTEM "P{n}.TIF" NDATA TIF>\n' for n in range(1000))
    seen: list[bytes] = []

    def reader(source: Source) -> object:
        seen.append(source.data)
        return plain_xml(source)

    text = _PATDOC.replace('<!ENTITY P00001.TIF SYSTEM "P00001.TIF" NDATA TIF>', entities)
    parse(_source(text), FormatTools(reader))
    assert b"NDATA" not in seen[0]


def test_other_entities_reach_the_reader_that_refuses_them() -> None:
    seen: list[bytes] = []

    def reader(source: Source) -> object:
        seen.append(source.data)
        return plain_xml(source)

    text = _PATDOC.replace("<!ENTITY P0", '<!ENTITY bomb "boom">\n<!ENTITY P0')
    parse(_source(text), FormatTools(reader))
    assert b'<!ENTITY bomb "boom">' in seen[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<other/>", "not-a-patent"),
        ("<us-patent-grant/>", "no-text"),
        ("<us-patent-grant>", "xml-syntax"),
        ("PATN\nWKU  051234567\n", "no-text"),
        ("no patent at all", "no-records"),
    ],
)
def test_what_is_no_patent_is_refused_by_name(text: str, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _parse(text)
    assert caught.value.reason == reason


def test_patents_are_recognised_by_their_first_bytes() -> None:
    for text in (_grant(), _PATDOC, _EARLY):
        assert biomed_format_selector(_source(text)) == "patent"
    assert biomed_format_selector(_source(_APS, "a.txt")) == "patent"
    assert biomed_format_selector(_source("A note on PATN records", "a.txt")) is None
    assert biomed_format_selector(_source("<article>us-patent-grant</article>")) is None


@pytest.mark.parametrize(
    ("written", "number"),
    [("07997973", "7997973"), ("D0701016", "D701016"), ("RE043210", "RE43210"), ("000", "0")],
)
def test_numbers_lose_their_leading_zeros(written: str, number: str) -> None:
    assert patent_number(written) == number
