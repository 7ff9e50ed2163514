"""What a store must do with collections and rows; part of ``StoreContract``."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from eagle_rag.errors import InvalidInput, UnknownName, VectorSpaceMismatch
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.filters import AllOf, Compare
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_fixtures import NAME, Reopen, StoreFixtures, hit_ids, stored_rows
from eagle_rag.testing.store_rows import make_row, make_schema, unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from eagle_rag.model.passage import FloatArray, VectorSpec

__all__ = ["StoreRowsContract"]


class StoreRowsContract(StoreFixtures):
    """Creating, writing, scanning, seeing what others wrote."""

    # Collections

    def test_describe_returns_what_ensure_was_given(self, store: CollectionStore) -> None:
        """Engine and plugins read the collection's encoder from here."""
        schema = make_schema(NAME, extra_fields=("drug", "mesh"))
        store.ensure(schema)
        assert store.describe(NAME) == schema
        assert store.describe("absent") is None

    def test_a_collection_survives_opening_again(
        self, filled: CollectionStore, reopen: Reopen
    ) -> None:
        """Rows, space and extra fields are durable when the call returns."""
        again = reopen(filled)
        assert again.describe(NAME) == make_schema(NAME, extra_fields=("drug",))
        assert again.count(NAME) == 5
        assert hit_ids(again.search_lexical(NAME, ["osimertinib"], limit=5)) == ["c"]

    @pytest.mark.parametrize(
        "change",
        [
            {"encoder": "other"},
            {"digest": "f" * 64},
            {"normalized": False},
            {"pooling": "cls"},
            {"query_prefix": "query: "},
            {"metric": "ip"},
        ],
    )
    def test_k4_another_space_of_equal_dimension_is_refused(
        self, filled: CollectionStore, change: dict[str, object]
    ) -> None:
        """Two models of equal dimension do not fail by themselves; they return nonsense."""
        spec = make_schema(NAME).spec
        other: VectorSpec = replace(spec, **change)  # type: ignore[arg-type]  # parametrised
        with pytest.raises(VectorSpaceMismatch) as caught:
            filled.ensure(CollectionSchema(NAME, other))
        (name, value) = next(iter(change.items()))
        assert repr(value) in str(caught.value)
        assert repr(getattr(spec, name)) in str(caught.value)

    def test_ensure_twice_keeps_thestored_rows(self, filled: CollectionStore) -> None:
        """Every ingest calls it."""
        filled.ensure(make_schema(NAME))
        assert filled.count(NAME) == 5
        assert filled.describe(NAME) == make_schema(NAME, extra_fields=("drug",))

    def test_ensure_adds_extra_fields_to_livestored_rows(self, filled: CollectionStore) -> None:
        """A plugin installed later brings its fields without a new ingest."""
        filled.ensure(make_schema(NAME, extra_fields=("drug", "gene")))
        filled.upsert(NAME, [make_row("f", (0, 0, 1), "new", extra=(("gene", "EGFR"),))])
        rows = stored_rows(filled)
        assert rows["b"].extra == (("drug", "x"), ("gene", None))
        assert rows["f"].extra == (("drug", None), ("gene", "EGFR"))
        assert filled.count(NAME, where=Compare("gene", "eq", "EGFR")) == 1

    @pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "x\0y", "a" * 101])
    def test_i4_a_collection_name_is_never_a_path(self, store: CollectionStore, name: str) -> None:
        """Names may come from a configuration somebody else wrote."""
        with pytest.raises(InvalidInput):
            store.ensure(make_schema(name))

    @pytest.mark.parametrize("field", ["text", "vector", "Drug", "a.b", "_score", "a b", ""])
    def test_i2_an_extra_field_takes_no_reserved_name(
        self, store: CollectionStore, field: str
    ) -> None:
        """It would shadow a field of the passage."""
        with pytest.raises(InvalidInput):
            store.ensure(make_schema(NAME, extra_fields=(field,)))

    def test_collections_are_sorted_and_can_be_dropped(self, store: CollectionStore) -> None:
        """Dropping what is absent is fine."""
        for name in ("b", "a"):
            store.ensure(make_schema(name))
        assert store.collections() == ("a", "b")
        store.drop("a")
        store.drop("a")
        assert store.collections() == ("b",)
        with pytest.raises(UnknownName):
            store.count("a")

    def test_a_collection_made_anew_has_none_of_the_oldstored_rows(
        self, filled: CollectionStore, reopen: Reopen
    ) -> None:
        """Also for a reader that had the old one open."""
        reader = reopen(filled)
        assert reader.count(NAME) == 5
        filled.drop(NAME)
        filled.ensure(make_schema(NAME))
        filled.upsert(NAME, [make_row("z", (0, 1, 0), "fresh")])
        reader.refresh()
        assert reader.describe(NAME) == make_schema(NAME)
        assert list(stored_rows(reader)) == list(stored_rows(filled)) == ["z"]

    def test_an_unknown_collection_is_named_with_those_there_are(
        self, filled: CollectionStore
    ) -> None:
        """Every reading and writing call alike."""
        calls: tuple[Callable[[], object], ...] = (
            lambda: filled.search_dense("nope", unit(1, 0, 0), limit=1),
            lambda: filled.search_lexical("nope", ["x"], limit=1),
            lambda: list(filled.scan("nope")),
            lambda: filled.count("nope"),
            lambda: filled.upsert("nope", [make_row("a", (1, 0, 0), "x")]),
            lambda: filled.delete("nope", AllOf(())),
            lambda: filled.optimize("nope"),
        )
        for call in calls:
            with pytest.raises(UnknownName, match=r"'nope'.*passages"):
                call()

    # Rows

    def test_scan_returns_rows_as_they_were_written(self, filled: CollectionStore) -> None:
        """Vectors and empty values included."""
        wanted = make_row("d", (1, 1, 0), "hla-b*57:01 abacavir", document_id="d3", year=2021)
        row = stored_rows(filled)["d"]
        assert row == replace(wanted, extra=(("drug", None),))
        assert row.vector.dtype == np.float32
        np.testing.assert_array_equal(row.vector, wanted.vector)

    def test_scan_keeps_to_its_batch_size(self, filled: CollectionStore) -> None:
        """A scan of millions of rows fits in memory."""
        batches = list(filled.scan(NAME, batch_size=2))
        assert sum(map(len, batches)) == 5
        assert all(1 <= len(batch) <= 2 for batch in batches)

    def test_upsert_replaces_a_row_of_the_same_id(self, filled: CollectionStore) -> None:
        """An interrupted ingest writes the same rows again."""
        rows = [make_row("a", (0, 0, 1), "other words"), make_row("n", (0, 0, 1), "new")]
        filled.upsert(NAME, rows)
        filled.upsert(NAME, rows)
        assert filled.count(NAME) == 6
        assert filled.search_lexical(NAME, ["t790m"], limit=5) == ()
        assert hit_ids(filled.search_lexical(NAME, ["words"], limit=5)) == ["a"]
        assert stored_rows(filled)["a"].year is None

    def test_upsert_of_nothing_is_nothing(self, filled: CollectionStore) -> None:
        """An empty document has no rows."""
        filled.upsert(NAME, [])
        assert filled.count(NAME) == 5

    def test_one_row_twice_in_a_call_is_refused(self, store: CollectionStore) -> None:
        """Which of the two would stay is not defined."""
        store.ensure(make_schema(NAME))
        with pytest.raises(InvalidInput, match="'a'"):
            store.upsert(NAME, [make_row("a", (1, 0, 0), "x"), make_row("a", (0, 1, 0), "y")])
        assert store.count(NAME) == 0

    @pytest.mark.parametrize(
        "vector",
        [(1.0, 0.0), (1.0, 0.0, 0.0, 0.0), (1.0, math.nan, 0.0), (1.0, math.inf, 0.0), (0, 0, 0)],
    )
    def test_h1_a_bad_vector_is_refused_in_rows_and_queries(
        self, filled: CollectionStore, vector: tuple[float, ...]
    ) -> None:
        """One NaN in an index spoils the ranking of every query; zero has no direction."""
        bad: FloatArray = np.array(vector, dtype=np.float32)
        row = replace(make_row("bad", (1, 0, 0), "x"), vector=bad)
        with pytest.raises(InvalidInput):
            filled.upsert(NAME, [make_row("good", (1, 0, 0), "x"), row])
        with pytest.raises(InvalidInput):
            filled.search_dense(NAME, bad, limit=1)
        assert filled.count(NAME) == 5

    def test_an_extra_field_the_collection_lacks_is_refused(self, filled: CollectionStore) -> None:
        """It would be lost silently."""
        with pytest.raises(InvalidInput, match="'gene'"):
            filled.upsert(NAME, [make_row("g", (1, 0, 0), "x", extra=(("gene", "EGFR"),))])

    def test_a_lone_surrogate_is_refused(self, filled: CollectionStore) -> None:
        """It is not Unicode text; no engine can hold it."""
        with pytest.raises(InvalidInput):
            filled.upsert(NAME, [make_row("s", (1, 0, 0), "bad \ud800")])

    def test_delete_removes_what_matches_and_nothing_else(
        self, filled: CollectionStore, reopen: Reopen
    ) -> None:
        """A deleted row is gone from both arms and from the scan at once (G2)."""
        filled.delete(
            NAME, AllOf((Compare("document_id", "eq", "d1"), Compare("version", "eq", 1)))
        )
        for store in (filled, reopen(filled)):
            assert sorted(stored_rows(store)) == ["c", "d", "e"]
            assert store.search_lexical(NAME, ["egfr"], limit=5) == ()
            assert set(hit_ids(store.search_dense(NAME, unit(1, 0, 0), limit=9))) == {
                "c",
                "d",
                "e",
            }

    def test_delete_of_everything_leaves_a_usable_collection(
        self, filled: CollectionStore
    ) -> None:
        """An empty corpus has answers: none (H1)."""
        filled.delete(NAME, AllOf(()))
        filled.optimize(NAME)
        assert filled.count(NAME) == 0
        assert filled.search_lexical(NAME, ["egfr"], limit=5) == ()
        assert filled.search_dense(NAME, unit(1, 0, 0), limit=5) == ()
        filled.upsert(NAME, [make_row("a", (1, 0, 0), "egfr")])
        assert hit_ids(filled.search_lexical(NAME, ["egfr"], limit=5)) == ["a"]

    # Writing and reading together

    def test_rows_are_found_before_and_after_optimize(self, filled: CollectionStore) -> None:
        """New rows do not wait for an index."""
        filled.optimize(NAME)
        filled.upsert(NAME, [make_row("late", (0, 0, -1), "latecomer")])
        for _ in range(2):
            assert hit_ids(filled.search_dense(NAME, unit(0, 0, -1), limit=1)) == ["late"]
            assert hit_ids(filled.search_lexical(NAME, ["latecomer"], limit=1)) == ["late"]
            filled.optimize(NAME)

    def test_g7_a_reader_sees_the_writer_s_rows_after_refresh(
        self, filled: CollectionStore, reopen: Reopen
    ) -> None:
        """A server need not be started anew after an ingest; deletions and fields count too."""
        reader = reopen(filled)
        assert reader.count(NAME) == 5
        filled.ensure(make_schema(NAME, extra_fields=("drug", "gene")))
        filled.upsert(NAME, [make_row("n", (0, 0, 1), "newcomer", extra=(("gene", "KRAS"),))])
        filled.delete(NAME, Compare("row_id", "eq", "a"))
        reader.refresh()
        (hit,) = reader.search_lexical(NAME, ["newcomer"], limit=5)
        assert hit.extra == (("drug", None), ("gene", "KRAS"))
        assert sorted(stored_rows(reader)) == ["b", "c", "d", "e", "n"]

    def test_g7_a_reader_older_than_the_collection_finds_it(
        self, store: CollectionStore, reopen: Reopen
    ) -> None:
        """The server may be started before the first ingest."""
        reader = reopen(store)
        assert reader.describe(NAME) is None
        store.ensure(make_schema(NAME))
        store.upsert(NAME, [make_row("a", (1, 0, 0), "first")])
        reader.refresh()
        assert hit_ids(reader.search_lexical(NAME, ["first"], limit=1)) == ["a"]
