"""PubMed records: what is read, what is refused, what belongs to whom."""

import hashlib
import os
from pathlib import Path

import pytest

from eagle_rag.adapters.documents.pubmed import PubmedParser, _stream
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, SectionKind, Source

ARTICLE = """<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">101</PMID>
<Article><Journal><JournalIssue><Volume>7</Volume><Issue>2</Issue><PubDate>
<Year>2019</Year><Month>Mar</Month><Day>4</Day></PubDate></JournalIssue><Title>Lung Journal</Title>
</Journal><ArticleTitle>Area of 1.73 m<sup>2</sup> and CO<sub>2</sub> in <i>vivo</i></ArticleTitle>
<ELocationID EIdType="doi" ValidYN="Y">10.1000/OWN(1)&lt;5;A&gt;</ELocationID>{abstract}
<AuthorList CompleteYN="Y"><Author ValidYN="Y"><LastName>Meyer</LastName><ForeName>Anna B</ForeName>
<Suffix>Jr</Suffix><Identifier Source="ORCID">https://orcid.org/0000-0002-1825-0097</Identifier>
<AffiliationInfo><Affiliation>Clinic A.</Affiliation></AffiliationInfo>
<AffiliationInfo><Affiliation>Clinic B.</Affiliation></AffiliationInfo></Author>
<Author ValidYN="N"><LastName>Wrong</LastName></Author>
<Author ValidYN="Y"><CollectiveName>Trial Group</CollectiveName></Author></AuthorList>
<AuthorList Type="editors"><Author><LastName>Editor</LastName></Author></AuthorList>
<Language>eng</Language><GrantList><Grant><GrantID>R01</GrantID><Agency>NCI</Agency>
<Country>US</Country></Grant></GrantList><PublicationTypeList><PublicationType>Journal Article
</PublicationType></PublicationTypeList></Article>{links}
<MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">Lung</DescriptorName>
<QualifierName UI="Q1" MajorTopicYN="Y">pathology</QualifierName></MeshHeading></MeshHeadingList>
<KeywordList><Keyword>EGFR</Keyword><Keyword>EGFR</Keyword></KeywordList></MedlineCitation>
<PubmedData><History><PubMedPubDate PubStatus="received"><Year>2018</Year><Month>11</Month>
<Day>2</Day></PubMedPubDate></History><ArticleIdList><ArticleId IdType="pubmed">101</ArticleId>
<ArticleId IdType="pmc">PMC55</ArticleId><ArticleId IdType="pii">S1</ArticleId></ArticleIdList>
<ReferenceList><Reference><Citation>Doe J. Nature. 2001;4:5-6.</Citation><ArticleIdList>
<ArticleId IdType="doi">10.1000/other</ArticleId><ArticleId IdType="pubmed">77</ArticleId>
</ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"""

ABSTRACT = "<Abstract><AbstractText>Plain abstract with P&lt;0.001.</AbstractText></Abstract>"


def parse(body: str, *, wrap: str = "PubmedArticleSet") -> ParseOutcome:
    data = f'<?xml version="1.0"?><!DOCTYPE {wrap} SYSTEM "x.dtd"><{wrap}>{body}</{wrap}>'.encode()
    return PubmedParser().parse(Source("p.xml", data, hashlib.sha256(data).hexdigest(), "pubmed"))


def one(abstract: str = ABSTRACT, links: str = "") -> ParsedDocument:
    (document,) = parse(ARTICLE.format(abstract=abstract, links=links)).documents
    return document


def link(kind: str, pmid: str = "55") -> str:
    return (
        f'<CommentsCorrectionsList><CommentsCorrections RefType="{kind}"><RefSource>J. 2020;1:2'
        f"</RefSource><PMID>{pmid}</PMID></CommentsCorrections></CommentsCorrectionsList>"
    )


def test_front_matter_is_read_whole() -> None:
    found = one().metadata
    assert found.journal == "Lung Journal"
    assert (found.published, found.year) == ("2019-03-04", 2019)
    assert found.dates == (("received", "2018-11-02"),)
    assert (found.volume, found.issue, found.language) == ("7", "2", "eng")
    assert found.keywords == ("EGFR",)
    assert (found.grants[0].award, found.grants[0].agency) == ("R01", "NCI")


def test_a_descriptor_and_its_qualifier_carry_their_own_major_flag() -> None:
    (heading,) = one().metadata.mesh
    assert not heading.major
    assert heading.qualifiers[0].major


