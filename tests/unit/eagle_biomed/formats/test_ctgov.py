"""Clinical trials, on one small fictional study in the three formats of ClinicalTrials.gov."""

import hashlib
import json

import pytest

from eagle_biomed.formats.catalog import FormatTools
from eagle_biomed.formats.ctgov import parse
from eagle_biomed.formats.ctgov_trial import code, iso_day, phase_code, words
from eagle_biomed.formats.selector import biomed_format_selector
from eagle_rag.errors import UnreadableDocument
from eagle_rag.model.document import ParsedDocument, ParseOutcome, SectionKind, Source
from eagle_rag.testing.plugin_services import plain_xml

_V2: dict[str, object] = {
    "protocolSection": {
        "identificationModule": {
            "nctId": "NCT99990001",
            "briefTitle": "Zorbanib in Fictitis",
            "officialTitle": "A Phase 2/3 Trial of Zorbanib in Fictitis",
            "orgStudyIdInfo": {"id": "ZB-1"},
        },
        "statusModule": {
            "overallStatus": "ACTIVE_NOT_RECRUITING",
            "startDateStruct": {"date": "2021-03-04"},
            "studyFirstPostDateStruct": {"date": "2021-01-02"},
        },
        "sponsorCollaboratorsModule": {"leadSponsor": {"name": "Fictive", "class": "INDUSTRY"}},
        "descriptionModule": {"briefSummary": "Levels \\>= 5 are studied."},
        "conditionsModule": {"conditions": ["Fictitis"], "keywords": ["zeta"]},
        "designModule": {
            "studyType": "INTERVENTIONAL",
            "phases": ["PHASE2", "PHASE3"],
            "designInfo": {"allocation": "RANDOMIZED", "maskingInfo": {"masking": "DOUBLE"}},
            "enrollmentInfo": {"count": 30, "type": "ACTUAL"},
        },
        "armsInterventionsModule": {
            "armGroups": [
                {
                    "label": "A",
                    "type": "EXPERIMENTAL",
                    "description": "Daily",
                    "interventionNames": ["Drug: Zorbanib"],
                }
            ],
            "interventions": [{"type": "DRUG", "name": "Zorbanib", "otherNames": ["ZB"]}],
        },
        "outcomesModule": {
            "primaryOutcomes": [{"measure": "Response", "timeFrame": "6 months"}],
        },
        "eligibilityModule": {
            "eligibilityCriteria": (
                "Inclusion Criteria:\n\n* Adults\n* Consent\n\nExclusion Criteria: None of these\n\n1. Fever"
            ),
            "sex": "ALL",
            "minimumAge": "18 Years",
            "healthyVolunteers": False,
        },
        "contactsLocationsModule": {"locations": [{"country": "Utopia"}, {"country": "Utopia"}]},
        "referencesModule": {
            "references": [{"pmid": "12345678", "citation": "Doe J. Zeta. J Fict. 2001."}]
        },
    },
    "resultsSection": {
        "participantFlowModule": {
            "groups": [
                {"id": "FG000", "title": "Zorbanib", "description": "Daily"},
                {"id": "FG001", "title": "Placebo"},
            ],
            "periods": [
                {
                    "title": "Overall",
                    "milestones": [
                        {
                            "type": "STARTED",
                            "achievements": [
                                {"groupId": "FG000", "numSubjects": "16"},
                                {"groupId": "FG001", "numSubjects": "14"},
                            ],
                        }
                    ],
                    "dropWithdraws": [
                        {"type": "Death", "reasons": [{"groupId": "FG001", "numSubjects": "1"}]}
                    ],
                }
            ],
        },
        "outcomeMeasuresModule": {
            "outcomeMeasures": [
                {
                    "type": "PRIMARY",
                    "title": "Response",
                    "paramType": "MEAN",
                    "dispersionType": "95% Confidence Interval",
                    "unitOfMeasure": "percent",
                    "groups": [
                        {"id": "OG000", "title": "Zorbanib"},
                        {"id": "OG001", "title": "Placebo"},
                    ],
                    "denoms": [{"counts": [{"groupId": "OG000", "value": "16"}]}],
                    "classes": [
                        {
                            "categories": [
                                {
                                    "measurements": [
                                        {
                                            "groupId": "OG000",
                                            "value": "40.50",
                                            "lowerLimit": "30.1",
                                            "upperLimit": "50.9",
                                        },
                                        {"groupId": "OG001", "value": "10"},
                                    ]
                                }
                            ]
                        }
                    ],
                    "analyses": [
                        {
                            "groupIds": ["OG000", "OG001"],
                            "pValue": "<0.001",
                            "paramType": "Hazard Ratio (HR)",
                            "paramValue": "0.5",
                            "ciPctValue": "95",
                            "ciLowerLimit": "0.3",
                            "ciUpperLimit": "0.7",
                        }
                    ],
                }
            ]
        },
        "adverseEventsModule": {
            "eventGroups": [
                {
                    "id": "EG000",
                    "title": "Zorbanib",
                    "seriousNumAffected": 2,
                    "seriousNumAtRisk": 16,
                }
            ],
            "seriousEvents": [
                {
                    "term": "Zetaemia",
                    "organSystem": "Blood",
                    "stats": [{"groupId": "EG000", "numAffected": 2, "numAtRisk": 16}],
                }
            ],
        },
    },
}

