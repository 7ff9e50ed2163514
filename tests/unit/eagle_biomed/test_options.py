"""Every option with its default; what is wrong is refused by name."""

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from eagle_biomed.options import SEARCH_OPTIONS, BiomedOptions, FusionWeights, read_options
from eagle_rag.errors import ConfigurationError
from eagle_rag.kernel.settings import load_settings
from eagle_rag.surfaces.cli.session import Session

REFERENCE: dict[str, Any] = {
    "default_dual_text_search": False,
    "exploratory_search_collections": (),
    "use_general_rerank": False,
    "reranks": "domain",
    "domain_rerank_encoder": "medcpt-rerank",
    "retrieval_scoring": {},
    "medcpt_dual_search": False,
    "collection_recall_top_k": 20,
    "encoder_mode": "auto",
    "doc_semantic_router.enabled": True,
    "doc_semantic_router.sketch_max_tokens": 2048,
    "doc_semantic_router.prototype_config": "",
    "doc_semantic_router.fusion.weights.prototype": 0.55,
    "doc_semantic_router.fusion.weights.umls": 0.25,
    "doc_semantic_router.fusion.weights.imrad": 0.15,
    "doc_semantic_router.fusion.weights.entropy": 0.05,
    "doc_semantic_router.confidence_threshold": 0.0,
    "doc_semantic_router.llm_margin": 0.12,
    "doc_semantic_router.llm.enabled": True,
    "doc_semantic_router.llm.max_sketch_chars": 6000,
    "doc_semantic_router.ambiguous_default": "biomedical",
}


def value(options: object, key: str) -> object:
    for part in key.split("."):
        options = getattr(options, part)
    return options


def nested(key: str, content: object) -> dict[str, Any]:
    for part in reversed(key.split(".")):
        content = {part: content}
    assert isinstance(content, dict)
    return content


@pytest.mark.parametrize(("key", "default"), REFERENCE.items())
def test_the_defaults_are_the_references(key: str, default: object) -> None:
    assert value(read_options({}), key) == default


@pytest.mark.parametrize(
    ("key", "content", "read"),
    [
        ("rerank_policy", "none", "none"),
        ("collection_recall_top_k", 100, 100),
        ("exploratory_search_collections", ["a", "b"], ("a", "b")),
        ("retrieval_scoring.chemical", {"w_ce": 1}, {"chemical": {"w_ce": 1.0}}),
        ("retrieval_scoring.chemical", {"w_ce": "1e-3"}, {"chemical": {"w_ce": 0.001}}),
        ("lexica", ["hgnc", {"tsv": "x.tsv"}], ("hgnc", {"tsv": "x.tsv"})),
        ("cache_dir", "x", "x"),
        ("expand_encoders", ["minilm"], ("minilm",)),
        ("drug_structure_search", True, True),
        ("doc_semantic_router.fusion.weights.umls", 1, 1.0),
        ("doc_semantic_router.llm.enabled", False, False),
        ("doc_semantic_router.ambiguous_default", "general", "general"),
        ("doc_semantic_router.confidence_threshold", -1, -1.0),
    ],
)
def test_a_given_value_is_read(key: str, content: object, read: object) -> None:
    options = read_options(nested(key, content))
    shown = key.partition(".")[0] if key.startswith("retrieval") else key
    assert value(options, shown) == read


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, "domain"),
        ({"rerank_policy": "none"}, "none"),
        ({"rerank_policy": "general"}, "general"),
        ({"rerank_policy": "domain", "use_general_rerank": True}, "domain"),
        ({"rerank_policy": "none", "use_general_rerank": True}, "none"),
        ({"use_general_rerank": True}, "general"),
        ({"rerank_policy": None, "use_general_rerank": True}, "general"),
        ({"rerank_policy": None, "use_general_rerank": False}, "domain"),
    ],
)
def test_the_rerank_policy_is_the_one_set_else_domain_or_general(
    given: dict[str, Any], policy: str
) -> None:
    assert read_options(given).reranks == policy


def test_every_option_that_only_searching_reads_is_one() -> None:
    assert set(SEARCH_OPTIONS) <= {each.name for each in fields(BiomedOptions)}


def test_keys_that_are_not_given_keep_their_defaults() -> None:
    options = read_options({"doc_semantic_router": {"llm_margin": 0.5}})
    assert options.doc_semantic_router.llm_margin == 0.5
    assert options.doc_semantic_router.sketch_max_tokens == 2048


def test_encoders_that_are_not_named_are_the_references() -> None:
    options = read_options({"encoders": {"eagle_text_biomed": "minilm", "eagle_chemical": ""}})
    assert options.encoders == {
        "eagle_text_biomed": "minilm",
        "eagle_text_medcpt": "medcpt-query",
        "eagle_chemical": "",
        "eagle_medical_radiology": "medimageinsight",
        "eagle_medical_pathology": "uni2",
    }


