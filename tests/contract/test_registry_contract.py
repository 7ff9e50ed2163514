"""The SQL registry under the shipped contract, on SQLite and, where given one, on PostgreSQL."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from eagle_rag.adapters.registry import open_registry
from eagle_rag.ports.registry import Registry
from eagle_rag.testing.registry_contract import RegistryContract

POSTGRESQL = os.environ.get("EAGLE_RAG_TEST_POSTGRESQL", "")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty registry to copy: migrating one for every test would take most of the time."""
    path = tmp_path_factory.mktemp("registry") / "empty.db"
    open_registry(f"sqlite:///{path}").close()
    return path


class TestSqliteRegistry(RegistryContract):
    @pytest.fixture
    def url(self, tmp_path: Path, template: Path) -> str:
        copied = shutil.copy(template, tmp_path / "registry.db")
        return f"sqlite:///{copied}"

    @pytest.fixture
    def registry(self, url: str) -> Iterator[Registry]:
        registry = open_registry(url)
        yield registry
        registry.close()

    @pytest.fixture
    def reopen(self, url: str) -> Iterator[Callable[[Registry], Registry]]:
        opened: list[Registry] = []

        def again(_: Registry) -> Registry:
            opened.append(open_registry(url))
            return opened[-1]

        yield again
        for registry in opened:
            registry.close()


@pytest.mark.server
@pytest.mark.skipif(
    not POSTGRESQL, reason="set EAGLE_RAG_TEST_POSTGRESQL to the URL of an empty database"
)
class TestPostgresqlRegistry(TestSqliteRegistry):
    @pytest.fixture
    def url(self) -> str:
        engine = create_engine(POSTGRESQL, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("DROP SCHEMA IF EXISTS public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        engine.dispose()
        return POSTGRESQL
