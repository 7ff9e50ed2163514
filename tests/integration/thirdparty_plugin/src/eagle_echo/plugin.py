"""Tags every passage, repeats the query, brings a collection."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from eagle_rag.hooks import hookimpl
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.passage import EncodedBatch, Passage, VectorSpec
from eagle_rag.model.query import QueryAddition, QueryContext
from eagle_rag.ports.plugins import PluginContext
from eagle_rag.ports.services import Library
from eagle_rag.ports.tools import Tool, ToolAnswer, ToolParameter, ToolValue

__all__ = ["EchoPlugin"]

_CARD = EncoderCard("echo", "text", 4, "hash")


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
        context.registrar.register_encoder(_CARD, _Encoder)
        context.registrar.register_collection(CollectionProfile("eagle_echo", 4, "echo"))
        context.registrar.register_tool(_SAY)

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


class _Encoder:
    """Every text is the same unit vector."""

    card = _CARD
    spec = VectorSpec("echo", "0" * 64, 4, pooling="none")

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        vectors = np.zeros((len(texts), 4), np.float32)
        vectors[:, 0] = 1
        return EncodedBatch(vectors, self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        return self.encode_documents([text])


def _say(arguments: Mapping[str, ToolValue], library: Library) -> ToolAnswer:
    documents = [record.document_id for record in library.of_format("markdown")]
    words = [str(arguments["word"])] * int(arguments["times"])
    rows = tuple((word, str(len(documents))) for word in words)
    data = {"words": words, "documents": documents, "loud": arguments["loud"]}
    return ToolAnswer(data, ("word", "documents"), rows, ("said by echo",))


_SAY = Tool(
    name="echo.say",
    agent_name="echo_say",
    summary="Repeat a word.",
    example="eagle echo say hello --times 2",
    parameters=(
        ToolParameter("word", "What to say.", positional=True),
        ToolParameter("times", "How often.", "integer", 1),
        ToolParameter("loud", "Loudly.", "flag", default=False),
    ),
    run=_say,
)
