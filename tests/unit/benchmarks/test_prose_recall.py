"""The recall script must itself be trusted: it has to fail when a paragraph is lost or doubled."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "prose_recall.py"

ARTICLE = """<article><front><article-meta><abstract><sec><title>Aim</title>
<p>We asked whether EGFR T790M predicts response to osimertinib.</p></sec></abstract></article-meta>
</front><body><p>Directly in body.</p><sec><title>Methods</title>
<p>Area was 1.73 m<sup>2</sup> of skin [<xref ref-type="bibr">1</xref>,<xref ref-type="bibr">2</xref>]
and P&lt;0.001 by test.<list><list-item><p>First item of the nested list, long enough.</p></list-item>
</list>Text after the list.</p>
<table-wrap><caption><p>Caption of the table.</p></caption><table><tr><td><p>cell</p></td></tr></table>
</table-wrap></sec></body><back><ack><p>Thanks.</p></ack><ref-list><ref><p>Ref.</p></ref></ref-list>
</back></article>"""


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prose_recall", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose_recall"] = module
    spec.loader.exec_module(module)
    return module


script = load_script()

PASSAGES = [
    (0, "We asked whether EGFR T790M predicts response to osimertinib."),
    (100, "Directly in body."),
    (200, "Area was 1.73 m^2 of skin [1,2] and P<0.001 by test. Text after the list."),
    (300, "First item of the nested list, long enough."),
    (400, "Caption of the table."),
]


def check(passages: list[tuple[int, str]], article: str = ARTICLE) -> list[tuple[str, str]]:
    findings = script.check_document(script.read_paragraphs(article.encode()), passages)
    return [(finding.kind, finding.text[:20]) for finding in findings]


def test_every_paragraph_is_listed_once_with_its_own_text() -> None:
    texts = [p.text for p in script.read_paragraphs(ARTICLE.encode()) if p.required]
    assert texts == [
        "WeaskedwhetherEGFRT790Mpredictsresponsetoosimertinib.",
        "Directlyinbody.",
        "Areawas1.73m2ofskin[,]andP<0.001bytest.Textafterthelist.",
        "Firstitemofthenestedlist,longenough.",
        "Captionofthetable.",
    ]


def test_complete_passages_give_no_finding() -> None:
    assert check(PASSAGES) == []


def test_a_passage_boundary_inside_a_paragraph_is_no_loss() -> None:
    split = [*PASSAGES[:2], (200, "Area was 1.73 m^2 of skin [1,2]"), *PASSAGES[3:]]
    split.append((240, "and P<0.001 by test. Text after the list."))
    assert check(split) == []


@pytest.mark.parametrize("marker", ["", " [1,2]", "^1,2", " [1, 2]"])
def test_the_form_of_citation_markers_does_not_matter(marker: str) -> None:
    text = f"Area was 1.73 m^2 of skin{marker} and P<0.001 by test. Text after the list."
    assert check([*PASSAGES[:2], (200, text), *PASSAGES[3:]]) == []


@pytest.mark.parametrize("dropped", range(len(PASSAGES)))
def test_a_dropped_paragraph_is_missing(dropped: int) -> None:
    kept = [p for position, p in enumerate(PASSAGES) if position != dropped]
    assert [kind for kind, _ in check(kept)] == ["missing"]


def test_one_lost_character_is_a_missing_paragraph() -> None:
    damaged = [(start, text.replace("<0.001", "0.001")) for start, text in PASSAGES]
    assert check(damaged) == [("missing", "Areawas1.73m2ofskin[")]


def test_a_doubled_paragraph_is_a_duplicate() -> None:
    assert check([*PASSAGES, (500, PASSAGES[0][1])]) == [("duplicate", "WeaskedwhetherEGFRT7")]


def test_a_text_that_stands_twice_in_the_source_must_be_found_twice() -> None:
    twice = "<article><body><p>The same sentence.</p><p>The same sentence.</p></body></article>"
    assert check([(0, "The same sentence.")], twice) == [("missing", "Thesamesentence.")]
    assert check([(0, "The same sentence."), (20, "The same sentence.")], twice) == []


def test_a_paragraph_inside_a_longer_one_needs_a_place_of_its_own() -> None:
    article = (
        "<article><body><p>It works well.</p><p>Yes. It works well. Truly.</p></body></article>"
    )
    assert check([(0, "Yes. It works well. Truly.")], article) == [("missing", "Itworkswell.")]


def test_any_rendering_of_a_formula_is_accepted_and_the_text_after_it_required() -> None:
    article = (
        "<article><body><p>Let <inline-formula><tex-math>x^2</tex-math></inline-formula> be"
        " positive.</p></body></article>"
    )
    assert check([(0, "Let x squared be positive.")], article) == []
    assert check([(0, "Let x squared")], article) == [("missing", "Letbepositive.")]


def test_text_around_a_nested_block_may_stand_apart_but_not_be_lost() -> None:
    article = (
        "<article><body><p>Before the list.<list><list-item><p>Item one.</p></list-item></list>"
        "After the list.</p></body></article>"
    )
    assert check([(0, "Before the list. Item one. After the list.")], article) == []
    assert check([(0, "Before the list. Item one.")], article) == [
        ("missing", "Beforethelist.Aftert")
    ]


def test_the_room_of_a_formula_does_not_swallow_another_paragraph() -> None:
    formula = "<inline-formula><tex-math>x</tex-math></inline-formula>"
    article = f"<article><body><p>Let {formula} hold for all.</p><p>Let it be. Other.</p></body></article>"
    assert check([(0, "Let it be. Other. Let x hold for all.")], article) == []


def test_of_two_alike_the_one_with_the_marker_is_taken_by_the_paragraph_that_has_it() -> None:
    marked = 'Variance (<xref ref-type="bibr">Koller, 2005</xref>) was used.'
    article = f"<article><body><p>{marked}</p><p>Variance was used.</p></body></article>"
    passages = [(0, "Variance was used. Variance (Koller, 2005) was used.")]
    assert check(passages, article) == []


def test_a_text_that_is_a_title_too_is_no_duplicate() -> None:
    text = "Phosphorylated Rb is active during a DNA damage response."
    article = (
        f"<article><body><sec><title>{text}</title><p>{text}</p></sec></body></article>".encode()
    )
    paragraphs, passages = script.read_paragraphs(article), [(0, text), (99, text)]
    assert script.check_document(paragraphs, passages, script.read_titles(article)) == []
    assert script.check_document(paragraphs, passages, "") != []


def test_the_command_reads_dumps_and_fails_below_one_hundred_per_cent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.xml").write_text(ARTICLE, encoding="utf-8")
    rows = [json.dumps({"start": s, "end": s + len(t), "text": t}) for s, t in PASSAGES]
    dump = tmp_path / "one.jsonl"
    dump.write_text("\n".join(rows), encoding="utf-8")
    assert script.main([str(tmp_path), "--passages", str(tmp_path)]) == 0
    dump.write_text("\n".join(rows[1:]), encoding="utf-8")
    assert script.main([str(tmp_path), "--passages", str(tmp_path)]) == 1
    assert "recall      80.0000 %" in capsys.readouterr().out


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    assert script.main([str(tmp_path)]) == 2
