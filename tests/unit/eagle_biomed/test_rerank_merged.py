"""Tier 2: the fused score by hand, its parts, what stays apart, the chemical path."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_biomed.entities import open_ontology
from eagle_biomed.evidence import EvidenceReader
from eagle_biomed.pair_scores import PairScores
from eagle_biomed.rerank_merged import MergedReranker, is_by_picture, standing_scores
from eagle_rag.errors import ConfigurationError, EncoderUnavailable
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import ArmScore, Candidate, QueryIntent, RerankPolicy
from eagle_rag.model.records import DocumentNames
from eagle_rag.testing.query_side import (
    Audit,
    Encoders,
    Lookup,
    Scorer,
    Shelf,
    Texts,
    candidate,
    context_of,
    ids_of,
    part,
    passage,
)

CHEMICAL = "eagle_chemical"
DRUG = QueryIntent("drug_entity", require_entity_match=True)
GENERAL = QueryIntent()


def reranker(
    scores: Sequence[float] | None = None,
    *,
    texts: Texts | None = None,
    lookup: Lookup | None = None,
    shelf: Shelf | None = None,
    overrides: Mapping[str, Any] | None = None,
    audit: Audit | None = None,
) -> MergedReranker:
    label = "" if scores is None else "pairs"
    return MergedReranker(
        overrides=overrides or {},
        pairs=PairScores(Encoders(Scorer(scores or ())), label),
        reader=EvidenceReader(texts or Texts(), lookup or Lookup()),
        library=shelf,
        names=lambda: open_ontology({}),
        structure=lambda query: "CCO" if "compound" in query else "",
        audit=audit or Audit(),
    )


def ranked(
    tier2: MergedReranker,
    query: str,
    intent: QueryIntent,
    merged: Sequence[Candidate],
    *,
    policy: RerankPolicy = "domain",
) -> tuple[Candidate, ...]:
    texts = tuple("" for _ in merged)
    found = tier2.rerank(context_of(query, intent, policy=policy), tuple(merged), texts)
    assert found is not None
    return found


# By hand, from the reference's table. Three candidates; raw scores 4, 2, 0 are 1, 0.5, 0 when normalised.
# "tagged" names osimertinib in its tag (entity 1), "title" in its title (0.75), "other" is about erlotinib
# alone (entity 0, penalty 1). "title" is in section dosage (1 of 1 cue).
BY_HAND = [
    ("general", {"tagged": 0.50 * 1 + 0.25, "title": 0.25 + 0.1875 + 0.15, "other": 0 - 2.0}),
    ("regulatory", {"tagged": 0.30 + 0.20, "title": 0.15 + 0.15 + 0.35, "other": -2.5}),
    ("drug_entity", {"tagged": 0.35 + 0.35, "title": 0.175 + 0.2625 + 0.10, "other": -3.0}),
    ("chemical", {"tagged": 0.25 + 0.40, "title": 0.125 + 0.30 + 0.10, "other": -3.0}),
    ("combination", {"tagged": 0.35 + 0.35, "title": 0.175 + 0.2625 + 0.10, "other": -2.5}),
]


@pytest.mark.parametrize(("workflow", "expected"), BY_HAND)
def test_the_final_score_is_the_weighted_sum_of_its_workflow(
    workflow: str, expected: dict[str, float]
) -> None:
    merged = (
        candidate("tagged", 0.3, primary_drugs="osimertinib"),
        candidate("title", 0.2, biomed_section="dosage"),
        candidate("other", 0.1, primary_drugs="erlotinib"),
    )
    lookup = Lookup(called={"doc-title": DocumentNames("On Tagrisso", "a.xml")})
    intent = QueryIntent(workflow, section_cues=("dosage",), require_entity_match=True)
    found = ranked(reranker((4, 2, 0), lookup=lookup), "osimertinib dosage", intent, merged)
    assert {each.passage_id: each.score for each in found} == pytest.approx(expected)
    assert ids_of(found) == sorted(expected, key=lambda key: -expected[key])


def test_every_part_of_the_score_is_explained() -> None:
    merged = (candidate("a", 0.3, primary_drugs="osimertinib"), candidate("b", 0.2))
    first, second = ranked(reranker((1.5, 0.5)), "osimertinib", DRUG, merged)
    assert [name for name, _ in first.parts] == sorted(dict(first.parts))
    assert dict(first.parts) == pytest.approx(
        {
            "ce_norm": 1.0,
            "ce_raw": 1.5,
            "entity": 1.0,
            "final": 0.70,
            "section": 0.0,
            "xdrug": 0.0,
        }
    )
    assert part(second, "ce_norm") == 0.0


def test_weights_of_a_workflow_can_be_overridden() -> None:
    merged = (candidate("a", 0.3), candidate("b", 0.2))
    overrides = {"drug_entity": {"w_ce": 1.0}}
    found = ranked(reranker((0, 1), overrides=overrides), "osimertinib", DRUG, merged)
    assert [(each.passage_id, each.score) for each in found] == [("b", 1.0), ("a", 0.0)]
    with pytest.raises(ConfigurationError, match="w_bm25"):
        ranked(reranker((0, 1), overrides={"default": {"w_bm25": 1}}), "x", GENERAL, merged)


@pytest.mark.parametrize(
    ("passage_text", "penalty"),
    [("Erlotinib was given.", 1.0), ("Erlotinib, then Tagrisso.", 0.0)],
)
def test_a_passage_that_also_names_the_drug_asked_for_is_not_punished(
    passage_text: str, penalty: float
) -> None:
    texts = Texts({"a": passage("a", passage_text, tags={"primary_drugs": "erlotinib"})})
    merged = (candidate("a", 0.3), candidate("b", 0.2))
    found = ranked(reranker((1, 0), texts=texts), "osimertinib", DRUG, merged)
    assert {each.passage_id: part(each, "xdrug") for each in found}["a"] == penalty


@pytest.mark.parametrize(
    ("tag", "penalty"),
    [
        ("erlotinib", 1.0),
        ("erlotinib,gefitinib", 1.0),
        ('["erlotinib", "gefitinib"]', 1.0),
        ("['erlotinib']", 1.0),
        ("erlotinib,osimertinib", 0.0),
        ('["erlotinib", "Tagrisso"]', 0.0),
        ("[]", 0.0),
        ("", 0.0),
    ],
)
def test_the_penalty_reads_tags_of_any_shape(tag: str, penalty: float) -> None:
    (found,) = ranked(
        reranker((1,)), "osimertinib", DRUG, (candidate("a", 0.3, primary_drugs=tag),)
    )
    assert part(found, "xdrug") == penalty


@pytest.mark.parametrize(
    "called",
    [
        DocumentNames("After osimertinib", "a.xml"),
        DocumentNames("", "label_osimertinib.xml"),
        DocumentNames("", "https://x/tagrisso/a.xml"),
        DocumentNames("", "all.zip", "azd9291.xml"),
    ],
    ids=["title", "file", "source URI", "member"],
)
def test_a_document_called_by_the_drug_matches_by_three_quarters_and_is_not_punished(
    called: DocumentNames,
) -> None:
    """The reference's ``enrich_file_names``: 0.35 * 1 + 0.35 * 0.75."""
    merged = (candidate("a", 0.3, primary_drugs="erlotinib"),)
    tier2 = reranker((1,), lookup=Lookup(called={"doc-a": called}))
    (found,) = ranked(tier2, "osimertinib", DRUG, merged)
    assert (part(found, "entity"), part(found, "xdrug")) == (0.75, 0.0)
    assert found.score == pytest.approx(0.6125)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("HMPL-013", "fruquintinib"),
        ("Fruzaqla", "fruquintinib"),
        ("AZD9291", "osimertinib"),
        ("Tagrisso", "osimertinib"),
    ],
)
def test_a_brand_or_code_meets_the_generic(query: str, name: str) -> None:
    merged = (candidate("noise", 0.9), candidate("hit", 0.1, primary_drugs=name))
    assert ids_of(ranked(reranker((0, 0)), query, DRUG, merged))[0] == "hit"