_V1: dict[str, object] = {
    "ProtocolSection": {
        "IdentificationModule": {"NCTId": "NCT99990001", "OfficialTitle": "A V1 Trial"},
        "StatusModule": {
            "OverallStatus": "Active, not recruiting",
            "StartDateStruct": {"StartDate": "March 4, 2021"},
        },
        "ConditionsModule": {"ConditionList": {"Condition": ["Fictitis"]}},
        "DesignModule": {
            "PhaseList": {"Phase": ["Phase 2/Phase 3"]},
            "DesignInfo": {
                "DesignObservationalModelList": {"DesignObservationalModel": ["Case-Only"]}
            },
        },
        "OutcomesModule": {
            "PrimaryOutcomeList": {
                "PrimaryOutcome": [
                    {"PrimaryOutcomeMeasure": "Response", "PrimaryOutcomeTimeFrame": "6 months"}
                ]
            }
        },
    }
}

_XML = """<?xml version="1.0"?><!-- conforms --><clinical_study>
<id_info><nct_id>NCT99990001</nct_id></id_info><official_title>An XML Trial</official_title>
<brief_summary><textblock>
      One paragraph that is
      wrapped.

        -  first item that
           goes on

        -  second item
</textblock></brief_summary>
<start_date>March 2021</start_date><phase>Phase 2/Phase 3</phase>
<eligibility><maximum_age>N/A</maximum_age></eligibility>
<clinical_results><outcome_list><outcome><type>Primary</type><title>Response</title>
<group_list><group group_id="O1"><title>Zorbanib</title></group></group_list>
<measure><title>Response</title><units>percent</units><param>Mean</param>
<analyzed_list><analyzed><count_list><count group_id="O1" value="16"/></count_list></analyzed>
</analyzed_list><class_list><class><category_list><category><measurement_list>
<measurement group_id="O1" value="40.5" spread="1.2"/></measurement_list></category></category_list>
</class></class_list></measure></outcome></outcome_list>
<reported_events><group_list><group group_id="E1"><title>Zorbanib</title></group></group_list>
<serious_events><category_list><category><title>Total</title><event_list><event>
<sub_title>Total, serious adverse events</sub_title>
<counts group_id="E1" subjects_affected="2" subjects_at_risk="16"/></event></event_list></category>
</category_list></serious_events></reported_events></clinical_results></clinical_study>"""


def _source(value: object, uri: str = "trial.json") -> Source:
    raw = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return Source(uri, raw, hashlib.sha256(raw).hexdigest())


def _parse(value: object) -> ParseOutcome:
    return parse(_source(value), FormatTools(plain_xml))


def _one(value: object) -> ParsedDocument:
    return _parse(value).documents[0]


def _section(document: ParsedDocument, *path: str) -> str:
    return "\n".join(
        document.text[block.start : block.end]
        for block in document.blocks
        if document.sections[block.section].path == path
    )


def test_a_trial_is_called_by_its_nct_id_and_official_title() -> None:
    document = _one(_V2)
    assert document.identity is not None
    assert (document.identity.key, document.identity.work) == ("NCT99990001", "nct:NCT99990001")
    assert document.metadata.title == "A Phase 2/3 Trial of Zorbanib in Fictitis"
    assert document.member == ""


