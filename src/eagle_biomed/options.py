"""The plugin's options: ``plugins.options.biomed`` and ``EAGLE_BIOMED_*``, read into frozen values.

Every key and its default is a field here; a key nobody documented and a value of another type are
refused by name. Values that belong together and are used by one module are a class of their own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from types import UnionType
from typing import Any, Literal, Never, TypeVar, Union, get_args, get_origin, get_type_hints

from eagle_biomed.profiles_weights import PROFILE_WEIGHTS, WEIGHT_NAMES
from eagle_rag.errors import ConfigurationError
from eagle_rag.model.query import RerankPolicy
from eagle_rag.ops.excerpts import excerpt

__all__ = [
    "REFERENCE_ENCODERS",
    "SEARCH_OPTIONS",
    "BiomedOptions",
    "EncoderMode",
    "FusionOptions",
    "FusionWeights",
    "GeneralTextSearch",
    "LlmOptions",
    "RouterOptions",
    "TextProfile",
    "Tier1",
    "read_options",
]

EncoderMode = Literal["auto", "require_native", "deterministic"]
GeneralTextSearch = Literal["always", "dual"]
TextProfile = Literal["biomedical", "general"]
Tier1 = Literal["cosine", "filter", "off"]

REFERENCE_ENCODERS: Mapping[str, str] = {
    "eagle_chemical": "molformer",
    "eagle_medical_pathology": "uni2",
    "eagle_medical_radiology": "medimageinsight",
    "eagle_text_biomed": "pubmedbert",
    "eagle_text_medcpt": "medcpt-query",
}
"""Which encoder fills each collection when nobody says otherwise."""

SEARCH_OPTIONS: tuple[str, ...] = (
    "collection_recall_top_k",
    "default_dual_text_search",
    "domain_rerank_encoder",
    "drug_structure_search",
    "expand_encoders",
    "exploratory_search_collections",
    "general_text_search",
    "rerank_policy",
    "retrieval_scoring",
    "supplement_min_new",
    "tier1",
    "use_general_rerank",
)
"""Options that only searching reads; changing one makes no ingest read its files again."""

_MOST_WEIGHT = 1_000
_ROOT = "plugins.options.biomed"
_REMEDY = "docs/biomed.md lists every option"
_ENVIRONMENT = {
    "EAGLE_BIOMED_ENCODER_MODE": "encoder_mode",
    "EAGLE_BIOMED_ALLOW_DETERMINISTIC": "allow_deterministic",
    "EAGLE_BIOMED_UMLS_MRCONSO_PATH": "mrconso_path",
}
_YES_OR_NO = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_YAML_WORDS: Mapping[bool, tuple[str, ...]] = {False: ("off", "no"), True: ("on", "yes")}
"""Words that YAML 1.1 reads as booleans, which a value spelled so without quotes arrives as."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?[eE][+-]?\d{1,2}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights of the four signals of the document router."""

    prototype: float = 0.55
    umls: float = 0.25
    imrad: float = 0.15
    entropy: float = 0.05


@dataclass(frozen=True, slots=True)
class FusionOptions:
    """How the signals become one score."""

    weights: FusionWeights = field(default_factory=FusionWeights)


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """Asking a language model about ambiguous documents.

    Args:
        enabled: Ask, when the core's ``llm`` is configured.
        max_sketch_chars: Characters of the sketch that the model sees.
    """

    enabled: bool = True
    max_sketch_chars: int = 6000


@dataclass(frozen=True, slots=True)
class RouterOptions:
    """The tiered document router.

    Args:
        enabled: ``False``: every document is biomedical, confidence 0.5.
        sketch_max_tokens: Size of the sketch; a token counts as four characters.
        prototype_config: YAML file of prototype texts; empty for the shipped one.
        fusion: Weights.
        confidence_threshold: Middle of the ambiguous band.
        llm_margin: Half its width.
        llm: Tier 2.
        ambiguous_default: What an ambiguous document is when no language model decides.
    """

    enabled: bool = True
    sketch_max_tokens: int = 2048
    prototype_config: str = ""
    fusion: FusionOptions = field(default_factory=FusionOptions)
    confidence_threshold: float = 0.0
    llm_margin: float = 0.12
    llm: LlmOptions = field(default_factory=LlmOptions)
    ambiguous_default: TextProfile = "biomedical"


