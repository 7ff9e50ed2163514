"""Tags every passage, repeats the query, brings a collection."""

from dataclasses import replace

from eagle_rag.hooks import hookimpl
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.passage import Passage
from eagle_rag.model.query import QueryAddition, QueryContext
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.ports.plugins import PluginContext

__all__ = ["EchoPlugin"]


class EchoPlugin:
    """The plugin; its namespace is its name."""

    name = "echo"
    namespace = "echo"
    version = "1.2.3"
    depends_on: tuple[str, ...] = ("core",)
    priority = 100

    def __init__(self) -> None:
        self._tag = "echo"

    def on_load(self, context: PluginContext) -> None:
        """Read the options, register an encoder and a collection."""
        self._tag = str(context.options.get("tag", self._tag))
        context.registrar.register_encoder(EncoderCard("echo", "text", 4, "hash"), _encoder)
        context.registrar.register_collection(CollectionProfile("eagle_echo", 4, "echo"))

    @hookimpl
    def chunk(self, passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
        """Add one tag."""
        return tuple(
            replace(passage, tags=tuple(sorted({*passage.tags, (self._tag, "yes")})))
            for passage in passages
        )

    @hookimpl
    def query_assemble(self, context: QueryContext) -> QueryAddition:
        """Repeat the query."""
        return QueryAddition(dense_suffix=context.request.query)


def _encoder() -> TextEncoder:
    message = "this plugin's encoder is never used"
    raise NotImplementedError(message)
