"""Sections of JATS: full paths, kinds, captions apart, back matter, sub-articles."""

from collections.abc import Callable

import pytest

from eagle_rag.model.document import BlockKind, ParsedDocument, SectionKind

Parse = Callable[..., ParsedDocument]


def paths(document: ParsedDocument) -> list[tuple[str, ...]]:
    return [section.path for section in document.sections]


def kinds(document: ParsedDocument) -> list[str]:
    return [section.kind.value for section in document.sections]


def test_a1_a_paragraph_three_sections_deep_keeps_all_titles(parse_jats: Parse) -> None:
    document = parse_jats(
        "<sec><title>Methods</title><sec><title>Cohort</title><sec><title>Sequencing</title>"
        "<p>Deep.</p></sec></sec></sec>"
    )
    last = document.sections[document.blocks[-1].section]
    assert last.path == ("Methods", "Cohort", "Sequencing")
    assert last.kind is SectionKind.METHODS


@pytest.mark.parametrize(
    ("sec_type", "title", "kind"),
    [
        ("materials|methods", "What we did", SectionKind.METHODS),
        ("intro", "Results", SectionKind.INTRODUCTION),
        ("", "2. Materials and methods", SectionKind.METHODS),
        ("", "Materials\u00a0and\u00a0Methods", SectionKind.METHODS),
        ("", "Patients &amp; Methods", SectionKind.METHODS),
        ("", "Methods/Design", SectionKind.METHODS),
        ("", "Results and Discussion", SectionKind.RESULTS),
        ("", "Case presentation", SectionKind.RESULTS),
        ("", "IV. DISCUSSION", SectionKind.DISCUSSION),
        ("", "5 Conclusions", SectionKind.CONCLUSION),
        ("", "Background", SectionKind.INTRODUCTION),
        ("", "Authors\u2019 contributions", SectionKind.BACK),
        ("", "Background subtraction", SectionKind.BODY),
        ("subsection", "In vivo models", SectionKind.BODY),
    ],
)
def test_a_kind_comes_from_sec_type_then_from_the_title(
    parse_jats: Parse, sec_type: str, title: str, kind: SectionKind
) -> None:
    document = parse_jats(f'<sec sec-type="{sec_type}"><title>{title}</title><p>T.</p></sec>')
    assert document.sections[0].kind is kind


def test_a_subsection_has_its_parents_kind_unless_its_own_title_says_one(
    parse_jats: Parse,
) -> None:
    document = parse_jats(
        "<sec><title>Results</title><sec><title>Drug screening</title><p>A.</p></sec>"
        "<sec><title>Conclusions</title><p>B.</p></sec></sec>"
    )
    assert kinds(document) == ["results", "results", "conclusion"]


def test_a_heading_carries_its_number_and_the_path_does_not(parse_jats: Parse) -> None:
    document = parse_jats("<sec><label>2.1</label><title>Cohort</title><p>A.</p></sec>")
    assert document.text == "2.1 Cohort\n\nA."
    assert document.blocks[0].kind is BlockKind.HEADING
    assert paths(document) == [("Cohort",)]


def test_a6_labels_of_a_structured_abstract_are_section_titles(parse_jats: Parse) -> None:
    document = parse_jats(
        meta="<abstract><sec><title>Background</title><p>One.</p></sec><sec><title/><p>Two.</p>"
        "</sec><sec><title>Background</title><p>Three.</p></sec></abstract>"
    )
    assert document.text == "Background\n\nOne.\n\nTwo.\n\nBackground\n\nThree."
    assert [path for path in paths(document) if len(path) > 1] == [("Abstract", "Background")] * 2
    assert set(kinds(document)) == {"abstract"}


def test_every_kind_of_abstract_is_kept_under_its_title(parse_jats: Parse) -> None:
    document = parse_jats(
        meta='<abstract><p>Main.</p></abstract><abstract abstract-type="executive-summary">'
        "<title>Digest</title><p>Plain.</p></abstract>"
        "<trans-abstract><p>Autre.</p></trans-abstract>"
    )
    assert paths(document) == [("Abstract",), ("Digest",), ("Abstract",)]


def test_captions_are_sections_after_the_text_they_stand_in(parse_jats: Parse) -> None:
    document = parse_jats(
        "<sec><title>Results</title><p>Before<fig id='f1'><label>Figure 1.</label>"
        "<caption><title>Survival.</title><p>Curves.</p></caption></fig> after.</p><p>More.</p>"
        "<sec><title>Sub</title><p>Sub text.</p></sec></sec>"
    )
    assert document.text == (
        "Results\n\nBefore after.\n\nMore.\n\nFigure 1. Survival.\n\nCurves.\n\nSub\n\nSub text."
    )
    assert paths(document)[1] == ("Results", "Figure 1")
    assert kinds(document) == ["results", "caption", "results"]


def test_a_figure_points_to_its_caption(parse_jats: Parse) -> None:
    document = parse_jats(
        '<fig id="f1"><label>Figure 1.</label><caption><title>A.</title><p>B.</p></caption>'
        '<graphic xlink:href="f1.tif"/></fig>'
    )
    (figure,) = document.figures
    assert figure.caption is not None
    assert document.text[figure.caption.start : figure.caption.end] == "Figure 1. A.\n\nB."
    assert (figure.key, figure.label, figure.graphics) == ("f1", "Figure 1", ("f1.tif",))


