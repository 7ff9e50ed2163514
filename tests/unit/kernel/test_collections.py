"""Profiles and plans are checked before anything is written."""

import pytest

from eagle_rag.errors import EagleError, EncoderLoadError, PluginError, UnknownName
from eagle_rag.kernel.collections import CollectionRegistry, Registrar, configured_profile
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.sections import CollectionSettings
from eagle_rag.model.collection import CollectionProfile, EncoderCard
from eagle_rag.model.query import CollectionQueryPlan
from eagle_rag.ports.encoders import TextEncoder


def _never() -> TextEncoder:
    raise EncoderLoadError("not needed here")


def _encoders() -> EncoderRegistry:
    encoders = EncoderRegistry()
    encoders.register_encoder(EncoderCard("small", "text", 4, "hash"), _never)
    encoders.register_encoder(EncoderCard("large", "text", 8, "hash"), _never)
    encoders.register_encoder(EncoderCard("product", "text", 4, "hash", metric="ip"), _never)
    encoders.register_encoder(EncoderCard("pairs", "rerank", 1, "hash"), _never)
    return encoders


def _registry(*hybrid: str, listed: bool = False) -> CollectionRegistry:
    registry = CollectionRegistry(_encoders(), hybrid_text_collections=hybrid if listed else None)
    registry.register_collection(
        CollectionProfile("texts", 4, "small", extra_output_fields=("drugs",))
    )
    registry.register_collection(CollectionProfile("shapes", 4, "small", hybrid_enabled=False))
    return registry


def test_a_fitting_plan_passes() -> None:
    _registry().validate_plan("texts", "small")


@pytest.mark.parametrize("encoder", ["large", "product"])
def test_another_dimension_or_metric_is_a_value_error_that_names_both(encoder: str) -> None:
    with pytest.raises(ValueError, match=f"collection 'texts'.*encoder '{encoder}'") as caught:
        _registry().validate_plan("texts", encoder)
    assert isinstance(caught.value, EagleError)


def test_a_cross_encoder_is_exempt() -> None:
    _registry().validate_plan("texts", "pairs")


@pytest.mark.parametrize(("collection", "encoder"), [("absent", "small"), ("texts", "absent")])
def test_unknown_names_are_refused(collection: str, encoder: str) -> None:
    with pytest.raises(UnknownName, match="'absent'"):
        _registry().validate_plan(collection, encoder)


def test_registering_with_an_encoder_of_another_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="8 dimensions"):
        _registry().register_collection(CollectionProfile("wrong", 4, "large"))


def test_the_encoder_may_come_after_the_collection_but_must_come() -> None:
    registry = _registry()
    registry.validate_all()
    registry.register_collection(CollectionProfile("early", 4, "late"))
    with pytest.raises(UnknownName, match="'late'"):
        registry.validate_all()


def test_the_same_profile_twice_is_fine_another_is_not() -> None:
    registry = _registry()
    registry.register_collection(registry.profile("shapes"))
    with pytest.raises(PluginError, match="already registered"):
        registry.register_collection(CollectionProfile("shapes", 8, "large"))


def test_without_a_list_the_profiles_decide_on_hybrid() -> None:
    registry = _registry()
    assert registry.hybrid_enabled_for_collection("texts")
    assert not registry.hybrid_enabled_for_collection("shapes")


@pytest.mark.parametrize(
    ("listed", "expected"), [(("shapes",), (False, True)), ((), (False, False))]
)
def test_the_routers_list_takes_precedence(
    listed: tuple[str, ...], expected: tuple[bool, bool]
) -> None:
    registry = _registry(*listed, listed=True)
    found = tuple(registry.hybrid_enabled_for_collection(name) for name in ("texts", "shapes"))
    assert found == expected


def test_extra_fields_and_profiles_are_read_back() -> None:
    registry = _registry()
    assert registry.extra_output_fields_for_collection("texts") == ("drugs",)
    assert [profile.name for profile in registry.profiles()] == ["shapes", "texts"]


def test_plans_follow_the_order_given() -> None:
    assert _registry().plans(("texts", "shapes"), recall_top_k=7) == (
        CollectionQueryPlan("texts", "small", recall_top_k=7),
        CollectionQueryPlan("shapes", "small", recall_top_k=7, hybrid=False),
    )


def test_a_configured_collection_takes_its_dimension_from_its_encoder() -> None:
    settings = CollectionSettings(encoder="large", extra_fields=("b", "a"))
    expected = CollectionProfile("mine", 8, "large", extra_output_fields=("a", "b"))
    assert configured_profile("mine", settings, _encoders()) == expected


def test_the_registrar_registers_in_both() -> None:
    encoders = EncoderRegistry()
    collections = CollectionRegistry(encoders)
    registrar = Registrar(encoders, collections)
    registrar.register_encoder(EncoderCard("small", "text", 4, "hash"), _never)
    registrar.register_collection(CollectionProfile("texts", 4, "small"))
    collections.validate_plan("texts", "small")


def test_a_collection_that_nothing_fills_is_fine_and_has_no_plan() -> None:
    registry = _registry()
    registry.register_collection(CollectionProfile("unfilled", 7, ""))
    registry.validate_all()
    plans = registry.plans(("texts", "unfilled"), recall_top_k=5)
    assert [plan.collection for plan in plans] == ["texts"]
    assert registry.filled_by("text") == ("shapes", "texts")
    assert registry.filled_by("visual") == ()
