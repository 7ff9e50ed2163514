"""What an instance is made of: plugins, encoders, collections."""

from dataclasses import dataclass

from eagle_rag.engine.compose import Kernel
from eagle_rag.kernel.plugins import PluginCard, installed_entries
from eagle_rag.model.collection import CollectionProfile, EncoderCard

__all__ = ["PluginListing", "list_plugins"]


@dataclass(frozen=True, slots=True)
class PluginListing:
    """Plugins, encoders and collections of this instance.

    Args:
        plugins: Loaded, in load order.
        available: Installed but not enabled, by name.
        encoders: All encoders by label.
        collections: All collections by name.
    """

    plugins: tuple[PluginCard, ...]
    available: tuple[str, ...]
    encoders: tuple[EncoderCard, ...]
    collections: tuple[CollectionProfile, ...]


def list_plugins(kernel: Kernel) -> PluginListing:
    """Return plugins, encoders and collections of a kernel."""
    loaded = kernel.loaded.cards
    names = {card.name for card in loaded}
    return PluginListing(
        loaded,
        tuple(entry.name for entry in installed_entries() if entry.name not in names),
        kernel.encoders.cards(),
        kernel.collections.profiles(),
    )
