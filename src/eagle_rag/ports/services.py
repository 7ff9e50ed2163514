"""What the core does for a plugin, so that a plugin needs no adapter of the core."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from eagle_rag.model.collection import EncoderCard, StoreHit
from eagle_rag.model.document import Source
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.model.filters import Filter
from eagle_rag.model.passage import Passage
from eagle_rag.model.records import DocumentNames, DocumentRecord
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder

__all__ = ["EncoderRuntimes", "JsonModel", "Library", "NameLookup", "PassageTexts", "XmlReader"]


class XmlReader(Protocol):
    """Reads XML that nobody vouches for: no DTD, no network, no entity expansion, a size limit."""

    def __call__(self, source: Source) -> Any:  # noqa: ANN401 - the root element; lxml stays in the adapter
        """Return the root element (an ``lxml`` element), comments and instructions left out.

        Raises:
            UnreadableDocument: ``empty``, ``too-large``, ``html``, ``not-xml``,
                ``entity-declaration`` or ``xml-syntax``.
        """
        ...


class EncoderRuntimes(Protocol):
    """Opens checkpoints. ``card.checkpoint`` is a folder, a package or a hub id; nothing loads before use.

    ``card.runtime`` says what runs it: ``onnx`` (an exported folder), ``torch`` (the native
    checkpoint), ``auto`` (an exported folder when it is one, else torch), ``hash`` (deterministic, no
    weights).
    """

    def text(self, card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
        """Return a text encoder.

        Raises:
            EncoderLoadError: The runtime is unknown or its library is not installed.
        """
        ...

    def visual(self, card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
        """Return a visual encoder, as ``text`` does."""
        ...

    def pairs(self, card: EncoderCard, recipe: PairRecipe) -> PairScorer:
        """Return a cross-encoder, as ``text`` does."""
        ...


class JsonModel(Protocol):
    """A language model that answers with one JSON object."""

    def ask(self, prompt: str, *, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object the model answered with, checked against a JSON schema.

        Args:
            prompt: The whole question.
            schema: ``type: object`` with ``properties`` and ``required``.

        Raises:
            EncoderUnavailable: It did not answer in time.
            InvalidInput: The answer is not JSON, or does not fit the schema.
        """
        ...


class Library(Protocol):
    """The live documents of this instance's workspace and namespace, for plugins and their tools.

    ``kb_names`` is ``None`` for all, empty for none.
    """

    def find(
        self, identifier: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[DocumentRecord, ...]:
        """Return live documents with this document id or identifier of any scheme, by id."""
        ...

    def of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> Iterator[DocumentRecord]:
        """Yield every live document of a format, by id."""
        ...

    def versions_of_format(
        self, source_format: str, *, kb_names: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Return ``document_id -> live version`` of a format; cheap, for keeping an index in step."""
        ...

    def passages(
        self, document_id: str, *, kb_names: Sequence[str] | None = None
    ) -> tuple[Passage, ...]:
        """Return a live document's passages in order; empty when it is absent."""
        ...

    def nearest(
        self, collection: str, query: str, *, limit: int, where: Filter | None = None
    ) -> tuple[StoreHit, ...]:
        """Return the rows of a collection nearest to a query encoded by the collection's encoder.

        Rows of documents that are not live are left out.

        Raises:
            UnknownName: No such collection, or nothing fills it.
        """
        ...

    def generation(self) -> int:
        """Return a number that changes whenever a document of this instance comes, changes or goes."""
        ...


class PassageTexts(Protocol):
    """The text and place of live passages of this instance's workspace and namespace."""

    def texts(
        self, passage_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, Passage]:
        """Return these passages by id, in the order asked for; what is not live is left out.

        Args:
            passage_ids: Which ones.
            kb_names: Only of these knowledge bases; ``None`` for all, empty for none.
        """
        ...


class NameLookup(Protocol):
    """Live documents of this instance's workspace and namespace by name. ``kb_names`` as for ``Library``."""

    def documents_named(
        self, terms: Sequence[str], *, kb_names: Sequence[str] | None = None, limit: int = 64
    ) -> tuple[str, ...]:
        """Return the ids of documents that one of the terms names, whatever their files are called.

        Those with a passage tagged with a term, by a tag whose name begins with ``primary_``; without any,
        those whose title holds one, as far as titles can be read in time. By id, at most ``limit``.
        """
        ...

    def names_of(
        self, document_ids: Sequence[str], *, kb_names: Sequence[str] | None = None
    ) -> dict[str, DocumentNames]:
        """Return what these documents are called, by id; what is not live is missing."""
        ...
