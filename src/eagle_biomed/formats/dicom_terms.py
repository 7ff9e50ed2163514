"""Words that may be shown of a DICOM file: closed lists, so that no free text gets through.

A value of a file is looked up here and the list's own words are shown. What is not listed is dropped:
a field for a coded value can hold a name when somebody typed it there.
"""

import re
from collections.abc import Mapping

__all__ = [
    "BODY_PARTS",
    "FIELD_TERMS",
    "MAY_SHOW_TEXT",
    "MODALITIES",
    "NOT_IMAGES",
    "RADIOGRAPHS",
    "SCREENS",
    "SECONDARY_CAPTURES",
    "ULTRASOUND",
    "body_part",
    "vendor",
]

MODALITIES: Mapping[str, str] = {
    "ANN": "image annotations",
    "AR": "autorefraction",
    "BI": "biomagnetic imaging",
    "BMD": "bone densitometry",
    "CR": "computed radiography, X-ray",
    "CT": "computed tomography, CT scan",
    "CTPROTOCOL": "CT protocol",
    "DG": "diaphanography",
    "DMS": "dermoscopy",
    "DOC": "document",
    "DX": "digital radiography, X-ray",
    "ECG": "electrocardiogram",
    "EEG": "electroencephalogram",
    "EMG": "electromyogram",
    "EPS": "cardiac electrophysiology",
    "ES": "endoscopy",
    "FID": "spatial fiducials",
    "GM": "general microscopy",
    "HD": "haemodynamic waveform",
    "IO": "intra-oral radiography, X-ray",
    "IVOCT": "intravascular optical coherence tomography",
    "IVUS": "intravascular ultrasound",
    "KO": "key object selection",
    "LS": "laser surface scan",
    "M3D": "model for 3-D manufacturing",
    "MG": "mammography, X-ray",
    "MR": "magnetic resonance imaging, MRI scan",
    "NM": "nuclear medicine, scintigraphy",
    "OAM": "ophthalmic axial measurements",
    "OCT": "optical coherence tomography",
    "OP": "ophthalmic photography",
    "OPT": "ophthalmic tomography",
    "OPTBSV": "ophthalmic tomography, en face view",
    "OPV": "ophthalmic visual field",
    "OSS": "optical surface scan",
    "OT": "other modality",
    "PR": "presentation state",
    "PT": "positron emission tomography, PET scan",
    "PX": "panoramic radiography, X-ray",
    "REG": "spatial registration",
    "RESP": "respiratory waveform",
    "RF": "radiofluoroscopy, X-ray",
    "RG": "radiographic imaging, X-ray",
    "RTDOSE": "radiotherapy dose",
    "RTIMAGE": "radiotherapy image",
    "RTPLAN": "radiotherapy plan",
    "RTRECORD": "radiotherapy treatment record",
    "RTSTRUCT": "radiotherapy structure set",
    "RWV": "real world value map",
    "SEG": "segmentation",
    "SM": "slide microscopy, histopathology",
    "SMR": "stereometric relationship",
    "SR": "structured report",
    "TG": "thermography",
    "US": "ultrasound, sonography",
    "VA": "visual acuity",
    "XA": "X-ray angiography",
    "XC": "external-camera photography",
}
"""Defined terms of Modality (PS3.3 C.7.3.1.1.1) in words."""

RADIOGRAPHS = frozenset({"CR", "DX", "RG", "PX", "IO"})
"""Modalities whose picture people call a radiograph."""

NOT_IMAGES = frozenset({
    "ANN", "CTPROTOCOL", "DOC", "ECG", "EEG", "EMG", "EPS", "FID", "HD", "KO", "OAM", "OPV", "PR",
    "REG", "RESP", "RTDOSE", "RTPLAN", "RTRECORD", "RTSTRUCT", "RWV", "SMR", "SR", "VA",
})  # fmt: skip
"""Modalities whose objects nobody calls an image."""

MAY_SHOW_TEXT = frozenset({"", "GM", "IVUS", "OP", "PX", "US"})
"""Modalities (empty: none given) whose pixels are sometimes a screen, with text drawn in."""

