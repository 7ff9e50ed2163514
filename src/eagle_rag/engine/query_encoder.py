"""Queries to vectors: which tower of which encoder, and whether it is of the collection's space."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from eagle_rag.errors import UnknownName, VectorSpaceMismatch
from eagle_rag.kernel.collections import CollectionRegistry
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.model.collection import CollectionSchema
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec
from eagle_rag.model.query import CollectionQueryPlan
from eagle_rag.retrieve.search import Reach

__all__ = ["QueryEncoder"]

_RECENT = 64
"""Queries remembered: each search asks for its own a few times, in several collections and depths."""

_Encoded = tuple[FloatArray, bool]


def _first(batch: EncodedBatch) -> _Encoded:
    return batch.vectors[0], bool(batch.truncated)


@dataclass(slots=True)
class _Slot:
    lock: Lock = field(default_factory=Lock)
    value: _Encoded | None = None


class _Recent:
    """Vectors of the last queries in words; one that two threads ask for at once is encoded once."""

    def __init__(self) -> None:
        self._slots: OrderedDict[tuple[str, str], _Slot] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str], encode: Callable[[], _Encoded]) -> _Encoded:
        """Return the vector of a query, encoded unless it is known; one that failed is tried again."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            if len(self._slots) > _RECENT:
                self._slots.popitem(last=False)
        with slot.lock:
            if slot.value is None:
                vector, truncated = encode()
                own = vector.copy()
                own.setflags(write=False)
                slot.value = (own, truncated)
            return slot.value


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
        self._recent = _Recent()

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
            text = asked if isinstance(asked, str) else ""
            return self._recent.get((plan.encoder, text), lambda: _first(words.encode_query(text)))
        return _first(batch)

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
