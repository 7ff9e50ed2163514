"""What a store must do with filters and searches; part of ``StoreContract``."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from eagle_rag.errors import InvalidFilter, InvalidInput
from eagle_rag.model.collection import StoreHit
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_fixtures import NAME, StoreFixtures, hit_ids, stored_rows
from eagle_rag.testing.store_rows import NASTY, make_row, make_schema, unit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["StoreSearchContract"]


class StoreSearchContract(StoreFixtures):
    """Filters, dense search, lexical search."""

    # Filters

    @pytest.mark.parametrize(
        ("where", "wanted"),
        [
            (Compare("kb_name", "eq", "two"), "ce"),
            (Compare("kb_name", "ne", "two"), "abd"),
            (Compare("year", "ge", 2019), "ad"),
            (Compare("year", "gt", 2019), "d"),
            (Compare("year", "lt", 2019.5), "a"),
            (Compare("year", "gt", 2018.5), "ad"),
            (Compare("year", "eq", 2019.5), ""),
            (Compare("year", "ne", 2019.5), "ad"),
            (Compare("year", "ne", 2019), "d"),
            (Compare("drug", "eq", "x"), "b"),
            (Compare("drug", "ne", "y"), "b"),
            (Compare("row_id", "le", "b"), "ab"),
            (OneOf("document_id", ("d1", "d2", "d1")), "abc"),
            (OneOf("year", (2019.0, 2020.5, 2021)), "ad"),
            (OneOf("document_id", ()), ""),
            (AnyOf(()), ""),
            (AllOf(()), "abcde"),
            (AllOf((AnyOf(()), AllOf(()))), ""),
            (AnyOf((OneOf("year", ()), Compare("row_id", "eq", "e"))), "e"),
            (AllOf((Compare("kb_name", "eq", "one"), Compare("document_id", "eq", "d3"))), "d"),
            (AnyOf((Compare("year", "eq", 2021), Compare("kb_name", "eq", "two"))), "cde"),
        ],
    )
    def test_i1_i3_a_filter_holds_for_every_way_of_reading(
        self, filled: CollectionStore, where: Filter, wanted: str
    ) -> None:
        """An empty list finds nothing; ``None`` in a row satisfies no comparison."""
        assert sorted(stored_rows(filled, where)) == list(wanted)
        assert filled.count(NAME, where=where) == len(wanted)
        dense = filled.search_dense(NAME, unit(1, 0, 0), limit=9, where=where)
        assert sorted(hit_ids(dense)) == list(wanted)
        tokens = ["egfr", "osimertinib", "abacavir"]
        lexical = filled.search_lexical(NAME, tokens, limit=9, where=where)
        assert sorted(hit_ids(lexical)) == [name for name in wanted if name != "e"]

    @pytest.mark.parametrize(
        "where",
        [
            Compare("nope", "eq", "x"),
            Compare("vector", "eq", "x"),
            Compare("kb_name", "like", "x"),  # type: ignore[arg-type]  # what a caller might send
            Compare("kb_name", "eq", 3),
            Compare("year", "eq", "2019"),
            Compare("year", "eq", True),  # noqa: FBT003  # the value under test
            Compare("year", "lt", math.nan),
            Compare("year", "lt", 2**63),
            Compare("kb_name", "eq", "\ud800"),
            OneOf("nope", ()),
            AllOf((AnyOf((Compare("nope", "eq", "x"),)),)),
        ],
    )
    def test_i2_a_filter_without_meaning_is_refused(
        self, filled: CollectionStore, where: Filter
    ) -> None:
        """Never ignored: that would widen what the caller may see."""
        calls: tuple[Callable[[], object], ...] = (
            lambda: filled.search_dense(NAME, unit(1, 0, 0), limit=1, where=where),
            lambda: filled.search_lexical(NAME, ["egfr"], limit=1, where=where),
            lambda: list(filled.scan(NAME, where=where)),
            lambda: filled.count(NAME, where=where),
            lambda: filled.delete(NAME, where),
        )
        for call in calls:
            with pytest.raises(InvalidFilter):
                call()
        assert filled.count(NAME) == 5

    def test_i2_an_unknown_field_lists_the_known_ones(self, filled: CollectionStore) -> None:
        """So that the caller can repair it."""
        with pytest.raises(InvalidFilter, match=r"'nope'.*document_id.*drug.*kb_name"):
            filled.count(NAME, where=Compare("nope", "eq", "x"))

    @pytest.mark.parametrize("value", NASTY)
    def test_i4_c4_values_are_data(self, filled: CollectionStore, value: str) -> None:
        """Quotes and syntax in rows, filters and queries match themselves and nothing else."""
        filled.upsert(
            NAME,
            [
                replace(
                    make_row("nasty", (0, 0, 1), f"lead {value} tail", kb_name=value),
                    text=value,
                    extra=(("drug", value),),
                )
            ],
        )
        tokens = value.split()
        assert "nasty" in hit_ids(filled.search_lexical(NAME, tokens, limit=9))
        for where in (Compare("kb_name", "eq", value), OneOf("drug", (value, "none"))):
            assert list(stored_rows(filled, where)) == ["nasty"]
            assert filled.count(NAME, where=where) == 1
        row = stored_rows(filled)["nasty"]
        assert (row.text, row.kb_name, dict(row.extra)["drug"]) == (value, value, value)
        filled.delete(NAME, Compare("kb_name", "eq", value))
        assert sorted(stored_rows(filled)) == ["a", "b", "c", "d", "e"]

    def test_a_list_of_5000_documents_filters(self, filled: CollectionStore) -> None:
        """What a join over the registry hands down."""
        where = OneOf("document_id", (*(f"doc{number}" for number in range(5000)), "d2"))
        assert filled.count(NAME, where=where) == 1
        assert hit_ids(filled.search_dense(NAME, unit(1, 0, 0), limit=9, where=where)) == ["c"]
        assert hit_ids(filled.search_lexical(NAME, ["trial"], limit=9, where=where)) == ["c"]

    def test_an_alternative_of_2000_parts_filters(self, filled: CollectionStore) -> None:
        """Engines that recurse over a chain would overflow their stack."""
        parts = tuple(Compare("document_id", "eq", f"doc{number}") for number in range(2000))
        where = AnyOf((*parts, Compare("document_id", "eq", "d2")))
        assert filled.count(NAME, where=where) == 1

    def test_a_filter_nested_without_end_is_refused(self, filled: CollectionStore) -> None:
        """It would overflow the stack of the engine, which ends the process."""
        where: Filter = Compare("kb_name", "eq", "one")
        for _ in range(200):
            where = AllOf((where,))
        with pytest.raises(InvalidFilter, match="nested"):
            filled.count(NAME, where=where)

    # Dense search

    def test_dense_scores_are_cosine_similarities(self, filled: CollectionStore) -> None:
        """Higher is better; the length of a vector does not matter."""
        hits = filled.search_dense(NAME, unit(3, 0, 0), limit=9)
        assert hit_ids(hits) == ["a", "d", "b", "c", "e"]
        assert [hit.score for hit in hits] == pytest.approx(
            [1, math.sqrt(0.5), 0, 0, -1], abs=1e-6
        )
        assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]

    def test_a_hit_carries_what_scoping_and_fusion_need(self, filled: CollectionStore) -> None:
        """Without a second look into the store."""
        wanted = StoreHit("b", "b-p", "d1", 1, "one", 1.0, 1, (("drug", "x"),))
        (dense,) = filled.search_dense(NAME, unit(0, 1, 0), limit=1)
        (lexical, _) = filled.search_lexical(NAME, ["egfr"], limit=2)
        assert replace(dense, score=1.0) == wanted
        assert replace(lexical, score=1.0) == wanted

    def test_inner_product_scores_are_inner_products(self, store: CollectionStore) -> None:
        """Length counts, and zero is a vector like any other."""
        store.ensure(make_schema(NAME, metric="ip"))
        vectors = {"long": (3, 0, 0), "short": (0.5, 0, 0), "zero": (0, 0, 0), "back": (-2, 0, 0)}
        store.upsert(NAME, [make_row(name, vector, "x") for name, vector in vectors.items()])
        hits = store.search_dense(NAME, np.array([2, 0, 0], np.float32), limit=9)
        assert hit_ids(hits) == ["long", "short", "zero", "back"]
        assert [hit.score for hit in hits] == pytest.approx([6, 1, 0, -4], abs=1e-5)

    def test_dense_ties_are_broken_by_row_id(self, store: CollectionStore) -> None:
        """Also across the limit, whatever the order of writing."""
        store.ensure(make_schema(NAME))
        names = [f"r{(number * 37) % 100:03d}" for number in range(100)]
        store.upsert(NAME, [make_row(name, (1, 0, 0), "same words") for name in names])
        wanted = sorted(names)[:7]
        for _ in range(2):
            assert hit_ids(store.search_dense(NAME, unit(1, 1, 0), limit=7)) == wanted
            assert hit_ids(store.search_lexical(NAME, ["words"], limit=7)) == wanted
            store.optimize(NAME)

    @pytest.mark.parametrize("limit", [0, -1])
    def test_h1_a_limit_below_one_is_refused(self, filled: CollectionStore, limit: int) -> None:
        """Nothing asked is a mistake, not a question."""
        with pytest.raises(InvalidInput):
            filled.search_dense(NAME, unit(1, 0, 0), limit=limit)
        with pytest.raises(InvalidInput):
            filled.search_lexical(NAME, ["egfr"], limit=limit)

    def test_h1_an_empty_collection_finds_nothing(self, store: CollectionStore) -> None:
        """Before the first row, and before any index has seen one."""
        store.ensure(make_schema(NAME))
        assert store.search_dense(NAME, unit(1, 0, 0), limit=5) == ()
        assert store.search_lexical(NAME, ["egfr"], limit=5) == ()
        assert list(store.scan(NAME)) == []
        assert store.count(NAME) == 0
        store.optimize(NAME)
        assert store.search_lexical(NAME, ["egfr"], limit=5) == ()

    # Lexical search

    def test_bm25_scores_are_the_textbook_s(self, filled: CollectionStore) -> None:
        """k1 1.2, b 0.75, idf ln(1 + (N - df + .5)/(df + .5)); rows without tokens do not count."""
        filled.optimize(NAME)
        hits = filled.search_lexical(NAME, ["egfr", "resistance"], limit=9)
        mean = (3 + 1 + 2 + 2) / 4
        idf = {count: math.log(1 + (4 - count + 0.5) / (count + 0.5)) for count in (1, 2)}
        gain = {n: 2.2 / (1 + 1.2 * (0.25 + 0.75 * n / mean)) for n in (1, 3)}
        assert hit_ids(hits) == ["a", "b"]
        wanted = [(idf[2] + idf[1]) * gain[3], idf[2] * gain[1]]
        assert [hit.score for hit in hits] == pytest.approx(wanted, rel=1e-4)

    def test_bm25_forgets_deleted_rows_after_optimize(self, filled: CollectionStore) -> None:
        """Scores depend on what is there, not on what was there."""
        filled.upsert(NAME, [make_row(f"x{n}", (0, 0, 1), "egfr noise noise") for n in range(9)])
        filled.optimize(NAME)
        filled.delete(NAME, OneOf("row_id", tuple(f"x{n}" for n in range(9))))
        filled.optimize(NAME)
        (hit, *_) = filled.search_lexical(NAME, ["resistance"], limit=1)
        idf = math.log(1 + 3.5 / 1.5)
        assert hit.score == pytest.approx(idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 1.5)), rel=1e-4)

    def test_a_token_given_twice_counts_twice(self, filled: CollectionStore) -> None:
        """The sum of BM25 runs over the query's tokens, not over its distinct ones."""
        (once,) = filled.search_lexical(NAME, ["t790m"], limit=1)
        (twice,) = filled.search_lexical(NAME, ["t790m", "t790m"], limit=1)
        assert twice.score == pytest.approx(2 * once.score, rel=1e-5)

    @pytest.mark.parametrize(
        "token",
        [
            "hla-drb1*15:01",
            "(3r,4s)-1-[4-",
            "EGFR",
            "é",
            "ß",
            "no\u00a0break",
            "x" * 500,
            '"q"',
            "+must",
            "-not",
            "AND",
            "the",
            "running",
            "a^2",
            "wild*",
            "fuzzy~1",
            "a\0b",
        ],
    )
    def test_c4_a_token_is_taken_as_it_is(self, filled: CollectionStore, token: str) -> None:
        """No operators, no folding, no stemming, no stop words, no maximal length."""
        filled.upsert(NAME, [make_row("t", (0, 0, 1), f"before {token} after")])
        for _ in range(2):
            assert hit_ids(filled.search_lexical(NAME, [token], limit=9)) == ["t"]
            for near in (token[:-1] + "~", token.swapcase() + "z"):
                assert filled.search_lexical(NAME, [near], limit=9) == ()
            filled.optimize(NAME)

    def test_any_of_the_tokens_is_enough(self, filled: CollectionStore) -> None:
        """The query is no conjunction and no phrase."""
        hits = filled.search_lexical(NAME, ["abacavir", "nowhere", "trial"], limit=9)
        assert sorted(hit_ids(hits)) == ["c", "d"]

    @pytest.mark.parametrize("tokens", [[], [""], [" ", "\n"]])
    def test_c4_no_tokens_match_nothing(self, filled: CollectionStore, tokens: list[str]) -> None:
        """A query of punctuation only has no tokens."""
        assert filled.search_lexical(NAME, tokens, limit=9) == ()

    def test_c4_ten_thousand_tokens_are_searched_and_more_refused(
        self, filled: CollectionStore
    ) -> None:
        """Never cut in silence."""
        tokens = [f"t{number}" for number in range(9_999)]
        assert hit_ids(filled.search_lexical(NAME, [*tokens, "trial"], limit=9)) == ["c"]
        with pytest.raises(InvalidInput, match="10000"):
            filled.search_lexical(NAME, [*tokens, "trial", "more"], limit=9)

    def test_a_collection_without_bm25_says_so(self, store: CollectionStore) -> None:
        """An empty answer would look like an answer; asking again for the index brings it."""
        store.ensure(replace(make_schema(NAME), hybrid=False))
        store.upsert(NAME, [make_row("a", (1, 0, 0), "egfr")])
        with pytest.raises(InvalidInput, match="BM25"):
            store.search_lexical(NAME, ["egfr"], limit=1)
        store.ensure(make_schema(NAME))
        assert hit_ids(store.search_lexical(NAME, ["egfr"], limit=1)) == ["a"]
