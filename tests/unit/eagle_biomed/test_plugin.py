"""The plugin behind the core's contract suite, and in an engine of its own."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from eagle_biomed.plugin import BiomedPlugin
from eagle_rag.engine.compose import build_kernel
from eagle_rag.errors import ConfigurationError, PluginError
from eagle_rag.kernel.settings import load_settings
from eagle_rag.model.filters import OneOf
from eagle_rag.model.query import SearchRequest
from eagle_rag.ports.plugins import Plugin
from eagle_rag.testing.plugin_contract import (
    PluginContract,
    sample_document,
    sample_passages,
)

if TYPE_CHECKING:
    from eagle_rag.engine import Engine
    from eagle_rag.model.passage import Passage

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
EMPTY = dict.fromkeys(
    ("eagle_text_medcpt", "eagle_medical_radiology", "eagle_medical_pathology"), ""
)
OPENED: dict[str, object] = {
    "plugins.enabled": ["biomed"],
    "plugins.default_namespace": "biomed",
    "router.hybrid_text_collections": ["eagle_text", "eagle_text_biomed"],
    "ingest.workers": 1,
}
HASHED = {"encoders": {**EMPTY, "eagle_text_biomed": "hash", "eagle_chemical": "hash"}}
EXAMPLES = {
    "label_zolinib.md": "# Zolinib\n\n## Boxed warning\n\nAspirin with zolinib caused bleeding.\n\n"
    "## 2 Dosage and administration\n\nTake 80 mg once daily.\n",
    "aspirin.md": f"# Salicylates\n\n## Results\n\nThe compound {ASPIRIN} inhibited the enzyme.\n",
    "notes.md": "# Minutes\n\n## Agenda\n\nThe board approved the budget.\n",
}


class TestBiomedContract(PluginContract):
    options: Mapping[str, Any] = {
        "encoders": {**EMPTY, "eagle_text_biomed": "stand-in", "eagle_chemical": "stand-in"}
    }

    def make_plugin(self) -> Plugin:
        return BiomedPlugin()

    def test_it_implements_the_hooks_of_its_side_of_the_ingest(self) -> None:
        hooks = set(self.load().loaded.cards[-1].hooks)
        assert hooks >= {
            *("ingest_route_selectors", "parse", "chunk", "annotate", "ingest_visual_extract"),
            *("classify_chunk", "classify_visual", "embed_text", "embed_visual"),
            *("classify_query", "query_dense_expand"),
        }

    def test_the_sample_is_tagged(self) -> None:
        found = self.load().bus.chunk(sample_document(), sample_passages())
        tags = [dict(passage.tags) for passage in found]
        assert tags[1]["biomed_section"] == "results"
        assert tags[1]["biomed_doc_type"] == "other"
        assert tags[1]["primary_drugs"].split(",") == ["aspirin", "osimertinib"]

    def test_an_encoder_of_somebody_else_is_left_to_the_core(self) -> None:
        bus = self.load().bus
        assert bus.embed_text("stand-in", ["text"]) is None
        assert bus.embed_visual("stand-in", [b"png"]) is None

    def test_the_collections_are_registered_in_full(self) -> None:
        names = {profile.name for profile in self.load().collections.profiles()}
        assert names == {
            *("eagle_text", "eagle_text_biomed", "eagle_text_medcpt", "eagle_chemical"),
            *("eagle_medical_radiology", "eagle_medical_pathology"),
        }


def test_importing_the_plugin_loads_no_library_of_its_parts() -> None:
    """The core imports it at every start; a search must not wait for chemistry."""
    heavy = (
        "rdkit gemmi pydicom nibabel PIL pypdfium2 docx pptx torch ahocorasick_rs yaml lxml httpx"
        " onnxruntime eagle_biomed.entities eagle_biomed.chemistry"
    )
    script = (
        "import sys, json, eagle_biomed.plugin;"
        f"print(json.dumps([name for name in {heavy.split()!r} if name in sys.modules]))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60
    )
    assert json.loads(done.stdout) == []


def test_a_hook_before_loading_is_refused() -> None:
    with pytest.raises(PluginError, match="before on_load"):
        BiomedPlugin().chunk(sample_document(), sample_passages())


def write(folder: Path, texts: Mapping[str, str]) -> Path:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def opened(
    make_engine: "Callable[..., Engine]", options: Mapping[str, object] | None = None
) -> "Engine":
    return make_engine(OPENED | {"plugins.options": {"biomed": {**HASHED, **(options or {})}}})


def passages_of(engine: "Engine", name: str) -> "tuple[Passage, ...]":
    (found,) = [each for each in engine.documents() if each.source_uri.endswith(name)]
    return engine.show(found.document_id).passages


def rows_of(engine: "Engine", collection: str) -> dict[str, dict[str, str | None]]:
    return {row.text: dict(row.extra) for batch in engine.store.scan(collection) for row in batch}


def test_an_ingest_tags_profiles_and_places_every_passage(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine = opened(make_engine)
    report = engine.ingest([write(tmp_path / "in", EXAMPLES)])
    assert (len(report.added), report.refused) == (3, ())
    warning, dosage = passages_of(engine, "label_zolinib.md")
    assert dict(warning.tags)["biomed_section"] == "warnings"
    assert dict(dosage.tags)["biomed_section"] == "dosage"
    assert dict(warning.tags)["biomed_doc_type"] == "drug_label"
    assert dict(warning.tags)["primary_drugs"] == "aspirin"
    assert dict(warning.tags)["biomed_text_profile_tier"] in {"1", "2"}
    text = rows_of(engine, "eagle_text_biomed") | rows_of(engine, "eagle_text")
    assert len(text) == 4
    assert list(rows_of(engine, "eagle_chemical")) == [
        f"The compound {ASPIRIN} inhibited the enzyme."
    ]
    assert engine.verify().problems == ()


def test_o4_tags_fill_the_columns_of_the_collection(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    """A boxed warning is kept, sectioned, and told by its column."""
    engine = opened(make_engine, {"doc_semantic_router": {"enabled": False}})
    engine.ingest([write(tmp_path / "in", EXAMPLES)])
    rows = rows_of(engine, "eagle_text_biomed")
    assert rows["Aspirin with zolinib caused bleeding."] == {
        "biomed_section": "warnings",
        "primary_drugs": "aspirin",
    }
    assert rows_of(engine, "eagle_text") == {}


def test_each_document_s_profile_is_audited_once(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine = opened(make_engine)
    engine.ingest([write(tmp_path / "in", EXAMPLES)])
    events = [
        event
        for event in engine.kernel.audit.recent()
        if event.plugin == "biomed" and " text by tier" in event.decision
    ]
    assert [event.category for event in events] == ["classify_chunk"] * 3
    assert {"signal_prototype", "confidence", "tier"} <= set(dict(events[0].detail))


def test_an_unchanged_ingest_is_a_no_op(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine, folder = opened(make_engine), write(tmp_path / "in", EXAMPLES)
    engine.ingest([folder])
    assert engine.ingest([folder]).unchanged == 3


def test_a_structure_is_found_by_the_chemical_collection(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine = opened(make_engine)
    engine.ingest([write(tmp_path / "in", EXAMPLES)])
    results = engine.search(SearchRequest(f"SMILES: {ASPIRIN}", explain=True))
    assert results.hits[0].title == "Salicylates"
    assert "eagle_chemical/dense" in {arm.arm for arm in results.hits[0].arms}
    route = [event for event in engine.kernel.audit.recent() if event.category == "route_query"]
    assert dict(route[-1].detail)["eagle_chemical"] == "the query holds a structure"


def test_words_alone_can_be_searched(make_engine: "Callable[..., Engine]", tmp_path: Path) -> None:
    engine = opened(make_engine)
    engine.ingest([write(tmp_path / "in", EXAMPLES)])
    results = engine.search(SearchRequest("aspirin bleeding", mode="lexical"))
    assert results.hits[0].title == "Zolinib"


COMPOUNDS = "\n".join(
    (
        "smiles,name",
        "CN1C=NC2=C1C(=O)N(C(=O)N2C)C,caffeine",
        "O=C(O)c1ccccc1O,salicylic acid",
        f"{ASPIRIN},aspirin",
        "CCO,ethanol",
        "COC(=O)c1ccccc1O,methyl salicylate",
    )
)


@pytest.fixture
def compounds(make_engine: "Callable[..., Engine]", tmp_path: Path) -> "Engine":
    """Return an engine whose chemical collection holds fingerprints, as in the default profile."""
    options = {"encoders": HASHED["encoders"] | {"eagle_chemical": "morgan"}}
    engine = opened(make_engine, options)
    folder = write(tmp_path / "in", EXAMPLES | {"set.csv": COMPOUNDS})
    assert engine.ingest([folder]).refused == ()
    return engine


def found_by_chemistry(engine: "Engine", query: str) -> list[str]:
    results = engine.search(SearchRequest(query, mode="dense", explain=True))
    ranked = [
        (arm.rank, hit.title)
        for hit in results.hits
        for arm in hit.arms
        if arm.arm == "eagle_chemical/dense"
    ]
    return [title for _, title in sorted(ranked)]


@pytest.mark.parametrize(
    "query", [f"SMILES {ASPIRIN}", "compounds similar to aspirin", "InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12)"]
)  # fmt: skip
def test_a_structure_finds_its_compound_first_and_its_like_next(
    compounds: "Engine", query: str
) -> None:
    assert {*found_by_chemistry(compounds, query)[:2]} == {"aspirin", "Salicylates"}
    assert found_by_chemistry(compounds, query)[2] in {"salicylic acid", "methyl salicylate"}


def test_a_name_finds_the_compound_and_none_of_its_like(compounds: "Engine") -> None:
    assert {*found_by_chemistry(compounds, "aspirin")} == {"aspirin", "Salicylates"}
    assert found_by_chemistry(compounds, "gefitinib") == []
    assert found_by_chemistry(compounds, "aspirin in the prevention of stroke") == []


def test_a_compound_is_found_by_its_words_too(compounds: "Engine") -> None:
    """Its card is in a text collection beside the chemical one: decision 0006."""
    results = compounds.search(SearchRequest("methyl salicylate", mode="lexical"))
    assert results.hits[0].title == "methyl salicylate"


def test_o2_a_short_card_is_in_the_chemical_collection_and_prose_is_not(
    compounds: "Engine",
) -> None:
    rows = rows_of(compounds, "eagle_chemical")
    assert len(rows) == 6
    assert any(text.startswith("SMILES: CCO\n") for text in rows)


def test_a_query_that_is_no_molecule_is_searched_by_its_words(compounds: "Engine") -> None:
    results = compounds.search(SearchRequest("SMILES c1cccc1C(=O)O of aspirin"))
    assert results.hits


def test_verify_is_clean_where_one_passage_of_many_is_in_chemistry_and_repairs_it_from_tags(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    options = {"encoders": HASHED["encoders"] | {"eagle_chemical": "morgan"}}
    engine = opened(make_engine, options)
    text = (
        f"# A\n\n## Methods\n\nCells.\n\n## Results\n\n{ASPIRIN} acts.\n\n## Discussion\n\nMore."
    )
    engine.ingest([write(tmp_path / "in", {"a.md": text})])
    assert engine.verify().problems == ()
    for collection in engine.store.collections():
        engine.store.delete(collection, OneOf("version", (1,)))
    assert engine.verify(repair=True).problems != ()
    assert list(rows_of(engine, "eagle_chemical")) == [f"{ASPIRIN} acts."]
    assert engine.verify().problems == ()


def test_the_references_profile_registers_the_references_collections() -> None:
    kernel = build_kernel(load_settings(environ={"EAGLE_RAG_PROFILE": "biomed"}))
    found = {
        each.name: (each.default_encoder, each.dim, each.metric, each.hybrid_enabled)
        for each in kernel.collections.profiles()
    }
    assert found == {
        "eagle_text": ("minilm", 384, "cosine", True),
        "eagle_text_biomed": ("pubmedbert", 768, "cosine", True),
        "eagle_text_medcpt": ("medcpt-query", 768, "cosine", True),
        "eagle_chemical": ("molformer", 768, "cosine", False),
        "eagle_medical_radiology": ("medimageinsight", 1024, "ip", False),
        "eagle_medical_pathology": ("uni2", 1536, "ip", False),
    }


def test_g6_one_corrupt_label_among_many_is_reported_and_the_rest_goes_in(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine = opened(make_engine)
    texts = {f"{number}.md": f"# Paper {number}\n\nText {number}.\n" for number in range(60)}
    spl = '<?xml version="1.0"?><document xmlns="urn:hl7-org:v3"><code code="34391-3"'
    report = engine.ingest([write(tmp_path / "in", texts | {"label.xml": spl})])
    assert len(report.added) == 60
    (refusal,) = report.refused
    assert refusal.source_uri.endswith("label.xml")
    assert refusal.reason == "xml-syntax"


def test_i5_an_archive_with_members_that_lead_out_of_it_gives_the_rest(
    make_engine: "Callable[..., Engine]", tmp_path: Path
) -> None:
    engine = opened(make_engine)
    with zipfile.ZipFile(tmp_path / "labels.zip", "w") as archive:
        for name, text in (EXAMPLES | {"../../escaped.md": "# Escaped\n\nOut."}).items():
            archive.writestr(name, text)
    report = engine.ingest([tmp_path / "labels.zip"])
    assert len(report.added) == 3
    assert [refusal.source_uri for refusal in report.refused] == ["labels.zip!/../../escaped.md"]
    assert list(tmp_path.rglob("escaped.md")) == []
    assert not (tmp_path.parent.parent / "escaped.md").exists()


def test_a_wrong_option_stops_the_engine_from_opening(
    make_engine: "Callable[..., Engine]",
) -> None:
    with pytest.raises(ConfigurationError, match="did you mean medcpt_dual_search"):
        opened(make_engine, {"medcpt_dual_serch": True})


def test_the_references_profile_without_weights_says_which_encoder_is_missing(
    make_engine: "Callable[..., Engine]",
) -> None:
    with pytest.raises(ConfigurationError, match="no encoder has that label"):
        opened(make_engine, {"encoders": {"eagle_text_biomed": "absent"}})
