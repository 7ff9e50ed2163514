"""Arms to one ranking, plans to one ranking."""

from dataclasses import replace

import pytest

from eagle_rag.model.collection import StoreHit
from eagle_rag.model.query import ArmScore, Candidate, FusionMethod
from eagle_rag.retrieve.fuse import (
    FusionConfig,
    RankedArm,
    drop_repeats,
    fuse_arms,
    merge_plans,
    repeat_suspects,
)


def arm(name: str, **scores: float) -> RankedArm:
    """Return an arm with hits in the order given."""
    return RankedArm(
        name,
        tuple(
            StoreHit(f"{key}@1", key, f"d{key}", 1, "kb", score, rank)
            for rank, (key, score) in enumerate(scores.items(), 1)
        ),
    )


def candidate(key: str, score: float, arm_name: str = "a") -> Candidate:
    """Return a candidate found by one arm."""
    return Candidate(key, f"d{key}", 1, "kb", "text", score, (ArmScore(arm_name, 1, score),))


def order(candidates: tuple[Candidate, ...]) -> list[str]:
    """Return passage ids."""
    return [each.passage_id for each in candidates]


def test_rrf_scores_are_the_sum_of_reciprocal_ranks() -> None:
    found = fuse_arms("text", [arm("t/lexical", a=9, b=8), arm("t/dense", b=0.9)], FusionConfig())
    assert order(found) == ["b", "a"]
    assert found[0].score == pytest.approx(1 / 62 + 1 / 61)


def test_every_candidate_keeps_the_rank_and_score_of_each_arm() -> None:
    found = fuse_arms("text", [arm("t/lexical", a=9, b=8), arm("t/dense", b=0.9)], FusionConfig())
    assert found[0].arms == (ArmScore("t/lexical", 2, 8), ArmScore("t/dense", 1, 0.9))


@pytest.mark.parametrize("method", ["rrf", "weighted", "min-max"])
def test_ties_are_broken_by_passage_id(method: FusionMethod) -> None:
    arms = [arm("t/lexical", b=1, a=1), arm("t/dense", a=1, b=1)]
    assert order(fuse_arms("text", arms, FusionConfig(method))) == ["a", "b"]


@pytest.mark.parametrize(("alpha", "first"), [(1.0, "d"), (0.0, "l")])
@pytest.mark.parametrize("method", ["weighted", "min-max"])
def test_alpha_is_the_share_of_the_dense_arm(
    method: FusionMethod, alpha: float, first: str
) -> None:
    arms = [arm("t/lexical", l=9, x=8, d=7), arm("t/identifier", l=9, x=8, d=7), arm("t/dense", d=0.9, x=0.5, l=0.1)]  # fmt: skip
    assert order(fuse_arms("text", arms, FusionConfig(method, alpha=alpha)))[0] == first


@pytest.mark.parametrize("method", ["rrf", "weighted", "min-max"])
def test_h1_no_hits_at_all_fuse_to_nothing(method: FusionMethod) -> None:
    assert fuse_arms("text", [], FusionConfig(method)) == ()
    assert fuse_arms("text", [arm("t/lexical"), arm("t/dense")], FusionConfig(method)) == ()


def test_a_single_plan_passes_through_with_its_scores() -> None:
    ranking = (candidate("a", 0.9), candidate("b", 0.1))
    assert merge_plans([(), ranking, ()], rrf_k=60) == ranking
    assert merge_plans([], rrf_k=60) == ()


def test_a_passage_of_two_plans_is_one_candidate_with_the_arms_of_both() -> None:
    merged = merge_plans(
        [(candidate("a", 9), candidate("b", 8)), (candidate("b", 0.9, "z"),)], rrf_k=60
    )
    assert order(merged) == ["b", "a"]
    assert [each.arm for each in merged[0].arms] == ["a", "z"]
    assert merged[0].score == pytest.approx(1 / 62 + 1 / 61)


def test_rows_of_several_pictures_of_a_passage_count_by_the_best_and_keep_all_keys() -> None:
    hits = tuple(
        StoreHit(row, passage, f"d{passage}", 1, "kb", score, rank)
        for rank, (row, passage, score) in enumerate(
            [("a#f2@1", "a", 0.9), ("b#f1@1", "b", 0.8), ("a#f1@1", "a", 0.7), ("c@1", "c", 0.6)],
            1,
        )
    )
    found = fuse_arms("eyes", [RankedArm("eyes/dense", hits)], FusionConfig())
    assert [(each.passage_id, each.pictures) for each in found] == [
        ("a", ("f2", "f1")),
        ("b", ("f1",)),
        ("c", ()),
    ]
    assert [each.arms for each in found] == [
        (ArmScore("eyes/dense", 1, 0.9),),
        (ArmScore("eyes/dense", 2, 0.8),),
        (ArmScore("eyes/dense", 3, 0.6),),
    ]


