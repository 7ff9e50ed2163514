"""Front matter of JATS: the article's own ids, people, dates, licence, links, grants."""

from collections.abc import Callable

import pytest

from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.metadata import Author, Grant, Identifiers

Parse = Callable[..., ParsedDocument]


def test_a7_an_article_without_any_front_matter_is_a_record(parse_jats: Parse) -> None:
    document = parse_jats("<p>Text.</p>")
    assert document.text == "Text."
    assert document.metadata.title == ""
    assert document.metadata.year is None
    assert document.metadata.authors == ()
    assert "the article has no title" in document.warnings


def test_a8_the_articles_own_doi_is_taken_whole(parse_jats: Parse) -> None:
    document = parse_jats(
        meta='<article-id pub-id-type="doi">10.1002/(SICI)1097-0258(1998)17:15&lt;1661::AID'
        "-SIM968&gt;3.0.CO;2-2</article-id>"
        '<related-article ext-link-type="doi" xlink:href="10.9/other"/>',
        back='<ref-list><ref id="r"><element-citation><pub-id pub-id-type="doi">10.1000/ref'
        "</pub-id></element-citation></ref></ref-list>",
    )
    doi = "10.1002/(sici)1097-0258(1998)17:15<1661::aid-sim968>3.0.co;2-2"
    assert document.metadata.ids == Identifiers(doi=doi)


def test_a13_ids_have_normal_forms_and_others_are_kept(parse_jats: Parse) -> None:
    document = parse_jats(
        meta='<article-id pub-id-type="pmid">0123</article-id><article-id pub-id-type="pmc">77'
        '</article-id><article-id pub-id-type="doi">https://doi.org/10.1000/ABC</article-id>'
        '<article-id pub-id-type="publisher-id">p-1</article-id>'
        '<article-id pub-id-type="pmcaid">77</article-id>'
    )
    other = (("pmcaid", "77"), ("publisher-id", "p-1"))
    assert document.metadata.ids == Identifiers("123", "PMC77", "10.1000/abc", other)


def test_a_title_follows_the_rule_of_the_text_and_keeps_its_subtitle(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<title-group><article-title>CD8<sup>+</sup> at 10<sup>6</sup></article-title>"
        "<subtitle>A trial</subtitle></title-group>"
    )
    assert document.metadata.title == "CD8+ at 10^6: A trial"
    assert document.text == "CD8+ at 10^6\n\nA trial"


def test_a9_all_affiliations_groups_and_no_editors(parse_jats: Parse) -> None:
    document = parse_jats(
        meta='<contrib-group><contrib contrib-type="author"><name><surname>Doe</surname>'
        "<given-names>Jane</given-names></name><contrib-id contrib-id-type='orcid'>"
        "https://orcid.org/0000-0002-1825-0097</contrib-id><xref ref-type='aff' rid='a1'/>"
        "<xref ref-type='aff' rid='a2 a3'/></contrib><contrib contrib-type='author'><collab>"
        "The Group<contrib-group><contrib contrib-type='author'><name><surname>Member</surname>"
        "</name></contrib></contrib-group></collab></contrib></contrib-group>"
        "<contrib-group><contrib contrib-type='editor'><name><surname>Boss</surname></name>"
        "</contrib></contrib-group><aff id='a1'><label>1</label><institution>Uni</institution>"
        "<city>Town</city></aff><aff id='a2'><sup>2</sup>Clinic, City</aff>"
        "<aff id='a3'><institution-wrap><institution-id>grid.1</institution-id><institution>Lab"
        "</institution></institution-wrap>, <country>France</country></aff>"
    )
    affiliations = ("Uni, Town", "Clinic, City", "Lab, France")
    assert document.metadata.authors == (
        Author("Doe", "Jane", "", "0000-0002-1825-0097", affiliations),
        Author(group="The Group"),
    )


