"""Who reranks: what the settings say, else what the plugin asks for, else what is there."""

from dataclasses import dataclass
from typing import Literal

from eagle_rag.errors import PluginError
from eagle_rag.model.query import RerankPolicy

__all__ = ["PolicyWish", "RerankWishes", "ResolvedPolicy", "resolve_rerank_policy"]


@dataclass(frozen=True, slots=True)
class PolicyWish:
    """What a plugin asks for.

    Args:
        policy: Who reranks the queries of its namespace.
        encoder: Label of the cross-encoder that its ``rerank_merged`` asks; empty for none.
    """

    policy: RerankPolicy
    encoder: str = ""


class RerankWishes:
    """What plugins ask for; an instance serves one namespace, so that there is one answer at most."""

    def __init__(self) -> None:
        self._wish: PolicyWish | None = None

    def register(self, wish: PolicyWish) -> None:
        """Keep what a plugin asks for.

        Raises:
            PluginError: Something else is asked for already.
        """
        if self._wish is not None and self._wish != wish:
            message = f"two rerank policies are registered: {self._wish} and {wish}"
            raise PluginError(message, remedy="disable one of the plugins, or set rerank.policy")
        self._wish = wish

    @property
    def wish(self) -> PolicyWish | None:
        """What is asked for; ``None`` when no plugin says."""
        return self._wish


@dataclass(frozen=True, slots=True)
class ResolvedPolicy:
    """Who reranks, and why; ``reason`` is for people."""

    policy: RerankPolicy
    reason: str


def resolve_rerank_policy(
    configured: Literal["auto", "domain", "general", "none"],
    wish: PolicyWish | None,
    *,
    has_reranker: bool,
    has_encoder: bool,
) -> ResolvedPolicy:
    """Return who reranks.

    A policy that is set is taken as it is, also where nobody can follow it: the answer then says so.

    Args:
        configured: ``rerank.policy``.
        wish: What the plugin asks for; ``None`` when it does not say.
        has_reranker: A plugin implements ``rerank_merged``.
        has_encoder: ``rerank.encoder`` names a cross-encoder.
    """
    if configured != "auto":
        return ResolvedPolicy(configured, "rerank.policy")
    if wish is not None:
        if wish.policy == "domain" and not has_reranker:
            return ResolvedPolicy("general", "the plugin asks for domain and brings no reranker")
        return ResolvedPolicy(wish.policy, "the plugin asks for it")
    return _by_what_is_there(has_reranker=has_reranker, has_encoder=has_encoder)


def _by_what_is_there(*, has_reranker: bool, has_encoder: bool) -> ResolvedPolicy:
    if has_reranker:
        return ResolvedPolicy("domain", "a plugin brings a reranker")
    if has_encoder:
        return ResolvedPolicy("general", "rerank.encoder is set")
    return ResolvedPolicy("none", "nobody brings a reranker")
