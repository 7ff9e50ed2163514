"""Trials in the legacy XML of ClinicalTrials.gov (``clinical_study``): the protocol."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from eagle_biomed.formats.ctgov_trial import (
    Arm,
    Cited,
    Intervention,
    Outcome,
    Trial,
    code,
    iso_day,
    phase_code,
)
from eagle_biomed.formats.ctgov_xml_results import read_xml_results
from eagle_biomed.formats.xml_nodes import attribute, children, first, text_at

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["read_xml_study"]

_DATES = (
    ("completion", "completion_date"),
    ("first_posted", "study_first_posted"),
    ("first_posted", "firstreceived_date"),
    ("primary_completion", "primary_completion_date"),
    ("results_posted", "results_first_posted"),
    ("start", "start_date"),
    ("updated", "last_update_posted"),
    ("updated", "lastchanged_date"),
)
_RANKS = (
    ("PRIMARY", "primary_outcome"),
    ("SECONDARY", "secondary_outcome"),
    ("OTHER", "other_outcome"),
)


def read_xml_study(root: "etree._Element") -> Trial:
    """Return the trial; its ``nct_id`` is empty when the record has none."""
    sponsors = first(root, "sponsors")
    design = first(root, "study_design_info")
    eligibility = first(root, "eligibility")
    model = text_at(design, "intervention_model") or text_at(design, "observational_model")
    return Trial(
        nct_id=text_at(root, "id_info", "nct_id").upper(),
        brief_title=text_at(root, "brief_title"),
        official_title=text_at(root, "official_title"),
        acronym=text_at(root, "acronym"),
        org_id=text_at(root, "id_info", "org_study_id"),
        secondary_ids=_texts(first(root, "id_info"), "secondary_id"),
        wrapped=True,
        summary=_block(root, "brief_summary"),
        description=_block(root, "detailed_description"),
        conditions=_texts(root, "condition"),
        keywords=_texts(root, "keyword"),
        mesh=tuple(
            dict.fromkeys(
                _texts(first(root, "condition_browse"), "mesh_term")
                + _texts(first(root, "intervention_browse"), "mesh_term")
            )
        ),
        study_type=code(text_at(root, "study_type")),
        phase=phase_code(_texts(root, "phase")),
        allocation=code(text_at(design, "allocation")),
        model=code(model),
        masking=code(text_at(design, "masking")),
        purpose=code(text_at(design, "primary_purpose")),
        time_perspective=code(text_at(design, "time_perspective")),
        enrollment=text_at(root, "enrollment"),
        enrollment_type=code(attribute(root, ("enrollment",), "type")),
        status=code(text_at(root, "overall_status")),
        why_stopped=text_at(root, "why_stopped"),
        sponsor=text_at(sponsors, "lead_sponsor", "agency"),
        sponsor_class=code(text_at(sponsors, "lead_sponsor", "agency_class")),
        collaborators=tuple(text_at(one, "agency") for one in children(sponsors, "collaborator")),
        arms=tuple(_arms(root)),
        interventions=tuple(map(_intervention, children(root, "intervention"))),
        outcomes=tuple(
            Outcome(
                rank,
                text_at(one, "measure"),
                text_at(one, "description"),
                text_at(one, "time_frame"),
            )
            for rank, name in _RANKS
            for one in children(root, name)
        ),
        criteria=_block(eligibility, "criteria"),
        population=text_at(eligibility, "study_pop"),
        sampling=code(text_at(eligibility, "sampling_method")),
        sex=code(text_at(eligibility, "gender")),
        minimum_age=_age(text_at(eligibility, "minimum_age")),
        maximum_age=_age(text_at(eligibility, "maximum_age")),
        healthy=text_at(eligibility, "healthy_volunteers"),
        countries=tuple(sorted(_texts(first(root, "location_countries"), "country"))),
        publications=tuple(
            Cited(text_at(one, "PMID"), text_at(one, "citation"))
            for one in children(root, "reference", "results_reference")
        ),
        dates=_dates(root),
        results=read_xml_results(first(root, "clinical_results")),
    )


def _texts(element: "etree._Element | None", name: str) -> tuple[str, ...]:
    return tuple(filter(None, (text_at(one) for one in children(element, name))))


def _block(element: "etree._Element | None", name: str) -> str:
    """Return a block of text with its line ends, which separate paragraphs and list items."""
    found = first(element, name, "textblock")
    return "" if found is None else found.text or ""


def _age(value: str) -> str:
    return "" if value == "N/A" else value


def _dates(root: "etree._Element") -> tuple[tuple[str, str], ...]:
    days: dict[str, str] = {}
    for kind, name in _DATES:
        day = iso_day(text_at(root, name))
        if day:
            days.setdefault(kind, day)
    return tuple(sorted(days.items()))


def _arms(root: "etree._Element") -> Iterator[Arm]:
    """Yield the arms; which interventions they get is written at the interventions."""
    given: dict[str, list[str]] = {}
    for one in children(root, "intervention"):
        kind, name = text_at(one, "intervention_type"), text_at(one, "intervention_name")
        for label in _texts(one, "arm_group_label"):
            given.setdefault(label, []).append(f"{kind}: {name}")
    for arm in children(root, "arm_group"):
        label = text_at(arm, "arm_group_label")
        yield Arm(
            label,
            code(text_at(arm, "arm_group_type")),
            text_at(arm, "description"),
            tuple(given.get(label, ())),
        )


def _intervention(element: "etree._Element") -> Intervention:
    return Intervention(
        code(text_at(element, "intervention_type")),
        text_at(element, "intervention_name"),
        text_at(element, "description"),
        _texts(element, "other_name"),
    )
