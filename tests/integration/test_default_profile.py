"""The profile that nobody chose: the whole sample, offline, as a newcomer gets it; CASES E3 through files."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eagle_rag.engine import Engine, open_engine
from eagle_rag.kernel.settings import load_settings
from eagle_rag.model.query import SearchRequest
from eagle_rag.model.results import Hit
from eagle_rag.sample import record_paths, sample_paths

_SET_ID = "99000000-0000-4000-8000-000000000001"
_OFFLINE = """
import socket, sys
def refuse(*_, **__):
    raise OSError("this run is offline")
socket.socket.connect = socket.socket.connect_ex = refuse
from eagle_rag.surfaces.cli.main import main
sys.argv = ["eagle", *sys.argv[1:]]
main()
"""


def _eagle(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command without a network and without any setting of ours."""
    environ = {name: value for name, value in os.environ.items() if "EAGLE" not in name}
    return subprocess.run(  # noqa: S603 - this interpreter, arguments of this file
        [sys.executable, "-W", "error", "-c", _OFFLINE, *arguments],
        cwd=folder, env=environ, check=False, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Return where the demo ran, what it printed and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    done = _eagle(folder, "demo")
    assert done.returncode == 0, done.stderr
    return folder, done.stdout, done.stderr


@pytest.fixture(scope="module")
def engine(shown: tuple[Path, str, str]) -> Iterator[Engine]:
    """Return an engine on the demo's index, with the default settings."""
    place = shown[0] / ".eagle" / "demo" / "sample"
    engine = open_engine(load_settings(overrides={"data_dir": str(place)}, environ={}))
    yield engine
    engine.close()


def _first(engine: Engine, question: str) -> Hit:
    return engine.search(SearchRequest(question, top_k=1)).hits[0]


def _format(engine: Engine, hit: Hit) -> str:
    return engine.show(hit.document_id).record.format


def test_the_demo_takes_in_the_whole_sample_offline_and_proves_it(
    shown: tuple[Path, str, str],
) -> None:
    _, printed, said = shown
    assert "40 added, 0 replaced, 0 unchanged, 0 duplicate, 0 refused" in said
    assert re.search(r"verified: \d+ passages of 40 documents are exactly .*; 0 problems", printed)
    assert "degraded" not in said
    for words in ("RETRACTED", "WARNING: INTERSTITIAL", "Inclusion Criteria", "salicylic acid"):
        assert words in printed, words


def test_the_demo_of_the_core_reads_the_papers_alone(tmp_path: Path) -> None:
    done = _eagle(tmp_path, "--profile", "core", "demo")
    assert done.returncode == 0, done.stderr
    assert "13 added, 0 replaced, 0 unchanged, 0 duplicate, 0 refused" in done.stderr
    assert "Vulpexa" not in done.stdout


@pytest.mark.parametrize(
    ("question", "source_format", "title"),
    [
        ("boxed warning Vulpexa", "spl", "VULPEXA"),
        ("boxed warning halcyclax", "openfda-label", "HALCYVENE"),
        ("trial eligibility acute myeloid leukemia", "ctgov", "A Pilot Study of Autologous CD123"),
        ("SMILES CC(=O)Oc1ccccc1C(=O)O", "compound", "aspirin"),
        ("chest radiograph", "dicom", "Chest radiograph"),
        ("NCT09900014 eligibility", "ctgov", "A Pilot Study of Autologous CD123"),
        ("bilayer tablet claims", "patent", "Bilayer tablet"),
        ("EGFR C797S resistance to osimertinib", "jats", "EGFR C797S resistance"),
    ],
)
def test_mixed_questions_find_the_right_kind_of_document_first(
    engine: Engine, question: str, source_format: str, title: str
) -> None:
    """Issue 3, done when 5: one index of all kinds, without a filter."""
    hit = _first(engine, question)
    assert _format(engine, hit) == source_format
    assert hit.title.startswith(title)


def test_a_boxed_warning_is_the_passage_that_is_asked_for(engine: Engine) -> None:
    hit = _first(engine, "boxed warning Vulpexa")
    assert (hit.section_kind, hit.section_path[0][:8]) == ("boxed_text", "WARNING:")
    shelved = engine.show(hit.document_id).passages
    tags = next(dict(each.tags) for each in shelved if each.id == hit.passage_id)
    assert (tags["biomed_section"], tags["biomed_doc_type"]) == ("warnings", "drug_label")


def test_compounds_like_aspirin_are_salicylates(engine: Engine) -> None:
    found = engine.search(SearchRequest("compounds similar to aspirin", top_k=3)).hits
    assert [hit.title for hit in found] == ["aspirin", "salicylic acid", "methyl salicylate"]


def test_molecules_like_a_structure_follow_it(engine: Engine) -> None:
    hits = engine.search(SearchRequest("SMILES CC(=O)Oc1ccccc1C(=O)O", top_k=3)).hits
    assert [hit.title for hit in hits] == ["aspirin", "salicylic acid", "methyl salicylate"]


@pytest.mark.parametrize("name", ["cisplatin", "ethanol", "caffeine"])
def test_a_bare_name_of_a_compound_is_answered(engine: Engine, name: str) -> None:
    assert not engine.search(SearchRequest(name)).trace.degraded


def test_a_picture_that_no_encoder_takes_is_said_not_to_be_searched_for(engine: Engine) -> None:
    picture = next(path for path in record_paths() if path.suffix == ".dcm")
    record = next(each for each in engine.documents() if each.source_uri.endswith(picture.name))
    frame = engine.picture(record.document_id, engine.pictures(record.document_id)[0].key)
    found = engine.search(SearchRequest("", image=frame))
    assert found.hits == ()
    assert any("the picture was not searched for" in event.message for event in found.trace.events)
    assert found.trace.degraded


def test_e3_the_newest_version_of_a_label_is_served(engine: Engine) -> None:
    found = engine.search(SearchRequest("Vulpexa foxerinib", top_k=20)).hits
    served = {hit.document_id for hit in found if "VULPEXA" in hit.title}
    assert [engine.show(each).record.edition for each in served] == [2]


def test_e3_the_older_version_is_found_when_its_document_is_named(engine: Engine) -> None:
    """What it said is still citable, though no search serves it unasked."""
    older = next(each for each in engine.documents(f"spl-set:{_SET_ID}") if each.edition == 1)
    request = SearchRequest("boxed warning", top_k=1, document_ids=(older.document_id,))
    hit = engine.search(request).hits[0]
    assert (hit.document_id, hit.section_path) == (
        older.document_id, ("WARNING: INTERSTITIAL LUNG DISEASE",),
    )  # fmt: skip
    assert "QTc" not in hit.text


def test_e3_both_versions_can_be_shown(shown: tuple[Path, str, str], engine: Engine) -> None:
    place = str(shown[0] / ".eagle" / "demo" / "sample")
    words = {1: "150 mg once daily with food until", 2: "for 14 days, then 150 mg"}
    versions = engine.documents(f"spl-set:{_SET_ID}")
    assert sorted(each.edition for each in versions) == [1, 2]
    for each in versions:
        done = _eagle(shown[0], "--data-dir", place, "show", each.document_id, "--json")
        assert done.returncode == 0, done.stderr
        assert words[each.edition] in json.loads(done.stdout)["text"]


def test_e3_the_order_in_which_versions_come_does_not_matter(
    make_engine: Callable[..., Engine],
) -> None:
    labels = [path for path in record_paths() if "vulpexa" in path.name]
    engine = make_engine(
        {"profile": "embedded", "plugins.options.biomed.encoders.eagle_text_biomed": "hash"}
    )
    for path in reversed(labels):
        engine.ingest([path])
    hit = _first(engine, "boxed warning Vulpexa")
    assert engine.show(hit.document_id).record.edition == 2


def test_the_second_ingest_of_the_sample_changes_nothing(engine: Engine) -> None:
    report = engine.ingest([*sample_paths(), *record_paths()])
    assert (report.added, report.replaced, report.refused) == ((), (), ())
    assert engine.verify().clean


def test_what_no_encoder_fills_is_named_not_silently_empty(shown: tuple[Path, str, str]) -> None:
    folder = shown[0]
    done = _eagle(
        folder, "--data-dir", str(folder / ".eagle" / "demo" / "sample"), "doctor", "--json"
    )
    said = {each["name"]: each["message"] for each in json.loads(done.stdout)}
    assert done.returncode == 0, done.stdout
    for name in ("eagle_medical_radiology", "eagle_medical_pathology", "eagle_text_medcpt"):
        assert "no encoder fills it in this profile" in said[f"collection {name}"]
    assert "morgan is ready" in said["collection eagle_chemical"]
