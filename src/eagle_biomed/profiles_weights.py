"""The weights of the merged rerank, by workflow."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final

from eagle_rag.errors import ConfigurationError

__all__ = ["DEFAULT_WEIGHTS", "PROFILE_WEIGHTS", "WEIGHT_NAMES", "Weights", "profile_weights"]

_KEY: Final = "plugins.options.biomed.retrieval_scoring"


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of one workflow.

    Args:
        w_ce: Of the cross-encoder's normalised score.
        w_entity: Of the entity match.
        w_sec: Of the section match.
        w_xdrug_penalty: Of the penalty for a passage about another drug; subtracted.
    """

    w_ce: float
    w_entity: float
    w_sec: float
    w_xdrug_penalty: float


WEIGHT_NAMES: Final = ("w_ce", "w_entity", "w_sec", "w_xdrug_penalty")

DEFAULT_WEIGHTS: Final = Weights(0.50, 0.25, 0.15, 2.0)
PROFILE_WEIGHTS: Final[Mapping[str, Weights]] = MappingProxyType({
    "default": DEFAULT_WEIGHTS,
    "regulatory": Weights(0.30, 0.20, 0.35, 2.5),
    "drug_entity": Weights(0.35, 0.35, 0.10, 3.0),
    "chemical": Weights(0.25, 0.40, 0.10, 3.0),
    "combination": Weights(0.35, 0.35, 0.10, 2.5),
})  # fmt: skip
"""The reference's table (``_PROFILE_WEIGHTS``); ``general`` and any unknown workflow take ``default``."""


def profile_weights(workflow: str, overrides: Mapping[str, Any]) -> Weights:
    """Return the weights of a workflow.

    Args:
        workflow: Of the intent.
        overrides: ``retrieval_scoring``: by profile, the weights that replace the built-in ones; one that is
            not named stays. ``general`` is another name of ``default`` and comes after it.

    Raises:
        ConfigurationError: A weight of this profile has an unknown name.
    """
    profile = workflow if workflow in PROFILE_WEIGHTS else "default"
    values = asdict(PROFILE_WEIGHTS[profile])
    for name in ("default", "general") if profile == "default" else (profile,):
        for weight, value in (overrides.get(name) or {}).items():
            if weight not in values:
                message = f"unknown option {_KEY}.{name}.{weight}"
                raise ConfigurationError(message, remedy=f"known: {', '.join(WEIGHT_NAMES)}")
            values[weight] = float(value)
    return Weights(**values)
