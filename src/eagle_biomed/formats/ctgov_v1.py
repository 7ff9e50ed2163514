"""Trials in version 1 of the ClinicalTrials.gov API (JSON), put into the shape of version 2.

Version 1 gives every field a name of its own and wraps every list (``ConditionList`` holds
``Condition``); version 2 has the same content under shorter names.
"""

from eagle_biomed.formats.ctgov_trial import Trial
from eagle_biomed.formats.ctgov_v2 import read_study

__all__ = ["read_v1_study"]

# What version 1 calls it, and version 2. A name that is not here keeps its own, first letter small.
_NAMES: dict[str, str] = dict(
    pair.split("=")
    for pair in [
        "NCTId=nctId",
        "OrgStudyId=id",
        "SecondaryId=id",
        "SecondaryIdInfoList=secondaryIdInfos",
        "StartDate=date",
        "PrimaryCompletionDate=date",
        "CompletionDate=date",
        "StudyFirstPostDate=date",
        "ResultsFirstPostDate=date",
        "LastUpdatePostDate=date",
        "LeadSponsorName=name",
        "LeadSponsorClass=class",
        "CollaboratorList=collaborators",
        "CollaboratorName=name",
        "ConditionList=conditions",
        "KeywordList=keywords",
        "PhaseList=phases",
        "DesignAllocation=allocation",
        "DesignInterventionModel=interventionModel",
        "DesignPrimaryPurpose=primaryPurpose",
        "DesignMaskingInfo=maskingInfo",
        "DesignMasking=masking",
        "DesignObservationalModelList=observationalModel",
        "DesignTimePerspectiveList=timePerspective",
        "EnrollmentCount=count",
        "EnrollmentType=type",
        "Gender=sex",
        "ArmGroupList=armGroups",
        "ArmGroupLabel=label",
        "ArmGroupType=type",
        "ArmGroupDescription=description",
        "ArmGroupInterventionList=interventionNames",
        "InterventionList=interventions",
        "InterventionType=type",
        "InterventionName=name",
        "InterventionDescription=description",
        "InterventionOtherNameList=otherNames",
        "PrimaryOutcomeList=primaryOutcomes",
        "PrimaryOutcomeMeasure=measure",
        "PrimaryOutcomeDescription=description",
        "PrimaryOutcomeTimeFrame=timeFrame",
        "SecondaryOutcomeList=secondaryOutcomes",
        "SecondaryOutcomeMeasure=measure",
        "SecondaryOutcomeDescription=description",
        "SecondaryOutcomeTimeFrame=timeFrame",
        "OtherOutcomeList=otherOutcomes",
        "OtherOutcomeMeasure=measure",
        "OtherOutcomeDescription=description",
        "OtherOutcomeTimeFrame=timeFrame",
        "LocationList=locations",
        "LocationCountry=country",
        "ReferenceList=references",
        "ReferencePMID=pmid",
        "ReferenceCitation=citation",
        "ConditionMeshList=meshes",
        "ConditionMeshTerm=term",
        "InterventionMeshList=meshes",
        "InterventionMeshTerm=term",
        "FlowRecruitmentDetails=recruitmentDetails",
        "FlowPreAssignmentDetails=preAssignmentDetails",
        "FlowGroupList=groups",
        "FlowGroupId=id",
        "FlowGroupTitle=title",
        "FlowGroupDescription=description",
        "FlowPeriodList=periods",
        "FlowPeriodTitle=title",
        "FlowMilestoneList=milestones",
        "FlowMilestoneType=type",
        "FlowAchievementList=achievements",
        "FlowAchievementGroupId=groupId",
        "FlowAchievementNumSubjects=numSubjects",
        "FlowDropWithdrawList=dropWithdraws",
        "FlowDropWithdrawType=type",
        "FlowReasonList=reasons",
        "FlowReasonGroupId=groupId",
        "FlowReasonNumSubjects=numSubjects",
        "BaselinePopulationDescription=populationDescription",
        "BaselineGroupList=groups",
        "BaselineGroupId=id",
        "BaselineGroupTitle=title",
        "BaselineGroupDescription=description",
        "BaselineDenomList=denoms",
        "BaselineDenomCountList=counts",
        "BaselineDenomCountGroupId=groupId",
        "BaselineDenomCountValue=value",
        "BaselineMeasureList=measures",
        "BaselineMeasureTitle=title",
        "BaselineMeasureDescription=description",
        "BaselineMeasurePopulationDescription=populationDescription",
        "BaselineMeasureParamType=paramType",
        "BaselineMeasureDispersionType=dispersionType",
        "BaselineMeasureUnitOfMeasure=unitOfMeasure",
        "BaselineClassList=classes",
        "BaselineClassTitle=title",
        "BaselineCategoryList=categories",
        "BaselineCategoryTitle=title",
        "BaselineMeasurementList=measurements",
        "BaselineMeasurementGroupId=groupId",
        "BaselineMeasurementValue=value",
        "BaselineMeasurementSpread=spread",
        "BaselineMeasurementLowerLimit=lowerLimit",
        "BaselineMeasurementUpperLimit=upperLimit",
        "OutcomeMeasureList=outcomeMeasures",
        "OutcomeMeasureType=type",
        "OutcomeMeasureTitle=title",
        "OutcomeMeasureDescription=description",
        "OutcomeMeasureTimeFrame=timeFrame",
        "OutcomeMeasurePopulationDescription=populationDescription",
        "OutcomeMeasureParamType=paramType",
        "OutcomeMeasureDispersionType=dispersionType",
        "OutcomeMeasureUnitOfMeasure=unitOfMeasure",
        "OutcomeGroupList=groups",
        "OutcomeGroupId=id",
        "OutcomeGroupTitle=title",
        "OutcomeGroupDescription=description",
        "OutcomeDenomList=denoms",
        "OutcomeDenomCountList=counts",
        "OutcomeDenomCountGroupId=groupId",
        "OutcomeDenomCountValue=value",
        "OutcomeClassList=classes",
        "OutcomeClassTitle=title",
        "OutcomeCategoryList=categories",
        "OutcomeCategoryTitle=title",
        "OutcomeMeasurementList=measurements",
        "OutcomeMeasurementGroupId=groupId",
        "OutcomeMeasurementValue=value",
        "OutcomeMeasurementSpread=spread",
        "OutcomeMeasurementLowerLimit=lowerLimit",
        "OutcomeMeasurementUpperLimit=upperLimit",
        "OutcomeAnalysisList=analyses",
        "OutcomeAnalysisGroupIdList=groupIds",
        "OutcomeAnalysisGroupDescription=groupDescription",
        "OutcomeAnalysisStatisticalMethod=statisticalMethod",
        "OutcomeAnalysisPValue=pValue",
        "OutcomeAnalysisParamType=paramType",
        "OutcomeAnalysisParamValue=paramValue",
        "OutcomeAnalysisCIPctValue=ciPctValue",
        "OutcomeAnalysisCILowerLimit=ciLowerLimit",
        "OutcomeAnalysisCIUpperLimit=ciUpperLimit",
        "OutcomeAnalysisEstimateComment=estimateComment",
        "EventsTimeFrame=timeFrame",
        "EventsDescription=description",
        "EventsFrequencyThreshold=frequencyThreshold",
        "EventGroupList=eventGroups",
        "EventGroupId=id",
        "EventGroupTitle=title",
        "EventGroupDescription=description",
        "EventGroupDeathsNumAffected=deathsNumAffected",
        "EventGroupDeathsNumAtRisk=deathsNumAtRisk",
        "EventGroupSeriousNumAffected=seriousNumAffected",
        "EventGroupSeriousNumAtRisk=seriousNumAtRisk",
        "EventGroupOtherNumAffected=otherNumAffected",
        "EventGroupOtherNumAtRisk=otherNumAtRisk",
        "SeriousEventList=seriousEvents",
        "SeriousEventTerm=term",
        "SeriousEventOrganSystem=organSystem",
        "SeriousEventStatsList=stats",
        "SeriousEventStatsGroupId=groupId",
        "SeriousEventStatsNumAffected=numAffected",
        "SeriousEventStatsNumAtRisk=numAtRisk",
        "OtherEventList=otherEvents",
        "OtherEventTerm=term",
        "OtherEventOrganSystem=organSystem",
        "OtherEventStatsList=stats",
        "OtherEventStatsGroupId=groupId",
        "OtherEventStatsNumAffected=numAffected",
        "OtherEventStatsNumAtRisk=numAtRisk",
        "LimitationsAndCaveatsDescription=description",
    ]
)


def read_v1_study(study: object) -> Trial:
    """Return the trial of a study as version 1 of the API gives it."""
    return read_study(_renamed(study), markdown=False)


def _renamed(node: object) -> object:
    """Return a value with the names of version 2 and its lists unwrapped."""
    if isinstance(node, list):
        return [_renamed(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {_name(str(key)): _renamed(_unwrapped(str(key), value)) for key, value in node.items()}


def _name(key: str) -> str:
    return _NAMES.get(key) or key[:1].lower() + key[1:]


def _unwrapped(key: str, value: object) -> object:
    """Return the list that ``ConditionList`` holds; any other value as it is."""
    if key.endswith("List") and isinstance(value, dict) and len(value) == 1:
        return next(iter(value.values()))
    return value