def test_the_protocol_is_in_sections_of_known_titles() -> None:
    paths = [section.path for section in _one(_V2).sections if len(section.path) == 1]
    assert [path[0] for path in paths] == [
        "Brief Summary",
        "Conditions",
        "Keywords",
        "Interventions",
        "Arms",
        "Primary Outcomes",
        "Design",
        "Eligibility Criteria",
        "Sponsor",
        "Locations",
        "Results",
        "Registration",
    ]


def test_inclusion_and_exclusion_are_sections_below_the_criteria() -> None:
    document = _one(_V2)
    place = "Eligibility Criteria"
    assert _section(document, place) == (
        f"{place}\nSex: All; Minimum age: 18 Years; Healthy volunteers: No"
    )
    assert _section(document, place, "Inclusion Criteria").endswith("\nAdults\nConsent")
    assert _section(document, place, "Exclusion Criteria").endswith("\nNone of these\n1. Fever")


def test_the_escapes_of_version_2_are_removed() -> None:
    assert _section(_one(_V2), "Brief Summary").endswith("Levels >= 5 are studied.")


def test_outcome_numbers_are_a_table_as_written_and_words_beside_it() -> None:
    document = _one(_V2)
    table = document.tables[1]
    assert table.rows == (("Response", "40.50 (30.1 to 50.9)", "10"),)
    assert table.column_paths == (("Measure",), ("Zorbanib", "N=16"), ("Placebo",))
    text = _section(document, "Results", "Primary Outcome: Response")
    assert (
        "Mean (95% confidence interval), percent. Zorbanib 40.50 (30.1 to 50.9); Placebo 10"
        in text
    )
    assert "Hazard Ratio (HR) 0.5 (95% CI 0.3 to 0.7). P-value <0.001" in text


def test_participant_flow_counts_who_started_and_why_they_left() -> None:
    document = _one(_V2)
    assert document.tables[0].rows == (("Started", "16", "14"), ("Not completed: Death", "", "1"))
    assert "Overall. Started: Zorbanib 16; Placebo 14" in document.text


def test_adverse_events_are_a_table_of_affected_and_at_risk() -> None:
    document = _one(_V2)
    assert document.tables[-1].rows == (("Blood", "Zetaemia", "2/16"),)
    text = _section(document, "Results", "Adverse Events")
    assert "Zorbanib: serious adverse events 2/16" in text
    assert "Zetaemia" in text


def test_results_are_of_kind_results_and_the_design_is_methods() -> None:
    kinds = {section.path: section.kind for section in _one(_V2).sections}
    assert kinds["Results", "Adverse Events"] is SectionKind.RESULTS
    assert kinds["Design",] is SectionKind.METHODS
    assert kinds["Brief Summary",] is SectionKind.ABSTRACT


def test_what_has_no_place_in_the_text_is_metadata() -> None:
    metadata = _one(_V2).metadata
    properties = dict(metadata.properties)
    assert properties["phase"] == "PHASE2/PHASE3"
    assert properties["status"] == "ACTIVE_NOT_RECRUITING"
    assert properties["countries"] == "Utopia"
    assert (metadata.published, metadata.dates) == ("2021-01-02", (("start", "2021-03-04"),))
    assert metadata.ids.other == (("nct", "NCT99990001"), ("org-study", "ZB-1"))


def test_publications_are_references_with_their_pmid() -> None:
    (reference,) = _one(_V2).references
    assert (reference.pmid, reference.year) == ("12345678", 2001)


def test_version_1_says_the_same_in_other_names() -> None:
    document = _one({"FullStudiesResponse": {"FullStudies": [{"Study": _V1}]}})
    assert document.metadata.title == "A V1 Trial"
    properties = dict(document.metadata.properties)
    assert properties["phase"] == "PHASE2/PHASE3"
    assert properties["status"] == "ACTIVE_NOT_RECRUITING"
    assert "Model: Case only" in document.text
    assert "Start: 2021-03-04" in document.text
    assert _section(document, "Primary Outcomes").endswith("Response. Time frame: 6 months")


