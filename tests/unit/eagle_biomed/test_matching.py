"""Where a name begins and ends, in which spellings it is found, and when a word is no name."""

from collections.abc import Sequence

import numpy as np
import pytest

from eagle_biomed.entity_names import key_of, normalise
from eagle_biomed.lexicon_guards import (
    ENGLISH_WORDS,
    guard_allows,
    lexicon_guard,
    ontology_guard,
)
from eagle_biomed.matching import FirstForms, Form, Matcher, count_parts, fingerprints_of


def _matcher(*names: str, loose: bool = True) -> Matcher:
    forms = []
    for name in names:
        normal = normalise(name)
        forms.append((normal, Form(name, normal.ties, loose=loose)))
    return Matcher([FirstForms(forms)])


def _found(text: str, *names: str, loose: bool = True) -> list[str]:
    return [text[hit.start : hit.end] for hit in _matcher(*names, loose=loose).hits(text)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("TNF-\u03b1", "TNF-alpha"),
        ("TNF-\u03b1", "TNF alpha"),
        ("TNF-\u03b1", "TNF\u03b1"),
        ("TNF-\u03b1", "TNFalpha"),
        ("TNF-\u03b1", "tnf\u2011ALPHA"),
        ("PD-L1", "PDL1"),
        ("PD-L1", "PD\u2011L1"),
        ("PD-L1", "PD L1"),
        ("PD-L1", "PD\u00adL1"),
        ("IL-6", "IL6"),
        ("IL-6", "IL 6"),
        ("IFN-\u03b3", "IFN gamma"),
        ("NF-\u03baB", "NF-kappa B"),
        ("NF-\u03baB", "NF-kappaB"),
        ("\u03b2-catenin", "beta-catenin"),
        ("\u03b2-catenin", "beta catenin"),
        ("µ-opioid receptor", "μ-opioid receptor"),
        ("non-small cell lung cancer", "Non-small-cell lung cancer"),
        ("non-small cell lung cancer", "nonsmall cell lung\ncancer"),
        ("Alzheimer's disease", "Alzheimer\u2019s disease"),
        ("Alzheimer's disease", "Alzheimers disease"),
        ("Sjögren syndrome", "Sjo\u0308gren syndrome"),
        ("Sjögren syndrome", "Sjogren syndrome"),
        ("EGFR", "\uff25\uff27\uff26\uff32"),
    ],
)
def test_c1_spellings_of_one_name_meet_in_either_direction(left: str, right: str) -> None:
    assert key_of(left) == key_of(right)
    assert _found(f"of {right}, in", left) == [right]


@pytest.mark.parametrize(
    ("name", "text"), [("PDL1", "PD-L1"), ("IL6", "IL-6"), ("cMet1", "c-Met1")]
)
def test_a_hyphen_that_the_name_lacks_is_allowed(name: str, text: str) -> None:
    assert _found(text, name) == [text]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("VEGFR is", "EGFR"),
        ("metastatic site", "MET"),
        ("IL-12 rose", "IL-1"),
        ("BRCA12", "BRCA1"),
        ("MAP2K1", "MAP2"),
        ("IL-6R", "IL-6"),
        ("BRAFV600E", "BRAF"),
        ("the in-s of", "INS"),
        ("in s of", "INS"),
        ("breastcancer", "breast cancer"),
        ("PD. L1", "PD-L1"),
        ("PD-\nL1", "PD-L1"),
        ("breast\n\ncancer", "breast cancer"),
        ("Fig 4", "FIG4"),
        ("IL-1-2", "IL-12"),
        ("IL-1 2", "IL-12"),
        ("alphabet", "alpha"),
        ("βcat", "CAT"),
        ("\u03b3EGFR", "EGFR"),
        ("hepatitis C met", "c-MET"),
        ("Group C\nKIT", "c-KIT"),
    ],
)
def test_c5_a_name_inside_or_across_words_is_not_found(text: str, name: str) -> None:
    assert _found(text, name) == []


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("VEGFR1 expression", "VEGFR", "VEGFR"),
        ("anti-EGFR", "EGFR", "EGFR"),
        ("EGFR-mutant", "EGFR", "EGFR"),
        ("EGFR's", "EGFR", "EGFR"),
        ("(EGFR)", "EGFR", "EGFR"),
        ("EGFR_mutation", "EGFR", "EGFR"),
        ("\u03b1PD-1", "PD-1", "PD-1"),
        ("TNF\u03b1", "TNF", "TNF"),
        ("PD-L1²³", "PD-L1", "PD-L1"),
        ("EGFR突变", "EGFR", "EGFR"),
        ("PD-1-positive", "PD-1", "PD-1"),
        ("CDK4/6 inhibitor", "CDK4/6", "CDK4/6"),
    ],
)
def test_c5_a_name_beside_what_is_no_letter_is_found(text: str, name: str, expected: str) -> None:
    assert _found(text, name) == [expected]


