"""Compounds through a whole engine: CASES O2, G2, I6, the aspirin example, the command."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from eagle_rag.model.query import SearchRequest
from eagle_rag.ports.tools import ToolAnswer, ToolValue

if TYPE_CHECKING:
    from eagle_rag.engine import Engine

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
KEY = "BSYNRYMUTXBXSQ-UHFFFAOYSA-N"
SALICYLATES = {
    "salicylic acid",
    "methyl salicylate",
    "salsalate",
    "diflunisal",
    "aspirin sodium",
    "aspirin methyl ester",
}
COMPOUNDS = f"""{ASPIRIN} aspirin
CC(=O)Oc1ccccc1C(=O)[O-].[Na+] aspirin sodium
COC(=O)c1ccccc1OC(C)=O aspirin methyl ester
O=C(O)c1ccccc1O salicylic acid
COC(=O)c1ccccc1O methyl salicylate
O=C(O)c1cc(-c2ccc(F)cc2F)ccc1O diflunisal
O=C(Oc1ccccc1C(=O)O)c1ccccc1O salsalate
CC(=O)Nc1ccc(O)cc1 paracetamol
CC(C)Cc1ccc(C(C)C(=O)O)cc1 ibuprofen
COc1ccc2cc([C@H](C)C(=O)O)ccc2c1 naproxen
Cn1c(=O)c2c(ncn2C)n(C)c1=O caffeine
C[C@H](N)C(=O)O L-alanine
C[C@@H](N)C(=O)O D-alanine
OCC1OC(O)C(O)C(O)C1O hexose
CCCCCCCCCCCCCCCC(=O)O palmitic acid
"""
NOTE = "# Aspirin in headache\n\nAspirin relieved headache within two hours in most patients.\n"
PLUGIN: dict[str, object] = {
    "profile": "core",
    "plugins.enabled": ["biomed"],
    "plugins.default_namespace": "biomed",
    "plugins.options.biomed": {
        "encoder_mode": "deterministic",
        "encoders": {"eagle_text_biomed": "hash", "eagle_chemical": "morgan"},
    },
}
Ask = Callable[..., ToolAnswer]


def _write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def engine(
    make_shared_engine: Callable[..., "Engine"], tmp_path_factory: pytest.TempPathFactory
) -> "Engine":
    """An engine with fifteen compounds and a note in one knowledge base, one compound in another."""
    engine = make_shared_engine(PLUGIN)
    folder = tmp_path_factory.mktemp("compounds")
    engine.ingest([_write(folder / "a", set_smi=COMPOUNDS, note_md=NOTE)], kb_name="mine")
    theirs = _write(folder / "b", set_smi="CC(=O)Oc1ccccc1C(=O)[O-].[K+] their aspirin\n")
    engine.ingest([theirs], kb_name="theirs")
    return engine


@pytest.fixture(scope="module")
def ask(engine: "Engine") -> Ask:
    """Run ``compounds.search`` in the first knowledge base, or as told."""

    def run(text: str, **given: ToolValue) -> ToolAnswer:
        arguments = {"kb_name": "mine", "smiles_or_name": text, **given}
        return engine.toolbox.run("compounds.search", arguments)

    return run


def _names(answer: ToolAnswer) -> list[str]:
    hits = answer.data["hits"]
    assert isinstance(hits, list)
    return [hit["name"] for hit in hits]


@pytest.mark.parametrize("given", [{}, {"similar": True}], ids=["morgan", "tanimoto"])
def test_the_aspirin_smiles_finds_aspirin_and_then_salicylates(
    ask: Ask, given: dict[str, ToolValue]
) -> None:
    answer = ask(ASPIRIN, top_k=7, **given)
    assert answer.data["mode"] == ("similar" if given else "learned")
    first, *rest = _names(answer)
    assert first == "aspirin"
    assert set(rest) == SALICYLATES
    assert answer.notes == ()


@pytest.mark.parametrize("name", ["aspirin", "Acetylsalicylic acid", KEY])
def test_a_name_or_a_key_finds_what_the_structure_finds(ask: Ask, name: str) -> None:
    assert ask(name).data["hits"] == ask(ASPIRIN).data["hits"]


def test_o2_a_free_acid_finds_its_sodium_salt_as_a_form_of_it(ask: Ask) -> None:
    exact = ask(ASPIRIN, exact=True)
    assert [row[:3] for row in exact.rows] == [
        ("exact", "1.000", "aspirin"),
        ("parent", "1.000", "aspirin sodium"),
    ]


def test_o2_enantiomers_are_two_compounds_and_alike(ask: Ask) -> None:
    exact = ask("C[C@H](N)C(=O)O", exact=True)
    assert _names(exact) == ["L-alanine"]
    assert _names(ask("C[C@H](N)C(=O)O", similar=True))[:2] == ["L-alanine", "D-alanine"]


def test_a_part_is_found_in_all_that_have_it_and_no_other(ask: Ask) -> None:
    answer = ask("O=C(O)c1ccccc1O", substructure=True, top_k=50)
    assert set(_names(answer)) == {"aspirin", *SALICYLATES}
    assert answer.rows[0][0] == "exact"


def test_every_hit_is_a_passage_that_can_be_checked(engine: "Engine", ask: Ask) -> None:
    for given in ({}, {"similar": True}, {"substructure": True}, {"exact": True}):
        hits = ask("CC(=O)O", top_k=20, **given).data["hits"]
        assert isinstance(hits, list)
        for hit in hits:
            text = engine.show(hit["document_id"]).text
            assert hit["smiles"] in text[hit["start"] : hit["end"]]
            assert hit["kb_name"] == "mine"


@pytest.mark.parametrize("mode", ["learned", "similar", "substructure", "exact"])
def test_i6_another_knowledge_base_is_not_seen(engine: "Engine", ask: Ask, mode: str) -> None:
    flags: dict[str, ToolValue] = {} if mode == "learned" else {mode: True}
    assert "their aspirin" not in _names(ask(ASPIRIN, top_k=50, **flags))
    assert _names(ask(ASPIRIN, kb_name="theirs", **flags)) == ["their aspirin"]
    assert _names(ask(ASPIRIN, kb_name="nobody", **flags)) == []
    whole = engine.toolbox.run("compounds.search", {"smiles_or_name": ASPIRIN, **flags})
    assert "their aspirin" in _names(whole)


@pytest.mark.parametrize(
    "query", [f"SMILES {ASPIRIN}", f"trials of {ASPIRIN} in headache", f"SMILES: {ASPIRIN}"]
)
def test_a_structure_in_a_search_puts_its_compound_first(engine: "Engine", query: str) -> None:
    results = engine.search(SearchRequest(query, kb_names=("mine",)))
    assert [hit.title for hit in results.hits[:2]] == ["aspirin", "aspirin sodium"]
    assert len({hit.document_id for hit in results.hits}) == len(results.hits)
    scores = [hit.score for hit in results.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_search_stays_in_its_scope_with_a_structure(engine: "Engine") -> None:
    theirs = engine.search(SearchRequest(f"SMILES {ASPIRIN}", kb_names=("theirs",)))
    assert [hit.title for hit in theirs.hits] == ["their aspirin"]
    assert engine.search(SearchRequest(f"SMILES {ASPIRIN}", kb_names=())).hits == ()


def test_a_search_that_names_a_drug_is_left_to_the_ranking(engine: "Engine") -> None:
    results = engine.search(
        SearchRequest("aspirin relieved headache in patients", kb_names=("mine",), explain=True)
    )
    assert results.hits
    arms = {arm.arm for hit in results.hits for arm in hit.arms}
    assert "supplement/exact-structure" not in arms


def test_g2_a_deleted_compound_is_found_by_nothing(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    engine = make_engine(PLUGIN)
    folder = _write(
        tmp_path / "in", set_smi=f"{ASPIRIN} aspirin\nO=C(O)c1ccccc1O salicylic acid\n"
    )
    engine.ingest([folder], kb_name="mine")
    flags: tuple[dict[str, ToolValue], ...] = (
        {},
        {"similar": True},
        {"substructure": True},
        {"exact": True},
    )
    asked = [{"smiles_or_name": ASPIRIN, **each} for each in flags]
    found = [engine.toolbox.run("compounds.search", each) for each in asked]
    assert all(_names(each)[0] == "aspirin" for each in found)
    hits = found[0].data["hits"]
    assert isinstance(hits, list)
    engine.delete(hits[0]["document_id"])
    for each in asked:
        assert "aspirin" not in _names(engine.toolbox.run("compounds.search", each))
    results = engine.search(SearchRequest(f"SMILES {ASPIRIN}"))
    assert [hit.title for hit in results.hits] == ["salicylic acid"]


def test_without_an_encoder_tanimoto_answers_and_says_so(
    make_engine: Callable[..., "Engine"], tmp_path: Path
) -> None:
    options = {
        "encoder_mode": "deterministic",
        "encoders": {"eagle_text_biomed": "hash", "eagle_chemical": ""},
    }
    engine = make_engine(PLUGIN | {"plugins.options.biomed": options})
    engine.ingest([_write(tmp_path / "in", set_smi=COMPOUNDS)], kb_name="mine")
    answer = engine.toolbox.run("compounds.search", {"smiles_or_name": ASPIRIN})
    assert answer.data["mode"] == "similar"
    assert _names(answer)[0] == "aspirin"
    assert "eagle_chemical" in answer.notes[0]
    results = engine.search(SearchRequest(f"SMILES {ASPIRIN}"))
    assert results.hits[0].title == "aspirin"


def _eagle(data_dir: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EAGLE_")}
    options = {
        "plugins.enabled": "[biomed]",
        "plugins.default_namespace": "biomed",
        "collections.eagle_text.encoder": "hash",
        "plugins.options.biomed": json.dumps(PLUGIN["plugins.options.biomed"]),
    }
    sets = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "eagle_rag.surfaces.cli.main", "--profile", "core"]
    return subprocess.run(  # noqa: S603 - our own interpreter
        [*command, "--data-dir", str(data_dir), *sets, *arguments],
        env=kept,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_commands_answer_people_and_programs(engine: "Engine") -> None:
    folder = engine.settings.data_dir
    shown = _eagle(folder, "compounds", "search", ASPIRIN, "--exact", "--kb", "mine")
    assert shown.returncode == 0, shown.stderr
    assert "aspirin sodium" in shown.stdout
    as_json = _eagle(folder, "compounds", "search", "aspirin", "--top-k", "1", "--json")
    data = json.loads(as_json.stdout)
    assert data["hits"][0]["inchikey"] == KEY
    unknown = _eagle(folder, "compounds", "search", "asprin")
    assert unknown.returncode != 0
    assert "did you mean aspirin" in unknown.stderr
    nowhere = _eagle(folder, "compounds", "search", ASPIRIN, "--exact", "--kb", "nope")
    assert nowhere.returncode == 0
    assert "no knowledge base nope; there are: mine, theirs" in nowhere.stderr
    assert nowhere.stdout == ""
    entity = json.loads(_eagle(folder, "entities", "show", "ERBB2", "--json").stdout)
    assert (entity["entity"], entity["found"]) == ("HER2", True)
