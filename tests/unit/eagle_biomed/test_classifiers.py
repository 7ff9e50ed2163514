"""Both classifiers, row by row, and what becomes of rows whose collection nothing fills."""

from dataclasses import dataclass, field, replace

import pytest

from eagle_biomed.classifiers import (
    Classifier,
    Targets,
    classify_text,
    classify_visual,
    holds_structure,
    is_pathology,
    is_radiology,
)
from eagle_biomed.doc_profile import DocumentTextProfile, stamp_profile
from eagle_biomed.options import BiomedOptions, RouterOptions
from eagle_rag.model.document import Figure, ParsedDocument, Section, SectionKind, Span
from eagle_rag.model.metadata import DocumentMetadata
from eagle_rag.model.passage import ChunkDecision, Passage, VisualAsset
from eagle_rag.model.records import AuditEvent

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
FILLED = Targets(
    {
        "eagle_text": "general-encoder",
        "eagle_text_biomed": "pubmedbert",
        "eagle_text_medcpt": "medcpt-query",
        "eagle_chemical": "molformer",
        "eagle_medical_radiology": "medimageinsight",
        "eagle_medical_pathology": "uni2",
        "eagle_visual": "qwen3-vl",
    },
    frozenset({"medimageinsight", "uni2", "qwen3-vl"}),
)
OPTIONS = BiomedOptions()


def only(*collections: str) -> Targets:
    return replace(FILLED, fills={name: FILLED.fills[name] for name in collections})


def document(
    fmt: str = "jats", uri: str = "a.xml", figures: tuple[Figure, ...] = (), **properties: str
) -> ParsedDocument:
    metadata = DocumentMetadata(properties=tuple(sorted(properties.items())))
    sections = (Section(0, ("Results", "Biopsies"), SectionKind.CAPTION, 0, 10),)
    return ParsedDocument(
        uri, "", "0" * 64, fmt, metadata, "x" * 20, sections=sections, figures=figures
    )


def passage(text: str = "We treated cells.", ordinal: int = 0) -> Passage:
    return Passage(
        f"psg1_{ordinal}", "doc1_a", ordinal, 0, (), SectionKind.BODY, 0, len(text), text
    )


def stamped(profile: str, confidence: float, text: str = "We treated cells.") -> Passage:
    decided = DocumentTextProfile(profile, confidence, "tier1", 1)  # type: ignore[arg-type]  # one of two
    return stamp_profile([passage(text)], decided)[0]


def text_decisions(
    given: Passage,
    targets: Targets = FILLED,
    options: BiomedOptions = OPTIONS,
    *,
    source: ParsedDocument | None = None,
) -> dict[str, ChunkDecision]:
    made = classify_text(source or document(), [given], targets=targets, options=options)
    return {decision.collection: decision for decision in made}


@pytest.mark.parametrize(
    ("given", "decision"),
    [
        (
            stamped("general", -0.3),
            ChunkDecision(0, "eagle_text", "general-encoder", "text", 0.3, "text_profile_general", "biomed_text"),
        ),
        (
            stamped("biomedical", 0.4),
            ChunkDecision(0, "eagle_text_biomed", "pubmedbert", "biomed_text", 0.4, "text_profile_biomedical", "biomed_text"),
        ),
        (
            passage(),
            ChunkDecision(0, "eagle_text_biomed", "pubmedbert", "biomed_text", 0.75, "text_profile_biomedical", "biomed_text"),
        ),
        (
            stamped("general", -1.75),
            ChunkDecision(0, "eagle_text", "general-encoder", "text", 1.0, "text_profile_general", "biomed_text"),
        ),
    ],
)  # fmt: skip
def test_a_passage_goes_where_its_profile_says(given: Passage, decision: ChunkDecision) -> None:
    assert classify_text(document(), [given], targets=FILLED, options=OPTIONS) == (decision,)


def test_a_passage_nobody_profiled_takes_the_default_of_the_options() -> None:
    options = BiomedOptions(doc_semantic_router=RouterOptions(ambiguous_default="general"))
    assert text_decisions(passage(), options=options)["eagle_text"].confidence == 0.6


@pytest.mark.parametrize("profile", ["general", "biomedical"])
def test_a_passage_with_a_smiles_goes_to_its_text_collection_and_to_chemistry(
    profile: str,
) -> None:
    """Decision 0006: the chemical collection has no BM25, so words would no longer find it."""
    found = text_decisions(stamped(profile, 0.4, f"Aspirin, {ASPIRIN}, was given."))
    text = "eagle_text" if profile == "general" else "eagle_text_biomed"
    assert set(found) == {text, "eagle_chemical"}
    assert found["eagle_chemical"] == ChunkDecision(
        0, "eagle_chemical", "molformer", "chemical", 0.7, "smiles", "biomed_chemical"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"SMILES: {ASPIRIN}",
        f"given as {ASPIRIN}.",
        "the InChI=1S/C9H8O4/c1-6(10)13-8-5-3-2-4-7(8)9(11)12/h2-5H,1H3,(H,11,12) of it",
        "N[C@@H](Cc1ccccc1)C(=O)O is phenylalanine",
    ],
)
def test_o2_structures_are_recognised(text: str) -> None:
    assert holds_structure(document(), passage(text))