@pytest.mark.parametrize("text", ["VEGFR1", "TNF\u03b1", "IL-6", "\u03b1VEGFR"])
def test_a_name_of_a_lexicon_is_not_cut_at_a_digit_or_a_greek_letter(text: str) -> None:
    assert _found(text, "VEGFR", "TNF", "IL", loose=False) == []


def test_the_leftmost_then_the_longest_name_wins() -> None:
    text = "non-small cell lung cancer cells"
    names = ("lung cancer", "cancer", "small cell lung cancer", "non-small cell lung cancer")
    assert _found(text, *names) == ["non-small cell lung cancer"]


def test_a_shorter_name_is_found_where_the_longest_fails() -> None:
    assert _found("lung cancer\n\ncells", "lung cancer cells", "lung cancer") == ["lung cancer"]


def test_names_are_found_across_the_blocks_of_a_long_text() -> None:
    text = "word " * 8_000 + "TNF alpha " * 3 + "x" * 40_000 + " PD-L1"
    assert _found(text, "TNF-\u03b1", "PD-L1") == ["TNF alpha"] * 3 + ["PD-L1"]


def test_every_block_edge_finds_the_name() -> None:
    for filler in range(16_370, 16_390):
        assert _found("a" * (filler - 1) + " TNF-alpha b", "TNF-\u03b1") == ["TNF-alpha"], filler


def test_no_table_finds_nothing() -> None:
    assert Matcher([]).hits("EGFR") == ()
    assert _found("", "EGFR") == []


class _Colliding:
    """A table that knows a fingerprint and no name of it."""

    parts = 1
    fingerprints = np.sort(fingerprints_of(["egfr"]))

    def forms(self, fingerprint: int, key: str) -> Sequence[Form]:  # noqa: ARG002 - fits the port
        return ()


def test_a_known_fingerprint_without_its_name_is_no_hit() -> None:
    assert Matcher([_Colliding()]).hits("EGFR") == ()


def test_fingerprints_do_not_depend_on_the_batch() -> None:
    keys = [f"name{number}" for number in range(5_000)]
    alone = np.concatenate([fingerprints_of([key]) for key in keys[::500]])
    assert (fingerprints_of(keys)[::500] == alone).all()
    assert len(set(fingerprints_of(keys).tolist())) == len(keys)


def test_parts_count_where_a_shorter_name_could_end() -> None:
    assert count_parts(normalise("non-small cell lung cancer")) == 5
    assert count_parts(normalise("EGFR")) == 1


def _allowed(text: str, written: str, name: str, kind: str = "gene") -> bool:
    start = text.index(written)
    guard = ontology_guard(name, kind, marked=True)
    return guard_allows(guard, text, start, start + len(written))


