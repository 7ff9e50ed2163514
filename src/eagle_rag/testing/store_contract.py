"""What every ``CollectionStore`` must do, as a class of tests for authors of stores.

Subclass it in a test module and override the fixture ``store`` (and ``reopen``, when the store
outlives its process)::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path: Path) -> Iterator[CollectionStore]:
            store = MyStore(tmp_path)
            yield store
            store.close()
"""

from eagle_rag.testing.store_fixtures import Reopen
from eagle_rag.testing.store_rows_contract import StoreRowsContract
from eagle_rag.testing.store_search_contract import StoreSearchContract

__all__ = ["Reopen", "StoreContract"]


class StoreContract(StoreRowsContract, StoreSearchContract):
    """Behaviour of the port, one test a promise."""