def test_without_a_cross_encoder_the_fused_scores_stand_in() -> None:
    """0.35 * 1, 0.35 * 0.5 + 0.35 and 0: the drug outweighs the place."""
    merged = (candidate("first", 0.3), candidate("drug", 0.2, primary_drugs="osimertinib"))
    found = ranked(reranker(), "osimertinib", DRUG, (*merged, candidate("last", 0.1)))
    assert [(each.passage_id, round(each.score, 6)) for each in found] == [
        ("drug", 0.525),
        ("first", 0.35),
        ("last", 0.0),
    ]
    assert part(found[0], "fused") == 0.2


@pytest.mark.parametrize(
    "pairs",
    [
        PairScores(Encoders(error=EncoderUnavailable("no answer")), "pairs"),
        PairScores(Encoders(error=RuntimeError("out of memory")), "pairs"),
        PairScores(Encoders(Scorer((9.0, 8.0))), "pairs"),
        PairScores(Encoders(Scorer((9.0, float("nan"), 8.0))), "pairs"),
        PairScores(Encoders(Scorer(())), ""),
    ],
    ids=["it raises", "its runtime raises", "too few scores", "no number", "there is none"],
)
def test_all_candidates_go_by_the_scores_of_the_fusion_when_the_encoder_does_not_score(
    pairs: PairScores,
) -> None:
    """The reference's two fallbacks. 0.3, 0.25, 0.1 are 1, 0.75, 0; the drug adds 0.35: by hand, of 0.35."""
    merged = (
        candidate("first", 0.3),
        candidate("drug", 0.25, primary_drugs="osimertinib"),
        candidate("last", 0.1),
    )
    found = ranked(replace(reranker(), pairs=pairs), "osimertinib", DRUG, merged)
    assert {each.passage_id: each.score for each in found} == pytest.approx(
        {"drug": 0.35 * 0.75 + 0.35, "first": 0.35, "last": 0.0}
    )


