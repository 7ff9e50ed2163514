"""Order of layers, refusal of unknown keys, origins, redaction."""

import pickle
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import ValidationError

from eagle_rag.errors import ConfigurationError
from eagle_rag.kernel.layers import known_keys
from eagle_rag.kernel.settings import Settings, load_settings, profiles


def _file(folder: Path, text: str) -> Path:
    path = folder / "eagle.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_anything_the_defaults_hold() -> None:
    settings = load_settings(environ={})
    assert load_settings(environ={"EAGLE_RAG_PROFILE": "core"}).model_dump(
        exclude={"profile"}
    ) == Settings().model_dump(exclude={"profile"})
    assert settings.profile == "embedded"
    assert (settings.plugins.enabled, settings.plugins.default_namespace) == (
        ("biomed",),
        "biomed",
    )
    assert set(settings.encoders) == {"minilm", "hash"}
    assert settings.collections["eagle_text"].encoder == "minilm"


def test_each_layer_wins_over_the_one_before(tmp_path: Path) -> None:
    path = _file(tmp_path, "search: {retracted: hide, top_k: 2, threads: 2}\nrouter: {rrf_k: 2}")
    settings = load_settings(
        config_file=path,
        environ={
            "EAGLE_RAG_PROFILE": "literature",
            "EAGLE_RAG_SEARCH__TOP_K": "3",
            "EAGLE_RAG_ROUTER__RRF_K": "3",
        },
        overrides={"router.rrf_k": 4},
    )
    assert settings.ingest.abstract_only == "refuse"
    assert settings.search.retracted == "hide"
    assert (settings.search.threads, settings.search.top_k, settings.router.rrf_k) == (2, 3, 4)
    expected = {
        "ingest.abstract_only": "profile",
        "search.threads": "file",
        "search.top_k": "env",
        "router.rrf_k": "flag",
        "profile": "env",
        "search.max_query_chars": "default",
    }
    assert {key: settings.origins[key] for key in expected} == expected


def test_lists_are_replaced_whole_and_mappings_merged_by_key(tmp_path: Path) -> None:
    text = "router: {hybrid_text_collections: [only]}\nencoders: {minilm: {max_tokens: 128}}"
    settings = load_settings(
        config_file=_file(tmp_path, text), environ={"EAGLE_RAG_PROFILE": "biomed"}
    )
    assert settings.router.hybrid_text_collections == ("only",)
    assert settings.encoders["minilm"].max_tokens == 128
    assert settings.encoders["minilm"].dim == 384


def test_the_file_in_the_working_directory_is_read_when_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _file(tmp_path, "kb_name: papers")
    monkeypatch.chdir(tmp_path)
    assert load_settings(environ={}).kb_name == "papers"


def test_the_variable_names_the_file_and_the_argument_beats_it(tmp_path: Path) -> None:
    named = _file(tmp_path, "kb_name: from-variable")
    other = tmp_path / "other.yaml"
    other.write_text("kb_name: from-argument", encoding="utf-8")
    environ = {"EAGLE_RAG_CONFIG": str(named)}
    assert load_settings(environ=environ).kb_name == "from-variable"
    assert load_settings(environ=environ, config_file=other).kb_name == "from-argument"


def test_the_process_environment_is_read_when_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EAGLE_RAG_KB_NAME", "from-process")
    assert load_settings().kb_name == "from-process"


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"absent\.yaml"):
        load_settings(config_file=tmp_path / "absent.yaml", environ={})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n- b", "must hold a mapping of sections, got list"),
        ("a: [", "is not YAML"),
        ("router: {rrf_k: 1}\nsearch: {}\nrouter: {}", "found 'router' twice"),
        ("router: {rrf: 60}", "did you mean router.rrf_k"),
        ("rrf_k: 60", "did you mean router.rrf_k"),
        ("collections: {mine: {encodr: minilm}}", "unknown setting 'collections.mine.encodr'"),
        ("zzzzzz: 1", "docs/configuration.md lists every key"),
        ("router: 5", "router: Input should be a valid dictionary"),
        ("collections: {mine: 5}", "collections.mine"),
        ("collections: 5", "collections"),
    ],
)
def test_a_wrong_file_is_refused_with_what_to_do(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(config_file=_file(tmp_path, text), environ={})
    assert message in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eagle.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="cannot read"):
        load_settings(config_file=path, environ={})


@pytest.mark.parametrize("text", ["", "router:\nsearch:\n", "collections:\n  eagle_text:\n"])
def test_empty_files_and_sections_change_nothing(text: str, tmp_path: Path) -> None:
    settings = load_settings(config_file=_file(tmp_path, text), environ={})
    assert settings.redacted() == load_settings(environ={}).redacted()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("EAGLE_RAG_FOO", "docs/configuration.md"),
        ("EAGLE_RAG_ROUTER__RRFK", "EAGLE_RAG_ROUTER__RRF_K"),
        ("EAGLE_RAG_RRF_K", "EAGLE_RAG_ROUTER__RRF_K"),
        ("EAGLE_RAG_KB_NAME__MORE", "EAGLE_RAG_"),
        ("EAGLE_RAG_ENCODERS__MINILM__DIMS", "EAGLE_RAG_ENCODERS__<NAME>__DIM"),
    ],
)
def test_an_unknown_variable_is_refused_by_name_even_when_empty(name: str, hint: str) -> None:
    for value in ("1", ""):
        with pytest.raises(ConfigurationError) as caught:
            load_settings(environ={name: value})
        assert repr(name) in str(caught.value)
        assert hint in caught.value.remedy