@pytest.mark.parametrize(
    "text",
    [
        "CO poisoning in the CNS; an SOS was sent.",
        "The SMILES notation is a line notation.",
        "SMILES are kept in the file.",
        "C(max) and C=0 were measured, see [1].",
        "HIV-1 (n=12), CD4(+) and [18F]FDG uptake (SUV)",
        "NO, NOS and COPD; p=0.05; Fig. 1(C)",
        "CCO and CN are words here.",
    ],
)
def test_o2_prose_is_not_taken_for_chemistry(text: str) -> None:
    assert not holds_structure(document(), passage(text))
    assert set(text_decisions(passage(text))) == {"eagle_text_biomed"}


def test_o2_what_is_smiles_by_its_grammar_alone_is_no_structure() -> None:
    """A chemical encoder refuses it, and the ingest would end there."""
    assert not holds_structure(document(), passage("SMILES: c1cccc1C(=O)O"))
    assert holds_structure(document(), passage(f"c1cccc1C(=O)O or {ASPIRIN}"))


@pytest.mark.parametrize("smiles", ["CCO", "C", "[Na+].[Cl-]", ASPIRIN])
def test_the_card_of_a_compound_goes_to_both_however_short_its_smiles(smiles: str) -> None:
    card = document("compound", smiles=smiles)
    found = text_decisions(passage(f"SMILES: {smiles}\n\nName: x"), source=card)
    assert set(found) == {"eagle_text_biomed", "eagle_chemical"}
    assert found["eagle_chemical"].rule == "compound_card"


def test_a_later_passage_of_a_card_without_its_structure_is_text_alone() -> None:
    card = document("compound", smiles="CCO")
    assert set(text_decisions(passage("Synonyms: ethanol"), source=card)) == {"eagle_text_biomed"}


def test_a_field_of_a_card_that_repeats_a_short_smiles_is_text_alone() -> None:
    """A chemical encoder finds no structure there, and the ingest would end."""
    card = document("compound", smiles="C")
    found = text_decisions(passage("note: vitamin C\ncanonical_smiles: C"), source=card)
    assert set(found) == {"eagle_text_biomed"}


def test_medcpt_is_filled_only_when_asked_and_only_with_biomedical_text() -> None:
    options = BiomedOptions(medcpt_dual_search=True)
    assert set(text_decisions(stamped("biomedical", 0.4), options=options)) == {
        "eagle_text_biomed",
        "eagle_text_medcpt",
    }
    assert set(text_decisions(stamped("general", -0.4), options=options)) == {"eagle_text"}


def test_text_whose_collection_nothing_fills_goes_to_the_cores() -> None:
    found = text_decisions(passage(f"x {ASPIRIN}"), only("eagle_text", "eagle_chemical"))
    assert set(found) == {"eagle_text", "eagle_chemical"}
    assert found["eagle_text"].rule == "text_profile_biomedical_unfilled"
    assert found["eagle_text"].chunk_type == "text"


def test_without_any_text_collection_the_core_decides() -> None:
    """A decision for chemistry alone would keep the passage from the core's own collections."""
    assert text_decisions(passage(f"x {ASPIRIN}"), only("eagle_chemical")) == {}


def test_chemistry_that_nothing_fills_is_not_decided_for() -> None:
    found = text_decisions(passage(f"x {ASPIRIN}"), only("eagle_text", "eagle_text_biomed"))
    assert set(found) == {"eagle_text_biomed"}


def visual(
    caption: str = "",
    source: ParsedDocument | None = None,
    *,
    key: str = "fig-1",
    targets: Targets = FILLED,
) -> ChunkDecision | None:
    asset = VisualAsset(key, "image/png", b"png", caption)
    made = classify_visual(source or document(), [asset], targets=targets)
    return made[0] if made else None


RADIOLOGY = ("eagle_medical_radiology", "medimageinsight", "medical_image")
PATHOLOGY = ("eagle_medical_pathology", "uni2", "medical_image")
VISUAL = ("eagle_visual", "qwen3-vl", "image")


@pytest.mark.parametrize(
    ("caption", "row", "confidence"),
    [
        ("Axial CT of the chest", RADIOLOGY, 0.8),
        ("T2-weighted MRI", RADIOLOGY, 0.8),
        ("Ultrasound of the liver", RADIOLOGY, 0.8),
        ("Chest radiograph", RADIOLOGY, 0.8),
        ("Chest X-ray", RADIOLOGY, 0.8),
        ("Computed tomography scan", RADIOLOGY, 0.8),
        ("Magnetic resonance imaging", RADIOLOGY, 0.8),
        ("CT-guided biopsy", RADIOLOGY, 0.8),
        ("H&E stain", PATHOLOGY, 0.8),
        ("H & E, x40", PATHOLOGY, 0.8),
        ("Hematoxylin and eosin", PATHOLOGY, 0.8),
        ("Haematoxylin stain", PATHOLOGY, 0.8),
        ("Biopsies of the colon", PATHOLOGY, 0.8),
        ("High-grade dysplasia", PATHOLOGY, 0.8),
        ("IHC for Ki-67", PATHOLOGY, 0.8),
        ("Immunohistochemistry", PATHOLOGY, 0.8),
        ("Kaplan-Meier curve", VISUAL, 0.5),
        ("X-ray crystal structure of the kinase", VISUAL, 0.5),
        ("Ct values of the qPCR", VISUAL, 0.5),
        ("Impact of the effect", VISUAL, 0.5),
        ("", VISUAL, 0.5),
    ],
)
def test_a_picture_goes_where_its_words_say(
    caption: str, row: tuple[str, str, str], confidence: float
) -> None:
    found = visual(caption)
    assert found is not None
    assert (found.collection, found.encoder, found.chunk_type) == row
    assert (found.confidence, found.exclusive_group) == (confidence, "biomed_visual")


