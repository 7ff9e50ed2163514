"""A passage in several collections: each row is proved, and a text an encoder refuses costs its document."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.errors import InvalidInput
from eagle_rag.model.filters import OneOf
from eagle_rag.testing.articles import write_files

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

BIOMED: dict[str, object] = {
    "plugins.enabled": ["biomed"],
    "plugins.default_namespace": "biomed",
    "plugins.options.biomed.encoders": {
        "eagle_text_biomed": "hash",
        "eagle_text_medcpt": "",
        "eagle_chemical": "morgan",
        "eagle_medical_radiology": "",
        "eagle_medical_pathology": "",
    },
}
TABLE = "name,smiles\naspirin,CC(=O)Oc1ccccc1C(=O)O\ncaffeine,Cn1c(=O)c2c(ncn2C)n(C)c1=O\n"


@pytest.mark.parametrize("lost", ["eagle_chemical", "eagle_text_biomed"])
def test_g4_a_row_lost_from_one_of_two_collections_is_found_and_written_again(
    make_engine: Callable[..., "Engine"], tmp_path: Path, lost: str
) -> None:
    engine = make_engine(BIOMED)
    added = engine.ingest([write_files(tmp_path / "in", {"a.csv": TABLE})]).added
    assert len(added) == 2
    assert engine.verify().clean
    engine.store.delete(lost, OneOf("document_id", (added[0],)))
    problems = engine.verify().problems
    assert [(each.kind, lost in each.message) for each in problems] == [("missing-row", True)]
    engine.verify(repair=True)
    assert engine.verify().clean
    assert engine.store.count(lost) == 2


def test_g6_a_text_that_its_encoder_refuses_costs_its_document_alone(
    make_engine: Callable[..., "Engine"], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine()
    encoder = engine.kernel.encoders.text("hash")
    encode = encoder.encode_documents

    def refuse(texts: list[str]) -> object:
        if any("poison" in text for text in texts):
            message = "cannot encode poison"
            raise InvalidInput(message)
        return encode(texts)

    monkeypatch.setattr(encoder, "encode_documents", refuse)
    folder = write_files(
        tmp_path / "in", {"a.txt": "Good.\n", "b.txt": "poison\n", "c.txt": "Fine.\n"}
    )
    report = engine.ingest([folder])
    assert len(report.added) == 2
    assert [(item.source_uri, item.reason) for item in report.refused] == [
        ("in/b.txt", "plugin-failed")
    ]
    assert "cannot encode poison" in report.refused[0].message
    assert engine.verify().clean


def test_g6_what_a_parser_could_not_use_is_said(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    engine = make_engine()
    said: list[tuple[str, str]] = []
    folder = write_files(tmp_path / "in", {"a.txt": b"caf\xe9 au lait\n"})
    engine.ingest([folder], on_event=lambda event: said.append((event.kind, event.message)))
    assert [message for kind, message in said if kind == "warning"] == [
        "not UTF-8 (byte 3): read as Windows-1252"
    ]
