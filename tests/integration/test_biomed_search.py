"""The query side of the biomedical plugin, from question to hits, over a small library and hashed vectors.

Vectors of the hashing encoder say nothing of a text, so what ranks here are words, names, sections and
structures.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eagle_biomed.chemical_encoders import MorganEncoder
from eagle_biomed.entities import open_ontology
from eagle_rag.engine import Engine
from eagle_rag.model.filters import Compare
from eagle_rag.model.query import SearchMode, SearchRequest
from eagle_rag.model.results import Hit
from eagle_rag.testing.articles import write_files

ERLOTINIB = "COCCOc1cc2ncnc(Nc3cccc(C#C)c3)c2cc1OCCOC"
OSIMERTINIB = "CN1C=C(C2=CC=CC=C21)C3=NC(=NC=C3)NC4=C(C=C(C(=C4)NC(=O)C=C)N(C)CCN(C)C)OC"

FILES = {
    # Names of files say nothing, so that nothing can be found by them.
    "r01.md": "# TAGRISSO (osimertinib) tablets: prescribing information\n\n"
    "## Indications and usage\n\nTAGRISSO is a kinase inhibitor for adults with metastatic lung cancer.\n\n"
    "## Dosage and administration\n\nThe recommended dosage is 80 mg once daily until progression.\n\n"
    "## Warnings and precautions\n\nInterstitial lung disease: withhold for new symptoms.\n",
    "r02.md": "# FRUZAQLA (fruquintinib) capsules: prescribing information\n\n"
    "## Indications and usage\n\nFRUZAQLA is a kinase inhibitor for adults with colorectal cancer.\n\n"
    "## Dosage and administration\n\nThe recommended dosage is 5 mg daily for 21 days.\n\n"
    "## Warnings and precautions\n\nHypertension: monitor blood pressure. Haemorrhage may be fatal.\n",
    "r03.md": "# Erlotinib after first-line treatment of lung cancer\n\n## Results\n\n"
    "Patients on erlotinib had progression of lung cancer after a median of nine months.\n",
    "r04.md": "# Savolitinib for MET-driven disease\n\n## Results\n\n"
    "Savolitinib gave responses in patients with MET exon 14 alterations of lung cancer.\n",
    "r05.md": "# Osimertinib with savolitinib after progression\n\n## Results\n\n"
    "The combination of osimertinib with savolitinib gave responses in MET-amplified lung cancer.\n",
    "r06.md": "# Resistance to osimertinib\n\n## Results\n\n"
    "Resistance to osimertinib in lung cancer came through C797S in a fifth of patients.\n",
    "r07.md": "# Resistance to imatinib\n\n## Results\n\n"
    "Resistance to imatinib in leukaemia came through T315I in a third of patients.\n",
    "r08.md": "# Sleep and shift work\n\n## Results\n\n"
    "Nurses on night shifts slept less and reported more headaches than those on day shifts.\n",
    "r09.csv": f"name,smiles\nerlotinib,{ERLOTINIB}\nosimertinib,{OSIMERTINIB}\naspirin,CC(=O)Oc1ccccc1C(=O)O\n",
}
SETTINGS: dict[str, object] = {
    "profile": "embedded",
    "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
    "plugins.options.biomed.domain_rerank_encoder": "",
    "plugins.options.biomed.rerank_policy": "domain",
    "rerank.policy": "domain",
    "ingest.workers": 1,
}


@pytest.fixture(scope="module")
def engine(
    make_shared_engine: Callable[..., Engine], tmp_path_factory: pytest.TempPathFactory
) -> Engine:
    engine = make_shared_engine(SETTINGS)
    folder = write_files(tmp_path_factory.mktemp("biomed"), FILES)
    report = engine.ingest([folder])
    assert report.refused == ()
    return engine


def hits(engine: Engine, query: str, **request: object) -> tuple[Hit, ...]:
    asked = SearchRequest(query, explain=True, **request)  # type: ignore[arg-type]  # fields of the request
    return engine.search(asked).hits


def titles(engine: Engine, query: str) -> list[str]:
    return [hit.title for hit in hits(engine, query)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("drug label dosage of osimertinib", "TAGRISSO"),
        ("prescribing information fruquintinib warnings", "FRUZAQLA"),
        ("resistance to osimertinib", "Resistance to osimertinib"),
        ("AZD9291 resistance", "Resistance to osimertinib"),
        ("osimertinib combined with savolitinib", "Osimertinib with savolitinib"),
        (f"SMILES {ERLOTINIB}", "erlotinib"),
        ("compound osimertinib", "osimertinib"),
        ("headaches of nurses on night shifts", "Sleep and shift work"),
    ],
)
def test_the_right_document_is_first(engine: Engine, query: str, first: str) -> None:
    assert titles(engine, query)[0].startswith(first)


@pytest.mark.parametrize(
    "query", ["HMPL-013", "Fruzaqla", "fruquintinib", "HMPL 013 blood pressure"]
)
def test_a_brand_or_code_meets_the_generic(engine: Engine, query: str) -> None:
    assert titles(engine, query)[0].startswith("FRUZAQLA")


def test_another_drugs_paper_with_the_same_words_is_pushed_down(engine: Engine) -> None:
    """It shares all words but the name."""
    found = hits(engine, "resistance to osimertinib")
    other = next(hit for hit in found if hit.title == "Resistance to imatinib")
    assert dict(other.parts)["xdrug"] == 1.0
    assert other.score < 0
    assert all("xdrug" in dict(hit.parts) for hit in found)


def test_the_section_asked_for_is_shown(engine: Engine) -> None:
    (first, *_) = hits(engine, "drug label osimertinib dosage")
    assert first.section_path[-1] == "Dosage and administration"
    assert dict(first.parts)["section"] == 1.0


def test_both_drugs_of_a_combination_are_in_the_top_five(engine: Engine) -> None:
    top = " ".join(titles(engine, "fruquintinib plus savolitinib")[:5])
    assert "fruquintinib" in top
    assert "Savolitinib" in top


def test_a_structure_stays_first_through_every_rerank(engine: Engine) -> None:
    first, second, *_ = hits(engine, f"is {ERLOTINIB} better than osimertinib in lung cancer")
    assert first.title == "erlotinib"
    assert first.score > second.score


def test_every_part_of_a_score_adds_up(engine: Engine) -> None:
    """Weights of ``drug_entity``: the reference's, but for the section's, which the profile sets."""
    for hit in hits(engine, "resistance to osimertinib"):
        parts = dict(hit.parts)
        expected = (
            0.35 * parts["ce_norm"]
            + 0.35 * parts["entity"]
            + 0.35 * parts["section"]
            - 3.0 * parts["xdrug"]
        )
        assert parts["final"] == pytest.approx(expected)
        if "brought_up" not in parts:
            assert hit.score == parts["final"]


def test_i6_the_supplement_stays_in_the_knowledge_bases_of_the_request(engine: Engine) -> None:
    assert hits(engine, "osimertinib", kb_names=("elsewhere",)) == ()


def test_a_document_filter_holds_for_the_supplement(engine: Engine) -> None:
    (only,) = [
        each for each in engine.documents() if each.metadata.title == "Sleep and shift work"
    ]
    found = hits(engine, "osimertinib", document_ids=(only.document_id,))
    assert {hit.document_id for hit in found} <= {only.document_id}


def test_a_query_that_names_no_drug_gets_no_supplement(engine: Engine) -> None:
    for hit in hits(engine, "headaches of nurses on night shifts"):
        assert "injected" not in dict(hit.parts)
        assert all(not arm.arm.startswith("supplement/") for arm in hit.arms)


def test_a_tag_that_no_arm_reaches_is_brought_by_name(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """Two rows an arm, and twenty papers with the word: the one asked for is known by its tag alone."""
    noise = {
        f"n{number:02}.md": f"# Note {number}\n\n## Results\n\nHMPL trial {number} of capsules.\n"
        for number in range(20)
    }
    target = {"x.md": "# Elunate\n\n## Results\n\nDaily intake gave control of disease.\n"}
    engine = make_engine(
        SETTINGS
        | {
            "data_dir": str(tmp_path / "small"),
            "plugins.options.biomed.collection_recall_top_k": 2,
        }
    )
    engine.ingest([write_files(tmp_path / "in", noise | target)])
    found = hits(engine, "HMPL-013 trial capsules", top_k=3)
    elunate = next(hit for hit in found if hit.title == "Elunate")
    assert dict(elunate.parts)["entity"] == 1.0
    assert dict(elunate.parts)["injected"] == 1.0
    assert elunate.rank <= 2


def test_a_drug_in_many_documents_does_not_crowd_out_the_other_of_a_combination(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """The other one is in a single document, known by its tag alone; the words asked for are elsewhere."""
    crowd = {
        f"n{number:03}.md": f"# Note {number}\n\n## Results\n\nOsimertinib plus care, trial {number}.\n"
        for number in range(90)
    }
    other = {"x.md": "# Orpathys\n\n## Results\n\nDaily intake gave control of disease.\n"}
    engine = make_engine(
        SETTINGS
        | {
            "data_dir": str(tmp_path / "crowd"),
            "plugins.options.biomed.collection_recall_top_k": 2,
        }
    )
    engine.ingest([write_files(tmp_path / "in", crowd | other)])
    found = hits(engine, "osimertinib plus HMPL-504 trial", top_k=5)
    orpathys = next(hit for hit in found if hit.title == "Orpathys")
    assert dict(orpathys.parts)["injected"] == 1.0
    assert dict(orpathys.parts)["entity"] == 1.0
    assert sum("injected" in dict(hit.parts) for hit in found) == 2


@pytest.mark.parametrize("tier1", ["cosine", "filter", "off"])
def test_c2_exact_names_come_first_with_the_plugin_too(
    make_engine: Callable[..., Engine], tmp_path: Path, tier1: str
) -> None:
    texts = {
        "exact.txt": "We describe p.L858R in detail here, and nothing else.",
        "parts.txt": "Codon L858 was seen, R was not.",
        "noise.txt": "Serum sodium rose in the treated mice.",
    }
    engine = make_engine(
        {
            "profile": "embedded",
            "plugins.options.biomed.encoders.eagle_text_biomed": "hash",
            "plugins.options.biomed.tier1": tier1,
            "ingest.workers": 1,
        }
    )
    engine.ingest([write_files(tmp_path / "in", texts)])
    (first, *_) = hits(engine, "p.L858R", mode="lexical")
    assert "p.L858R" in first.text
    if tier1 != "cosine":  # hashed vectors order at random
        assert "p.L858R" in hits(engine, "p.L858R")[0].text


def test_a_cross_encoder_that_is_not_there_is_said_in_the_trace(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """The hits are those of the fused scores."""
    engine = make_engine(
        SETTINGS | {"plugins.options.biomed.domain_rerank_encoder": "nobody-registered-this"}
    )
    engine.ingest([write_files(tmp_path / "in", {"r06.md": FILES["r06.md"]})])
    results = engine.search(SearchRequest("resistance to osimertinib"))
    assert [hit.title for hit in results.hits] == ["Resistance to osimertinib"]
    (said,) = [event for event in results.trace.events if event.stage == "rerank"]
    assert said.degraded
    assert "encoder failed" in said.message


def test_off_the_namespace_no_hook_of_the_plugin_is_called(engine: Engine) -> None:
    """An instance serves one namespace; what another one would call is the core's alone."""
    own, other = (engine.kernel.bus.bind(namespace) for namespace in ("biomed", "core"))
    for hook in (
        *("query_assemble", "classify_query", "query_dense_expand", "rerank"),
        *("retrieve_supplement", "rrf_post_merge", "rerank_merged"),
    ):
        assert "biomed" in own.implements(hook)
        assert "biomed" not in other.implements(hook)