@pytest.mark.parametrize(
    ("modality", "row"),
    [
        *(
            (name, RADIOLOGY)
            for name in ("ct", "MRI", "Ultrasound", "radiology", "CR", "DX", "MR")
        ),
        *((name, PATHOLOGY) for name in ("pathology", "Histology", "he", "SM")),
        ("photo", VISUAL),
    ],
)
def test_a_picture_goes_where_its_modality_says(modality: str, row: tuple[str, str, str]) -> None:
    found = visual("A picture", document(modality=modality))
    assert found is not None
    assert (found.collection, found.encoder, found.chunk_type) == row


@pytest.mark.parametrize("uri", ["a.dcm", "b.nii", "c.NII.GZ"])
def test_a_medical_file_without_words_is_radiology(uri: str) -> None:
    found = visual("A volume", document("text", uri))
    assert found is not None
    assert (found.collection, found.confidence) == ("eagle_medical_radiology", 0.85)


def test_a_medical_file_without_an_ending_is_known_by_its_format() -> None:
    found = visual("A volume", document("dicom", "IM000001"))
    assert found is not None
    assert found.collection == "eagle_medical_radiology"


CHEMICAL_EYES = replace(FILLED, visual=FILLED.visual | {"molformer"})


@pytest.mark.parametrize(
    ("caption", "uri"),
    [
        ("Chemical structure of compound 7", "a.xml"),
        ("Structural formula", "a.xml"),
        ("", "a.mol"),
        ("", "a.sdf"),
        ("", "b.PDB"),
    ],
)
def test_a_drawing_of_a_molecule_goes_to_chemistry_where_its_encoder_takes_pictures(
    caption: str, uri: str
) -> None:
    found = visual(caption, document("text", uri), targets=CHEMICAL_EYES)
    assert found is not None
    assert (found.collection, found.encoder, found.chunk_type, found.confidence) == (
        "eagle_chemical",
        "molformer",
        "chemical",
        0.75,
    )
    fallback = visual(caption, document("text", uri))
    assert fallback is not None
    assert fallback.collection == "eagle_visual"


def test_words_of_the_figures_section_count() -> None:
    figures = (Figure("fig-1", "Figure 1", Span(2, 8), ("plot.png",)),)
    for key in ("fig-1", "fig-1#2"):
        found = visual("Panel A", document(figures=figures), key=key)
        assert found is not None
        assert found.collection == "eagle_medical_pathology"


@pytest.mark.parametrize("caption", ["CT of the chest", "H&E stain"])
def test_a_medical_picture_never_falls_back_to_a_general_encoder(caption: str) -> None:
    assert visual(caption, targets=only("eagle_text", "eagle_visual")) is None


def test_a_picture_that_nothing_takes_is_not_decided_for() -> None:
    assert visual("Kaplan-Meier curve", targets=only("eagle_text")) is None


def test_words_of_the_two_specialties_are_told_from_their_likes() -> None:
    assert is_radiology("chest radiograph")
    assert not is_radiology("abstract of the effect")
    assert is_pathology("colon biopsy")
    assert not is_pathology("pathological liar")


@dataclass
class Log:
    events: list[AuditEvent] = field(default_factory=list)

    def log_decision(self, event: AuditEvent) -> None:
        self.events.append(event)


def test_what_is_not_written_in_this_profile_is_said_once() -> None:
    log = Log()
    classifier = Classifier(OPTIONS, lambda: only("eagle_text", "eagle_text_biomed"), log)
    asset = VisualAsset("fig-1", "image/png", b"png", "CT")
    for _ in range(3):
        classifier.text(document(), (passage(f"x {ASPIRIN}"),))
        classifier.visual(document(), (asset,))
    said = [(event.category, event.subject) for event in log.events]
    assert said == [
        ("classify_chunk", "eagle_chemical"),
        ("classify_visual", "eagle_medical_radiology"),
    ]


def test_the_classifier_decides_as_the_functions_do() -> None:
    classifier = Classifier(OPTIONS, lambda: FILLED, Log())
    given = (passage(f"x {ASPIRIN}"), passage("y", 1))
    assert classifier.text(document(), given) == classify_text(
        document(), given, targets=FILLED, options=OPTIONS
    )
