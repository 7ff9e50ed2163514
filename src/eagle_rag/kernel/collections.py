"""The registry of collections: who fills each, and how it is searched."""

from collections.abc import Sequence
from threading import Lock

from eagle_rag.errors import PluginError, UnknownName, VectorSpaceMismatch
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.rerank_policy import PolicyWish, RerankWishes
from eagle_rag.kernel.sections import CollectionSettings
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.model.collection import CollectionProfile, EncoderCard, Modality
from eagle_rag.model.query import CollectionQueryPlan, RerankPolicy
from eagle_rag.ports.plugins import EncoderFactory
from eagle_rag.ports.tools import Tool

__all__ = ["CollectionRegistry", "Registrar", "configured_profile"]


class CollectionRegistry:
    """Collections by name.

    Args:
        encoders: Where dimensions of encoders come from.
        hybrid_text_collections: ``router.hybrid_text_collections``: when not ``None``, exactly
            these collections have a BM25 arm, whatever their profiles say.
    """

    def __init__(
        self, encoders: EncoderRegistry, *, hybrid_text_collections: Sequence[str] | None = None
    ) -> None:
        self._encoders = encoders
        self._hybrid = None if hybrid_text_collections is None else set(hybrid_text_collections)
        self._profiles: dict[str, CollectionProfile] = {}
        self._lock = Lock()

    def register_collection(self, profile: CollectionProfile) -> None:
        """Register a collection; the same profile twice is fine.

        Raises:
            PluginError: The name is taken by another profile.
            VectorSpaceMismatch: Its default encoder is registered with another dimension or metric;
                it is a ``ValueError``.
        """
        with self._lock:
            taken = self._profiles.get(profile.name)
            if taken is not None and taken != profile:
                message = f"collection {profile.name!r} is already registered as {taken}"
                raise PluginError(message, remedy="choose another name")
            labels = {card.label for card in self._encoders.cards()}
            if profile.default_encoder in labels:
                self._compare(profile, self._encoders.card(profile.default_encoder))
            self._profiles[profile.name] = profile

    def profile(self, collection: str) -> CollectionProfile:
        """Return one collection's profile.

        Raises:
            UnknownName: Nobody registered it.
        """
        profile = self._profiles.get(collection)
        if profile is None:
            known = tuple(sorted(self._profiles))
            remedy = "add it under `collections`, or enable the plugin that brings it"
            kind = "collection"
            raise UnknownName(kind, collection, known, remedy=remedy)
        return profile

    def profiles(self) -> tuple[CollectionProfile, ...]:
        """Return all profiles by name."""
        return tuple(self._profiles[name] for name in sorted(self._profiles))

    def validate_plan(self, collection: str, encoder: str) -> None:
        """Refuse an encoder that cannot fill or search a collection; cross-encoders always can.

        Raises:
            UnknownName: The collection or the encoder is not registered.
            VectorSpaceMismatch: Dimension or metric differ; it is a ``ValueError``.
        """
        profile = self.profile(collection)
        card = self._encoders.card(encoder)
        if card.modality != "rerank":
            self._compare(profile, card)

    def validate_all(self) -> None:
        """Check every collection's default encoder; called once everything is registered.

        Raises:
            UnknownName: A default encoder is not registered.
            VectorSpaceMismatch: Dimension or metric differ.
        """
        for profile in self.profiles():
            if profile.default_encoder:
                self.validate_plan(profile.name, profile.default_encoder)

    def hybrid_enabled_for_collection(self, collection: str) -> bool:
        """Whether a collection has a BM25 arm; the router's list takes precedence."""
        profile = self.profile(collection)
        return profile.hybrid_enabled if self._hybrid is None else collection in self._hybrid

    def extra_output_fields_for_collection(self, collection: str) -> tuple[str, ...]:
        """Return the fields of a collection beyond ``StoredPassage``'s own."""
        return self.profile(collection).extra_output_fields

    def plans(
        self, collections: Sequence[str], *, recall_top_k: int
    ) -> tuple[CollectionQueryPlan, ...]:
        """Return the plan of each collection with its default encoder, in the order given.

        One that nothing fills in this profile has none.
        """
        return tuple(
            CollectionQueryPlan(
                name,
                self.profile(name).default_encoder,
                recall_top_k=recall_top_k,
                hybrid=self.hybrid_enabled_for_collection(name),
            )
            for name in collections
            if self.profile(name).default_encoder
        )

    def filled_by(self, modality: Modality) -> tuple[str, ...]:
        """Return the names of the collections whose encoder is of a modality, sorted."""
        return tuple(
            profile.name
            for profile in self.profiles()
            if profile.default_encoder
            and self._encoders.card(profile.default_encoder).modality == modality
        )

    @staticmethod
    def _compare(profile: CollectionProfile, card: EncoderCard) -> None:
        held = f"{profile.dim} dimensions, {profile.metric}"
        made = f"{card.dim} dimensions, {card.metric}"
        if held != made:
            message = (
                f"collection {profile.name!r} holds vectors of {held}; "
                f"encoder {card.label!r} makes {made}"
            )
            raise VectorSpaceMismatch(message, remedy="choose an encoder of the same space")


class Registrar:
    """What plugins register with: one object for all registries."""

    def __init__(
        self,
        encoders: EncoderRegistry,
        collections: CollectionRegistry,
        tools: ToolRegistry | None = None,
        reranking: RerankWishes | None = None,
    ) -> None:
        self._encoders = encoders
        self._collections = collections
        self._tools = ToolRegistry() if tools is None else tools
        self._reranking = RerankWishes() if reranking is None else reranking

    def register_encoder(self, card: EncoderCard, factory: EncoderFactory) -> None:
        """Register an encoder; see ``EncoderRegistry.register_encoder``."""
        self._encoders.register_encoder(card, factory)

    def register_collection(self, profile: CollectionProfile) -> None:
        """Register a collection; see ``CollectionRegistry.register_collection``."""
        self._collections.register_collection(profile)

    def register_tool(self, tool: Tool) -> None:
        """Register a read-only command; see ``ToolRegistry.register_tool``."""
        self._tools.register_tool(tool)

    def register_rerank_policy(self, policy: RerankPolicy, *, encoder: str = "") -> None:
        """Say who reranks; see ``RerankWishes.register``."""
        self._reranking.register(PolicyWish(policy, encoder))


def configured_profile(
    name: str, settings: CollectionSettings, encoders: EncoderRegistry
) -> CollectionProfile:
    """Return the profile of a configured collection; its dimension is its encoder's.

    Raises:
        UnknownName: The encoder is not registered.
    """
    return CollectionProfile(
        name,
        encoders.card(settings.encoder).dim,
        settings.encoder,
        metric=settings.metric,
        hybrid_enabled=settings.hybrid,
        chunk_type=settings.chunk_type,
        extra_output_fields=tuple(sorted(settings.extra_fields)),
    )