def test_unknown_flags_are_refused_too() -> None:
    with pytest.raises(ConfigurationError, match=r"'search\.topk' in the flags"):
        load_settings(environ={}, overrides={"search.topk": 3})


def test_names_that_are_no_settings_are_let_through() -> None:
    environ = {"EAGLE_RAG_TEST_DATA": "y", "EAGLE_BIOMED_X": "z"}
    assert load_settings(environ=environ) == load_settings(environ={})


@pytest.mark.parametrize(
    ("environ", "key", "value"),
    [
        ({"EAGLE_RAG_PLUGINS__ENABLED": "a, b"}, "plugins.enabled", ("a", "b")),
        ({"EAGLE_RAG_PLUGINS__ENABLED": '["a","b"]'}, "plugins.enabled", ("a", "b")),
        ({"EAGLE_RAG_ROUTER": '{"rrf_k": 7}'}, "router.rrf_k", 7),
        ({"eagle_rag_router__rrf_k": "7"}, "router.rrf_k", 7),
        ({"EAGLE_RAG_KB_NAME": "007"}, "kb_name", "007"),
        ({"EAGLE_RAG_ROUTER__RRF_K": ""}, "router.rrf_k", 60),
        ({"PLUGIN_NAMESPACE": "lab"}, "plugins.default_namespace", "lab"),
        ({"PLUGIN_NAMESPACE": ""}, "plugins.default_namespace", "biomed"),
        ({"EAGLE_RAG_COLLECTIONS__OTHER__ENCODER": "hash"}, "collections.other.encoder", "hash"),
    ],
)
def test_variables_are_read_by_the_type_of_their_key(
    environ: Mapping[str, str], key: str, value: object
) -> None:
    found: object = load_settings(environ=environ)
    for segment in key.split("."):
        found = found[segment] if isinstance(found, dict) else getattr(found, segment)
    assert found == value


def test_plugin_namespace_beats_the_long_variable() -> None:
    environ = {"PLUGIN_NAMESPACE": "short", "EAGLE_RAG_PLUGINS__DEFAULT_NAMESPACE": "long"}
    assert load_settings(environ=environ).plugins.default_namespace == "short"


def test_plugin_options_from_the_environment_have_the_types_a_file_would_give() -> None:
    environ = {
        "EAGLE_RAG_PROFILE": "core",
        "EAGLE_RAG_PLUGINS__OPTIONS__LAB__DEPTH": "3",
        "EAGLE_RAG_PLUGINS__OPTIONS__LAB__ROUTER__ON": "true",
        "EAGLE_RAG_PLUGINS__OPTIONS__LAB__ODD": "a: [",
        "EAGLE_RAG_PLUGINS__OPTIONS__OTHER": '{"deep": {"n": 1}}',
    }
    assert load_settings(environ=environ).plugins.options == {
        "lab": {"depth": 3, "router": {"on": True}, "odd": "a: ["},
        "other": {"deep": {"n": 1}},
    }


def test_broken_json_in_a_variable_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is not JSON"):
        load_settings(environ={"EAGLE_RAG_PLUGINS__ENABLED": "[a"})


def test_a_wrong_value_is_refused_with_key_value_and_origin() -> None:
    environ = {"EAGLE_RAG_ROUTER__RRF_K": "many"}
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ=environ, overrides={"search.top_k": 0})
    text = str(caught.value)
    assert "router.rrf_k" in text
    assert "got 'many' (from environment, EAGLE_RAG_ROUTER__RRF_K)" in text
    assert "search.top_k: Input should be greater than or equal to 1, got 0 (from flag)" in text


@pytest.mark.parametrize("value", [0, 10_001, 10**29, 10**400])
def test_the_constant_of_rank_fusion_is_bounded_by_name(value: int) -> None:
    with pytest.raises(ConfigurationError, match=r"router\.rrf_k: Input should be .* equal to 1"):
        load_settings(overrides={"router.rrf_k": value}, environ={})


def test_every_whole_number_has_an_upper_bound() -> None:
    """Python's integers have none, and what they reach has: the system, a parser, a float."""
    unbounded = [
        info.key
        for info in known_keys(Settings)
        if info.field.annotation in {int, int | None, float}
        and not any(hasattr(each, "le") for each in info.field.metadata)
    ]
    assert unbounded == []


