"""Section titles of drug labels: LOINC codes of SPL and field names of openFDA, in label order."""

__all__ = ["REFERENCES_CODE", "SECTION_TITLES", "field_title", "is_boxed", "section_title"]

BOXED_CODE = "34066-1"
REFERENCES_CODE = "34093-5"

# Code, title, field of openFDA's drug label (empty when there is none). FDA, "Section headings
# (LOINC)", Structured Product Labeling resources; openFDA, drug/label searchable fields.
_SECTIONS: tuple[tuple[str, str, str], ...] = (
    ("34066-1", "BOXED WARNING", "boxed_warning"),
    ("43683-2", "RECENT MAJOR CHANGES", "recent_major_changes"),
    ("34067-9", "INDICATIONS & USAGE", "indications_and_usage"),
    ("34068-7", "DOSAGE & ADMINISTRATION", "dosage_and_administration"),
    ("43678-2", "DOSAGE FORMS & STRENGTHS", "dosage_forms_and_strengths"),
    ("34070-3", "CONTRAINDICATIONS", "contraindications"),
    ("43685-7", "WARNINGS AND PRECAUTIONS", "warnings_and_cautions"),
    ("34071-1", "WARNINGS", "warnings"),
    ("42232-9", "PRECAUTIONS", "precautions"),
    ("34072-9", "GENERAL PRECAUTIONS", "general_precautions"),
    ("34084-4", "ADVERSE REACTIONS", "adverse_reactions"),
    ("90374-0", "CLINICAL TRIALS EXPERIENCE", "clinical_trials_experience"),
    ("90375-7", "POSTMARKETING EXPERIENCE", "postmarketing_experience"),
    ("88830-5", "IMMUNOGENICITY", "immunogenicity"),
    ("34073-7", "DRUG INTERACTIONS", "drug_interactions"),
    ("34074-5", "DRUG/LABORATORY TEST INTERACTIONS", "drug_and_or_laboratory_test_interactions"),
    ("43684-0", "USE IN SPECIFIC POPULATIONS", "use_in_specific_populations"),
    ("42228-7", "PREGNANCY", "pregnancy"),
    ("34077-8", "TERATOGENIC EFFECTS", "teratogenic_effects"),
    ("34078-6", "NONTERATOGENIC EFFECTS", "nonteratogenic_effects"),
    ("53414-9", "PREGNANCY OR BREAST FEEDING", "pregnancy_or_breast_feeding"),
    ("34079-4", "LABOR & DELIVERY", "labor_and_delivery"),
    ("34080-2", "NURSING MOTHERS", "nursing_mothers"),
    ("77290-5", "LACTATION", "lactation"),
    ("77291-3", "FEMALES & MALES OF REPRODUCTIVE POTENTIAL", ""),
    ("34081-0", "PEDIATRIC USE", "pediatric_use"),
    ("34082-8", "GERIATRIC USE", "geriatric_use"),
    ("88828-9", "RENAL IMPAIRMENT", "renal_impairment"),
    ("88829-7", "HEPATIC IMPAIRMENT", "hepatic_impairment"),
    ("42227-9", "DRUG ABUSE AND DEPENDENCE", "drug_abuse_and_dependence"),
    ("34085-1", "CONTROLLED SUBSTANCE", "controlled_substance"),
    ("34086-9", "ABUSE", "abuse"),
    ("34087-7", "DEPENDENCE", "dependence"),
    ("34088-5", "OVERDOSAGE", "overdosage"),
    ("34089-3", "DESCRIPTION", "description"),
    ("34090-1", "CLINICAL PHARMACOLOGY", "clinical_pharmacology"),
    ("43679-0", "MECHANISM OF ACTION", "mechanism_of_action"),
    ("43681-6", "PHARMACODYNAMICS", "pharmacodynamics"),
    ("43682-4", "PHARMACOKINETICS", "pharmacokinetics"),
    ("66106-6", "PHARMACOGENOMICS", "pharmacogenomics"),
    ("49489-8", "MICROBIOLOGY", "microbiology"),
    ("43680-8", "NONCLINICAL TOXICOLOGY", "nonclinical_toxicology"),
    (
        "34083-6",
        "CARCINOGENESIS & MUTAGENESIS & IMPAIRMENT OF FERTILITY",
        "carcinogenesis_and_mutagenesis_and_impairment_of_fertility",
    ),
    (
        "34091-9",
        "ANIMAL PHARMACOLOGY & OR TOXICOLOGY",
        "animal_pharmacology_and_or_toxicology",
    ),
    ("34092-7", "CLINICAL STUDIES", "clinical_studies"),
    ("34093-5", "REFERENCES", "references"),
    ("34069-5", "HOW SUPPLIED", "how_supplied"),
    ("44425-7", "STORAGE AND HANDLING", "storage_and_handling"),
    ("59845-8", "INSTRUCTIONS FOR USE", "instructions_for_use"),
    ("34076-0", "INFORMATION FOR PATIENTS", "information_for_patients"),
    ("42230-3", "PATIENT PACKAGE INSERT", "patient_medication_information"),
    ("68498-5", "PATIENT MEDICATION INFORMATION", ""),
    ("42231-1", "MEDICATION GUIDE", "spl_medguide"),
    ("38056-8", "SUPPLEMENTAL PATIENT MATERIAL", "spl_patient_package_insert"),
    ("34075-2", "LABORATORY TESTS", "laboratory_tests"),
    ("55106-9", "ACTIVE INGREDIENT", "active_ingredient"),
    ("55105-1", "PURPOSE", "purpose"),
    ("50570-1", "DO NOT USE", "do_not_use"),
    ("50569-3", "ASK DOCTOR", "ask_doctor"),
    ("50568-5", "ASK DOCTOR/PHARMACIST", "ask_doctor_or_pharmacist"),
    ("50567-7", "WHEN USING", "when_using"),
    ("50566-9", "STOP USE", "stop_use"),
    ("50565-1", "KEEP OUT OF REACH OF CHILDREN", "keep_out_of_reach_of_children"),
    ("51727-6", "INACTIVE INGREDIENT", "inactive_ingredient"),
    ("53413-1", "QUESTIONS", "questions"),
    ("60561-8", "OTHER SAFETY INFORMATION", "other_safety_information"),
    ("60563-4", "SUMMARY OF SAFETY AND EFFECTIVENESS", "summary_of_safety_and_effectiveness"),
    ("60555-0", "ACCESSORIES", "accessories"),
    ("60556-8", "ASSEMBLY OR INSTALLATION INSTRUCTIONS", "assembly_or_installation_instructions"),
    ("60557-6", "CALIBRATION INSTRUCTIONS", "calibration_instructions"),
    (
        "60558-4",
        "CLEANING, DISINFECTING, AND STERILIZATION INSTRUCTIONS",
        "cleaning_disinfecting_and_sterilization_instructions",
    ),
    ("60559-2", "COMPONENTS", "components"),
    ("60560-0", "INTENDED USE OF THE DEVICE", "intended_use_of_the_device"),
    ("60562-6", "ROUTE, METHOD AND FREQUENCY OF ADMINISTRATION", "route"),
    ("60564-2", "SAFE HANDLING WARNING", "safe_handling_warning"),
    ("69718-5", "STATEMENT OF IDENTITY", "statement_of_identity"),
    ("69719-3", "HEALTH CLAIM", "health_claim"),
    ("69758-1", "DIAGRAM OF DEVICE", "diagram_of_device"),
    ("69759-9", "RISKS", "risks"),
    ("69760-7", "COMPATIBLE ACCESSORIES", ""),
    ("69761-5", "ALARMS", "alarms"),
    ("69763-1", "TROUBLESHOOTING", "troubleshooting"),
    ("71744-7", "HEALTH CARE PROVIDER LETTER", "health_care_provider_letter"),
    ("53412-3", "RESIDUE WARNING", "residue_warning"),
    ("54433-8", "USER SAFETY WARNINGS", "user_safety_warnings"),
    ("54434-6", "ENVIRONMENTAL WARNING", "environmental_warning"),
    ("54745-5", "VETERINARY INDICATIONS", "veterinary_indications"),
    ("43684-0", "USE IN SPECIFIC POPULATIONS", "use_in_specific_populations"),
    ("51945-4", "PACKAGE LABEL", "package_label_principal_display_panel"),
    ("42229-5", "", "spl_unclassified_section"),
    ("48780-1", "PRODUCT DATA", "spl_product_data_elements"),
)

SECTION_TITLES: dict[str, str] = {code: title for code, title, _ in _SECTIONS}
"""LOINC code to title; the title of an unclassified section is empty."""

_FIELDS = {field: (place, title) for place, (_, title, field) in enumerate(_SECTIONS) if field}
_FIELDS["spl_unclassified_section"] = (
    _FIELDS["spl_unclassified_section"][0],
    "OTHER INFORMATION",
)


def section_title(code: str, display_name: str) -> str:
    """Return the title of a section that has none of its own, or an empty string.

    Args:
        code: Its LOINC code, or empty.
        display_name: The code's name as the label writes it; used for a code nobody listed here.
    """
    if code in SECTION_TITLES:
        return SECTION_TITLES[code]
    name = display_name.upper().removeprefix("SPL ").removeprefix("OTC - ")
    return name.removesuffix(" SUBSECTION").removesuffix(" SECTION").strip()


def is_boxed(code: str) -> bool:
    """Return whether a section is a boxed warning."""
    return code == BOXED_CODE


def field_title(field: str) -> tuple[int, str]:
    """Return the place in a label and the title of a field of openFDA; unknown ones stand last."""
    known = _FIELDS.get(field)
    return known or (len(_SECTIONS), field.replace("_", " ").strip().upper())
