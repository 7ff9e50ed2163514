"""Queries to vectors: which tower of which encoder, and whether it is of the collection's space."""

from collections.abc import Callable

from eagle_rag.errors import UnknownName, VectorSpaceMismatch
from eagle_rag.kernel.collections import CollectionRegistry
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import FloatArray, VectorSpec
from eagle_rag.model.query import CollectionQueryPlan
from eagle_rag.retrieve.search import Reach

__all__ = ["QueryEncoder"]


class QueryEncoder:
    """Encodes queries for plans.

    Args:
        encoders: All encoders.
        collections: All collections.
        schema_of: What a collection holds, or ``None`` when nothing was written to it.
    """

    def __init__(
        self,
        encoders: EncoderRegistry,
        collections: CollectionRegistry,
        schema_of: Callable[[str], CollectionSchema | None],
    ) -> None:
        self._encoders = encoders
        self._collections = collections
        self._schema_of = schema_of

    def encode(self, plan: CollectionQueryPlan, asked: str | bytes) -> tuple[FloatArray, bool]:
        """Return the vector of a query in words or of a picture, and whether it was truncated.

        Raises:
            VectorSpaceMismatch: The collection was filled in another space; both are named.
            InvalidInput: The picture cannot be decoded.
            EncoderLoadError, EncoderUnavailable: The encoder does not answer.
        """
        visual = self._encoders.card(plan.encoder).modality == "visual"
        if visual:
            eyes = self._encoders.visual(plan.encoder)
            self._check(plan, eyes.spec)
            if isinstance(asked, bytes):
                return eyes.encode_images([asked]).vectors[0], False
            batch = eyes.encode_query(asked)
        else:
            words = self._encoders.text(plan.encoder)
            self._check(plan, words.spec)
            batch = words.encode_query(asked if isinstance(asked, str) else "")
        return batch.vectors[0], bool(batch.truncated)

    def encode_for(self, collection: str, text: str) -> FloatArray:
        """Return the vector of a query in words by the encoder that fills a collection.

        Raises:
            UnknownName: No such collection, or nothing fills it.
        """
        encoder = self._collections.profile(collection).default_encoder
        if not encoder:
            kind = "collection that an encoder fills"
            known = (
                *self._collections.filled_by("text"),
                *self._collections.filled_by("visual"),
            )
            raise UnknownName(kind, collection, tuple(sorted(known)), remedy="configure one")
        return self.encode(CollectionQueryPlan(collection, encoder), text)[0]

    def reach(self, plan: CollectionQueryPlan) -> Reach:
        """Return what the encoder of a plan takes a query as."""
        unfilled = {each.name for each in self._collections.profiles() if not each.default_encoder}
        if not plan.encoder or plan.collection in unfilled:
            return "nothing"
        card = next((each for each in self._encoders.cards() if each.label == plan.encoder), None)
        if card is None or card.modality != "visual":
            return "text"  # an unknown one is refused by name when it is asked to encode
        return "both" if card.queries_text else "picture"

    def _check(self, plan: CollectionQueryPlan, spec: VectorSpec) -> None:
        schema = self._schema_of(plan.collection)
        if schema is not None and schema.spec != spec:
            message = (
                f"collection {plan.collection!r} holds vectors of {schema.spec}, the query would be"
                f" encoded by {spec}"
            )
            remedy = "search with the encoder that built the index, or build a new index"
            raise VectorSpaceMismatch(message, remedy=remedy)