def test_a_refusal_does_not_print_secrets() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(environ={}, overrides={"registry.url": ["postgresql://u:hunter2@h/d"]})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"runtime": "hash"}, "needs dim"),
        ({"runtime": "onnx", "dim": 8}, "needs checkpoint"),
        ({"runtime": "http", "dim": 8, "url": "http://h"}, "needs url and model"),
        ({"runtime": "hash", "dim": 8, "truncate_dim": 4}, "truncate_dim 4 must equal dim 8"),
        ({"runtime": "hash", "dim": 8, "truncate_dim": 8}, "truncate_dim is for runtime http"),
    ],
)
def test_an_encoder_that_could_not_be_built_is_refused(
    encoder: Mapping[str, object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        load_settings(environ={}, overrides={"encoders": {"mine": encoder}})


def test_an_unknown_profile_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match="known: biomed, core, embedded, literature"):
        load_settings(environ={"EAGLE_RAG_PROFILE": "fancy"})


@pytest.mark.parametrize("name", profiles())
def test_every_shipped_profile_loads(name: str) -> None:
    assert load_settings(environ={"EAGLE_RAG_PROFILE": name}).profile == name


def test_the_profile_of_a_flag_beats_the_variable_and_the_file(tmp_path: Path) -> None:
    path = _file(tmp_path, "profile: core")
    assert load_settings(config_file=path, environ={}).profile == "core"
    environ = {"EAGLE_RAG_PROFILE": "biomed"}
    assert load_settings(config_file=path, environ=environ).profile == "biomed"
    flags = {"profile": "literature"}
    settings = load_settings(config_file=path, environ=environ, overrides=flags)
    assert settings.ingest.abstract_only == "refuse"


def test_the_biomed_profile_enables_its_plugin_and_namespace() -> None:
    settings = load_settings(environ={"EAGLE_RAG_PROFILE": "biomed"})
    assert settings.plugins.enabled == ("biomed",)
    assert settings.plugins.default_namespace == "biomed"
    assert settings.rerank.policy == "auto"
    assert settings.plugins.options["biomed"]["rerank_policy"] == "domain"


def test_the_biomed_profile_fuses_by_score_and_the_default_one_by_rank() -> None:
    biomed = load_settings(environ={"EAGLE_RAG_PROFILE": "biomed"})
    assert (biomed.router.fusion, biomed.router.hybrid_alpha) == ("weighted", 0.5)
    assert load_settings(environ={}).router.fusion == "rrf"


@pytest.mark.parametrize("profile", ["embedded", "biomed"])
def test_the_biomedical_profiles_find_passages_by_their_headings_too(profile: str) -> None:
    settings = load_settings(environ={"EAGLE_RAG_PROFILE": profile})
    assert settings.passages.lexical_context == "title+section"


def test_places_follow_the_data_folder_unless_given() -> None:
    settings = load_settings(environ={}, overrides={"data_dir": "somewhere"})
    assert settings.registry_url == "sqlite:///somewhere/registry.db"
    assert settings.store_path == Path("somewhere/store")
    given = load_settings(environ={}, overrides={"registry.url": "sqlite://", "store.path": "s"})
    assert (given.registry_url, given.store_path) == ("sqlite://", Path("s"))


def test_no_workers_given_means_one_a_core() -> None:
    assert load_settings(environ={}).ingest.worker_count >= 1
    assert load_settings(environ={}, overrides={"ingest.workers": 3}).ingest.worker_count == 3


def test_settings_are_frozen_and_survive_pickling() -> None:
    settings = load_settings(environ={"EAGLE_RAG_ROUTER__RRF_K": "7"})
    with pytest.raises(ValidationError):
        settings.router.rrf_k = 8
    copy: Settings = pickle.loads(pickle.dumps(settings))  # noqa: S301 - our own bytes
    assert copy == settings
    assert copy.origins["router.rrf_k"] == "env"


def test_redacted_hides_passwords_keys_and_tokens_only() -> None:
    settings = load_settings(
        environ={},
        overrides={
            "registry.url": "postgresql://user:hunter2@host/db?password=hunter2&x=1",
            "plugins.options.lab": {
                "api_key": "hunter2",
                "token": "",
                "urls": ["http://a:hunter2@h"],
            },
            "encoders.mine": {
                "runtime": "http",
                "dim": 8,
                "model": "m",
                "url": "http://h",
                "api_key_env": "MY_KEY",
            },
        },
    )
    shown = settings.redacted()
    assert "hunter2" not in str(shown)
    assert shown["registry"]["url"] == "postgresql://user:***@host/db?password=***&x=1"
    assert shown["plugins"]["options"]["lab"] == {
        "api_key": "***",
        "token": "",
        "urls": ["http://a:***@h"],
    }
    assert shown["encoders"]["mine"]["api_key_env"] == "MY_KEY"
    assert shown["encoders"]["minilm"]["max_tokens"] == 256


def test_no_variable_of_the_environment_leaks_into_a_plain_settings_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EAGLE_RAG_KB_NAME", "leak")
    assert Settings().kb_name == "default"
