"""The table of encoders, the modes, and what a label does when its weights are not there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from eagle_biomed.encoder_cards import NATIVE, native_cards
from eagle_biomed.encoders import LazyDomainEncoder, LazyImageEncoder, register_encoders
from eagle_biomed.options import BiomedOptions, EncoderMode, read_options
from eagle_rag.adapters.encoders.hash import HashEncoder
from eagle_rag.adapters.encoders.hashed import HashPairScorer, HashVisualEncoder
from eagle_rag.errors import EncoderLoadError, InvalidInput, InvalidQuery
from eagle_rag.kernel.audit import AuditLog
from eagle_rag.kernel.collections import CollectionRegistry, Registrar
from eagle_rag.kernel.encoders import EncoderRegistry
from eagle_rag.kernel.tools import ToolRegistry
from eagle_rag.model.collection import EncoderCard
from eagle_rag.model.encoding import PairRecipe, TextRecipe, VisualRecipe
from eagle_rag.model.passage import EncodedBatch, VectorSpec
from eagle_rag.ports.encoders import PairScorer, TextEncoder, VisualEncoder
from eagle_rag.ports.plugins import PluginContext, PluginServices
from eagle_rag.testing.plugin_services import plain_xml

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
LABELS = tuple(native.card.label for native in NATIVE)
Recipe = TextRecipe | VisualRecipe | PairRecipe


@dataclass
class Runtimes:
    """Opens hashes as the core does; native checkpoints only those that are said to be there."""

    present: bool = True
    loads: bool = True
    opened: list[tuple[EncoderCard, Recipe]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def text(self, card: EncoderCard, recipe: TextRecipe) -> TextEncoder:
        self._open(card, recipe)
        return HashEncoder.of_card(card) if card.runtime == "hash" else Native(card, self)

    def visual(self, card: EncoderCard, recipe: VisualRecipe) -> VisualEncoder:
        self._open(card, recipe)
        return HashVisualEncoder(card) if card.runtime == "hash" else Native(card, self)

    def pairs(self, card: EncoderCard, recipe: PairRecipe) -> PairScorer:
        self._open(card, recipe)
        return HashPairScorer(card) if card.runtime == "hash" else Native(card, self)

    def _open(self, card: EncoderCard, recipe: Recipe) -> None:
        self.opened.append((card, recipe))


class Native:
    """Weights: constant vectors, or the error of a checkpoint that is not there or does not load."""

    def __init__(self, card: EncoderCard, runtimes: Runtimes) -> None:
        self.card = card
        self._runtimes = runtimes

    @property
    def spec(self) -> VectorSpec:
        if not self._runtimes.present:
            message = f"no weights in {self.card.checkpoint}"
            raise EncoderLoadError(message)
        return VectorSpec(self.card.label, "n" * 64, self.card.dim, metric=self.card.metric)

    def encode_documents(self, texts: Sequence[str]) -> EncodedBatch:
        self._runtimes.texts.extend(texts)
        return self._batch(len(texts))

    def encode_images(self, images: Sequence[bytes]) -> EncodedBatch:
        return self._batch(len(images))

    def encode_query(self, text: str) -> EncodedBatch:
        self._runtimes.texts.append(text)
        return self._batch(1)

    def score_pairs(self, query: str, texts: Sequence[str]) -> "np.typing.NDArray[np.float32]":
        assert query
        return self._batch(len(texts)).vectors[:, 0]

    def _batch(self, count: int) -> EncodedBatch:
        if not self._runtimes.loads:
            message = "the weights are damaged"
            raise EncoderLoadError(message)
        spec = self.spec
        return EncodedBatch(np.full((count, spec.dim), spec.dim**-0.5, np.float32), spec)


@dataclass
class Registered:
    encoders: EncoderRegistry
    audit: AuditLog

    def ask(self, label: str) -> object:
        """Ask the encoder of a label for something that needs its weights."""
        kind = self.encoders.card(label).modality
        if kind == "rerank":
            return self.encoders.rerank(label).score_pairs("q", ["a"])
        if kind == "visual":
            return self.encoders.visual(label).encode_images([b"picture"])
        return self.encoders.text(label).encode_documents([ASPIRIN])


def register(
    runtimes: Runtimes,
    options: BiomedOptions | None = None,
    environ: Mapping[str, str] | None = None,
) -> Registered:
    encoders, audit = EncoderRegistry(), AuditLog(100)
    registrar = Registrar(encoders, CollectionRegistry(encoders), ToolRegistry())
    services = PluginServices(plain_xml, runtimes)
    context = PluginContext("biomed", {}, registrar, encoders, audit, services)
    register_encoders(context, options or BiomedOptions(), environ=environ or {})
    return Registered(encoders, audit)


@pytest.mark.parametrize(
    ("label", "modality", "dim", "checkpoint", "variable"),
    [
        ("pubmedbert", "text", 768, "microsoft/BiomedNLP-PubMedBERT-base-uncased-abstract-fulltext", "PUBMEDBERT"),
        ("molformer", "text", 768, "seyonec/ChemBERTa-zinc-base-v1", "MOLFORMER"),
        ("medcpt-query", "text", 768, "ncbi/MedCPT-Query-Encoder", "MEDCPT_QUERY"),
        ("medcpt-article", "text", 768, "ncbi/MedCPT-Article-Encoder", "MEDCPT_ARTICLE"),
        ("medimageinsight", "visual", 1024, "microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224", "MEDIMAGE"),
        ("uni2", "visual", 1536, "MahmoodLab/UNI2-h", "UNI2"),
        ("medcpt-rerank", "rerank", 1, "ncbi/MedCPT-Cross-Encoder", "MEDCPT_RERANK"),
    ],
)  # fmt: skip
def test_each_card_is_the_references_and_its_variable_names_another_checkpoint(
    label: str, modality: str, dim: int, checkpoint: str, variable: str
) -> None:
    card = native_cards({f"EAGLE_BIOMED_{variable}_MODEL": "  "})[label]
    other = native_cards({f"EAGLE_BIOMED_{variable}_MODEL": "models/mine"})
    assert (card.modality, card.dim, card.checkpoint) == (modality, dim, checkpoint)
    assert (card.runtime, card.max_tokens, bool(card.licence)) == ("auto", 512, True)
    assert other[label].checkpoint == "models/mine"
    assert [name for name in LABELS if other[name].checkpoint == "models/mine"] == [label]


def test_registering_opens_nothing() -> None:
    runtimes = Runtimes()
    registered = register(runtimes)
    assert {card.label for card in registered.encoders.cards()} == {*LABELS, "morgan"}
    assert runtimes.opened == []


NATIVE_SPACE, HASHES, REFUSED = "native", "hashes", "refused"


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize(
    ("mode", "allow", "state", "outcome"),
    [
        ("deterministic", "0", "present", HASHES),
        ("deterministic", "1", "absent", HASHES),
        ("deterministic", "0", "damaged", HASHES),
        ("require_native", "0", "present", NATIVE_SPACE),
        ("require_native", "0", "absent", REFUSED),
        ("require_native", "1", "absent", REFUSED),
        ("require_native", "1", "damaged", REFUSED),
        ("auto", "0", "present", NATIVE_SPACE),
        ("auto", "1", "present", NATIVE_SPACE),
        ("auto", "0", "absent", REFUSED),
        ("auto", "0", "damaged", REFUSED),
        ("auto", "1", "absent", HASHES),
        ("auto", "1", "damaged", HASHES),
    ],
)
def test_the_mode_decides_what_stands_behind_every_label(
    label: str, mode: EncoderMode, allow: str, state: str, outcome: str
) -> None:
    environ = {
        "EAGLE_BIOMED_ENCODER_MODE": mode,
        "EAGLE_BIOMED_ALLOW_DETERMINISTIC": allow,
    }
    runtimes = Runtimes(present=state != "absent", loads=state != "damaged")
    registered = register(runtimes, read_options({}, environ), environ)
    if outcome == REFUSED:
        with pytest.raises(EncoderLoadError):
            registered.ask(label)
        return
    registered.ask(label)
    assert (runtimes.opened[-1][0].runtime == "hash") is (outcome == HASHES)
    assert (registered.encoders.card(label).runtime == "hash") is (mode == "deterministic")


def test_hashes_that_stand_in_have_another_space_and_say_so() -> None:
    runtimes = Runtimes(present=False)
    registered = register(runtimes, BiomedOptions(allow_deterministic=True))
    encoder = registered.encoders.text("pubmedbert")
    native = register(Runtimes()).encoders.text("pubmedbert").spec
    assert encoder.spec.digest != native.digest
    assert encoder.spec == encoder.encode_query("tumour").spec
    assert isinstance(encoder, LazyDomainEncoder)
    assert "no weights in microsoft/BiomedNLP" in encoder.stand_in
    events = registered.audit.recent()
    assert [(event.category, event.subject) for event in events] == [
        ("encoder_stand_in", "pubmedbert")
    ]


def test_an_encoder_decides_once_so_its_space_never_changes() -> None:
    runtimes = Runtimes(present=False)
    encoder = register(runtimes, BiomedOptions(allow_deterministic=True)).encoders.text(
        "pubmedbert"
    )
    before = encoder.spec
    runtimes.present = True
    assert encoder.encode_documents(["tumour"]).spec == before


def test_the_space_of_weights_that_are_there_is_told_without_loading_them() -> None:
    runtimes = Runtimes(loads=False)
    spec = register(runtimes).encoders.text("pubmedbert").spec
    assert (spec.encoder, spec.dim) == ("pubmedbert", 768)


@pytest.mark.parametrize("label", ["medimageinsight", "uni2"])
@pytest.mark.parametrize("allow", [True, False])
def test_medical_pictures_never_fall_back_to_a_general_visual_model(
    label: str,
    allow: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    runtimes = Runtimes(present=False)
    registered = register(runtimes, BiomedOptions(allow_deterministic=allow))
    general = EncoderCard("eagle-visual", "visual", 1024, "onnx", checkpoint="qwen3-vl")
    registered.encoders.register_encoder(general, lambda: Native(general, Runtimes()))
    if allow:
        registered.ask(label)
    else:
        with pytest.raises(EncoderLoadError):
            registered.ask(label)
    own = native_cards({})[label].checkpoint
    assert {(card.label, card.checkpoint) for card, _ in runtimes.opened} == {(label, own)}


def test_both_labels_of_medcpt_open_the_article_tower_for_documents_and_the_query_tower() -> None:
    runtimes = Runtimes()
    registered = register(runtimes, environ={"EAGLE_BIOMED_MEDCPT_QUERY_MODEL": "models/query"})
    for label in ("medcpt-query", "medcpt-article"):
        encoder = registered.encoders.text(label)
        assert encoder.encode_documents(["a"]).spec == encoder.encode_query("a").spec
    recipe = TextRecipe(pooling="cls", fit_dim=True, query_checkpoint="models/query")
    article = "ncbi/MedCPT-Article-Encoder"
    assert [(card.checkpoint, given) for card, given in runtimes.opened] == [(article, recipe)] * 2
    assert registered.encoders.card("medcpt-query").checkpoint == "models/query"


@pytest.mark.parametrize("label", ["pubmedbert", "molformer"])
def test_the_other_text_encoders_average_their_tokens_and_fit_the_dimension(label: str) -> None:
    runtimes = Runtimes()
    register(runtimes).ask(label)
    assert runtimes.opened[-1][1] == TextRecipe(pooling="mean", fit_dim=True)


@pytest.mark.parametrize(
    ("label", "checkpoint", "backend"),
    [
        ("medimageinsight", "", "open_clip"),
        ("medimageinsight", "models/anything", "open_clip"),
        ("uni2", "", "vision"),
        ("uni2", "models/plip-CLIP", "open_clip"),
    ],
)
def test_open_clip_runs_radiology_and_whatever_is_named_after_clip(
    label: str, checkpoint: str, backend: str
) -> None:
    variable = {"medimageinsight": "MEDIMAGE", "uni2": "UNI2"}[label]
    runtimes = Runtimes()
    registered = register(runtimes, environ={f"EAGLE_BIOMED_{variable}_MODEL": checkpoint})
    registered.ask(label)
    recipe = runtimes.opened[-1][1]
    assert isinstance(recipe, VisualRecipe)
    assert (recipe.backend, recipe.fit_dim) == (backend, True)
    assert registered.encoders.card(label).queries_text is (backend == "open_clip")


def test_architecture_and_weights_of_a_bare_clip_checkpoint_come_from_the_environment() -> None:
    runtimes = Runtimes()
    register(runtimes).ask("medimageinsight")
    environ = {
        "EAGLE_BIOMED_OPENCLIP_ARCH": "ViT-L-14",
        "EAGLE_BIOMED_OPENCLIP_PRETRAINED": "laion2b",
    }
    register(runtimes, environ=environ).ask("medimageinsight")
    (_, default), (_, other) = runtimes.opened
    assert isinstance(default, VisualRecipe)
    assert isinstance(other, VisualRecipe)
    assert (default.architecture, default.pretrained) == ("ViT-B-16", "openai")
    assert (other.architecture, other.pretrained) == ("ViT-L-14", "laion2b")


def test_uni2_is_built_as_its_page_says_and_another_checkpoint_as_it_says_itself() -> None:
    runtimes = Runtimes()
    register(runtimes).ask("uni2")
    register(runtimes, environ={"EAGLE_BIOMED_UNI2_MODEL": "hub/uni2/"}).ask("uni2")
    register(runtimes, environ={"EAGLE_BIOMED_UNI2_MODEL": "hub/virchow"}).ask("uni2")
    named, local, other = (recipe for _, recipe in runtimes.opened)
    assert isinstance(named, VisualRecipe)
    assert isinstance(other, VisualRecipe)
    assert dict(named.model_args)["embed_dim"] == 1536
    assert local == named
    assert other.model_args == ()


def test_pathology_is_searched_by_pictures_alone() -> None:
    encoder = register(Runtimes()).encoders.visual("uni2")
    with pytest.raises(InvalidInput, match="pictures only"):
        encoder.encode_query("adenocarcinoma")


@pytest.mark.parametrize(
    "text", [f"SMILES: {ASPIRIN}\n\nName: aspirin", f"Aspirin ({ASPIRIN}) was given", ASPIRIN]
)
def test_molformer_sees_the_structure_of_a_text_and_nothing_else(text: str) -> None:
    runtimes = Runtimes()
    encoder = register(runtimes).encoders.text("molformer")
    encoder.encode_documents([text])
    encoder.encode_query(text)
    assert runtimes.texts == [ASPIRIN, ASPIRIN]


def test_molformer_refuses_what_holds_no_structure() -> None:
    encoder = register(Runtimes()).encoders.text("molformer")
    with pytest.raises(InvalidInput, match="no structure was found in text 1, 'COX inhibitors'"):
        encoder.encode_documents([ASPIRIN, "COX inhibitors"])
    with pytest.raises(InvalidQuery, match="no structure was found in the query 'aspirin'"):
        encoder.encode_query("aspirin")


def test_a_checkpoint_of_somebody_else_does_not_keep_the_licence() -> None:
    cards = native_cards({"EAGLE_BIOMED_UNI2_MODEL": "models/mine"})
    assert "NC" in native_cards({})["uni2"].licence
    assert cards["uni2"].licence == "that of the checkpoint"


def test_registered_cards_are_those_the_encoders_return() -> None:
    options = BiomedOptions(encoder_mode="deterministic")
    encoders = register(Runtimes(), options).encoders
    visual = encoders.visual("medimageinsight")
    assert isinstance(visual, LazyImageEncoder)
    expected = replace(native_cards({})["medimageinsight"], runtime="hash")
    assert visual.card == encoders.card("medimageinsight") == expected