@dataclass(frozen=True, slots=True)
class BiomedOptions:
    """All options of the plugin.

    Args:
        encoders: Which encoder fills each of the five collections; an empty label leaves the
            collection empty, one that is not named keeps the reference's.
        ontology_path: Another ontology file; empty for the shipped one.
        lexica: Further sources of names, ``hgnc``, ``mesh-diseases``, ``mrconso`` or ``{tsv: PATH}``; none
            by default.
        mrconso_path: ``MRCONSO.RRF`` of a licensed UMLS release; empty for none.
        cache_dir: Folder for what is computed once; empty for the user's cache folder.
        encoder_mode: ``auto``, ``require_native`` or ``deterministic``.
        allow_deterministic: In ``auto``: hashes stand in for weights that do not load. Tests only.
        default_dual_text_search: Search the core's ``eagle_text`` too, where ``general_text_search`` leaves it
            open.
        general_text_search: ``always``: every query goes to ``eagle_text``, where documents are that the
            document router took for general; ``dual``: only with ``default_dual_text_search``.
        exploratory_search_collections: Further collections to always search.
        rerank_policy: Who reranks where the core's ``rerank.policy`` is ``auto``: ``domain`` (this plugin),
            ``general`` (the core's cross-encoder) or ``none``; ``None`` leaves it to ``use_general_rerank``.
        use_general_rerank: Where ``rerank_policy`` is not set: ``general`` instead of ``domain``.
        domain_rerank_encoder: Label of the cross-encoder of ``domain``; empty for none.
        retrieval_scoring: Weights by workflow that replace the built-in ones.
        medcpt_dual_search: Fill and search ``eagle_text_medcpt`` too.
        collection_recall_top_k: Rows each arm of a plan brings.
        expand_encoders: Encoders, besides ``pubmedbert``, whose query gets the names of its entities.
        drug_structure_search: A query that names a drug among other words goes to ``eagle_chemical`` too. Off:
            the compound's card would come before the papers that the question is about.
        tier1: How the candidates of one plan are ordered: ``cosine``, ``filter`` or ``off``; see ``rerank``.
        supplement_min_new: Passages of documents named by a drug that are put before the merged rerank at
            most; 0 looks for none.
        doc_semantic_router: The tiered document router.
    """

    encoders: Mapping[str, str] = field(default_factory=lambda: dict(REFERENCE_ENCODERS))
    ontology_path: str = ""
    lexica: tuple[object, ...] = ()
    mrconso_path: str = ""
    cache_dir: str = ""
    encoder_mode: EncoderMode = "auto"
    allow_deterministic: bool = False
    default_dual_text_search: bool = False
    general_text_search: GeneralTextSearch = "always"
    exploratory_search_collections: tuple[str, ...] = ()
    rerank_policy: RerankPolicy | None = None
    use_general_rerank: bool = False
    domain_rerank_encoder: str = "medcpt-rerank"
    retrieval_scoring: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    medcpt_dual_search: bool = False
    collection_recall_top_k: int = 20
    expand_encoders: tuple[str, ...] = ()
    drug_structure_search: bool = False
    tier1: Tier1 = "filter"
    supplement_min_new: int = 2
    doc_semantic_router: RouterOptions = field(default_factory=RouterOptions)

    @property
    def reranks(self) -> RerankPolicy:
        """Who reranks, as far as the plugin has a say."""
        return self.rerank_policy or ("general" if self.use_general_rerank else "domain")

    @property
    def names(self) -> Mapping[str, object]:
        """What ``open_ontology`` is given."""
        keys = ("ontology_path", "lexica", "mrconso_path", "cache_dir")
        return {key: getattr(self, key) for key in keys}


def read_options(
    options: Mapping[str, Any], environ: Mapping[str, str] | None = None
) -> BiomedOptions:
    """Return the options in force.

    Args:
        options: ``plugins.options.biomed`` as configured.
        environ: Environment; its ``EAGLE_BIOMED_*`` win over ``options``, and empty values count as unset.

    Raises:
        ConfigurationError: An unknown key, a value of another type or out of its range.
    """
    given = dict(options)
    for variable, key in _ENVIRONMENT.items():
        value = (environ or {}).get(variable, "").strip()
        if value:
            given[key] = _from_environment(variable, value)
    read = _read_section(BiomedOptions, given, _ROOT)
    _check(read)
    encoders = {name: read.encoders.get(name, label) for name, label in REFERENCE_ENCODERS.items()}
    return replace(read, encoders=encoders)


def _from_environment(variable: str, value: str) -> object:
    if variable != "EAGLE_BIOMED_ALLOW_DETERMINISTIC":
        return value
    if value.lower() not in _YES_OR_NO:
        message = f"{variable} is {value!r}"
        raise ConfigurationError(message, remedy="set it to 1 or 0")
    return _YES_OR_NO[value.lower()]


