"""Every store of this package under the shipped contract."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag.adapters.lance import DenseIndex, LanceStore
from eagle_rag.adapters.memory_store import MemoryStore
from eagle_rag.ports.stores import CollectionStore
from eagle_rag.testing.store_contract import Reopen, StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def store(self) -> CollectionStore:
        return MemoryStore()


class TestLanceStore(StoreContract):
    @pytest.fixture
    def index(self) -> DenseIndex:
        return DenseIndex()

    @pytest.fixture
    def store(self, tmp_path: Path, index: DenseIndex) -> Iterator[CollectionStore]:
        store = LanceStore(tmp_path, index=index)
        yield store
        store.close()

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Reopen:
        return lambda _: LanceStore(tmp_path)


class TestLanceStoreWithExactIndex(TestLanceStore):
    @pytest.fixture
    def index(self) -> DenseIndex:
        return DenseIndex(flat_rows=1)


class TestLanceStoreWithGraphIndex(TestLanceStore):
    @pytest.fixture
    def index(self) -> DenseIndex:
        return DenseIndex(flat_rows=1, exact_floats=1)
