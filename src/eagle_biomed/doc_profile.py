"""The tiered document router: is a document biomedical or general text?

Tier 0 needs no look at the text, tier 1 fuses four signals, tier 2 asks a language model about what is
left. Runs in the main process, where encoders are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

from eagle_biomed.doc_profile_arbiter import Arbiter
from eagle_biomed.doc_profile_signals import (
    Signals,
    band_of,
    build_sketch,
    fused_score,
    imrad_diversity,
    prototype_margin,
    sketch_entropy,
    umls_density,
)
from eagle_biomed.enrichment import SECTION_TAG, tag, with_tags
from eagle_biomed.options import RouterOptions, TextProfile
from eagle_rag.errors import ConfigurationError
from eagle_rag.model.document import ParsedDocument
from eagle_rag.model.passage import FloatArray, Passage
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.encoders import TextEncoder
from eagle_rag.ports.services import JsonModel

__all__ = [
    "PROFILE_TAG",
    "DocumentRouter",
    "DocumentTextProfile",
    "EntityNames",
    "Prototypes",
    "profile_event",
    "read_prototypes",
    "stamp_profile",
]

PROFILE_TAG = "biomed_text_profile"
_CHARS_A_TOKEN = 4
_UNDECIDED = 0.5  # confidence of what nobody looked at
# Records of these formats are biomedical whatever they say, so no encoder is asked about each of them.
_BIOMEDICAL_FORMATS = frozenset(
    {"compound", "ctgov", "dicom", "nifti", "openfda-label", "pubmed", "spl", "structure"}
)
_SHIPPED = "doc_profile_prototypes.yaml"


class EntityNames(Protocol):
    """What the router needs of the ontology."""

    def match_entities(self, text: str) -> Sequence[str]:
        """Return the canonical names of the entities a text names."""
        ...


@dataclass(frozen=True, slots=True)
class DocumentTextProfile:
    """What the router decided about one document.

    Args:
        profile: ``biomedical`` or ``general``.
        confidence: Tier 0: a constant. Tier 1 and a tier 2 without an answer: the fused score, which may be
            negative. Tier 2: the model's own.
        rule: Which rule decided.
        tier: 0, 1 or 2.
        signals: What tier 1 saw; ``None`` in tier 0.
        reason: Why tier 2 fell back, or the model's rationale; may be empty.
    """

    profile: TextProfile
    confidence: float
    rule: str
    tier: int
    signals: Signals | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Prototypes:
    """Texts that stand for the two kinds of documents."""

    biomedical: tuple[str, ...]
    general: tuple[str, ...]


class DocumentRouter:
    """Decides the profile of documents; one a process. Safe to use from several threads.

    Args:
        options: Weights, bands and switches.
        encoder: Gives the encoder that fills the biomedical text collection; ``None`` when nothing
            does. Called with the first document that needs it.
        names: Gives what finds entities, likewise.
        model: The language model, or ``None``.
    """

    def __init__(
        self,
        options: RouterOptions,
        *,
        encoder: Callable[[], TextEncoder] | None,
        names: Callable[[], EntityNames],
        model: JsonModel | None,
    ) -> None:
        self._options = options
        self._encoder = encoder
        self._names = names
        self._arbiter = Arbiter(options.llm, model)
        self._vectors: tuple[FloatArray, FloatArray] | None = None
        self._lock = Lock()

    def classify(
        self, document: ParsedDocument, passages: Sequence[Passage]
    ) -> DocumentTextProfile:
        """Return what a document is.

        Raises:
            ConfigurationError: The prototypes cannot be read.
            EncoderLoadError, EncoderUnavailable: The encoder's weights are missing, or it does not answer.
        """
        if not self._options.enabled:
            return DocumentTextProfile("biomedical", _UNDECIDED, "router_disabled_default", 0)
        if document.format in _BIOMEDICAL_FORMATS:
            return DocumentTextProfile("biomedical", 1.0, "tier0_format_biomedical", 0)
        if self._encoder is None:
            default = self._options.ambiguous_default
            return DocumentTextProfile(default, _UNDECIDED, "router_no_encoder_default", 0)
        sketch = build_sketch(passages, self._options.sketch_max_tokens * _CHARS_A_TOKEN)
        signals = Signals(
            prototype=self._margin(self._encoder(), sketch),
            umls=umls_density(self._names().match_entities(sketch), sketch),
            imrad=imrad_diversity(tag(passage, SECTION_TAG) for passage in passages),
            entropy=sketch_entropy(sketch),
        )
        return self._decide(sketch, signals)

    def _margin(self, encoder: TextEncoder, sketch: str) -> float:
        biomedical, general = self._prototype_vectors(encoder)
        vector = encoder.encode_documents([sketch]).vectors[0]
        return prototype_margin(vector, biomedical, general)

    def _prototype_vectors(self, encoder: TextEncoder) -> tuple[FloatArray, FloatArray]:
        with self._lock:
            if self._vectors is None:
                texts = read_prototypes(self._options.prototype_config)
                self._vectors = (
                    encoder.encode_documents(texts.biomedical).vectors,
                    encoder.encode_documents(texts.general).vectors,
                )
            return self._vectors

    def _decide(self, sketch: str, signals: Signals) -> DocumentTextProfile:
        options = self._options
        score = fused_score(signals, options.fusion.weights)
        band = band_of(score, threshold=options.confidence_threshold, margin=options.llm_margin)
        if band == "ambiguous":
            return self._arbitrate(sketch, score, signals)
        return DocumentTextProfile(band, score, f"tier1_fusion_{band}", 1, signals)

    def _arbitrate(self, sketch: str, score: float, signals: Signals) -> DocumentTextProfile:
        verdict = self._arbiter.judge(sketch)
        rule = f"tier2_llm_{verdict.profile or verdict.cause + '_default'}"
        profile = verdict.profile or self._options.ambiguous_default
        confidence = verdict.confidence if verdict.profile else score
        return DocumentTextProfile(profile, confidence, rule, 2, signals, verdict.reason)


def stamp_profile(
    passages: Sequence[Passage], profile: DocumentTextProfile
) -> tuple[Passage, ...]:
    """Return the passages with the profile's four tags."""
    values = {
        PROFILE_TAG: profile.profile,
        f"{PROFILE_TAG}_rule": profile.rule,
        f"{PROFILE_TAG}_confidence": f"{profile.confidence:.4f}",
        f"{PROFILE_TAG}_tier": str(profile.tier),
    }
    return tuple(with_tags(passage, values) for passage in passages)