def test_an_encoder_that_fails_is_told_to_the_trace() -> None:
    """By a part that the core looks for; a profile without an encoder asked for nothing else."""
    failing = MergedReranker(
        overrides={},
        pairs=PairScores(Encoders(error=EncoderUnavailable("no answer")), "pairs"),
        reader=EvidenceReader(None, None),
        library=None,
        names=lambda: open_ontology({}),
        structure=lambda _: "",
        audit=Audit(),
    )
    (stood_in,) = ranked(failing, "x", GENERAL, (candidate("a", 0.5),))
    assert (part(stood_in, "stand_in"), part(stood_in, "fused")) == (1.0, 0.5)
    (meant,) = ranked(reranker(), "x", GENERAL, (candidate("a", 0.5),))
    assert "stand_in" not in dict(meant.parts)
    assert all("ce_raw" not in dict(each.parts) for each in (stood_in, meant))


def injected(key: str, score: float = 102.5) -> Candidate:
    return replace(candidate(key, score), parts=(("injected", 1.0),))


def test_an_injected_candidate_stands_in_as_the_lowest_of_those_found() -> None:
    """Its hundred keeps it in the pool; by min-max it would make all others alike."""
    found = (candidate("a", 0.5), candidate("b", 0.25))
    assert standing_scores((injected("in"), *found)) == [0.25, 0.5, 0.25]
    assert standing_scores((injected("in"),)) == [0.0]


