"""What of a source is prepared where, and what a source may cost."""

import hashlib
from collections.abc import Mapping

import pytest

from eagle_rag.engine.worker import _Allowance, prepare_all
from eagle_rag.ingest.prepare import PrepareConfig, PreparedSource
from eagle_rag.kernel.settings import Settings, load_settings
from eagle_rag.model.document import Refusal, Source

_CONFIG = PrepareConfig("biomed", "default", 900, "title", "none", refuse_abstracts=False)


def _settings(**ingest: float) -> Settings:
    overrides: dict[str, object] = {
        "plugins.enabled": ["biomed"],
        "plugins.default_namespace": "biomed",
    }
    overrides |= {f"ingest.{key}": value for key, value in ingest.items()}
    return load_settings(overrides=overrides, environ={})


def _prepared(files: Mapping[str, str], settings: Settings) -> list[str]:
    """Return of each source how many documents it gave, or why it was refused."""
    sources = (
        Source(name, text.encode(), hashlib.sha256(text.encode()).hexdigest())
        for name, text in files.items()
    )
    return [
        each.reason if isinstance(each, Refusal) else _came_to(each)
        for each in prepare_all(sources, settings, _CONFIG)
    ]


def _came_to(source: PreparedSource) -> str:
    return "; ".join(
        [str(len(source.documents)), *(refusal.reason for refusal in source.refusals)]
    )


def test_g6_a_source_that_takes_too_long_is_refused_and_the_rest_is_read() -> None:
    pytest.importorskip("rdkit")
    # Each another molecule: what a table repeats is read once.
    tails = [f"{'C' * left}N{'C' * right}" for left in range(1, 60) for right in range(1, 60)]
    many = "".join(
        f"CC(=O)Oc1ccc({tail})cc1C(=O){acid}\n" for tail in tails for acid in ("O", "N", "OC")
    )
    files = {"ethanol.smi": "CCO ethanol\n", "many.smi": many, "note.txt": "Two words.\n"}

    assert _prepared(files, _settings(max_parse_s=5)) == ["1", "too-slow", "1"]


def test_the_time_a_source_may_take_grows_with_its_size() -> None:
    allowance = _Allowance(5.0)

    assert [allowance(Source("a", b"x" * (size << 20), "")) for size in (0, 3, 4, 40)] == [
        5.0,
        5.0,
        10.0,
        55.0,
    ]


def test_a_process_that_died_early_was_not_slow() -> None:
    source = Source("a.pdf", b"x", "")
    early, late = (_Allowance(5.0).refused(source, seconds) for seconds in (1.0, 5.0))

    assert isinstance(early, Refusal)
    assert isinstance(late, Refusal)
    assert (early.reason, late.reason) == ("killed-worker", "too-slow")
    assert "ingest.max_parse_s" in late.remedy
