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


def _rerank(engine: Engine) -> tuple[bool, str]:
    check = next(each for each in check_engine(engine) if each.name == "rerank")
    return check.ok, check.message


_PAIRS = {"encoders.pairs.modality": "rerank", "encoders.pairs.runtime": "hash"}


@pytest.mark.parametrize(
    ("settings", "ok", "message"),
    [
        ({}, True, "policy none (nobody brings a reranker)"),
        (_PAIRS, True, "policy none (nobody brings a reranker)"),
        (
            {**_PAIRS, "rerank.encoder": "pairs"},
            True,
            "policy general (rerank.encoder is set), pairs is ready",
        ),
        (
            {**_PAIRS, "rerank.encoder": "pears"},
            False,
            "unknown rerank encoder 'pears'",
        ),
        ({"rerank.policy": "general"}, False, "names no cross-encoder"),
        ({"rerank.policy": "domain"}, False, "no enabled plugin brings a reranker"),
        (
            {**_BIOMED, "plugins.options.biomed.domain_rerank_encoder": ""},
            True,
            "policy domain (the plugin asks for it), no cross-encoder",
        ),
        (
            {**_BIOMED, **_PAIRS, "plugins.options.biomed.domain_rerank_encoder": "pairs"},
            True,
            "policy domain (the plugin asks for it), pairs is ready",
        ),
        (
            {**_BIOMED, "plugins.options.biomed.domain_rerank_encoder": "pairz"},
            False,
            "unknown rerank encoder 'pairz'",
        ),
        (
            {**_BIOMED, "plugins.options.biomed.rerank_policy": "none"},
            True,
            "policy none (the plugin asks for it)",
        ),
    ],
)
def test_who_reranks_is_told_and_its_cross_encoder_is_tried(
    make_engine: Callable[..., Engine], settings: dict[str, object], *, ok: bool, message: str
) -> None:
    found = _rerank(make_engine(settings))
    assert found[0] is ok
    assert message in found[1]