SCREENS = frozenset({"DOC", "ES", "OT", "SC", "XC"})
"""Modalities whose pixels commonly are a screen, a scan or a photograph with the patient's name in it."""

ULTRASOUND = frozenset({"IVUS", "US"})
"""Modalities whose machines write names around the regions of echoes."""

SECONDARY_CAPTURES = frozenset(
    f"1.2.840.10008.5.1.4.1.1.7{part}" for part in ("", ".1", ".2", ".3", ".4")
)
"""SOP classes of pictures that another program made: screens, scans, photographs."""

_PLAIN_PARTS = """
abdomen adrenal amniotic ankle anus aorta appendix arm axilla back bladder bone brain
breast bronchus buttock calcaneus calf cerebellum cervix cheek chest clavicle coccyx colon
cornea duodenum ear elbow esophagus extremity eye eyelid face femur fetus finger foot
forearm forefoot gallbladder hand head heart hip hindfoot humerus ileum ilium jaw jejunum
kidney knee larynx leg liver lung mandible maxilla mediastinum mouth neck nose orbit ovary
pancreas parotid patella pelvis penis perineum pharynx placenta prostate radius rectum
retina rib sacrum scalp scapula sclera scrotum shoulder skin skull spine spleen sternum
stomach testis thigh thumb thymus thyroid tibia fibula toe tongue trachea ulna ureter
urethra uterus vagina vulva wrist
"""

BODY_PARTS: Mapping[str, str] = {name.upper(): name for name in _PLAIN_PARTS.split()} | {
    "ABDOMENPELVIS": "abdomen and pelvis",
    "BILEDUCT": "bile duct",
    "CAROTID": "carotid artery",
    "CEREBRALA": "cerebral artery",
    "CHESTABDOMEN": "chest and abdomen",
    "CHESTABDPELVIS": "chest, abdomen and pelvis",
    "CIRCLEOFWILLIS": "circle of Willis",
    "CORONARYARTERY": "coronary artery",
    "CSPINE": "cervical spine",
    "CERVICALSPINE": "cervical spine",
    "CTSPINE": "cervico-thoracic spine",
    "FEMORALARTERY": "femoral artery",
    "HEADNECK": "head and neck",
    "HEADNECKCHEST": "head, neck and chest",
    "IAC": "internal auditory canal",
    "JOINT": "joint",
    "LSPINE": "lumbar spine",
    "LUMBARSPINE": "lumbar spine",
    "LSSPINE": "lumbo-sacral spine",
    "LOWERLEG": "lower leg",
    "LOWERLIMB": "lower limb",
    "NECKCHEST": "neck and chest",
    "OPTICCANAL": "optic canal",
    "PELVISLOWEXTREMT": "pelvis and lower extremities",
    "RENALARTERY": "renal artery",
    "SIJOINT": "sacroiliac joint",
    "SSPINE": "sacral spine",
    "TLSPINE": "thoraco-lumbar spine",
    "THORAX": "chest",  # the concept that the standard's CHEST names
    "TSPINE": "thoracic spine",
    "THORACICSPINE": "thoracic spine",
    "TMJ": "temporomandibular joint",
    "UPPERARM": "upper arm",
    "UPPERLIMB": "upper limb",
    "WHOLEBODY": "whole body",
    "ZYGOMA": "zygoma",
}
"""Terms of Body Part Examined (PS3.16 Annex L, and spellings met in practice), without spaces."""