def test_affiliations_nobody_points_to_belong_to_everyone(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<contrib-group><contrib><string-name>Madonna</string-name></contrib>"
        "<contrib><name-alternatives><name><surname>Li</surname><given-names>Q</given-names>"
        "</name><name><surname>\u674e</surname></name></name-alternatives></contrib>"
        "<aff>Uni</aff></contrib-group>"
    )
    assert document.metadata.authors == (
        Author("Madonna", affiliations=("Uni",)),
        Author("Li", "Q", affiliations=("Uni",)),
    )


def test_an_affiliation_inside_a_contributor_is_theirs_alone(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<contrib-group><contrib><name><surname>A</surname></name><aff>One</aff></contrib>"
        "<contrib><name><surname>B</surname></name></contrib></contrib-group>"
    )
    assert [author.affiliations for author in document.metadata.authors] == [("One",), ()]


@pytest.mark.parametrize(
    ("dates", "published"),
    [
        (("<pub-date pub-type='epub'><day>9</day><month>3</month><year>2021</year></pub-date>"
         "<pub-date pub-type='ppub'><year>2020</year></pub-date>"), "2021-03-09"),
        ("<pub-date pub-type='collection'><year>2019</year></pub-date>", "2019"),
        (("<pub-date date-type='pub' publication-format='electronic' "
         "iso-8601-date='2018-02-21'/>"), "2018-02-21"),
        ("<pub-date pub-type='ppub'><month>Feb</month><year>2004</year></pub-date>", "2004-02"),
        ("<pub-date><month>13</month><day>40</day><year>2004</year></pub-date>", "2004"),
        ("<pub-date><day>40</day><month>1</month><year>2004</year></pub-date>", "2004-01"),
        ("<pub-date><string-date>Spring 1999</string-date></pub-date>", "1999"),
        ("<pub-date><year>n.d.</year></pub-date>", ""),
    ],
)  # fmt: skip
def test_the_publication_date_is_as_precise_as_stated(
    parse_jats: Parse, dates: str, published: str
) -> None:
    metadata = parse_jats(meta=dates).metadata
    assert metadata.published == published
    assert metadata.year == (int(published[:4]) if published else None)


def test_other_dates_keep_their_kind(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<pub-date pub-type='epub'><year>2021</year></pub-date>"
        "<pub-date pub-type='ppub'><year>2022</year></pub-date><history>"
        "<date date-type='received'><day>1</day><month>11</month><year>2020</year></date></history>"
    )
    assert document.metadata.dates == (("ppub", "2022"), ("received", "2020-11-01"))