def test_a4_superscripts_of_numbers_are_marked_and_subscripts_stay_on_the_line() -> None:
    assert one().metadata.title == "Area of 1.73 m^2 and CO2 in vivo"


def test_a6_empty_and_repeated_labels_keep_all_parts() -> None:
    document = one(
        '<Abstract><AbstractText Label="">Opening.</AbstractText>'
        '<AbstractText Label="AIM">First.</AbstractText>'
        '<AbstractText Label="AIM">Second.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Third.</AbstractText></Abstract>'
    )
    assert document.text.split("\n\n")[1:] == [
        "Opening.",
        "AIM",
        "First.",
        "AIM",
        "Second.",
        "Third.",
    ]
    paths = [s.path for s in document.sections if s.kind is SectionKind.ABSTRACT]
    assert paths == [("Abstract",), ("Abstract", "AIM"), ("Abstract", "AIM")]


def test_a7_a_record_without_title_abstract_date_and_authors_is_a_record() -> None:
    (document,) = parse(
        "<PubmedArticle><MedlineCitation><PMID>9</PMID></MedlineCitation></PubmedArticle>"
    ).documents
    assert (document.member, document.text, document.metadata.year) == ("9", "", None)
    assert document.warnings


def test_a8_the_own_doi_is_whole_and_not_that_of_a_reference() -> None:
    document = one()
    assert document.metadata.ids.doi == "10.1000/own(1)<5;a>"
    assert document.metadata.ids.pmcid == "PMC55"
    assert document.references[0].doi == "10.1000/other"
    assert (document.references[0].pmid, document.references[0].year) == ("77", 2001)


def test_a9_all_affiliations_groups_but_no_editors() -> None:
    first, second = one().metadata.authors
    assert first.affiliations == ("Clinic A.", "Clinic B.")
    assert (first.given, first.orcid) == ("Anna B Jr", "0000-0002-1825-0097")
    assert second.group == "Trial Group"


@pytest.mark.parametrize(
    ("kind", "relation", "retracted"),
    [
        ("RetractionIn", "retracted_by", True),
        ("RetractionOf", "retraction_of", False),
        ("ErratumFor", "erratum_of", False),
        ("CorrectedandRepublishedIn", "republished_in", False),
        ("RetractedandRepublishedIn", "republished_in", True),
        ("AssociatedDataset", "related", False),
    ],
)
def test_a10_notes_become_relations(kind: str, relation: str, *, retracted: bool) -> None:
    found = one(links=link(kind)).metadata
    assert (found.related[0].relation, found.related[0].ids.pmid) == (relation, "55")
    assert found.retracted is retracted


def test_a10_deletion_lists_are_reported() -> None:
    outcome = parse("<DeleteCitation><PMID>5</PMID><PMID>6</PMID></DeleteCitation>")
    assert outcome.deleted_pmids == ("5", "6")


def test_citations_of_old_records_are_references_not_relations() -> None:
    citation = f"<MedlineCitation><PMID>3</PMID><Article/>{link('Cites', '44')}</MedlineCitation>"
    (document,) = parse(citation, wrap="MedlineCitationSet").documents
    assert document.metadata.related == ()
    assert document.references[0].pmid == "44"


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("1998 Dec-1999 Jan", "1998-12"),
        ("2000 Spring", "2000"),
        ("1976-1977", "1976"),
        ("2007 Aug 15-22", "2007-08-15"),
    ],
)
def test_medline_dates_give_their_first_date(written: str, iso: str) -> None:
    body = (
        "<PubmedArticle><MedlineCitation><PMID>9</PMID><Article><Journal><JournalIssue><PubDate>"
        f"<MedlineDate>{written}</MedlineDate></PubDate></JournalIssue></Journal></Article>"
        "</MedlineCitation></PubmedArticle>"
    )
    assert parse(body).documents[0].metadata.published == iso


def test_a_book_chapter_has_its_title_and_its_book_as_journal() -> None:
    body = (
        "<PubmedBookArticle><BookDocument><PMID>8</PMID><ArticleIdList><ArticleId"
        ' IdType="bookaccession">NBK1</ArticleId></ArticleIdList><Book><BookTitle>Genes</BookTitle>'
        "<PubDate><Year>1993</Year></PubDate></Book><ArticleTitle>Chapter</ArticleTitle>"
        "<Abstract><AbstractText>About it.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"
    )
    (document,) = parse(body).documents
    assert (document.metadata.title, document.metadata.journal) == ("Chapter", "Genes")
    assert document.metadata.ids.other == (("bookaccession", "NBK1"),)
    assert document.text == "Chapter\n\nAbout it."