def test_a7_figures_without_label_caption_or_id_are_records(parse_jats: Parse) -> None:
    document = parse_jats(
        '<fig><graphic xlink:href="a"/></fig><fig><label>Fig 2</label></fig><fig id="x"/>'
        '<fig id="x"><caption/></fig>'
    )
    assert [figure.key for figure in document.figures] == ["fig-1", "fig-2", "x", "x-2"]
    assert all(figure.caption is None for figure in document.figures)
    assert document.text == ""


def test_grouped_figures_and_supplements_have_captions_of_their_own(parse_jats: Parse) -> None:
    document = parse_jats(
        "<fig-group><fig><label>Figure 1</label><caption><p>Main.<supplementary-material>"
        "<label>Source data 1</label><caption><p>Data.</p></caption></supplementary-material></p>"
        "</caption></fig><fig><label>Figure 1s1</label><caption><p>More.</p></caption></fig>"
        "</fig-group><supplementary-material><media><label>File 1</label><caption><p>Zip.</p>"
        "</caption></media></supplementary-material>"
        "<media><label>Video 1</label><caption><p>Film.</p></caption></media>"
    )
    assert paths(document) == [
        ("Figure 1",),
        ("Figure 1", "Source data 1"),
        ("Figure 1s1",),
        ("File 1",),
        ("Video 1",),
    ]
    assert document.text.split("\n\n")[3] == "File 1 Zip."


def test_captions_of_the_floats_group_close_the_text(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>Body.</p>",
        back="<ack><p>Thanks.</p></ack>",
        rest="<floats-group><fig><label>Figure 1</label><caption><p>Cap.</p></caption></fig>"
        "</floats-group>",
    )
    assert document.text == "Body.\n\nThanks.\n\nFigure 1 Cap."


def test_boxed_text_is_a_section_with_its_label(parse_jats: Parse) -> None:
    document = parse_jats(
        "<boxed-text><label>Box 1</label><caption><title>Key points</title></caption>"
        "<p>Point.</p><sec><title>Methods</title><p>Inner.</p></sec></boxed-text>"
        "<boxed-text><label>Box 2</label><p>Bare.</p></boxed-text>"
    )
    assert document.text.startswith("Box 1 Key points\n\nPoint.")
    assert paths(document) == [("Key points",), ("Key points", "Methods"), ("Box 2",)]
    assert kinds(document) == ["boxed_text"] * 3


def test_back_matter_is_kept_and_the_bibliography_is_not(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>Body.</p>",
        back="<ack><p>Thanks.</p></ack><fn-group><title>Competing interests</title><fn><p>None."
        "</p></fn></fn-group><app-group><app><title>Appendix A</title><sec><title>Methods</title>"
        "<p>More.</p></sec></app></app-group><glossary><def-list><def-item><term>OS</term><def>"
        "<p>survival</p></def></def-item></def-list></glossary><notes><p>Note.</p></notes>"
        '<ref-list><title>References</title><ref id="r"><mixed-citation>Cited work'
        "</mixed-citation></ref></ref-list>",
    )
    assert paths(document)[1:] == [
        ("Acknowledgements",),
        ("Competing interests",),
        ("Appendix A",),
        ("Appendix A", "Methods"),
        ("Glossary",),
        ("Notes",),
    ]
    assert kinds(document)[1:] == [
        "acknowledgements", "footnote", "appendix", "appendix", "back", "back",
    ]  # fmt: skip
    assert "Cited work" not in document.text


def test_methods_in_the_back_are_methods(parse_jats: Parse) -> None:
    document = parse_jats(back="<sec><title>Methods</title><p>After the references.</p></sec>")
    assert kinds(document) == ["methods"]


def test_statements_of_the_front_page_close_the_text_once(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>Body.</p>",
        meta='<author-notes><fn fn-type="conflict"><p>No conflict.</p></fn>'
        '<fn fn-type="equal"><p>Equal.</p></fn></author-notes><funding-group>'
        "<funding-statement>Paid by X.</funding-statement></funding-group>",
        back="<notes><title>Conflict</title><p>No conflict.</p></notes>",
    )
    assert document.text == "Body.\n\nConflict\n\nNo conflict.\n\nPaid by X."


def test_sub_articles_are_sections_under_their_title(parse_jats: Parse) -> None:
    document = parse_jats(
        "<p>Body.</p>",
        rest='<sub-article article-type="reply"><front-stub><article-id pub-id-type="doi">'
        "10.5/sub</article-id><title-group><article-title>Decision letter</article-title>"
        "</title-group></front-stub><body><sec><title>Points</title><p>One.</p></sec></body>"
        '</sub-article><response response-type="reply"><body><p>Two.</p></body></response>',
    )
    assert document.text == "Body.\n\nDecision letter\n\nPoints\n\nOne.\n\nTwo."
    assert paths(document) == [
        (), ("Decision letter",), ("Decision letter", "Points"), ("Response",),
    ]  # fmt: skip
    assert document.metadata.ids.doi == ""


def test_a_record_without_body_prose_is_no_full_text(parse_jats: Parse) -> None:
    document = parse_jats(
        "<fig><caption><p>Only a caption.</p></caption></fig>",
        meta="<abstract><p>Abstract.</p></abstract>",
    )
    assert not document.full_text
    assert "the article has no text in its body" in document.warnings
