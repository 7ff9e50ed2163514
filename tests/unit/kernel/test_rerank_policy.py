"""Who reranks: the table of the settings, the plugin's wish and what is there."""

from typing import Literal

import pytest

from eagle_rag.errors import PluginError
from eagle_rag.kernel.rerank_policy import PolicyWish, RerankWishes, resolve_rerank_policy
from eagle_rag.model.query import RerankPolicy

_Configured = Literal["auto", "domain", "general", "none"]
_NO_WISH = None


@pytest.mark.parametrize(
    ("configured", "wish", "has_reranker", "has_encoder", "expected"),
    [
        # What is set is taken, whoever is there.
        ("none", "domain", True, True, "none"),
        ("domain", "none", True, True, "domain"),
        ("domain", _NO_WISH, False, False, "domain"),
        ("general", "domain", True, False, "general"),
        # auto: the plugin's wish, the reference's first step.
        ("auto", "domain", True, False, "domain"),
        ("auto", "domain", True, True, "domain"),
        ("auto", "general", True, False, "general"),
        ("auto", "none", True, True, "none"),
        # A plugin that wants to rerank and has no reranker: general, the reference's third step.
        ("auto", "domain", False, True, "general"),
        ("auto", "domain", False, False, "general"),
        # Nobody says.
        ("auto", _NO_WISH, True, True, "domain"),
        ("auto", _NO_WISH, False, True, "general"),
        ("auto", _NO_WISH, False, False, "none"),
    ],
)
def test_the_policy_is_that_of_the_table(
    configured: _Configured,
    wish: RerankPolicy | None,
    *,
    has_reranker: bool,
    has_encoder: bool,
    expected: RerankPolicy,
) -> None:
    resolved = resolve_rerank_policy(
        configured,
        None if wish is None else PolicyWish(wish),
        has_reranker=has_reranker,
        has_encoder=has_encoder,
    )
    assert resolved.policy == expected
    assert resolved.reason


def test_two_plugins_that_ask_for_different_things_are_refused() -> None:
    wishes = RerankWishes()
    wishes.register(PolicyWish("domain"))
    wishes.register(PolicyWish("domain"))
    with pytest.raises(PluginError, match="two rerank policies"):
        wishes.register(PolicyWish("none"))
    assert wishes.wish == PolicyWish("domain")
