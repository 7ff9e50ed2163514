"""What is noted of sources that stand behind newer editions."""

from collections.abc import Mapping, Sequence

import pytest

from eagle_rag.ingest.standing import is_settled

DIGESTS = ("file", "settings")


@pytest.mark.parametrize(
    ("noted", "live", "settled"),
    [
        (None, {}, False),
        (("file", "settings"), {}, True),
        (("other", "settings"), {}, False),
        (("file", "others"), {}, False),
        (("file", "settings behind d1@2"), {"d1": 2}, True),
        (("file", "settings behind d1@2"), {"d1": 3}, False),
        (("file", "settings behind d1@2"), {}, False),
        (("file", "settings behind d1@2 d2@12"), {"d1": 2, "d2": 12}, True),
        (("file", "settings behind d1@2 d2@12"), {"d1": 2}, False),
        (("file", "others behind d1@2"), {"d1": 2}, False),
        (("other", "settings behind d1@2"), {"d1": 2}, False),
    ],
)
def test_a_source_is_settled_while_what_it_stands_behind_is_live(
    noted: tuple[str, str] | None, live: dict[str, int], *, settled: bool
) -> None:
    def live_versions(ids: Sequence[str]) -> Mapping[str, int]:
        return {each: live[each] for each in ids if each in live}

    assert is_settled(noted, DIGESTS, live_versions) is settled