@pytest.mark.parametrize(
    ("text", "written", "name", "expected"),
    [
        ("the patients met the criteria", "met", "MET", False),
        ("Met criteria were", "Met", "MET", False),
        ("THE PATIENTS MET CRITERIA", "MET", "MET", False),
        ("RESULTS MET ALL ENDPOINTS", "MET", "MET", False),
        ("a MET amplification", "MET", "MET", True),
        ("MET AMPLIFICATION IN CANCER", "MET", "MET", True),
        ("met amplification", "met", "MET", False),
        ("the Met kinase", "Met", "MET", True),
        ("HGF/Met signaling", "Met", "MET", True),
        ("Met kinase", "Met", "MET", False),
        ("It rose. Met kinase", "Met", "MET", False),
        ("in cells\nMet kinase", "Met", "MET", False),
        ("in cells (Met kinase)", "Met", "MET", True),
        ("the Met  kinase", "Met", "MET", False),
        ("the Met\nkinase", "Met", "MET", False),
        ("the Met-kinase", "Met", "MET", False),
        ("the Met - kinase", "Met", "MET", False),
        ("the Met Kinase", "Met", "MET", False),
        ("those who Met receptor criteria", "Met", "MET", False),
        ("the mET kinase", "mET", "MET", False),
        ("PATIENTS WHO MET RECEPTOR CRITERIA", "MET", "MET", False),
        ("MET RECEPTOR CRITERIA", "MET", "MET", False),
        ("β-CAT phosphorylation", "CAT", "CAT", False),
        ("beta-CAT phosphorylation", "CAT", "CAT", False),
        ("a CAT\nscan", "CAT", "CAT", False),
        ("MET", "MET", "MET", True),
        ("EGFR, MET, ALK", "MET", "MET", True),
        ("7.5 MET hours a week", "MET", "MET", False),
        ("MET-hours a week", "MET", "MET", False),
        ("a test kit", "kit", "KIT", False),
        ("its Kit receptor", "Kit", "KIT", True),
        ("a CAT scan of", "CAT", "CAT", False),
        ("CAT activity of", "CAT", "CAT", True),
        ("the cat was", "cat", "CAT", False),
    ],
)
def test_c5_a_word_is_a_gene_only_as_the_rule_says(
    text: str, written: str, name: str, *, expected: bool
) -> None:
    assert _allowed(text, written, name) is expected


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("children with ALL were", "ALL", True),
        ("ALL patients relapsed", "ALL", True),
        ("ALL PATIENTS WERE TREATED", "ALL", False),
        ("all patients were", "all", False),
        ("All mutations were", "All", False),
        ("T-cell ALL trial", "ALL", True),
        ("ALL MUTATIONS WERE TESTED", "ALL", False),
    ],
)
def test_c5_all_is_the_leukaemia_only_in_capitals(
    text: str, written: str, *, expected: bool
) -> None:
    assert _allowed(text, written, "ALL", "disease") is expected


def test_a_line_of_capitals_does_not_reach_over_the_line_end() -> None:
    text = "PATIENTS AND METHODS\nMET was measured in cells"
    start = text.rindex("MET")
    assert guard_allows(ontology_guard("MET", "gene", marked=True), text, start, start + 3)


@pytest.mark.parametrize("name", ["REST", "SET", "IMPACT", "CLOCK", "CAT", "STEP", "WAS"])
def test_gene_symbols_that_are_words_are_guarded_without_being_marked(name: str) -> None:
    assert name.lower() in ENGLISH_WORDS
    assert lexicon_guard(name, "gene").written == name
    assert ontology_guard(name, "gene", marked=False).written == name


@pytest.mark.parametrize(
    ("text", "expected"), [("lag3", True), ("Lag3", True), ("LAG-3", True), ("lag-3 days", False)]
)
def test_a_word_with_a_number_is_a_gene_when_written_as_one(text: str, *, expected: bool) -> None:
    guard = ontology_guard("LAG3", "gene", marked=False)
    assert guard_allows(guard, text, 0, len(text.removesuffix(" days"))) is expected


def test_short_names_of_lexica_count_only_as_written() -> None:
    guard = lexicon_guard("F8", "gene")
    assert guard_allows(guard, "F8 levels", 0, 2)
    assert not guard_allows(guard, "f8 levels", 0, 2)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("pain", "disease"), ("BRCA1", "gene"), ("titin", "gene"), ("Shock", "disease")],
)
def test_other_names_are_free(name: str, kind: str) -> None:
    assert lexicon_guard(name, kind).written == ""


def test_a_lexicon_gene_before_a_gene_word_still_needs_its_case() -> None:
    guard = lexicon_guard("WAS", "gene")
    assert not guard_allows(guard, "it was amplification of", 3, 6)