_PATIENT_POSITIONS = {
    "FFDL": "feet first, decubitus left",
    "FFDR": "feet first, decubitus right",
    "FFP": "feet first, prone",
    "FFS": "feet first, supine",
    "HFDL": "head first, decubitus left",
    "HFDR": "head first, decubitus right",
    "HFP": "head first, prone",
    "HFS": "head first, supine",
}
_VIEWS = {
    "AP": "antero-posterior (AP)",
    "CC": "cranio-caudal (CC)",
    "LAT": "lateral",
    "LATERAL": "lateral",
    "LL": "left lateral (LL)",
    "LLD": "left lateral decubitus (LLD)",
    "LLO": "left lateral oblique (LLO)",
    "ML": "medio-lateral (ML)",
    "LM": "latero-medial (LM)",
    "MLO": "medio-lateral oblique (MLO)",
    "PA": "postero-anterior (PA)",
    "RL": "right lateral (RL)",
    "RLD": "right lateral decubitus (RLD)",
    "RLO": "right lateral oblique (RLO)",
    "XCCL": "exaggerated cranio-caudal (XCCL)",
}
_IMAGE_TYPES = """
original derived primary secondary axial localizer mpr mip minip mosaic diffusion
perfusion volume overview label thumbnail adc tracew fa reformatted projection average
normal obstetrical epicardial abdominal emission transmission static dynamic gated tomo
angio cardiac vascular gynecology resampled portal drr simulator
"""
_PHOTOMETRIC = (
    "MONOCHROME1", "MONOCHROME2", "PALETTE COLOR", "RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT",
    "YBR_PARTIAL_420", "YBR_RCT",
)  # fmt: skip

FIELD_TERMS: Mapping[str, Mapping[str, str]] = {
    "ImageType": {term.upper(): term for term in _IMAGE_TYPES.split()}
    | {"WHOLE BODY": "whole body"},
    "PhotometricInterpretation": {term: term for term in _PHOTOMETRIC},
    "PatientPosition": _PATIENT_POSITIONS,
    "ViewPosition": _VIEWS,
    "Laterality": {"L": "left", "R": "right", "B": "both sides", "U": "unpaired"},
    "ScanningSequence": {
        "SE": "spin echo",
        "IR": "inversion recovery",
        "GR": "gradient recalled",
        "EP": "echo planar",
        "RM": "research mode",
    },
    "MRAcquisitionType": {"2D": "2D", "3D": "3D"},
    "SegmentationType": {
        "BINARY": "binary",
        "FRACTIONAL": "fractional",
        "LABELMAP": "label map",
    },
    "DoseType": {"PHYSICAL": "physical dose", "EFFECTIVE": "effective dose", "ERROR": "error"},
    "DoseSummationType": {
        term: term.lower().replace("_", " ")
        for term in ("PLAN", "MULTI_PLAN", "FRACTION", "BEAM", "BRACHY", "CONTROL_POINT", "RECORD")
    },
}
"""Per field, which values are shown and how."""

_VENDORS = {
    "accuray": "Accuray", "acuson": "Acuson", "agfa": "Agfa", "aperio": "Aperio",
    "bruker": "Bruker", "canon": "Canon", "carestream": "Carestream", "elekta": "Elekta",
    "elscint": "Elscint", "esaote": "Esaote", "fuji": "Fujifilm", "fujifilm": "Fujifilm",
    "ge": "GE", "hamamatsu": "Hamamatsu", "hitachi": "Hitachi", "hologic": "Hologic",
    "kodak": "Kodak", "konica": "Konica Minolta", "leica": "Leica", "lumisys": "Lumisys",
    "mindray": "Mindray", "mortara": "Mortara", "neusoft": "Neusoft", "philips": "Philips",
    "picker": "Picker", "planmeca": "Planmeca", "samsung": "Samsung", "shimadzu": "Shimadzu",
    "siemens": "Siemens", "sonosite": "SonoSite", "toshiba": "Toshiba", "topcon": "Topcon",
    "united imaging": "United Imaging", "varian": "Varian", "ventana": "Ventana",
    "zeiss": "Zeiss", "3dhistech": "3DHISTECH",
}  # fmt: skip
_SPELLINGS = re.compile(r"\bg\.\s?e\.")
_WORDS = re.compile(r"[^a-z0-9]+")
_MAX_TERM = 64


def body_part(value: str) -> str:
    """Return a body part in words, or nothing when the value is none of the standard's."""
    folded = re.sub(r"[\s_-]+", "", value[:_MAX_TERM].upper())
    return BODY_PARTS.get(folded, "")


def vendor(value: str) -> str:
    """Return the maker that a manufacturer's name names, or nothing when it names none listed."""
    plain = f" {_WORDS.sub(' ', _SPELLINGS.sub('ge', value[:_MAX_TERM].lower())).strip()} "
    return next((shown for word, shown in _VENDORS.items() if f" {word} " in plain), "")
