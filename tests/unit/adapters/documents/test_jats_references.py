"""Bibliography and citation markers of JATS."""

from collections.abc import Callable

import pytest

from eagle_rag.model.document import ParsedDocument, Reference

Parse = Callable[..., ParsedDocument]


def ref_list(*refs: str) -> str:
    return f"<ref-list>{''.join(refs)}</ref-list>"


def numbered(count: int) -> str:
    return ref_list(
        *(
            f'<ref id="r{n}"><label>{n}</label><mixed-citation>W{n}</mixed-citation></ref>'
            for n in range(1, count + 1)
        )
    )


def mark(number: int, text: str = "") -> str:
    return f'<xref ref-type="bibr" rid="r{number}">{text or number}</xref>'


def cited(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(document.text[c.start : c.end], " ".join(c.references)) for c in document.citations]


def one(parse_jats: Parse, ref: str) -> Reference:
    (reference,) = parse_jats(back=ref_list(ref)).references
    return reference


def test_a_tagged_citation_gives_all_its_parts(parse_jats: Parse) -> None:
    reference = one(
        parse_jats,
        '<ref id="bib1"><label>1</label><element-citation><person-group><name><surname>Doe'
        "</surname><given-names>J</given-names></name></person-group><article-title>Role of "
        "<italic>TP53</italic>-loss</article-title><source>Nature</source><year>2012a</year>"
        '<volume>3</volume><fpage>1</fpage><pub-id pub-id-type="pmid">12345</pub-id>'
        '<pub-id pub-id-type="pmcid">PMC77</pub-id><pub-id pub-id-type="doi">10.1000/A(1)</pub-id>'
        "</element-citation></ref>",
    )
    assert reference == Reference(
        "bib1", "1", "Doe J Role of TP53-loss Nature 2012a 3 1 12345 PMC77 10.1000/A(1)",
        "Role of TP53-loss", 2012, "12345", "PMC77", "10.1000/a(1)",
    )  # fmt: skip


def test_a_mixed_citation_keeps_its_punctuation(parse_jats: Parse) -> None:
    reference = one(
        parse_jats,
        "<ref><mixed-citation><name><surname>Li</surname><given-names>S</given-names></name>"
        "<name><surname>Wu</surname><given-names>M</given-names></name>. <article-title>A title"
        "</article-title>. <source>J</source> <year>2014</year>;<volume>26</volume>:4.PMID: 2471649"
        "</mixed-citation></ref>",
    )
    assert reference.raw == "Li S Wu M. A title. J 2014;26:4.PMID: 2471649"
    assert (reference.key, reference.pmid, reference.year) == ("ref-1", "2471649", 2014)


@pytest.mark.parametrize(
    "markup",
    [
        '<ext-link ext-link-type="doi" xlink:href="https://doi.org/10.1000/xyz">link</ext-link>',
        "<comment>doi: <pub-id pub-id-type='doi'>10.1000/xyz</pub-id></comment>",
        "in print. doi:10.1000/xyz.",
        "https://dx.doi.org/10.1000/XYZ",
    ],
)
def test_a_doi_is_found_however_it_is_written(parse_jats: Parse, markup: str) -> None:
    reference = one(parse_jats, f"<ref><mixed-citation>Work {markup}</mixed-citation></ref>")
    assert reference.doi == "10.1000/xyz"


def test_a_book_is_named_by_its_source(parse_jats: Parse) -> None:
    reference = one(
        parse_jats, "<ref><element-citation><source>Big Book</source></element-citation></ref>"
    )
    assert reference.title == "Big Book"
    assert reference.year is None


@pytest.mark.parametrize("tag", ["citation", "nlm-citation"])
def test_older_kinds_of_citation_are_read(parse_jats: Parse, tag: str) -> None:
    markup = f"<ref id='a'><{tag}><article-title>T</article-title></{tag}></ref>"
    assert one(parse_jats, markup).title == "T"


def test_a_reference_that_is_only_a_note_keeps_its_text(parse_jats: Parse) -> None:
    reference = one(
        parse_jats, '<ref id="n1"><label>3</label><note><p>Unpublished.</p></note></ref>'
    )
    assert (reference.key, reference.label, reference.raw) == ("n1", "3", "Unpublished.")


def test_renderings_of_one_citation_are_one_reference(parse_jats: Parse) -> None:
    reference = one(
        parse_jats,
        '<ref id="a"><citation-alternatives><mixed-citation>X</mixed-citation><element-citation>'
        "<article-title>T</article-title></element-citation></citation-alternatives></ref>",
    )
    assert reference.title == "T"


