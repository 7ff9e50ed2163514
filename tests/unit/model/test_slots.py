"""Quickly made values behave as the dataclasses they are."""

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from eagle_rag.model.document import Block, BlockKind, Reference
from eagle_rag.model.slots import quick_init


def test_positions_names_and_defaults_are_those_of_the_dataclass() -> None:
    by_position = Reference("r1", "1", "raw", "title", 2020)
    by_name = Reference(key="r1", label="1", raw="raw", title="title", year=2020)
    assert by_position == by_name
    assert (by_name.pmid, by_name.doi) == ("", "")
    parameters = inspect.signature(Reference).parameters
    assert list(parameters) == ["key", "label", "raw", "title", "year", "pmid", "pmcid", "doi"]
    with pytest.raises(TypeError, match="missing"):
        Reference("r1")  # type: ignore[call-arg]  # that is the point


def test_values_stay_frozen_and_survive_replace_and_pickle() -> None:
    block = Block(BlockKind.PARAGRAPH, 1, 2, 3)
    with pytest.raises(FrozenInstanceError):
        block.start = 5  # type: ignore[misc]  # that is the point
    assert replace(block, end=9) == Block(BlockKind.PARAGRAPH, 1, 9, 3)
    assert pickle.loads(pickle.dumps(block)) == block  # noqa: S301 - our own bytes
    assert hash(block) == hash(Block(BlockKind.PARAGRAPH, 1, 2, 3))


def test_a_default_factory_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Listed:
        items: list[int] = field(default_factory=list)

    with pytest.raises(TypeError, match=r"Listed\.items has a default factory"):
        quick_init(Listed)