def test_pictures_of_all_plans_stay_when_plans_merge() -> None:
    words = (candidate("a", 1.0), candidate("b", 0.5))
    eyes = (
        Candidate("a", "da", 1, "kb", "eyes", 1.0, pictures=("f1",)),
        Candidate("c", "dc", 1, "kb", "eyes", 0.5, pictures=("f2",)),
    )
    merged = {each.passage_id: each.pictures for each in merge_plans((words, eyes), rrf_k=60)}
    assert merged == {"a": ("f1",), "b": (), "c": ("f2",)}


def test_weighted_is_alpha_dense_plus_the_rest_sparse_of_what_either_arm_found() -> None:
    """By hand: BM25 9 of at best 10 is 0.9; 0.25 * 0.6 + 0.75 * 0.9 = 0.825."""
    lexical = replace(arm("t/lexical", a=10, b=9), also=arm("t/lexical", c=2).hits)
    dense = replace(arm("t/dense", c=0.9, b=0.6), also=arm("t/dense", a=-0.2).hits)
    found = fuse_arms("t", [lexical, dense], FusionConfig("weighted", alpha=0.25))
    assert {each.passage_id: each.score for each in found} == {
        "a": pytest.approx(0.25 * 0.0 + 0.75 * 1.0),
        "b": pytest.approx(0.25 * 0.6 + 0.75 * 0.9),
        "c": pytest.approx(0.25 * 0.9 + 0.75 * 0.2),
    }
    assert order(found) == ["b", "a", "c"]
    assert dict(found[0].parts) == {
        "dense": 0.6,
        "sparse": pytest.approx(0.9),
        "combined": pytest.approx(0.825),
    }
    assert [each.arm for each in found[2].arms] == ["t/dense"]  # only that arm found it


def test_weighted_keeps_to_its_formula_when_one_arm_found_nothing() -> None:
    found = fuse_arms("t", [arm("t/lexical"), arm("t/dense", a=0.8)], FusionConfig("weighted"))
    assert found[0].score == pytest.approx(0.4)
    assert dict(found[0].parts) == {"dense": 0.8, "sparse": 0.0, "combined": found[0].score}


def test_a_score_of_what_no_arm_found_is_no_candidate() -> None:
    lexical = replace(arm("t/lexical", a=1), also=arm("t/lexical", stray=9).hits)
    assert order(fuse_arms("t", [lexical, arm("t/dense")], FusionConfig("weighted"))) == ["a"]


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_plan_without_hits_gives_no_phantom_ranks(empty: int) -> None:
    rankings = [(candidate("a", 9),), (candidate("b", 8), candidate("a", 7))]
    rankings.insert(empty, ())
    merged = merge_plans(rankings, rrf_k=60)
    assert order(merged) == ["a", "b"]
    assert [each.score for each in merged] == pytest.approx([1 / 61 + 1 / 62, 1 / 61])


def test_parts_of_merged_plans_say_whose_they_are() -> None:
    one = replace(candidate("a", 1.0), parts=(("dense", 0.5),))
    two = replace(candidate("a", 0.2), collection="eyes", parts=(("dense", 0.9),))
    assert merge_plans([(one,), ()], rrf_k=60)[0].parts == (("dense", 0.5),)
    merged = merge_plans([(one,), (two,)], rrf_k=60)
    assert merged[0].parts == (("eyes/dense", 0.9), ("text/dense", 0.5))


def test_a_repetition_in_the_same_section_is_left_out_and_the_higher_ranked_stays() -> None:
    ranking = tuple(
        replace(candidate(key, 1.0), document_id=document)
        for key, document in (("a", "d1"), ("b", "d1"), ("c", "d1"), ("d", "d1"), ("e", "d2"))
    )
    assert repeat_suspects(ranking) == ("a", "b", "c", "d")
    places = {
        "a": (("Results",), "said"),
        "b": (("Results",), "said"),
        "c": (("Methods",), "said"),
        "e": (("Results",), "said"),
    }
    kept, dropped = drop_repeats(ranking, places)
    assert (order(kept), dropped) == (["a", "c", "d", "e"], ("b",))
