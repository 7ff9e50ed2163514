"""Every formula of the query side, against numbers worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_biomed.entities import Ontology, open_ontology
from eagle_biomed.profiles_weights import DEFAULT_WEIGHTS, Weights
from eagle_biomed.scoring import (
    Evidence,
    boost_terms,
    cross_drug_penalty,
    entity_boost_score,
    entity_match_score,
    fused_score,
    lexical_overlap,
    names_any,
    normalise,
    parse_primary_drugs,
    profile_weights,
    section_match_score,
    supplement_score,
)
from eagle_rag.errors import ConfigurationError, InvalidInput

IMATINIB = ("imatinib", "Gleevec", "STI571", "imatinib mesylate")
FRUQUINTINIB = ("fruquintinib", "HMPL-013", "Fruzaqla", "Elunate")


@pytest.fixture(scope="module")
def names() -> Ontology:
    """The ontology that ships."""
    return open_ontology({})


@pytest.mark.parametrize(
    ("evidence", "boost"),
    [
        (Evidence(), 0.0),
        (Evidence(primary_drugs=("imatinib",)), 1.0),
        (Evidence(primary_drugs=("nilotinib", "Imatinib")), 1.0),
        (Evidence(primary_drugs=("nilotinib",)), 0.0),
        (Evidence(primary_drugs=("nilotinib",), blob="label_imatinib.xml"), 0.5),
        (Evidence(blob="label_imatinib.xml"), 0.5),
        (Evidence(blob="indications > gleevec tablets"), 0.5),
        (Evidence(blob="file:///sti-571/paper.xml"), 0.5),
        (Evidence(blob="preimatinibs.xml"), 0.0),
        (Evidence(text="imatinib"), 0.0),
        (Evidence(primary_drugs=("imatinib",), blob="imatinib"), 1.0),
    ],
)
def test_entity_boost(evidence: Evidence, boost: float) -> None:
    assert entity_boost_score(evidence, IMATINIB) == boost


@pytest.mark.parametrize(
    ("evidence", "match"),
    [
        (Evidence(), 0.0),
        (Evidence(primary_drugs=("imatinib",)), 1.0),
        (Evidence(blob="label_imatinib.xml"), 0.75),
        (Evidence(text="Patients took Gleevec daily."), 0.75),
        (
            Evidence(text="." * 504 + "imatinib"),
            0.75,
        ),  # 504 + 8 = 512: its last letter is the last
        (Evidence(text="." * 505 + "imatinib"), 0.0),
        (
            Evidence(text="." * 504 + "imatinibs"),
            0.0,
        ),  # no name, although the cut would make it one
        (Evidence(primary_drugs=("nilotinib",), text="nilotinib after imatinib"), 0.75),
        (Evidence(text="Nilotinib."), 0.0),
    ],
)
def test_entity_match(evidence: Evidence, match: float) -> None:
    assert entity_match_score(evidence, IMATINIB) == match


@pytest.mark.parametrize(
    ("score", "evidence"),
    [
        (1.0, Evidence(primary_drugs=("fruquintinib",))),
        (0.75, Evidence(blob="label_fruquintinib.xml")),
        (0.75, Evidence(text="fruquintinib after two lines of therapy")),
        (0.75, Evidence(text="HMPL013 was given")),
        (0.75, Evidence(text="ELUNATE (China)")),
        (0.0, Evidence(primary_drugs=("surufatinib",), text="surufatinib")),
    ],
)
@pytest.mark.parametrize("query", ["HMPL-013", "Fruzaqla safety", "fruquintinib"])
def test_a_drug_by_code_or_brand_meets_its_generic(
    query: str, score: float, evidence: Evidence, names: Ontology
) -> None:
    assert entity_match_score(evidence, boost_terms(query, names)) == score


@pytest.mark.parametrize("query", ["AZD9291", "Tagrisso"])
def test_osimertinib_is_asked_for_by_any_name(query: str, names: Ontology) -> None:
    drugs = boost_terms(query, names)
    assert drugs[0] == "osimertinib"
    assert {"AZD9291", "Tagrisso"} <= set(drugs)


def test_named_drugs_come_first_and_are_not_joined_by_relatives(names: Ontology) -> None:
    drugs = boost_terms("everolimus and EGFR with imatinib", names)
    assert drugs[:2] == ("everolimus", "imatinib")
    assert not {"sirolimus", "temsirolimus", "osimertinib"} & set(drugs)


def test_without_a_drug_six_relatives_of_each_entity_stand_for_it(names: Ontology) -> None:
    """EGFR has eight related drugs in the ontology; the last two are left out."""
    related = names.resolve_entity("EGFR").related_drugs
    assert len(related) == 8
    drugs = boost_terms("EGFR resistance", names)
    assert drugs[:6] == related[:6]
    assert not set(related[6:]) & set(drugs)
    assert boost_terms("headache", names) == ()


@pytest.mark.parametrize(
    ("text", "drug", "found"),
    [
        ("nibble", "nib", False),
        ("anib", "nib", False),
        ("a nib.", "nib", True),
        ("nib-resistant", "nib", True),
        ("nib_2.pdf", "nib", True),
        ("NIB", "nib", True),
        ("STI571", "STI57", False),
        ("STI571A", "STI571", True),
        ("HMPL 013", "HMPL-013", True),
        ("HMPL\u2011013", "HMPL-013", True),
        ("HMPL013", "HMPL-013", True),
        ("HMPL0134", "HMPL-013", False),
        ("EMD1214063", "EMD 1214063", True),
        ("imatinib\nmesylate", "imatinib mesylate", True),
        ("AZD 9291", "AZD9291", True),
        ("drug 12-34", "12 34", True),
        ("drug 1234", "12 34", False),
        ("c.met", "cxmet", False),
        ("cxmet", "c.met", False),
        ("anything", "", False),
        ("anything", " - ", False),
    ],
)
def test_a_name_ends_where_its_letters_or_digits_end(text: str, drug: str, *, found: bool) -> None:
    assert names_any(text, (drug,)) is found


def test_no_names_are_nowhere() -> None:
    assert not names_any("text", ())


@pytest.mark.parametrize(
    ("cues", "score"),
    [
        ((), 0.0),
        (("warnings",), 1.0),
        (("dosage",), 0.0),
        (("warnings", "dosage"), 1 / 2),
        (("warnings", "indications_and_usage"), 2 / 2),
        (("warnings", "dosage", "indications_and_usage"), 2 / 3),
        (("warnings", "summary_word", "dosage", "far"), 2 / 4),
    ],
)
def test_section_match_is_the_share_of_cues_found(cues: tuple[str, ...], score: float) -> None:
    evidence = Evidence(
        section="warnings",
        blob="label.xml > 1 indications and usage",
        summary="summary word" + "." * 187 + "far",  # 12 + 187 = 199: the cut at 200 is in "far"
    )
    assert section_match_score(evidence, cues) == pytest.approx(score)


@pytest.mark.parametrize(
    ("evidence", "score"),
    [
        (Evidence(section="dosage"), 1.0),
        (Evidence(section="Dosage"), 1.0),
        (Evidence(blob="label.xml > 2 dosage"), 1.0),
        (Evidence(summary="On dosage."), 1.0),
        (
            Evidence(summary="." * 194 + "dosage"),
            1.0,
        ),  # 194 + 6 = 200: its last letter is the last
        (Evidence(summary="." * 195 + "dosage"), 0.0),
        (Evidence(text="dosage"), 0.0),  # the text is no place of a cue
        (Evidence(primary_drugs=("dosage",)), 0.0),
        (Evidence(section="warnings"), 0.0),
    ],
)
def test_a_cue_counts_in_section_blob_or_head_of_the_summary(
    evidence: Evidence, score: float
) -> None:
    assert section_match_score(evidence, ("dosage",)) == score


def test_a_cue_is_found_with_underscores_or_spaces() -> None:
    cue = ("indications_and_usage",)
    assert section_match_score(Evidence(section="indications_and_usage"), cue) == 1.0
    assert section_match_score(Evidence(blob="indications and usage"), cue) == 1.0
    assert section_match_score(Evidence(blob="indications, usage"), cue) == 0.0


@pytest.mark.parametrize(
    ("evidence", "penalty"),
    [
        (Evidence(primary_drugs=("nilotinib",), blob="a.xml", text="nilotinib"), 1.0),
        (Evidence(primary_drugs=("nilotinib", "dasatinib")), 1.0),
        (Evidence(), 0.0),  # no tag
        (Evidence(text="nilotinib"), 0.0),  # no tag
        (Evidence(primary_drugs=("nilotinib", "imatinib")), 0.0),  # not disjoint
        (Evidence(primary_drugs=("Gleevec",)), 0.0),  # not disjoint: another name
        (Evidence(primary_drugs=("nilotinib",), text="after Gleevec"), 0.0),  # in the text
        (Evidence(primary_drugs=("nilotinib",), blob="imatinib.xml"), 0.0),  # in the blob
        (Evidence(primary_drugs=("nilotinib",), text="." * 505 + "imatinib"), 1.0),  # too late
        (Evidence(primary_drugs=("nilotinib",), text="imatinibs"), 1.0),  # no name
    ],
)
def test_a_passage_about_other_drugs_alone_is_punished(evidence: Evidence, penalty: float) -> None:
    assert cross_drug_penalty(evidence, IMATINIB) == penalty


def test_a_query_without_drugs_punishes_nothing() -> None:
    assert cross_drug_penalty(Evidence(primary_drugs=("nilotinib",)), ()) == 0.0


def test_a_drug_is_not_a_conjugate_of_it() -> None:
    """By the tag; in running text the shorter name is found in the longer one."""
    evidence = Evidence(primary_drugs=("trastuzumab deruxtecan",))
    assert entity_boost_score(evidence, ("trastuzumab", "Herceptin")) == 0.0
    assert cross_drug_penalty(evidence, ("trastuzumab", "Herceptin")) == 1.0


@pytest.mark.parametrize(
    ("value", "drugs"),
    [
        (None, ()),
        ("", ()),
        ("imatinib", ("imatinib",)),
        ("imatinib,nilotinib", ("imatinib", "nilotinib")),
        (" imatinib , imatinib,", ("imatinib",)),
        ('["imatinib", "nilotinib"]', ("imatinib", "nilotinib")),
        ("[]", ()),
        ("['imatinib', 'nilotinib']", ("imatinib", "nilotinib")),
    ],
)
def test_a_tag_of_drugs_is_read_in_any_shape(value: str | None, drugs: tuple[str, ...]) -> None:
    assert parse_primary_drugs(value) == drugs


WEIGHTS = {
    "default": Weights(0.50, 0.25, 0.15, 2.0),
    "general": Weights(0.50, 0.25, 0.15, 2.0),
    "regulatory": Weights(0.30, 0.20, 0.35, 2.5),
    "drug_entity": Weights(0.35, 0.35, 0.10, 3.0),
    "chemical": Weights(0.25, 0.40, 0.10, 3.0),
    "combination": Weights(0.35, 0.35, 0.10, 2.5),
    "of another plugin": Weights(0.50, 0.25, 0.15, 2.0),
}


@pytest.mark.parametrize(("workflow", "weights"), WEIGHTS.items())
def test_the_weights_are_the_references(workflow: str, weights: Weights) -> None:
    assert profile_weights(workflow, {}) == weights


@pytest.mark.parametrize(
    ("workflow", "overrides", "weights"),
    [
        ("chemical", {"chemical": {"w_ce": 1}}, Weights(1.0, 0.40, 0.10, 3.0)),
        ("chemical", {"default": {"w_ce": 1}}, Weights(0.25, 0.40, 0.10, 3.0)),
        ("general", {"default": {"w_sec": 0.0}}, Weights(0.50, 0.25, 0.0, 2.0)),
        ("general", {"general": {"w_sec": 0.1}}, Weights(0.50, 0.25, 0.1, 2.0)),
        (
            "general",
            {"general": {"w_sec": 0.1}, "default": {"w_sec": 0.2, "w_ce": 0.3}},
            Weights(0.3, 0.25, 0.1, 2.0),
        ),
        ("regulatory", {"regulatory": {}}, Weights(0.30, 0.20, 0.35, 2.5)),
        ("combination", {"combination": {"w_xdrug_penalty": 0}}, Weights(0.35, 0.35, 0.10, 0.0)),
    ],
)
def test_an_override_replaces_one_weight_of_one_profile(
    workflow: str, overrides: dict[str, dict[str, float]], weights: Weights
) -> None:
    assert profile_weights(workflow, overrides) == weights


def test_an_unknown_weight_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match=r"retrieval_scoring\.chemical\.w_cross"):
        profile_weights("chemical", {"chemical": {"w_cross": 1.0}})


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([2.0, 4.0, 3.0], [0.0, 1.0, 0.5]),  # (2-2)/2, (4-2)/2, (3-2)/2
        ([-3.0, 1.0, 0.0], [0.0, 1.0, 0.75]),  # least -3, width 4: 0/4, 4/4, 3/4
        ([7.5], [1.0]),
        ([-1.0, -1.0], [1.0, 1.0]),
    ],
)
def test_scores_are_normalised_by_least_and_greatest(
    scores: list[float], expected: list[float]
) -> None:
    assert normalise(scores) == expected


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(InvalidInput, match="score 1 must be a finite number"):
        normalise([0.0, wrong])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_normalised_scores_are_in_order_and_their_best_is_one(scores: list[float]) -> None:
    normal = normalise(scores)
    assert max(normal) == 1.0
    assert min(normal) >= 0.0
    assert normal[scores.index(max(scores))] == 1.0


@pytest.mark.parametrize(
    ("workflow", "parts", "score"),
    [
        # 0.50 * 0.8 + (0.25 * 1 + 0.15 * 0.5 - 2 * 0) = 0.4 + 0.25 + 0.075
        ("general", (0.8, 1.0, 0.5, 0.0), 0.725),
        # 0.30 * 1 + (0.20 * 0.75 + 0.35 * 2/3 - 0) = 0.3 + 0.15 + 0.2333...
        ("regulatory", (1.0, 0.75, 2 / 3, 0.0), 0.3 + 0.15 + 0.7 / 3),
        # 0.35 * 0.6 + (0 + 0 - 3 * 1) = 0.21 - 3
        ("drug_entity", (0.6, 0.0, 0.0, 1.0), -2.79),
        # 0.25 * 0.4 + (0.40 * 1 + 0.10 * 1 - 0) = 0.1 + 0.4 + 0.1
        ("chemical", (0.4, 1.0, 1.0, 0.0), 0.6),
        # 0.35 * 0 + (0.35 * 0.75 + 0.10 * 0 - 2.5 * 0) = 0.2625
        ("combination", (0.0, 0.75, 0.0, 0.0), 0.2625),
        # 0.35 * 1 + (0.35 * 0 + 0.10 * 0.5 - 2.5 * 1) = 0.35 + 0.05 - 2.5
        ("combination", (1.0, 0.0, 0.5, 1.0), -2.1),
    ],
)
def test_the_final_score_is_the_weighted_sum_less_the_penalty(
    workflow: str, parts: tuple[float, float, float, float], score: float
) -> None:
    assert fused_score(*parts, profile_weights(workflow, {})) == pytest.approx(score)


def test_the_penalty_outweighs_all_else() -> None:
    """0.50 + 0.25 + 0.15 - 2.0 is below the worst passage about the drug asked for, which has 0."""
    assert fused_score(1.0, 1.0, 1.0, 1.0, DEFAULT_WEIGHTS) == pytest.approx(-1.1)
    assert fused_score(0.0, 0.0, 0.0, 0.0, DEFAULT_WEIGHTS) == 0.0


@pytest.mark.parametrize(
    ("query", "text", "extra", "share"),
    [
        ("warning drug", "A drug.", (), 1 / 2),
        ("warning drug", "A drug with a warning.", (), 2 / 2),
        ("warning drug", "Nothing.", (), 0.0),
        # Terms: warning, drug, imatinib.
        ("warning drug", "imatinib drug", ("imatinib",), 2 / 3),
        # The further term is a word of the query: two terms, one held.
        ("warning drug", "drug", ("drug",), 1 / 2),
        # "boxed text" needs both of its words.
        ("drug", "drug in a box; boxed", ("boxed text",), 1 / 2),
        ("drug", "drug, boxed text", ("boxed text",), 2 / 2),
        ("the of", "the of", (), 0.0),
        ("", "imatinib", ("imatinib",), 1 / 1),
        ("", "text", (), 0.0),
    ],
)
def test_lexical_overlap_is_the_share_of_terms_held(
    query: str, text: str, extra: tuple[str, ...], share: float
) -> None:
    assert lexical_overlap(query, text, extra) == pytest.approx(share)


@pytest.mark.parametrize(
    ("entity", "lexical", "dense", "score"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 0.5, 0.8, 2.58),  # 2 * 1 + 0.5 + 0.08
        (0.5, 0.25, -0.5, 1.2),  # 2 * 0.5 + 0.25 - 0.05
        (0.0, 1.0, 1.0, 1.1),  # 0 + 1 + 0.1
    ],
)
def test_supplement_score(entity: float, lexical: float, dense: float, score: float) -> None:
    assert supplement_score(entity, lexical, dense) == pytest.approx(score)