def test_a_marker_of_several_citations_cites_them_all(parse_jats: Parse) -> None:
    document = parse_jats(
        '<p>Shown <xref ref-type="bibr" rid="r1">1</xref>.</p>',
        back=ref_list(
            '<ref id="r1"><mixed-citation>A</mixed-citation><mixed-citation id="r1b">B'
            "</mixed-citation></ref>"
        ),
    )
    assert [reference.key for reference in document.references] == ["r1", "r1b"]
    assert cited(document) == [("1", "r1 r1b")]


def test_markers_stay_in_the_text_and_carry_their_reference(parse_jats: Parse) -> None:
    document = parse_jats(
        f"<p>As shown [{mark(1)}, {mark(2)}] and by {mark(3, 'Doe et al., 2010')}.</p>",
        back=numbered(3),
    )
    assert document.text == "As shown [1, 2] and by Doe et al., 2010."
    assert cited(document) == [("1", "r1"), ("2", "r2"), ("Doe et al., 2010", "r3")]


@pytest.mark.parametrize("dash", ["-", "\u2013", " \u2013 ", "]\u2013["])
def test_a_range_of_two_markers_cites_everything_between(parse_jats: Parse, dash: str) -> None:
    document = parse_jats(f"<p>Shown [{mark(2)}{dash}{mark(4)}].</p>", back=numbered(5))
    assert cited(document) == [(f"2{dash}4", "r2 r3 r4")]


def test_a_range_inside_one_marker_cites_everything_between(parse_jats: Parse) -> None:
    marker = mark(2, "[2\u20134]")
    document = parse_jats(f"<p>Shown {marker}.</p>", back=numbered(5))
    assert cited(document) == [("[2\u20134]", "r2 r3 r4")]


def test_a_list_of_targets_cites_each(parse_jats: Parse) -> None:
    document = parse_jats('<p>x <xref rid="r1 r9 r3">1,3</xref></p>', back=numbered(3))
    assert cited(document) == [("1,3", "r1 r3")]


def test_names_joined_by_a_dash_are_no_range(parse_jats: Parse) -> None:
    document = parse_jats(f"<p>{mark(1, 'Doe 2001')}-{mark(3, 'Roe')}</p>", back=numbered(3))
    assert cited(document) == [("Doe 2001", "r1"), ("Roe", "r3")]


def test_superscript_markers_follow_the_rule_of_superscripts(parse_jats: Parse) -> None:
    document = parse_jats(
        f"<p>resistance<sup>{mark(1)},{mark(2)}</sup> and "
        '<xref ref-type="bibr" rid="r3"><sup>3</sup></xref>.</p>',
        back=numbered(3),
    )
    assert document.text == "resistance^1,2 and ^3."
    assert cited(document) == [("1", "r1"), ("2", "r2"), ("^3", "r3")]


def test_a_marker_starts_and_ends_without_white_space(parse_jats: Parse) -> None:
    first, blank = mark(1, " [1]\n"), mark(2, " ")
    document = parse_jats(f"<p>a{first}b {blank}c</p>", back=numbered(2))
    assert document.text == "a [1] b c"
    assert cited(document) == [("[1]", "r1")]


def test_markers_in_captions_titles_and_labels_are_at_their_place(parse_jats: Parse) -> None:
    document = parse_jats(
        f"<sec><label>1</label><title>After {mark(1)}</title><fig><label>Figure 1</label>"
        f"<caption><p>From {mark(2)}.</p></caption></fig></sec>",
        back=numbered(2),
    )
    assert document.text == "1 After 1\n\nFigure 1 From 2."
    assert cited(document) == [("1", "r1"), ("2", "r2")]


def test_a_marker_without_an_entry_is_text_and_a_warning(parse_jats: Parse) -> None:
    document = parse_jats(f"<p>x {mark(7)}</p>", back=numbered(1))
    assert document.text == "x 7"
    assert document.citations == ()
    assert "1 citation markers name no entry of the bibliography" in document.warnings


def test_keys_are_unique_where_ids_repeat(parse_jats: Parse) -> None:
    ref = '<ref id="a"><mixed-citation>X</mixed-citation></ref>'
    document = parse_jats(back=ref_list(ref, ref))
    assert [reference.key for reference in document.references] == ["a", "a-2"]