def test_every_compound_of_the_ontology_can_be_asked_for_by_its_bare_name() -> None:
    """Its structure goes to the chemical encoder, which takes it at its word: cisplatin, ethanol."""
    encoder = MorganEncoder()
    names = open_ontology({})
    known = [name for name in names.entities if names.smiles_of(name)]
    assert len(known) > 150
    for name in known:
        assert encoder.encode_query(names.smiles_of(name)).vectors.shape == (1, 1024)


@pytest.mark.parametrize(
    "scope",
    [
        {"kb_names": ("default",)},
        {"filters": Compare("source_type", "eq", "compound")},
        {"filters": Compare("chunk_type", "eq", "chemical")},
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_a_scope_with_compounds_is_searched_by_a_query_without_a_structure(
    engine: Engine, scope: dict[str, Any], mode: SearchMode
) -> None:
    """The chemical collection is in the scope, and there is nothing that it could be asked."""
    results = engine.search(SearchRequest("headaches of nurses", mode=mode, explain=True, **scope))
    assert not results.trace.degraded
    plans = {
        event.message.partition(" ")[0] for event in results.trace.events if event.stage == "plan"
    }
    assert "eagle_text_biomed" in plans
    assert any(
        "eagle_chemical' is not searched" in event.message for event in results.trace.events
    )
