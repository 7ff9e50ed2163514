"""Mutations: reproducible, suited to the kind of file, and as hostile as they say."""

import io
import json
import zipfile

import numpy as np
import pytest
from lxml import etree

from eagle_rag.testing.mutations import HEAVY, LIGHT, mutate, mutators_for

_XML = b'<?xml version="1.0"?><a xmlns="urn:x:2006"><b n="5">12 mg</b><c>text</c><b/></a>'
_JSON = b'{"a": 1, "b": "two", "c": [1, 2]}'


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(zipfile.ZipInfo("word/document.xml"), _XML)
        archive.writestr(zipfile.ZipInfo("other.xml"), b"<o/>")
    return stream.getvalue()


def _one(name: str, data: bytes, seed: int = 1) -> bytes:
    mutator = {**LIGHT, **HEAVY}[name][0]
    return mutator(data, np.random.default_rng(seed), [b"donor"])


@pytest.mark.parametrize("data", [_XML, _JSON, b"plain text 12", bytes(range(256)) * 4, _zip()])
def test_the_same_seed_gives_the_same_bytes(data: bytes) -> None:
    first, second = (
        [mutate(data, np.random.default_rng([3, number]), [_JSON]) for number in range(40)]
        for _ in range(2)
    )
    assert first == second
    assert len({each.data for each in first}) > 20


@pytest.mark.parametrize("name", sorted(LIGHT))
@pytest.mark.parametrize("data", [b"", b"x", _XML])
def test_every_light_mutator_takes_any_bytes(name: str, data: bytes) -> None:
    for seed in range(20):
        assert isinstance(_one(name, data, seed), bytes)


def test_a_kind_of_file_gets_the_mutators_that_suit_it() -> None:
    assert "json_nest" in mutators_for(_JSON)[0]
    assert "json_nest" not in mutators_for(_XML)[0]
    assert set(mutators_for(_zip())[1]) == {"zip_bomb", "zip_members"}
    assert mutators_for(b"\0\1")[1] == {}


@pytest.mark.parametrize("name", ["numbers", "text_of_element", "move_element", "swap_tags"])
def test_gentle_mutations_of_xml_mostly_stay_well_formed(name: str) -> None:
    well_formed = 0
    for seed in range(40):
        try:
            etree.fromstring(_one(name, _XML, seed))
        except etree.XMLSyntaxError:
            continue
        well_formed += 1
    assert well_formed >= 30


def test_damage_gets_behind_the_zip_reader() -> None:
    changed = [_one("zip_member", _zip(), seed) for seed in range(20)]
    contents = set()
    for data in changed:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            contents.add(archive.read("word/document.xml"))
    assert len(contents) > 5


def test_deep_json_is_a_hundred_thousand_deep() -> None:
    deep = _one("deep_json", _JSON)
    assert deep.count(b"[") + deep.count(b"{") >= 100_000
    with pytest.raises(RecursionError):
        json.loads(deep)


def test_a_huge_attribute_has_fifty_megabytes() -> None:
    assert len(_one("huge_attribute", _XML)) > 50_000_000


def test_a_zip_bomb_is_small_and_unpacks_to_much() -> None:
    bomb = _one("zip_bomb", _zip())
    with zipfile.ZipFile(io.BytesIO(bomb)) as archive:
        sizes = [info.file_size for info in archive.infolist()]
    assert len(bomb) < 3_000_000
    assert max(sizes) > 250_000_000