@pytest.mark.parametrize(
    ("merged", "standing"),
    [
        ((0.4, 0.3, 0.1), [0.4, 0.3, 0.1]),
        ((0.4, 0.1, 0.3, 0.2), [0.4, 0.1, 0.1, 0.1]),
        ((0.1, 0.4, 0.3), [0.1, 0.1, 0.1]),
        ((0.4, 0.2, 0.3, 0.1), [0.4, 0.2, 0.2, 0.1]),
        ((-0.2, 0.3, -0.5), [-0.2, -0.2, -0.5]),
    ],
    ids=["descending", "one put before two", "the least first", "one put before one", "cosines"],
)
def test_standing_scores_never_rise_down_the_ranking(
    merged: tuple[float, ...], standing: list[float]
) -> None:
    found = [candidate(str(at), score) for at, score in enumerate(merged)]
    assert standing_scores(found) == standing


def test_an_injected_candidate_lowers_nobody_and_is_not_lifted_by_its_place() -> None:
    ranking = (candidate("a", 0.4), injected("in"), candidate("b", 0.1), candidate("c", 0.3))
    assert standing_scores(ranking) == [0.4, 0.1, 0.1, 0.1]


def test_the_order_of_tier_one_stands_without_a_cross_encoder() -> None:
    """Standing 0.5, 0.1, 0.1, 0.1; normalised 1, 0, 0, 0; times 0.50. Neither 0.9 nor an id moves one up."""
    merged = tuple(candidate(*each) for each in (("z", 0.5), ("c", 0.1), ("b", 0.9), ("a", 0.3)))
    found = ranked(reranker(), "lungs", GENERAL, merged)
    assert [(each.passage_id, each.score) for each in found] == [
        ("z", 0.5),
        ("c", 0.0),
        ("b", 0.0),
        ("a", 0.0),
    ]


def test_when_the_first_has_the_least_score_the_drug_alone_decides() -> None:
    """All stand at 0.1, normalised 1: 0.35 + 0.35, twice 0.35, and 0.35 - 3.0."""
    merged = (
        candidate("z", 0.1, primary_drugs="osimertinib"),
        candidate("other", 0.9, primary_drugs="erlotinib"),
        candidate("y", 0.8),
        candidate("x", 0.7),
    )
    found = ranked(reranker(), "osimertinib", DRUG, merged)
    assert ids_of(found) == ["z", "y", "x", "other"]
    assert [each.score for each in found] == pytest.approx([0.70, 0.35, 0.35, -2.65])


def test_an_injected_candidate_is_moved_by_what_it_names_alone() -> None:
    """Found 0.5, 0.25, 0.25 (not 0.75), injected 0.25: in 0 + 0.35 * 0.75, z 0.35 * 1, y and x 0."""
    lookup = Lookup(called={"doc-in": DocumentNames("On Tagrisso", "a.xml")})
    merged = (injected("in"), *(candidate(*each) for each in
              (("z", 0.5), ("y", 0.25), ("x", 0.75))))  # fmt: skip
    found = ranked(reranker(lookup=lookup), "osimertinib", DRUG, merged)
    assert [(each.passage_id, round(each.score, 6)) for each in found] == [
        ("z", 0.35),
        ("in", 0.2625),
        ("y", 0.0),
        ("x", 0.0),
    ]


@given(st.lists(st.floats(-1, 1), min_size=1))
def test_without_other_signals_the_merged_order_is_the_final_one(scores: list[float]) -> None:
    merged = tuple(candidate(str(-at), score) for at, score in enumerate(scores))
    assert ids_of(ranked(reranker(), "lungs", GENERAL, merged)) == ids_of(merged)