def _check(options: BiomedOptions) -> None:
    for name in options.encoders:
        if name not in REFERENCE_ENCODERS:
            _refuse_key(f"{_ROOT}.encoders", name, tuple(REFERENCE_ENCODERS))
    _check_scoring(options.retrieval_scoring)
    router = options.doc_semantic_router
    at = f"{_ROOT}.doc_semantic_router"
    ranges = (
        (f"{_ROOT}.collection_recall_top_k", options.collection_recall_top_k, 1, 10_000),
        (f"{_ROOT}.supplement_min_new", options.supplement_min_new, 0, 1_000),
        (f"{at}.sketch_max_tokens", router.sketch_max_tokens, 1, 1_000_000),
        (f"{at}.llm.max_sketch_chars", router.llm.max_sketch_chars, 1, 10_000_000),
        (f"{at}.llm_margin", router.llm_margin, 0, 1),
    )
    for key, value, lowest, highest in ranges:
        if value < lowest:
            message = f"{key} must be at least {lowest}, got {value}"
            raise ConfigurationError(message, remedy=_REMEDY)
        if value > highest:
            message = f"{key} must be at most {highest:,}, got {excerpt(str(value))}"
            raise ConfigurationError(message, remedy=_REMEDY)


def _check_scoring(given: Mapping[str, Mapping[str, float]]) -> None:
    at = f"{_ROOT}.retrieval_scoring"
    for profile, weights in given.items():
        if profile not in (*PROFILE_WEIGHTS, "general"):
            _refuse_key(at, profile, (*PROFILE_WEIGHTS, "general"))
        for weight, value in weights.items():
            if weight not in WEIGHT_NAMES:
                _refuse_key(f"{at}.{profile}", weight, WEIGHT_NAMES)
            if not 0 <= value <= _MOST_WEIGHT:
                _refuse(f"{at}.{profile}.{weight}", value, f"from 0 to {_MOST_WEIGHT}")


def _read_section(section: type[T], given: Mapping[str, Any], where: str) -> T:
    """Return a dataclass of options, each key read by its field's type."""
    hints = get_type_hints(section)
    known = tuple(each.name for each in fields(section))  # type: ignore[arg-type]  # a dataclass
    values: dict[str, object] = {}
    for key, value in given.items():
        if key not in known:
            _refuse_key(where, str(key), known)
        if value is None:
            continue  # an empty section or key in a file keeps its default
        values[key] = _read(_given(hints[key]), value, f"{where}.{key}")
    return section(**values)


def _given(kind: Any) -> Any:  # noqa: ANN401 - annotations have no common type
    """Return what a value of an annotation ``X | None`` is when it is given: X."""
    return get_args(kind)[0] if get_origin(kind) in {UnionType, Union} else kind


def _read(kind: Any, value: object, where: str) -> object:  # noqa: ANN401 - annotations have no common type
    """Return a value of the annotated type, or refuse it."""
    if is_dataclass(kind):
        return _read_section(kind, _mapping(value, where), where)  # type: ignore[arg-type]  # a class
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _word(arguments, value, where)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            _refuse(where, value, "a list")
        return tuple(_read(arguments[0], item, f"{where}[{at}]") for at, item in enumerate(value))
    if origin is Mapping:
        return {
            _read(str, key, where): _read(arguments[1], item, f"{where}.{key}")
            for key, item in _mapping(value, where).items()
        }
    return _plain(kind, value, where)


def _word(words: tuple[str, ...], value: object, where: str) -> str:
    """Return the one of the words that was given: ``off`` too where YAML made False of it."""
    spellings = _YAML_WORDS[value] if isinstance(value, bool) else (value,)
    chosen = next((word for word in words if word in spellings), None)
    if chosen is None:
        _refuse(where, value, f"one of {', '.join(words)}")
    return chosen


def _plain(kind: type, value: object, where: str) -> object:
    if kind is object:
        return value  # who uses it knows what it may be
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is float and isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)  # YAML takes 1e-3 for text
    # True is an integer in Python, and no number in a file; an integer is no yes or no.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        names = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
        _refuse(where, value, names[kind])
    if isinstance(value, float) and value - value != 0:
        _refuse(where, value, "a finite number")
    return value


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        _refuse(where, value, "a mapping")
    return value


def _refuse(where: str, value: object, expected: str) -> Never:
    message = f"{where} must be {expected}, got {value!r}"
    raise ConfigurationError(message, remedy=_REMEDY)


def _refuse_key(where: str, key: str, known: tuple[str, ...]) -> Never:
    near = get_close_matches(key, known, n=1)
    hint = f"; did you mean {near[0]}" if near else ""
    message = f"unknown option {where}.{key}{hint}"
    raise ConfigurationError(message, remedy=f"known: {', '.join(sorted(known))}")
