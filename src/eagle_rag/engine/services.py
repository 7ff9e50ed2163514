"""What the core does for plugins, put together; nothing heavy is imported before it is used."""

from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from eagle_rag.kernel.sections import LlmSettings
from eagle_rag.kernel.settings import Settings
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.document import Source
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.plugins import PluginServices
from eagle_rag.ports.services import JsonModel, Library, NameLookup, PassageTexts

__all__ = ["plugin_services"]


def plugin_services(
    settings: Settings,
    library: Library | None = None,
    *,
    texts: PassageTexts | None = None,
    names: NameLookup | None = None,
) -> PluginServices:
    """Return the services of one process.

    Args:
        settings: Limits, and where a language model answers.
        library: The live documents; ``None`` in a worker process.
        texts: The text of live passages; ``None`` in a worker process.
        names: Live documents by name; ``None`` in a worker process.
    """
    return PluginServices(
        read_xml=_XmlReader(settings.ingest.max_file_bytes),
        runtimes=_LazyRuntimes(),
        json_model=None if settings.llm.url is None else _LazyJsonModel(settings.llm),
        library=library,
        cache_dir=_cache_dir(settings),
        texts=texts,
        names=names,
    )


def _cache_dir(settings: Settings) -> Path:
    namespace = settings.plugins.default_namespace
    return settings.data_dir / "cache" / settings.workspace / namespace


class _XmlReader:
    def __init__(self, size_limit_bytes: int) -> None:
        self._limit = size_limit_bytes

    def __call__(self, source: Source) -> Any:  # noqa: ANN401 - an lxml element; see XmlReader
        from eagle_rag.adapters.documents.xml import read_xml

        return read_xml(source, size_limit_bytes=self._limit)


class _LazyJsonModel:
    """``JsonModel`` that opens its connection with the first question."""

    def __init__(self, settings: LlmSettings) -> None:
        self._settings = settings
        self._model: JsonModel | None = None
        self._lock = Lock()

    def ask(self, prompt: str, *, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """See ``JsonModel.ask``."""
        with self._lock:
            if self._model is None:
                self._model = self._opened()
        return self._model.ask(prompt, schema=schema)

    def _opened(self) -> JsonModel:
        from eagle_rag.adapters.encoders.http_client import RetryPolicy
        from eagle_rag.adapters.encoders.json_model import HttpJsonModel, JsonModelRecipe

        settings = self._settings
        retries = RetryPolicy(attempts=settings.retries + 1, timeout_s=settings.timeout_s)
        return HttpJsonModel(
            JsonModelRecipe(settings.url or "", settings.model, settings.api_key_env, retries)
        )


class _LazyRuntimes:
    """``EncoderRuntimes`` that imports the adapters on first use."""

    def text(self, card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
        from eagle_rag.adapters.encoders.runtimes import open_text

        return open_text(card, recipe)

    def visual(self, card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
        from eagle_rag.adapters.encoders.runtimes import open_visual

        return open_visual(card, recipe)

    def pairs(self, card: EncoderCard, recipe: PairRecipe) -> PairScorer:
        from eagle_rag.adapters.encoders.runtimes import open_pairs

        return open_pairs(card, recipe)