def profile_event(document: ParsedDocument, profile: DocumentTextProfile) -> AuditEvent:
    """Return the decision for the audit."""
    detail = {"confidence": f"{profile.confidence:.4f}", "tier": str(profile.tier)}
    if profile.signals is not None:
        for name in ("prototype", "umls", "imrad", "entropy"):
            detail[f"signal_{name}"] = f"{getattr(profile.signals, name):.4f}"
    if profile.reason:
        detail["reason"] = profile.reason
    subject = "#".join(part for part in (document.source_uri, document.member) if part)
    decision = f"{profile.profile} text by {profile.rule}"
    return AuditEvent("classify_chunk", "biomed", subject, decision, tuple(sorted(detail.items())))


def read_prototypes(path: str = "") -> Prototypes:
    """Return the prototype texts of a YAML file; empty for the shipped one.

    Raises:
        ConfigurationError: The file cannot be read, or lacks texts of one kind.
    """
    import yaml

    place = Path(path) if path else files("eagle_biomed") / "data" / _SHIPPED
    remedy = "see docs/biomed.md for the file's shape"
    try:
        content = yaml.safe_load(place.read_text(encoding="utf-8"))
        return Prototypes(_texts(content, "biomedical"), _texts(content, "general"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        message = f"the prototypes {place} cannot be read: {error}"
        raise ConfigurationError(message, remedy=remedy) from error
    except (KeyError, TypeError, AttributeError) as error:
        message = f"the prototypes {place} have another shape: {error!r}"
        raise ConfigurationError(message, remedy=remedy) from error


def _texts(content: Any, kind: str) -> tuple[str, ...]:  # noqa: ANN401 - whatever the YAML holds
    texts = tuple(" ".join(entry["text"].split()) for entry in content[kind])
    if not all(texts) or not texts:
        raise KeyError(kind)
    return texts
