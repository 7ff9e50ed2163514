"""One filter over collections that do not all have its fields."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from eagle_rag.adapters.lance.store import LanceStore
from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.engine.fitted_reader import FittedReader, check_request_filter
from eagle_rag.errors import InvalidFilter, UnknownName
from eagle_rag.model.filters import AllOf, AnyOf, Compare, Filter, OneOf
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_rows import make_row, make_schema

_MAKER, _YEAR = Compare("maker", "eq", "acme"), Compare("year", "eq", 2020)


@pytest.fixture(params=["memory", "lance"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CollectionStore]:
    """Two collections with one row each; only ``labels`` has the field ``maker``."""
    store: CollectionStore = (
        MemoryStore() if request.param == "memory" else LanceStore(tmp_path / "store")
    )
    for name, fields in (("labels", ("maker",)), ("plain", ())):
        store.ensure(make_schema(name, dim=2, extra_fields=fields))
        extra = tuple((field, "acme") for field in fields)
        store.upsert(name, [make_row(name, (1.0, 0.0), "egfr", year=2020, extra=extra)])
        store.optimize(name)
    yield store
    store.close()


def _found(reader: FittedReader, collection: str, where: Filter) -> list[list[str]]:
    vector = np.array([1.0, 0.0], np.float32)
    dense = reader.search_dense(collection, vector, limit=5, where=where)
    lexical = reader.search_lexical(collection, ["egfr"], limit=5, where=where)
    scanned = [row for batch in reader.scan(collection, where=where) for row in batch]
    assert reader.count(collection, where=where) == len(scanned)
    return [[each.row_id for each in rows] for rows in (dense, lexical, scanned)]


@pytest.mark.parametrize(
    ("where", "collections"),
    [
        (_MAKER, ["labels"]),
        (OneOf("maker", ("acme", "other")), ["labels"]),
        (Compare("maker", "ne", "other"), ["labels"]),
        (AllOf((_MAKER, _YEAR)), ["labels"]),
        (AnyOf((_MAKER, _YEAR)), ["labels", "plain"]),
        (AnyOf((_MAKER, Compare("year", "eq", 1999))), ["labels"]),
        (AllOf((AnyOf((_MAKER, _YEAR)), OneOf("row_id", ("plain",)))), ["plain"]),
        (_YEAR, ["labels", "plain"]),
    ],
)
def test_i1_a_collection_without_the_field_holds_no_row_that_satisfies_it(
    store: CollectionStore, where: Filter, collections: list[str]
) -> None:
    reader = FittedReader(store)
    for name in ("labels", "plain"):
        assert _found(reader, name, where) == [[name] if name in collections else []] * 3


def test_i2_the_rest_of_the_filter_is_checked_all_the_same(store: CollectionStore) -> None:
    with pytest.raises(InvalidFilter, match="'year' holds whole numbers"):
        FittedReader(store).count("plain", where=AllOf((_MAKER, Compare("year", "eq", "x"))))


def test_a_field_added_since_is_seen(store: CollectionStore) -> None:
    reader = FittedReader(store)
    assert reader.count("plain", where=_MAKER) == 0
    store.ensure(make_schema("plain", dim=2, extra_fields=("maker",)))
    row = make_row("new", (1.0, 0.0), "egfr", extra=(("maker", "acme"),))
    store.upsert("plain", [row])
    reader.refresh()
    assert reader.count("plain", where=_MAKER) == 1


def test_a_collection_nobody_made_is_unknown_as_before(store: CollectionStore) -> None:
    with pytest.raises(UnknownName):
        FittedReader(store).count("absent", where=_MAKER)


def test_i2_a_field_of_no_collection_is_refused_and_those_of_all_are_named() -> None:
    check_request_filter(AnyOf((_MAKER, Compare("drug", "eq", "x"))), {"maker", "drug"})
    check_request_filter(None, ())
    with pytest.raises(InvalidFilter, match=r"'makr'; known: .*drug.*kb_name.*maker.*year"):
        check_request_filter(Compare("makr", "eq", "x"), {"maker", "drug"})
