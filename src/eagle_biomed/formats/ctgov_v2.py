"""Trials in version 2 of the ClinicalTrials.gov API (JSON): the protocol."""

import re

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
from eagle_biomed.formats.ctgov_v2_results import read_results
from eagle_biomed.formats.json_records import items_at, node_at, string_at, words_at

__all__ = ["read_study"]

_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!<>~|=&^-])")
_DATES = (
    ("completion", "completionDateStruct"),
    ("first_posted", "studyFirstPostDateStruct"),
    ("primary_completion", "primaryCompletionDateStruct"),
    ("results_posted", "resultsFirstPostDateStruct"),
    ("start", "startDateStruct"),
    ("updated", "lastUpdatePostDateStruct"),
)
_RANKS = (
    ("PRIMARY", "primaryOutcomes"),
    ("SECONDARY", "secondaryOutcomes"),
    ("OTHER", "otherOutcomes"),
)


def read_study(study: object, *, markdown: bool = True) -> Trial:
    """Return the trial; its ``nct_id`` is empty when the value is no study.

    Args:
        study: A study as the API gives it, numbers as strings.
        markdown: Its texts escape the characters that Markdown reserves.
    """
    if markdown:
        study = _unescaped(study)
    protocol = node_at(study, "protocolSection")
    identification = node_at(protocol, "identificationModule")
    status = node_at(protocol, "statusModule")
    design = node_at(protocol, "designModule")
    sponsors = node_at(protocol, "sponsorCollaboratorsModule")
    eligibility = node_at(protocol, "eligibilityModule")
    info = node_at(design, "designInfo")
    return Trial(
        nct_id=words_at(identification, "nctId").upper(),
        brief_title=words_at(identification, "briefTitle"),
        official_title=words_at(identification, "officialTitle"),
        acronym=words_at(identification, "acronym"),
        org_id=words_at(identification, "orgStudyIdInfo", "id"),
        secondary_ids=_each(identification, "secondaryIdInfos", "id"),
        summary=string_at(protocol, "descriptionModule", "briefSummary"),
        description=string_at(protocol, "descriptionModule", "detailedDescription"),
        conditions=_texts(protocol, "conditionsModule", "conditions"),
        keywords=_texts(protocol, "conditionsModule", "keywords"),
        mesh=_mesh(study),
        study_type=code(words_at(design, "studyType")),
        phase=phase_code(_texts(design, "phases")),
        allocation=code(words_at(info, "allocation")),
        model=code(
            words_at(info, "interventionModel") or "/".join(_texts(info, "observationalModel"))
        ),
        masking=code(words_at(info, "maskingInfo", "masking")),
        purpose=code(words_at(info, "primaryPurpose")),
        time_perspective=code("/".join(_texts(info, "timePerspective"))),
        enrollment=words_at(design, "enrollmentInfo", "count"),
        enrollment_type=code(words_at(design, "enrollmentInfo", "type")),
        status=code(words_at(status, "overallStatus")),
        why_stopped=words_at(status, "whyStopped"),
        sponsor=words_at(sponsors, "leadSponsor", "name"),
        sponsor_class=code(words_at(sponsors, "leadSponsor", "class")),
        collaborators=_each(sponsors, "collaborators", "name"),
        arms=tuple(map(_arm, items_at(protocol, "armsInterventionsModule", "armGroups"))),
        interventions=tuple(
            map(_intervention, items_at(protocol, "armsInterventionsModule", "interventions"))
        ),
        outcomes=_outcomes(node_at(protocol, "outcomesModule")),
        criteria=string_at(eligibility, "eligibilityCriteria"),
        population=string_at(eligibility, "studyPopulation"),
        sampling=code(words_at(eligibility, "samplingMethod")),
        sex=code(words_at(eligibility, "sex")),
        minimum_age=words_at(eligibility, "minimumAge"),
        maximum_age=words_at(eligibility, "maximumAge"),
        healthy=_yes_no(words_at(eligibility, "healthyVolunteers")),
        countries=tuple(
            sorted(set(_each(protocol, "contactsLocationsModule", "locations", "country")))
        ),
        publications=tuple(map(_cited, items_at(protocol, "referencesModule", "references"))),
        dates=tuple(
            (kind, day)
            for kind, name in _DATES
            if (day := iso_day(words_at(status, name, "date")))
        ),
        results=read_results(node_at(study, "resultsSection")),
    )


def _unescaped(node: object) -> object:
    if isinstance(node, dict):
        return {key: _unescaped(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_unescaped(value) for value in node]
    return _ESCAPED.sub(r"\1", node) if isinstance(node, str) and "\\" in node else node


def _texts(node: object, *path: str) -> tuple[str, ...]:
    return tuple(filter(None, map(words_at, items_at(node, *path))))


def _each(node: object, *path: str) -> tuple[str, ...]:
    """Return one field, the last of the path, of each item."""
    *place, name = path
    return tuple(filter(None, (words_at(item, name) for item in items_at(node, *place))))


def _mesh(study: object) -> tuple[str, ...]:
    derived = node_at(study, "derivedSection")
    return tuple(
        dict.fromkeys(
            _each(derived, "conditionBrowseModule", "meshes", "term")
            + _each(derived, "interventionBrowseModule", "meshes", "term")
        )
    )


def _yes_no(value: str) -> str:
    return {"true": "Yes", "false": "No"}.get(value.lower(), value)


def _arm(node: object) -> Arm:
    return Arm(
        words_at(node, "label"),
        code(words_at(node, "type")),
        words_at(node, "description"),
        _texts(node, "interventionNames"),
    )


def _intervention(node: object) -> Intervention:
    return Intervention(
        code(words_at(node, "type")),
        words_at(node, "name"),
        words_at(node, "description"),
        _texts(node, "otherNames"),
    )


def _outcomes(module: object) -> tuple[Outcome, ...]:
    return tuple(
        Outcome(
            rank,
            words_at(node, "measure"),
            words_at(node, "description"),
            words_at(node, "timeFrame"),
        )
        for rank, name in _RANKS
        for node in items_at(module, name)
    )


def _cited(node: object) -> Cited:
    return Cited(words_at(node, "pmid"), words_at(node, "citation"))