@pytest.mark.parametrize(
    ("markup", "licence"),
    [
        ('<license xlink:href="http://creativecommons.org/licenses/by/4.0/"/>', "CC BY 4.0"),
        (("<license><ali:license_ref>https://creativecommons.org/licenses/by-nc-nd/3.0/igo"
         "</ali:license_ref></license>"), "CC BY-NC-ND 3.0"),
        (("<license><license-p>Free under <ext-link xlink:href='https://creativecommons.org/"
         "publicdomain/zero/1.0/'>this</ext-link>.</license-p></license>"), "CC0"),
        ('<license xlink:href="https://creativecommons.org/publicdomain/mark/1.0/"/>', "PDM"),
        ('<license xlink:href="https://example.org/terms"/>', "https://example.org/terms"),
        ("<license><license-p>All mine.</license-p></license>", "All mine."),
        ("<copyright-statement>(c) Us</copyright-statement>", "(c) Us"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_licence_is_a_code_where_the_address_says_so(
    parse_jats: Parse, markup: str, licence: str
) -> None:
    meta = f"<permissions>{markup}</permissions>"
    assert parse_jats(meta=meta).metadata.licence == licence


def test_a_licence_outside_permissions_is_found(parse_jats: Parse) -> None:
    meta = '<license xlink:href="http://creativecommons.org/licenses/by/2.0"/>'
    assert parse_jats(meta=meta).metadata.licence == "CC BY 2.0"


@pytest.mark.parametrize(
    ("kind", "relation"),
    [
        ("retracted-article", "retraction_of"),
        ("corrected-article", "erratum_of"),
        ("correction-forward", "erratum_in"),
        ("commentary-article", "comment_on"),
        ("object-of-concern", "expression_of_concern_for"),
        ("republished-article", "republished_from"),
        ("preprint", "has_preprint"),
        ("companion", "related"),
    ],
)
def test_a10_related_articles_have_normal_relations(
    parse_jats: Parse, kind: str, relation: str
) -> None:
    (link,) = parse_jats(
        meta=f'<related-article related-article-type="{kind}" ext-link-type="doi" '
        'xlink:href="10.1000/X"/>'
    ).metadata.related
    assert (link.relation, link.source_type, link.ids.doi) == (relation, kind, "10.1000/x")


@pytest.mark.parametrize(
    ("kind", "href", "ids"),
    [
        ("pmid", "123", Identifiers(pmid="123")),
        ("pmc", "PMC5", Identifiers(pmcid="PMC5")),
        ("uri", "https://doi.org/10.1000/y", Identifiers(doi="10.1000/y")),
        ("uri", "https://example.org", Identifiers()),
    ],
)
def test_related_articles_are_known_by_any_id(
    parse_jats: Parse, kind: str, href: str, ids: Identifiers
) -> None:
    meta = f'<related-article ext-link-type="{kind}" xlink:href="{href}"/>'
    assert parse_jats(meta=meta).metadata.related[0].ids == ids


def test_e1_the_preprint_of_the_publication_history_is_related(parse_jats: Parse) -> None:
    (link,) = parse_jats(
        meta='<pub-history><event><date date-type="preprint"><year>2020</year></date>'
        '<self-uri xlink:href="https://doi.org/10.1101/1"/></event></pub-history>'
    ).metadata.related
    assert (link.relation, link.ids.doi) == ("has_preprint", "10.1101/1")


@pytest.mark.parametrize(
    ("meta", "attributes", "retracted"),
    [
        ("<title-group><article-title>RETRACTED: A paper</article-title></title-group>", "", True),
        ('<related-article related-article-type="retraction-forward"/>', "", True),
        (("<article-categories><subj-group><subject>Retracted Article</subject></subj-group>"
         "</article-categories>"), "", True),
        ("", 'article-type="retracted-article"', True),
        ('<related-article related-article-type="retracted-article"/>',
         'article-type="retraction"', False),
        ("<title-group><article-title>Retracted nails</article-title></title-group>", "", False),
    ],
)  # fmt: skip
def test_f1_a_paper_that_says_so_is_retracted_and_the_notice_is_not(
    parse_jats: Parse, meta: str, attributes: str, *, retracted: bool
) -> None:
    assert parse_jats(meta=meta, attributes=attributes).metadata.retracted is retracted


def test_f1_a_partial_retraction_does_not_retract(parse_jats: Parse) -> None:
    (link,) = parse_jats(
        meta='<related-article related-article-type="retracted-article"/>',
        attributes='article-type="partial-retraction"',
    ).metadata.related
    assert link.relation == "erratum_of"


def test_grants_name_every_award_with_its_agency(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<funding-group><award-group><funding-source country='US'><institution-wrap>"
        "<institution-id>x</institution-id><institution>NIH</institution></institution-wrap>"
        "</funding-source><award-id>R01</award-id><award-id>R02</award-id></award-group>"
        "<award-group><funding-source>Charity</funding-source></award-group></funding-group>"
        "<contract-num>C1</contract-num><contract-sponsor>EU</contract-sponsor>"
    )
    assert document.metadata.grants == (
        Grant("R01", "NIH", "US"),
        Grant("R02", "NIH", "US"),
        Grant("", "Charity"),
        Grant("C1", "EU"),
    )


def test_the_rest_of_the_front_matter(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<volume>9</volume><issue>2</issue><fpage>10</fpage><lpage>19</lpage><kwd-group>"
        "<kwd>EGFR</kwd><kwd><italic>KRAS</italic></kwd><kwd>EGFR</kwd></kwd-group>",
        attributes='article-type="case-report" xml:lang="en"',
    )
    metadata = document.metadata
    assert (metadata.volume, metadata.issue, metadata.pages) == ("9", "2", "10-19")
    assert metadata.keywords == ("EGFR", "KRAS")
    assert (metadata.article_type, metadata.language) == ("case-report", "en")
