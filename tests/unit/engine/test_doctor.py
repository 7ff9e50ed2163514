"""``eagle doctor`` on an index whose documents the settings in force do not show."""

from collections.abc import Callable
from pathlib import Path

import pytest

from eagle_rag.engine import Engine
from eagle_rag.engine.doctor import check_engine
from eagle_rag.testing.articles import write_files

_BIOMED = {"profile": "embedded", "plugins.options.biomed.encoders.eagle_text_biomed": "hash"}


@pytest.fixture
def made(make_engine: Callable[..., Engine], tmp_path: Path) -> Callable[..., Engine]:
    """Open engines on an index that the core made: one document of its namespace."""
    engine = make_engine()
    engine.ingest([write_files(tmp_path / "in", {"a.txt": "Kinase.\n"})])
    engine.close()
    return make_engine


def _registry(engine: Engine) -> str:
    check = next(each for each in check_engine(engine) if each.name == "registry")
    assert check.ok, "documents elsewhere are no failure"
    return check.message


def test_an_index_of_the_core_is_pointed_out_to_who_opens_it_with_the_default_profile(
    made: Callable[..., Engine],
) -> None:
    message = _registry(made(_BIOMED))
    assert message.endswith("the registry holds 1 documents of namespace core; use --profile core")


def test_another_workspace_is_named_with_the_setting_that_opens_it(
    made: Callable[..., Engine],
) -> None:
    message = _registry(made({"workspace": "lab"}))
    assert message.endswith("of namespace core of workspace default; use --set workspace=default")
    both = _registry(made({"workspace": "lab", **_BIOMED}))
    assert both.endswith("use --profile core --set workspace=default")


def test_a_place_with_documents_says_nothing_of_others(
    made: Callable[..., Engine], tmp_path: Path
) -> None:
    other = made({"workspace": "lab"})
    other.ingest([write_files(tmp_path / "in", {"b.txt": "Ligase.\n"})])
    assert "the registry holds" not in _registry(other)
    assert "the registry holds" not in _registry(made())
