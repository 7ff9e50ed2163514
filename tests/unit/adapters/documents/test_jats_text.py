"""The canonical text of JATS: each paragraph once, one rule for superscripts, nothing eaten."""

from collections.abc import Callable

import pytest

from eagle_rag.model.document import BlockKind, ParsedDocument

Parse = Callable[..., ParsedDocument]
Texts = Callable[[ParsedDocument], list[str]]


def test_blocks_are_joined_by_one_blank_line(parse_jats: Parse) -> None:
    assert parse_jats("<p>One.</p>\n\n  <p>Two.</p>").text == "One.\n\nTwo."


def test_white_space_inside_a_block_folds_to_single_spaces(parse_jats: Parse) -> None:
    assert parse_jats("<p>\n One\n\t  two <italic> three</italic>\n</p>").text == "One two three"


@pytest.mark.parametrize(
    "character", ["\u00a0", "\u2009", "\u00ad", "\u2010", "\ufb01", "e\u0301"]
)
def test_c3_unusual_characters_stay_as_the_publisher_wrote_them(
    parse_jats: Parse, character: str
) -> None:
    assert parse_jats(f"<p>a{character}b</p>").text == f"a{character}b"


def test_no_break_spaces_are_trimmed_only_at_the_ends_of_a_block(parse_jats: Parse) -> None:
    assert parse_jats("<p>\u00a0a\u00a0 b\u2009</p>").text == "a\u00a0 b"


def test_a2_paragraphs_in_lists_boxes_and_body_appear_exactly_once(
    parse_jats: Parse, block_texts: Texts
) -> None:
    document = parse_jats(
        "<p>Direct.</p><sec><title>S</title><p>Before"
        "<list><list-item><p>Item one.</p><p>Item one more.</p></list-item></list>after."
        "<boxed-text><p>Boxed.</p></boxed-text> End.</p></sec>"
    )
    assert block_texts(document) == [
        "Direct.", "S", "Before", "Item one.", "Item one more.", "after. End.", "Boxed.",
    ]  # fmt: skip


def test_a2_a_nested_paragraph_is_a_block_of_its_own(
    parse_jats: Parse, block_texts: Texts
) -> None:
    assert block_texts(parse_jats("<p>Outer <p>inner.</p> rest.</p>")) == [
        "Outer", "inner.", "rest.",
    ]  # fmt: skip


def test_a2_text_directly_in_a_section_or_unknown_element_is_not_lost(
    parse_jats: Parse, block_texts: Texts
) -> None:
    document = parse_jats("<sec>Loose text.<p>Own.</p><novelty><p>New.</p></novelty></sec>")
    assert block_texts(document) == ["Loose text.", "Own.", "New."]


def test_a_list_label_stands_before_its_item(parse_jats: Parse) -> None:
    document = parse_jats(
        "<list><list-item><label>1.</label><p>First</p>"
        "<list><list-item><label>a)</label><p>Inner</p></list-item></list></list-item></list>"
        "<p>After.</p>"
    )
    assert document.text == "1. First\n\na) Inner\n\nAfter."
    assert [block.kind for block in document.blocks] == [
        BlockKind.LIST_ITEM, BlockKind.LIST_ITEM, BlockKind.PARAGRAPH,
    ]  # fmt: skip


def test_a_definition_list_gives_term_and_definition_together(parse_jats: Parse) -> None:
    document = parse_jats(
        "<def-list><def-item><term>OS</term><def><p>overall survival</p></def></def-item>"
        "<def-item><term>Alone</term></def-item></def-list>"
    )
    assert document.text == "OS overall survival\n\nAlone"


def test_quotes_verse_and_preformatted_text_are_kept(
    parse_jats: Parse, block_texts: Texts
) -> None:
    document = parse_jats(
        "<p>He said:<disp-quote><p>Quote.</p><attrib>Him</attrib></disp-quote> so.</p>"
        "<verse-group><verse-line>Line one</verse-line><verse-line>Line two</verse-line>"
        "</verse-group><preformat>x = 1\ny = 2</preformat>"
        "<speech><speaker>DR A</speaker><p>Yes.</p></speech>"
    )
    assert block_texts(document) == [
        "He said:", "Quote.", "Him", "so.", "Line one", "Line two", "x = 1 y = 2", "DR A Yes.",
    ]  # fmt: skip


