"""Eagle-RAG: biomedical retrieval whose answer is a passage that can be checked.

Names are loaded on first use, so importing the package loads neither a model runtime nor a store.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eagle_rag.engine import Engine, open_engine
    from eagle_rag.errors import EagleError
    from eagle_rag.kernel.settings import Settings, load_settings
    from eagle_rag.model.query import SearchRequest
    from eagle_rag.model.results import Hit, IngestReport, SearchResults, VerifyReport

__all__ = [
    "EagleError",
    "Engine",
    "Hit",
    "IngestReport",
    "SearchRequest",
    "SearchResults",
    "Settings",
    "VerifyReport",
    "__version__",
    "load_settings",
    "open_engine",
]

__version__ = "0.1.0"

_HOMES = {
    "EagleError": "eagle_rag.errors",
    "Engine": "eagle_rag.engine",
    "Hit": "eagle_rag.model.results",
    "IngestReport": "eagle_rag.model.results",
    "SearchRequest": "eagle_rag.model.query",
    "SearchResults": "eagle_rag.model.results",
    "Settings": "eagle_rag.kernel.settings",
    "VerifyReport": "eagle_rag.model.results",
    "load_settings": "eagle_rag.kernel.settings",
    "open_engine": "eagle_rag.engine",
}


def __getattr__(name: str) -> object:
    """Load a public name from the module it lives in."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")  # noqa: EM102 - PEP 562 wants exactly this error
    value: object = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    """List the public names without loading them."""
    return sorted(__all__)