def test_candidates_not_reached_in_time_count_as_the_lowest() -> None:
    from eagle_biomed.pair_scores import RerankScores
    from eagle_biomed.profiles_weights import profile_weights
    from eagle_biomed.rerank_merged import fuse_scores
    from eagle_biomed.scoring import Evidence

    pairs = [(candidate(key, 0.1), Evidence()) for key in "cba"]
    fused = fuse_scores(
        context_of("x"),
        pairs,
        RerankScores((1.0, 3.0, None), "pairs"),
        terms=(),
        weights=profile_weights("general", {}),
    )
    parts = {each.candidate.passage_id: dict(each.candidate.parts) for each in fused}
    assert {key: found["ce_norm"] for key, found in parts.items()} == {"c": 0, "b": 1, "a": 0}
    assert "ce_raw" not in parts["a"]
    assert [each.candidate.passage_id for each in fused] == ["b", "c", "a"]


def test_passages_found_by_pictures_alone_follow_in_their_order() -> None:
    def seen(key: str, *arms: str) -> Candidate:
        return candidate(key, 0.9, arms=tuple(ArmScore(arm, 1, 0.5) for arm in arms))

    merged = (
        seen("image2", "eagle_medical_radiology/dense", "rerank/biomed"),
        candidate("text", 0.5),
        seen("image1", "eagle_visual/dense"),
        seen("both", "eagle_visual/dense", "eagle_text_biomed/lexical"),
    )
    found = ranked(reranker((0, 1)), "x", GENERAL, merged)
    assert ids_of(found) == ["both", "text", "image2", "image1"]
    assert found[2:] == (merged[0], merged[2])


@pytest.mark.parametrize(
    ("arms", "by_picture"),
    [
        ((), False),
        (("supplement/biomed",), False),
        (("eagle_text/dense",), False),
        (("eagle_medical_pathology/dense",), True),
        (("eagle_medical_pathology/dense", "eagle_text/identifier"), False),
    ],
)
def test_which_candidates_are_pictures(arms: tuple[str, ...], by_picture: bool) -> None:  # noqa: FBT001 - parametrised
    scores = tuple(ArmScore(arm, 1, 0.5) for arm in arms)
    assert is_by_picture(candidate("a", arms=scores)) is by_picture


def test_compounds_written_down_in_the_query_stay_first() -> None:
    exact = candidate("exact", 1.2, arms=(ArmScore("supplement/exact-structure", 1, 1.0),))
    merged = (exact, candidate("a", 0.5, primary_drugs="osimertinib"))
    found = ranked(reranker((9,)), "osimertinib COc1cc", DRUG, merged)
    assert ids_of(found) == ["exact", "a"]
    assert found[0].score > found[1].score


CHEM = QueryIntent("chemical", section_cues=("compound",), require_entity_match=True)


@pytest.mark.parametrize(
    ("cosine", "expected"),
    [(0.95, 0.95), (0.10, 0.65)],
    ids=["the cosine is higher", "the fused is higher"],
)
def test_of_cosine_and_fused_score_the_higher_stands(cosine: float, expected: float) -> None:
    """Fused by hand: 0.25 * 1 + 0.40 * 1."""
    shelf = Shelf({CHEMICAL: (StoreHit("a", "a", "doc-a", 1, "kb", cosine, 1),)})
    merged = (candidate("a", 0.5, primary_drugs="osimertinib"), candidate("b", 0.1))
    found = ranked(reranker((1, 0), shelf=shelf), "compound osimertinib", CHEM, merged)
    assert found[0].score == pytest.approx(expected)
    assert part(found[0], "chemical") == cosine
    assert part(found[0], "final") == pytest.approx(0.65)


def test_a_structure_rescues_a_hit_that_the_words_undervalue() -> None:
    """Fused: a 0.25 * 1 + 0.40 = 0.65, c 0.25 * 0.5 + 0.40 = 0.525, b 0.40; the cosine of b is 0.8."""
    shelf = Shelf({CHEMICAL: (StoreHit("b", "b", "doc-b", 1, "kb", 0.8, 1),)})
    merged = tuple(candidate(key, 0.5, primary_drugs="osimertinib") for key in "acb")
    found = ranked(reranker((2, 1, 0), shelf=shelf), "compound osimertinib", CHEM, merged)
    assert [(each.passage_id, round(each.score, 6)) for each in found] == [
        ("b", 0.8),
        ("a", 0.65),
        ("c", 0.525),
    ]