def test_a4_superscript_and_space_survive(parse_jats: Parse) -> None:
    document = parse_jats("<p>60 ml/min/1.73 m<sup>2</sup> of surface</p>")
    assert document.text == "60 ml/min/1.73 m^2 of surface"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>6</sup>", "10^6"),
        ("10<sup>-3</sup>", "10^-3"),
        ("10<sup>\u22123</sup>", "10^\u22123"),
        ("10<sup>\u20133</sup>", "10^\u20133"),
        ("<sup>14</sup>C", "^14C"),
        ("Ca<sup>2+</sup>", "Ca^2+"),
        ("CD4<sup>+</sup>", "CD4+"),
        ("Trp53<sup>-/-</sup>", "Trp53-/-"),
        ("mutant<sup>a</sup>", "mutanta"),
        ("m<sup> 2</sup>", "m ^2"),
        ("m<sup><italic>2</italic></sup>", "m^2"),
        ("x<sup/>y", "xy"),
        ("H<sub>2</sub>O", "H2O"),
        ("IC<sub>50</sub>", "IC50"),
    ],
)
def test_a4_superscripts_and_subscripts_follow_one_rule(
    parse_jats: Parse, markup: str, text: str
) -> None:
    assert parse_jats(f"<p>{markup}</p>").text == text


def test_a5_nothing_is_eaten_between_an_escaped_sign_and_markup(parse_jats: Parse) -> None:
    document = parse_jats("<p>significant (P&lt;0.001) in <italic>TP53</italic> &amp; KRAS</p>")
    assert document.text == "significant (P<0.001) in TP53 & KRAS"


def test_a11_an_empty_display_formula_loses_nothing_after_it(parse_jats: Parse) -> None:
    document = parse_jats("<p>We set <disp-formula/> where x is one.</p>")
    assert document.text == "We set\n\nwhere x is one."


def test_a11_tex_beside_mathml_is_the_one_rendering(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>With <inline-formula><alternatives><mml:math><mml:mi>x</mml:mi></mml:math>"
        r"<tex-math>\documentclass{minimal}\begin{document}$$x^2$$\end{document}</tex-math>"
        '<inline-graphic xlink:href="a.gif"/></alternatives></inline-formula> we go on.</p>'
    )
    assert document.text == "With x^2 we go on."


def test_a11_a_tex_annotation_is_taken_instead_of_the_mathml(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>a <mml:math><mml:semantics><mml:mi>y</mml:mi><mml:annotation "
        r'encoding="application/x-tex">\frac{1}{y}</mml:annotation></mml:semantics></mml:math>'
        " b</p>"
    )
    assert document.text == r"a \frac{1}{y} b"


def test_a11_mathml_alone_gives_its_characters_in_order(parse_jats: Parse) -> None:
    document = parse_jats(
        "<disp-formula><label>(1)</label><mml:math>\n<mml:mi>k</mml:mi> <mml:mo>=</mml:mo>"
        "<mml:mfrac><mml:mn>1</mml:mn><mml:mrow><mml:mi>a</mml:mi><mml:mo>+</mml:mo>"
        "<mml:mi>b</mml:mi></mml:mrow></mml:mfrac><mml:mo>·</mml:mo>"
        "<mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>-</mml:mo><mml:mn>3</mml:mn></mml:mrow>"
        "</mml:msup><mml:msubsup><mml:mi>x</mml:mi><mml:mi>i</mml:mi><mml:mn>2</mml:mn>"
        "</mml:msubsup></mml:math></disp-formula>"
    )
    assert document.text == "k=1/(a+b)·10^-3xi^2 (1)"
    assert document.blocks[0].kind is BlockKind.FORMULA


def test_a11_tex_and_mathml_without_alternatives_give_one_rendering(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p><inline-formula><tex-math>$q$</tex-math><mml:math><mml:mi>q</mml:mi></mml:math>"
        "</inline-formula></p>"
    )
    assert document.text == "q"


def test_a_line_break_is_a_space(parse_jats: Parse) -> None:
    assert parse_jats("<p>one<break/>two</p>").text == "one two"


def test_a_float_in_a_paragraph_neither_splits_it_nor_joins_words(
    parse_jats: Parse, block_texts: Texts
) -> None:
    document = parse_jats(
        "<p>rows.<fig><label>Figure 1</label><caption><p>Cap.</p></caption></fig>Next.</p>"
    )
    assert block_texts(document) == ["rows. Next.", "Figure 1 Cap."]


def test_a_footnote_in_a_paragraph_follows_it_as_a_footnote(parse_jats: Parse) -> None:
    document = parse_jats("<p>Text<fn><label>a</label><p>Note.</p></fn> goes on.</p>")
    assert document.text == "Text goes on.\n\na Note."
    assert document.blocks[1].kind is BlockKind.FOOTNOTE


def test_cross_references_to_figures_stay_as_text(parse_jats: Parse) -> None:
    document = parse_jats('<p>See <xref ref-type="fig" rid="f1">Figure 1</xref>.</p>')
    assert document.text == "See Figure 1."
    assert document.citations == ()


def test_alternative_texts_ids_and_permissions_are_no_prose(parse_jats: Parse) -> None:
    document = parse_jats(
        "<fig><object-id>10.1/x</object-id><caption><p>Cap.</p></caption><alt-text>alt</alt-text>"
        "<long-desc>long</long-desc><permissions><license><p>CC</p></license></permissions></fig>"
    )
    assert document.text == "Cap."
