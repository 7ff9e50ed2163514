"""A registry in a file of its own."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle_rag.adapters.registry import SqlRegistry, open_registry


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.db"


@pytest.fixture
def url(path: Path) -> str:
    return f"sqlite:///{path}"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty registry to copy: migrating one for every test would take most of the time."""
    path = tmp_path_factory.mktemp("registry") / "empty.db"
    open_registry(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def registry(template: Path, path: Path, url: str) -> Iterator[SqlRegistry]:
    shutil.copy(template, path)
    registry = open_registry(url)
    yield registry
    registry.close()
