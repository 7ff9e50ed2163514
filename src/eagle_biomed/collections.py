"""The five collections: what each holds, and the profile it gets from the encoder that fills it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eagle_biomed.options import BiomedOptions
from eagle_rag.errors import ConfigurationError
from eagle_rag.model.collection import CollectionProfile, EncoderCard, Modality
from eagle_rag.ports.plugins import PluginContext

__all__ = [
    "CHEMICAL",
    "COLLECTIONS",
    "CORE_TEXT",
    "CORE_VISUAL",
    "MEDCPT",
    "PATHOLOGY",
    "RADIOLOGY",
    "TEXT",
    "CollectionShape",
    "collection_profiles",
    "register_collections",
]

TEXT = "eagle_text_biomed"
MEDCPT = "eagle_text_medcpt"
CHEMICAL = "eagle_chemical"
RADIOLOGY = "eagle_medical_radiology"
PATHOLOGY = "eagle_medical_pathology"
CORE_TEXT = "eagle_text"
CORE_VISUAL = "eagle_visual"

_TEXT_FIELDS = ("biomed_section", "primary_drugs")
_VISUAL_FIELDS = ("content_summary", "image_id", "image_path", "parent_section")


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """A collection before it is known which encoder fills it.

    Args:
        name: Its name.
        dim: Dimension with the reference's encoder; with another one it is that encoder's.
        metric: ``cosine`` or ``ip``, likewise. Vectors have unit length, so both order alike.
        chunk_type: Default of its rows.
        extra_fields: Text columns beyond the core's, sorted.
        modality: What kind of encoder can fill it.
        hybrid: It has a BM25 arm.
    """

    name: str
    dim: int
    metric: str
    chunk_type: str
    extra_fields: tuple[str, ...]
    modality: Modality
    hybrid: bool = False


COLLECTIONS: tuple[CollectionShape, ...] = (
    CollectionShape(TEXT, 768, "cosine", "text", _TEXT_FIELDS, "text", hybrid=True),
    CollectionShape(MEDCPT, 768, "cosine", "text", _TEXT_FIELDS, "text", hybrid=True),
    CollectionShape(CHEMICAL, 768, "cosine", "chemical", (), "text"),
    CollectionShape(RADIOLOGY, 1024, "ip", "medical_image", _VISUAL_FIELDS, "visual"),
    CollectionShape(PATHOLOGY, 1536, "ip", "medical_image", _VISUAL_FIELDS, "visual"),
)
"""The reference's table."""


def register_collections(context: PluginContext, options: BiomedOptions) -> None:
    """Register the five; call it once every encoder they may name is registered.

    Raises:
        ConfigurationError: ``encoders`` names an encoder that is not there or cannot fill its collection.
    """
    for profile in collection_profiles(options.encoders, context.encoders.cards()):
        context.registrar.register_collection(profile)


def collection_profiles(
    encoders: Mapping[str, str], cards: Iterable[EncoderCard]
) -> tuple[CollectionProfile, ...]:
    """Return the profiles; one that nothing fills keeps the reference's dimension and metric.

    Raises:
        ConfigurationError: As ``register_collections``.
    """
    known = {card.label: card for card in cards}
    return tuple(_profile(shape, encoders.get(shape.name, ""), known) for shape in COLLECTIONS)


def _profile(
    shape: CollectionShape, label: str, cards: Mapping[str, EncoderCard]
) -> CollectionProfile:
    dim, metric = shape.dim, shape.metric
    if label:
        card = _fitting(shape, label, cards)
        dim, metric = card.dim, card.metric
    return CollectionProfile(
        shape.name,
        dim,
        label,
        metric=metric,
        hybrid_enabled=shape.hybrid,
        chunk_type=shape.chunk_type,
        extra_output_fields=shape.extra_fields,
    )


def _fitting(shape: CollectionShape, label: str, cards: Mapping[str, EncoderCard]) -> EncoderCard:
    key = f"plugins.options.biomed.encoders.{shape.name}"
    fitting = sorted(name for name, card in cards.items() if card.modality == shape.modality)
    remedy = f"set it to one of {', '.join(fitting) or 'none'}, or to '' to leave it empty"
    if label not in cards:
        message = f"{key} is {label!r}, and no encoder has that label"
        raise ConfigurationError(message, remedy=remedy)
    card = cards[label]
    if card.modality != shape.modality:
        message = f"{key} is {label!r}, a {card.modality} encoder; it needs a {shape.modality} one"
        raise ConfigurationError(message, remedy=remedy)
    return card
