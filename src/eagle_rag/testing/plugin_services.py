"""Services for plugins under test: safe XML and deterministic encoders, no library, no model."""

from typing import Any

from lxml import etree

from eagle_rag.errors import EncoderLoadError, UnreadableDocument
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.document import Source
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.plugins import PluginServices

__all__ = ["offline_services", "plain_xml"]


def plain_xml(source: Source) -> Any:  # noqa: ANN401 - an lxml element; see XmlReader
    """Return the root of well-formed XML, comments and instructions left out.

    Raises:
        UnreadableDocument: ``xml-syntax``.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(source.data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = "xml-syntax"
        raise UnreadableDocument(source.uri, reason, str(error), remedy="correct it") from error


def offline_services() -> PluginServices:
    """Return services without a library, a language model or weights."""
    return PluginServices(read_xml=plain_xml, runtimes=_NoWeights())


class _NoWeights:
    def text(self, card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
        del recipe
        raise _absent(card)

    def visual(self, card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
        del recipe
        raise _absent(card)

    def pairs(self, card: EncoderCard, recipe: PairRecipe) -> PairScorer:
        del recipe
        raise _absent(card)


def _absent(card: EncoderCard) -> EncoderLoadError:
    message = f"no weights for {card.label!r} here"
    return EncoderLoadError(message, remedy="use an instance with weights")