def test_the_legacy_xml_says_the_same_in_other_elements() -> None:
    document = _one(_XML)
    assert document.metadata.dates == (("start", "2021-03"),)
    assert dict(document.metadata.properties)["phase"] == "PHASE2/PHASE3"
    assert document.tables[0].rows == (("Response", "40.5 (1.2)"),)
    assert "Zorbanib: serious adverse events 2/16" in document.text
    assert "N/A" not in document.text


def test_wrapped_lines_of_the_legacy_xml_are_joined_and_its_bullets_are_items() -> None:
    assert _section(_one(_XML), "Brief Summary").splitlines()[1:] == [
        "One paragraph that is wrapped.",
        "first item that goes on",
        "second item",
    ]


def test_o1_a_bad_study_of_a_page_is_refused_and_the_rest_loads() -> None:
    outcome = _parse({"studies": [_V2, {"protocolSection": {}}, 3]})
    assert [document.member for document in outcome.documents] == ["NCT99990001"]
    assert [one.member for one in outcome.refusals] == ["record-2", "record-3"]


@pytest.mark.parametrize(
    ("updated", "edition"),
    [("2024-01-31", 20240131), ("2024-01", 20240100), ("2024", 20240000), ("soon", 0), (None, 0)],
)
def test_the_day_of_the_last_update_is_the_edition(updated: str | None, edition: int) -> None:
    status = {"lastUpdatePostDateStruct": {"date": updated}}
    study = {
        "protocolSection": {
            "identificationModule": {"nctId": "NCT99990001"},
            "statusModule": status,
        }
    }
    identity = _one(study).identity
    assert identity is not None
    assert identity.edition == edition


def test_the_same_trial_twice_is_given_twice_under_one_key() -> None:
    outcome = _parse({"studies": [_V2, _V2]})
    assert [document.member for document in outcome.documents] == ["NCT99990001"] * 2
    assert outcome.refusals == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ('{"protocolSection": {"designModule": {}}}', "no-records"),
        ("<clinical_study><phase>Phase 1</phase></clinical_study>", "no-records"),
        ('{"protocolSection": ', "json-syntax"),
        ("[" * 100_000, "nested-too-deep"),
    ],
)
def test_what_is_no_trial_is_refused_by_name(data: str, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        _parse(data)
    assert caught.value.reason == reason


def test_modules_of_unexpected_types_do_not_stop_the_study() -> None:
    """The API may change; what is not understood is left out."""
    odd = {
        "protocolSection": {
            "identificationModule": {"nctId": "NCT99990002"},
            "conditionsModule": {"conditions": [1, None, {"a": []}, "Fictitis"]},
            "designModule": ["x"],
            "outcomesModule": {"primaryOutcomes": "no list"},
        },
        "resultsSection": {"outcomeMeasuresModule": {"outcomeMeasures": [None, {"classes": 5}]}},
    }
    assert dict(_one(odd).metadata.properties)["conditions"] == "1; Fictitis"


def test_only_whole_studies_are_recognised() -> None:
    assert biomed_format_selector(_source(_V2)) == "ctgov"
    assert biomed_format_selector(_source({"a": [_V1]})) == "ctgov"
    assert biomed_format_selector(_source(_XML, "trial.xml")) == "ctgov"
    assert biomed_format_selector(_source({"protocolSection": {"designModule": {}}})) is None
    assert biomed_format_selector(_source(_V2, "notes.md")) is None


@pytest.mark.timeout(20)
def test_a_thousand_comments_before_the_root_do_not_stop_the_selector() -> None:
    assert biomed_format_selector(_source("<!---->" * 1000 + "<x/>", "a.xml")) is None
    assert biomed_format_selector(_source("<!---->" * 1000 + _XML[21:], "a.xml")) == "ctgov"


@pytest.mark.parametrize(
    ("written", "day"),
    [("2021-03", "2021-03"), ("March 4, 2021", "2021-03-04"), ("May 2021", "2021-05"), ("?", "")],
)
def test_dates_are_iso_as_precise_as_they_are_written(written: str, day: str) -> None:
    assert iso_day(written) == day


def test_codes_are_spelled_one_way_and_read_as_words() -> None:
    assert code("Active, not recruiting") == "ACTIVE_NOT_RECRUITING"
    assert phase_code(("N/A",)) == "NA"
    assert phase_code(("Early Phase 1",)) == "EARLY_PHASE1"
    assert words("EARLY_PHASE1") == "Early phase 1"