@pytest.mark.parametrize("empty", [{"lexica": None}, {"doc_semantic_router": None}, {}])
def test_empty_keys_of_a_file_change_nothing(empty: dict[str, Any]) -> None:
    assert read_options(empty) == BiomedOptions()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"encoder_mod": "auto"}, "biomed.encoder_mod; did you mean encoder_mode"),
        ({"encoders": {"eagle_chemicals": "x"}}, "did you mean eagle_chemical"),
        ({"doc_semantic_router": {"llm": {"enable": 1}}}, "llm.enable; did you mean enabled"),
        ({5: 1}, "unknown option plugins.options.biomed.5"),
        ({"encoder_mode": "native"}, "must be one of auto, require_native, deterministic"),
        ({"rerank_policy": []}, "must be one of domain, general, none"),
        ({"collection_recall_top_k": 0}, "must be at least 1, got 0"),
        ({"collection_recall_top_k": 10**20}, "must be at most 10,000, got 1000"),
        ({"retrieval_scoring": {"chemical": {"w_ce": -0.1}}}, "w_ce must be from 0 to 1000"),
        ({"retrieval_scoring": {"chemical": {"w_sec": 1.7e308}}}, "w_sec must be from 0 to 1000"),
        ({"retrieval_scoring": {"chemical": {"w_ce": "much"}}}, "must be a number, got 'much'"),
        ({"collection_recall_top_k": True}, "must be a whole number, got True"),
        ({"collection_recall_top_k": "20"}, "must be a whole number, got '20'"),
        ({"medcpt_dual_search": 1}, "must be yes or no, got 1"),
        ({"lexica": "hgnc"}, "must be a list, got 'hgnc'"),
        ({"exploratory_search_collections": [1]}, r"\[0\] must be text, got 1"),
        ({"retrieval_scoring": {"a": {"b": "c"}}}, "retrieval_scoring.a.b must be a number"),
        ({"retrieval_scoring": {"chemicals": {}}}, "chemicals; did you mean chemical"),
        ({"retrieval_scoring": {"general": {"w_se": 1}}}, "general.w_se; did you mean w_sec"),
        ({"general_text_search": "never"}, "must be one of always, dual"),
        ({"general_text_search": False}, "must be one of always, dual, got False"),
        ({"tier1": True}, "must be one of cosine, filter, off, got True"),
        ({"tier1": 0}, "must be one of cosine, filter, off, got 0"),
        ({"doc_semantic_router": 5}, "doc_semantic_router must be a mapping, got 5"),
        ({"doc_semantic_router": {"llm_margin": -0.1}}, "llm_margin must be at least 0"),
        ({"doc_semantic_router": {"llm_margin": float("nan")}}, "must be a finite number"),
        ({"doc_semantic_router": {"sketch_max_tokens": 0}}, "must be at least 1"),
    ],
)
def test_what_is_wrong_is_refused_by_its_key(given: dict[Any, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read_options(given)


def test_the_environment_wins() -> None:
    environ = {
        "EAGLE_BIOMED_ENCODER_MODE": "deterministic",
        "EAGLE_BIOMED_ALLOW_DETERMINISTIC": "1",
        "EAGLE_BIOMED_UMLS_MRCONSO_PATH": "MRCONSO.RRF",
    }
    options = read_options({"encoder_mode": "require_native"}, environ)
    assert (options.encoder_mode, options.allow_deterministic) == ("deterministic", True)
    assert options.names["mrconso_path"] == "MRCONSO.RRF"


@pytest.mark.parametrize("written", ["off", "'off'", "Off", "no"])
def test_off_is_a_word_on_the_command_line(written: str) -> None:
    """YAML reads a bare off as False."""
    assignment = f"plugins.options.biomed.tier1={written}"
    session = Session.from_options(None, None, "core", (assignment,))
    given = load_settings(overrides=session.overrides, environ={}).plugins.options["biomed"]
    assert read_options(given).tier1 == "off"


@pytest.mark.parametrize("written", ["off", '"off"'])
def test_off_is_a_word_in_a_file(tmp_path: Path, written: str) -> None:
    file = tmp_path / "eagle.yaml"
    file.write_text(f"plugins:\n  options:\n    biomed:\n      tier1: {written}\n", "utf-8")
    given = load_settings(config_file=file, environ={}).plugins.options["biomed"]
    assert read_options(given).tier1 == "off"


def test_an_empty_variable_counts_as_unset() -> None:
    options = read_options({"encoder_mode": "require_native"}, {"EAGLE_BIOMED_ENCODER_MODE": " "})
    assert options.encoder_mode == "require_native"


@pytest.mark.parametrize(
    ("variable", "content"),
    [("EAGLE_BIOMED_ENCODER_MODE", "native"), ("EAGLE_BIOMED_ALLOW_DETERMINISTIC", "maybe")],
)
def test_a_wrong_variable_is_refused(variable: str, content: str) -> None:
    with pytest.raises(ConfigurationError, match=content):
        read_options({}, {variable: content})


def option_keys(section: type, prefix: str = "") -> list[str]:
    keys: list[str] = []
    hints = get_type_hints(section)
    for each in fields(section):
        kind = hints[each.name]
        inner = is_dataclass(kind) and kind is not FusionWeights
        key = f"{prefix}{each.name}"
        keys += option_keys(kind, f"{key}.") if inner else [key]
    return keys


def test_the_page_names_every_option() -> None:
    page = (Path(__file__).parents[3] / "docs" / "biomed.md").read_text("utf-8")
    table = page.partition("## Options")[2]
    missing = [key for key in option_keys(BiomedOptions) if f"`{key}`" not in table]
    assert missing == []
    assert all(f"`{each.name}`" in table for each in fields(FusionWeights))