def test_abstracts_in_other_languages_are_left_aside() -> None:
    foreign = '<OtherAbstract Language="ger"><AbstractText>Deutsch.</AbstractText></OtherAbstract>'
    summary = (
        '<OtherAbstract Type="plain-language-summary" Language="eng"><AbstractText>Simply.'
        "</AbstractText></OtherAbstract>"
    )
    text = one(links=foreign + summary).text
    assert "Deutsch" not in text
    assert text.endswith("Simply.")


def test_the_digest_of_a_record_does_not_depend_on_its_neighbours() -> None:
    alone = one()
    other = "<PubmedArticle><MedlineCitation><PMID>9</PMID></MedlineCitation></PubmedArticle>"
    both = parse(other + ARTICLE.format(abstract=ABSTRACT, links="")).documents
    assert both[1].digest == alone.digest
    assert both[0].digest != alone.digest


def test_of_two_versions_of_a_record_the_later_stands() -> None:
    old = "<PubmedArticle><MedlineCitation><PMID>101</PMID></MedlineCitation></PubmedArticle>"
    outcome = parse(old + ARTICLE.format(abstract=ABSTRACT, links=""))
    assert [d.metadata.journal for d in outcome.documents] == ["Lung Journal"]
    assert [(r.member, r.reason) for r in outcome.refusals] == [("101", "superseded")]


def test_g6_a_file_that_breaks_gives_the_records_before_the_break() -> None:
    data = b"<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID></MedlineCitation></PubmedArticle><Pubm"
    outcome = PubmedParser().parse(Source("p.xml", data, ""))
    assert [d.member for d in outcome.documents] == ["1"]
    assert [r.reason for r in outcome.refusals] == ["truncated"]


def test_records_are_dropped_while_streaming_so_that_memory_stays_bounded() -> None:
    record = ARTICLE.format(abstract=ABSTRACT, links="")
    data = f"<PubmedArticleSet>{record * 200}</PubmedArticleSet>".encode()
    kept = [len(parent) for e in _stream(data) if (parent := e.getparent()) is not None]
    assert len(kept) == 200
    assert max(kept) < 40  # libxml2 reads ahead by 32 KB


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b" \n", "empty"),
        (b"<PubmedArticleSet><Pub", "xml-syntax"),
        (b"<PubmedArticleSet/>", "no-records"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><PubmedArticleSet/>', "entity-declaration"),
    ],
)
def test_a12_what_cannot_be_read_is_refused_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        PubmedParser().parse(Source("p.xml", data, ""))
    assert caught.value.reason == reason


def test_other_xml_is_not_accepted() -> None:
    assert not PubmedParser().accepts(Source("a.xml", b"<article/>", ""))
    assert PubmedParser().accepts(Source("a.xml", b"<?xml?>\n<PubmedArticleSet>", ""))


def test_real_records_are_all_read() -> None:
    folder = os.environ.get("EAGLE_RAG_TEST_DATA")
    if not folder:
        pytest.skip("EAGLE_RAG_TEST_DATA names no folder with the unpacked data sets")
    total = 0
    for path in sorted(Path(folder, "pubmed_xml_mesh").rglob("*.xml")):
        outcome = PubmedParser().parse(Source(path.name, path.read_bytes(), ""))
        assert not outcome.refusals
        for document in outcome.documents:
            blocks = [document.text[b.start : b.end] for b in document.blocks]
            assert "\n\n".join(blocks) == document.text
        total += len(outcome.documents)
    assert total == 788


@pytest.mark.parametrize("number", ["\u00b2", "\u2460", "9" * 5000])
def test_g6_a_month_or_day_that_is_no_number_is_left_out(number: str) -> None:
    body = (
        "<PubmedArticle><MedlineCitation><PMID>9</PMID><Article><Journal><JournalIssue><PubDate>"
        f"<Year>2001</Year><Month>{{}}</Month><Day>{number}</Day></PubDate></JournalIssue></Journal>"
        "</Article></MedlineCitation></PubmedArticle>"
    )
    dates = [
        parse(body.format(month)).documents[0].metadata.published for month in ("Feb", number)
    ]
    assert dates == ["2001-02", "2001"]
