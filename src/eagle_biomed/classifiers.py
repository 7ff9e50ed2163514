"""Which collection each passage and picture goes to.

The reference's tables, and what this product decides otherwise (decision 0006): a passage with a
structure goes to ``eagle_chemical`` beside its text collection, not instead of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from eagle_biomed.collections import (
    CHEMICAL,
    CORE_TEXT,
    CORE_VISUAL,
    MEDCPT,
    PATHOLOGY,
    RADIOLOGY,
    TEXT,
)
from eagle_biomed.doc_profile import PROFILE_TAG
from eagle_biomed.enrichment import tag
from eagle_biomed.options import BiomedOptions
from eagle_biomed.readable_structures import readable_structure
from eagle_rag.model.document import Figure, ParsedDocument, Table
from eagle_rag.model.passage import ChunkDecision, Passage, VisualAsset
from eagle_rag.model.records import AuditEvent
from eagle_rag.ports.plugins import DecisionLog

__all__ = [
    "Classifier",
    "Targets",
    "classify_text",
    "classify_visual",
    "holds_structure",
    "is_pathology",
    "is_radiology",
]

TEXT_GROUP = "biomed_text"
CHEMICAL_GROUP = "biomed_chemical"
VISUAL_GROUP = "biomed_visual"

_RADIOLOGY = re.compile(
    r"\b(?:CT|MRI|fMRI|PET|SPECT|CXR|MR\s+imag\w+)\b"
    r"|\b(?i:computed\s+tomogra\w+|magnetic\s+resonance\s+(?:imag|angiogra)\w+|ultrasound\w*"
    r"|ultrasonogra\w+|sonogra\w+|echocardiogra\w+|radiogra\w+|radiolog\w+|mammogra\w+"
    r"|x[- ]?rays?(?!\s+(?:crystal|diffract|scatter|structur|absorption|photoelectron|fluorescen))"
    r"|(?:coronary|cerebral|pulmonary|ct|mr)\s+angiogra\w+|fluoroscop\w+|scintigra\w+)\b"
)
_PATHOLOGY = re.compile(
    r"\bH\s*&\s*E\b|\bIHC\b"
    r"|\b(?i:ha?ematoxylin|eosin|biops\w+|dysplasia|dysplastic|immunohistochem\w+|histolog\w+"
    r"|histopatholog\w+|patholog(?:y|ical)\s+(?:slide|section|specimen|image)\w*"
    r"|whole[- ]slide|cytolog\w+|masson'?s?\s+trichrome)\b"
)
_CHEMICAL_IMAGE = re.compile(
    r"\b(?:chemical|molecular|skeletal|2-?d|two-dimensional)\s+structures?\b"
    r"|\b(?:chemical|structural|skeletal)\s+formula\w*\b|\bstructures?\s+of\s+(?:the\s+)?compounds?\b",
    re.IGNORECASE,
)
# Words, and the codes of DICOM (PS3.3 C.7.3.1.1.1).
_RADIOLOGY_MODALITIES = frozenset({
    "ct", "mri", "mr", "ultrasound", "us", "radiology", "radiography", "x-ray", "xray", "cr", "dx",
    "rg", "mg", "xa", "rf", "nm", "pt", "pet", "px", "io", "ivus",
})  # fmt: skip
_PATHOLOGY_MODALITIES = frozenset({
    "pathology", "histology", "histopathology", "he", "h&e", "sm", "gm",
})  # fmt: skip
_CHEMICAL_FILES = (".mol", ".sdf", ".pdb")
_VOLUME_FILES = (".dcm", ".nii", ".nii.gz")
_COMPOUND = "compound"


@dataclass(frozen=True, slots=True)
class Targets:
    """What can be written to in this profile.

    Args:
        fills: Which encoder fills each collection; one that nothing fills is absent.
        visual: Labels of the encoders that take pictures.
    """

    fills: Mapping[str, str]
    visual: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Choice:
    """A row of a table, before it is known which encoder fills the collection."""

    collection: str
    chunk_type: str
    confidence: float
    rule: str
    group: str = ""

    def decision(self, target: int, encoder: str) -> ChunkDecision:
        return ChunkDecision(
            target,
            self.collection,
            encoder,
            chunk_type=self.chunk_type,
            confidence=self.confidence,
            rule=self.rule,
            exclusive_group=self.group,
        )


def classify_text(
    document: ParsedDocument,
    passages: Sequence[Passage],
    *,
    targets: Targets,
    options: BiomedOptions,
) -> tuple[ChunkDecision, ...]:
    """Return the decisions on passages, by ordinal.

    A passage whose text collection nothing fills goes to the core's ``eagle_text``. Where that is not
    known either, nothing is decided on it, and the core decides.
    """
    wanted = [_passage_choices(document, passage, options) for passage in passages]
    return _text_decisions(passages, wanted, targets)


def _passage_choices(
    document: ParsedDocument, passage: Passage, options: BiomedOptions
) -> tuple[_Choice, ...]:
    """Return where a passage would go if every collection were filled; its text collection first."""
    text = _text_choice(passage, options)
    return (text, *_further_choices(document, passage, text, options))


def _text_decisions(
    passages: Sequence[Passage], wanted: Sequence[tuple[_Choice, ...]], targets: Targets
) -> tuple[ChunkDecision, ...]:
    decisions: list[ChunkDecision] = []
    for passage, (text, *further) in zip(passages, wanted, strict=True):
        if text.collection not in targets.fills:
            rule = f"{text.rule}_unfilled"
            text = replace(text, collection=CORE_TEXT, chunk_type="text", rule=rule)  # noqa: PLW2901 - the core's instead
        if text.collection in targets.fills:
            decisions.extend(
                choice.decision(passage.ordinal, targets.fills[choice.collection])
                for choice in (text, *further)
                if choice.collection in targets.fills
            )
    return tuple(decisions)


def _text_choice(passage: Passage, options: BiomedOptions) -> _Choice:
    profile = tag(passage, PROFILE_TAG) or options.doc_semantic_router.ambiguous_default
    if profile == "general":
        confidence = _confidence(passage, default=0.6)
        return _Choice(CORE_TEXT, "text", confidence, "text_profile_general", TEXT_GROUP)
    confidence = _confidence(passage, default=0.75)
    return _Choice(TEXT, "biomed_text", confidence, "text_profile_biomedical", TEXT_GROUP)


def _confidence(passage: Passage, *, default: float) -> float:
    """Return how far from undecided the router was: its score may be negative for general text."""
    stated = tag(passage, f"{PROFILE_TAG}_confidence")
    return min(1.0, abs(float(stated))) if stated else default


def _further_choices(
    document: ParsedDocument, passage: Passage, text: _Choice, options: BiomedOptions
) -> Iterator[_Choice]:
    if options.medcpt_dual_search and text.collection == TEXT:
        yield _Choice(MEDCPT, "biomed_text", text.confidence, "medcpt_dual_search")
    if holds_structure(document, passage):
        rule = "compound_card" if document.format == _COMPOUND else "smiles"
        yield _Choice(CHEMICAL, "chemical", 0.7, rule, CHEMICAL_GROUP)


def holds_structure(document: ParsedDocument, passage: Passage) -> bool:
    """Return whether a passage holds a SMILES or InChI string of a molecule.

    In a compound's card the structure is known, so ``CCO`` counts there.
    """
    if document.format == _COMPOUND:
        smiles = dict(document.metadata.properties).get("smiles", "")
        # Its line, not the string alone: "C" or "O" may stand in any field of a later passage.
        if smiles and f"SMILES: {smiles}" in passage.text.splitlines():
            return True
    return bool(readable_structure(passage.text))


def classify_visual(
    document: ParsedDocument, assets: Sequence[VisualAsset], *, targets: Targets
) -> tuple[ChunkDecision, ...]:
    """Return the decisions on pictures, by position.

    A medical picture goes to its collection or nowhere: it never falls back to a general encoder. Any
    other picture goes to the core's ``eagle_visual`` where there is one.
    """
    decisions: list[ChunkDecision] = []
    for position, asset in enumerate(assets):
        choice = _visual_choice(document, asset)
        if choice.collection == CHEMICAL and not _takes_pictures(CHEMICAL, targets):
            choice = _FALLBACK
        if _takes_pictures(choice.collection, targets):
            decisions.append(choice.decision(position, targets.fills[choice.collection]))
    return tuple(decisions)


def _takes_pictures(collection: str, targets: Targets) -> bool:
    return targets.fills.get(collection, "") in targets.visual


_FALLBACK = _Choice(CORE_VISUAL, "image", 0.5, "visual_fallback", VISUAL_GROUP)


def _visual_choice(document: ParsedDocument, asset: VisualAsset) -> _Choice:
    """Return the first row of the table that fits."""
    figure = _figure(document, asset.key)
    words = " ".join((asset.caption, *_parent_section(document, figure)))
    modality = dict(document.metadata.properties).get("modality", "").casefold()
    names = (asset.key, document.source_uri, *(figure.graphics if figure else ()))
    endings = tuple(name.casefold() for name in names)
    medical, group = "medical_image", VISUAL_GROUP
    if is_radiology(words) or modality in _RADIOLOGY_MODALITIES:
        return _Choice(RADIOLOGY, medical, 0.8, "radiology_words", group)
    if is_pathology(words) or modality in _PATHOLOGY_MODALITIES:
        return _Choice(PATHOLOGY, medical, 0.8, "pathology_words", group)
    if _CHEMICAL_IMAGE.search(words) or any(name.endswith(_CHEMICAL_FILES) for name in endings):
        return _Choice(CHEMICAL, "chemical", 0.75, "chemical_image", group)
    if any(name.endswith(_VOLUME_FILES) for name in endings) or document.format in _VOLUMES:
        return _Choice(RADIOLOGY, medical, 0.85, "medical_file", group)
    return _FALLBACK


_VOLUMES = frozenset({"dicom", "nifti"})  # files that may have no ending at all


def is_radiology(words: str) -> bool:
    """Return whether words speak of radiology: CT, MRI, ultrasound, radiographs."""
    return _RADIOLOGY.search(words) is not None


def is_pathology(words: str) -> bool:
    """Return whether words speak of pathology: stains, biopsies, histology."""
    return _PATHOLOGY.search(words) is not None


def _figure(document: ParsedDocument, key: str) -> Figure | Table | None:
    # Further pictures of one figure are named key#2, key#3 ...
    wanted = {key, key.rpartition("#")[0]}
    floats: list[Figure | Table] = [*document.figures, *document.tables]
    return next((each for each in floats if each.key in wanted), None)


def _parent_section(document: ParsedDocument, figure: Figure | Table | None) -> tuple[str, ...]:
    if figure is None or figure.caption is None:
        return ()
    at = figure.caption.start
    held = (each.path for each in document.sections if each.start <= at < each.end)
    return next(held, ())


class Classifier:
    """The two classifiers with what they need; says once what is not written in this profile.

    Args:
        options: The plugin's options.
        targets: Gives what can be written to; called with each document.
        audit: Where it is said.
    """

    def __init__(
        self, options: BiomedOptions, targets: Callable[[], Targets], audit: DecisionLog
    ) -> None:
        self._options = options
        self._targets = targets
        self._audit = audit
        self._said: set[str] = set()

    def text(
        self, document: ParsedDocument, passages: tuple[Passage, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Return the decisions on a document's passages; see ``classify_text``."""
        targets = self._targets()
        wanted = [_passage_choices(document, passage, self._options) for passage in passages]
        for collection in sorted({each.collection for choices in wanted for each in choices}):
            if collection not in targets.fills:
                self._say("classify_chunk", collection)
        return _text_decisions(passages, wanted, targets)

    def visual(
        self, document: ParsedDocument, assets: tuple[VisualAsset, ...]
    ) -> tuple[ChunkDecision, ...]:
        """Return the decisions on a document's pictures; see ``classify_visual``."""
        targets = self._targets()
        for asset in assets:
            collection = _visual_choice(document, asset).collection
            if not _takes_pictures(collection, targets):
                self._say("classify_visual", collection)
        return classify_visual(document, assets, targets=targets)

    def _say(self, category: str, collection: str) -> None:
        key = f"{category} {collection}"
        if key in self._said:
            return
        self._said.add(key)
        decision = "nothing is written to it: no encoder fills it in this profile"
        self._audit.log_decision(AuditEvent(category, "biomed", collection, decision))