def test_structures_are_compared_only_of_what_names_the_drug_and_only_in_chemistry() -> None:
    shelf = Shelf({CHEMICAL: (StoreHit("b", "b", "doc-b", 1, "kb", 0.99, 1),)})
    merged = (candidate("a", 0.5, primary_drugs="osimertinib"), candidate("b", 0.1))
    found = ranked(reranker((1, 0), shelf=shelf), "compound osimertinib", CHEM, merged)
    assert ids_of(found) == ["a", "b"]
    ranked(reranker((1, 0), shelf=shelf), "compound osimertinib", DRUG, merged)
    assert len(shelf.asked) == 1


def test_a_chemical_query_without_a_structure_keeps_the_fused_scores() -> None:
    shelf = Shelf()
    merged = (candidate("a", 0.5, primary_drugs="osimertinib"),)
    ranked(reranker((1,), shelf=shelf), "ligand of osimertinib", CHEM, merged)
    assert shelf.asked == []


@pytest.mark.parametrize("policy", ["general", "none"])
def test_it_abstains_under_another_policy(policy: RerankPolicy) -> None:
    context = context_of("x", GENERAL, policy=policy)
    assert reranker((1,)).rerank(context, (candidate("a"),), ("",)) is None


def test_an_empty_ranking_is_left_alone() -> None:
    assert reranker((1,)).rerank(context_of("x"), (), ()) is None


def test_equal_scores_keep_the_merged_order() -> None:
    merged = tuple(candidate(key, 0.5) for key in "cab")
    assert ids_of(ranked(reranker((1, 1, 1)), "x", GENERAL, merged)) == ["c", "a", "b"]


def test_equal_cosines_of_structures_keep_the_merged_order() -> None:
    """Fused 0.40 for ``b`` and 0.65 for ``a``; the cosine makes both 0.9."""
    rows = tuple(StoreHit(key, key, f"doc-{key}", 1, "kb", 0.9, 1) for key in "ab")
    merged = tuple(candidate(key, 0.5, primary_drugs="osimertinib") for key in "ba")
    tier2 = reranker((0, 1), shelf=Shelf({CHEMICAL: rows}))
    found = ranked(tier2, "compound osimertinib", CHEM, merged)
    assert [(each.passage_id, each.score) for each in found] == [("b", 0.9), ("a", 0.9)]


def test_every_rerank_is_audited_with_what_it_went_by() -> None:
    audit = Audit()
    ranked(reranker((1,), audit=audit), "x", GENERAL, (candidate("a"),))
    ranked(reranker(audit=audit), "x", GENERAL, (candidate("a"),))
    events = [(event.category, event.decision, event.detail) for event in audit.events]
    assert events == [
        ("rerank_scores", "1 candidates by pairs", ()),
        (
            "rerank_scores",
            "1 candidates by fused",
            (("note", "no cross-encoder is configured"),),
        ),
    ]


def test_title_and_tags_come_from_the_registry_where_the_row_lacks_them() -> None:
    """Rows of the core's collection have no such fields (``enrich_file_names``)."""
    texts = Texts(
        {
            "a": passage(
                "a", path=("Dosage",), tags={"biomed_section": "dosage", "primary_drugs": "x"}
            ),
        }
    )
    lookup = Lookup(called={"doc-a": DocumentNames("Osimertinib", "f.xml")})
    intent = QueryIntent("regulatory", section_cues=("dosage",), require_entity_match=True)
    found = ranked(
        reranker((1,), texts=texts, lookup=lookup), "osimertinib", intent, (candidate("a", 0.3),)
    )
    assert (part(found[0], "entity"), part(found[0], "section")) == (0.75, 1.0)
    assert part(found[0], "xdrug") == 0.0
    assert len(texts.asked) == 1
