"""Properties of fusion and ranking on random lists."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_rag.model.query import Candidate
from eagle_rag.ops.fusion import Arm, Fused, fuse_min_max, fuse_rrf, fuse_weighted
from eagle_rag.ops.ranking import dedupe, group_by_document, page, total_order

SCORES = st.floats(-100, 100).map(lambda score: round(score, 3))
ARMS = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), SCORES, max_size=8).map(
        lambda scores: tuple(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
    ),
    max_size=4,
)
CANDIDATES = st.lists(
    st.builds(
        Candidate,
        st.sampled_from("abcdef"),
        st.sampled_from(["d1", "d2"]),
        st.just(1),
        st.just("kb"),
        st.sampled_from(["x", "y"]),
        SCORES,
    ),
    max_size=12,
)


def _weighted(arms: Sequence[Arm]) -> Fused:
    return fuse_weighted(arms, [1.0] * len(arms))


METHODS = pytest.mark.parametrize("fuse", [fuse_rrf, _weighted, fuse_min_max])


@METHODS
@given(arms=ARMS, data=st.data())
def test_fusion_does_not_depend_on_the_order_of_the_arms(
    fuse: Callable[[Sequence[Arm]], Fused], arms: list[Arm], data: st.DataObject
) -> None:
    assert fuse(data.draw(st.permutations(arms))) == fuse(arms)


@METHODS
@given(arms=ARMS)
def test_fusion_keeps_every_key_once_in_total_order(
    fuse: Callable[[Sequence[Arm]], Fused], arms: list[Arm]
) -> None:
    fused = fuse(arms)
    assert sorted(key for key, _ in fused) == sorted({key for arm in arms for key, _ in arm})
    assert list(fused) == sorted(fused, key=lambda item: (-item[1], item[0]))


@given(ARMS)
def test_rrf_agrees_with_the_formula_term_by_term(arms: list[Arm]) -> None:
    filled = [arm for arm in arms if arm]
    if len(filled) < 2:
        return
    for key, score in fuse_rrf(arms):
        ranks = [[name for name, _ in arm].index(key) + 1 for arm in filled if key in dict(arm)]
        assert score == pytest.approx(sum(1 / (60 + rank) for rank in ranks), rel=1e-12)


@given(CANDIDATES, st.data())
def test_total_order_does_not_depend_on_the_input_order(
    candidates: list[Candidate], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(candidates))
    keys = [(item.score, item.passage_id, item.collection) for item in total_order(candidates)]
    assert keys == [(i.score, i.passage_id, i.collection) for i in total_order(shuffled)]


@given(CANDIDATES)
def test_dedupe_keeps_the_first_of_each_passage_and_is_idempotent(
    candidates: list[Candidate],
) -> None:
    ordered = total_order(candidates)
    once = dedupe(ordered)
    assert [item.passage_id for item in once] == list(dict.fromkeys(i.passage_id for i in ordered))
    assert dedupe(once) == once


@given(CANDIDATES)
def test_a_documents_score_is_the_best_of_its_passages(candidates: list[Candidate]) -> None:
    for item in group_by_document(candidates):
        assert item.score == max(
            other.score for other in candidates if other.document_id == item.document_id
        )


@given(st.lists(st.integers(), max_size=20), st.integers(1, 7))
def test_pages_put_together_are_the_whole(items: list[int], limit: int) -> None:
    pages = [page(items, offset=offset, limit=limit) for offset in range(0, len(items), limit)]
    assert [item for one in pages for item in one] == items
