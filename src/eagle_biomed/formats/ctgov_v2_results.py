"""Trials in version 2 of the ClinicalTrials.gov API (JSON): the results."""

from eagle_biomed.formats.ctgov_trial import (
    AdverseEvents,
    Analysis,
    Event,
    EventGroup,
    Flow,
    Group,
    Measure,
    MeasureRow,
    Period,
    Results,
    code,
)
from eagle_biomed.formats.ctgov_values import share_text, value_text
from eagle_biomed.formats.json_records import items_at, node_at, words_at

__all__ = ["read_results"]


def read_results(section: object) -> Results | None:
    """Return the results of a study, or ``None`` when it has none."""
    if not isinstance(section, dict) or not section:
        return None
    baseline = node_at(section, "baselineCharacteristicsModule")
    groups = _groups(baseline)
    return Results(
        flow=_flow(node_at(section, "participantFlowModule")),
        baseline_population=words_at(baseline, "populationDescription"),
        baseline=tuple(
            _measure(node, groups, _denominators(baseline))
            for node in items_at(baseline, "measures")
        ),
        outcomes=tuple(
            _measure(node, _groups(node), _denominators(node))
            for node in items_at(section, "outcomeMeasuresModule", "outcomeMeasures")
        ),
        adverse=_adverse(node_at(section, "adverseEventsModule")),
        limitations=words_at(section, "moreInfoModule", "limitationsAndCaveats", "description"),
    )


def _groups(node: object) -> tuple[Group, ...]:
    return tuple(_group(item) for item in items_at(node, "groups"))


def _group(item: object) -> Group:
    return Group(words_at(item, "id"), words_at(item, "title"), words_at(item, "description"))


def _flow(module: object) -> Flow:
    return Flow(
        recruitment=words_at(module, "recruitmentDetails"),
        pre_assignment=words_at(module, "preAssignmentDetails"),
        groups=_groups(module),
        periods=tuple(
            Period(
                words_at(period, "title"),
                tuple(
                    (words_at(one, "type"), _counts(one, "achievements"))
                    for one in items_at(period, "milestones")
                ),
                tuple(
                    (words_at(one, "type"), _counts(one, "reasons"))
                    for one in items_at(period, "dropWithdraws")
                ),
            )
            for period in items_at(module, "periods")
        ),
    )


def _counts(node: object, name: str) -> dict[str, str]:
    return {words_at(one, "groupId"): words_at(one, "numSubjects") for one in items_at(node, name)}


def _denominators(node: object) -> dict[str, str]:
    """Return how many were analysed, by group id: of the first unit, which is participants."""
    first = next(iter(items_at(node, "denoms")), None)
    return {words_at(one, "groupId"): words_at(one, "value") for one in items_at(first, "counts")}


def _measure(node: object, groups: tuple[Group, ...], analysed: dict[str, str]) -> Measure:
    return Measure(
        title=words_at(node, "title"),
        rank=code(words_at(node, "type")),
        description=words_at(node, "description"),
        population=words_at(node, "populationDescription"),
        time_frame=words_at(node, "timeFrame"),
        parameter=code(words_at(node, "paramType")),
        dispersion=words_at(node, "dispersionType").replace("_", " ").lower(),
        unit=words_at(node, "unitOfMeasure"),
        groups=groups,
        analysed=analysed,
        rows=tuple(
            MeasureRow(
                words_at(klass, "title"),
                words_at(category, "title"),
                {
                    words_at(one, "groupId"): value_text(
                        words_at(one, "value"),
                        spread=words_at(one, "spread"),
                        lower=words_at(one, "lowerLimit"),
                        upper=words_at(one, "upperLimit"),
                    )
                    for one in items_at(category, "measurements")
                },
            )
            for klass in items_at(node, "classes")
            for category in items_at(klass, "categories")
        ),
        analyses=tuple(map(_analysis, items_at(node, "analyses"))),
    )


def _analysis(node: object) -> Analysis:
    return Analysis(
        groups=tuple(filter(None, map(words_at, items_at(node, "groupIds")))),
        description=words_at(node, "groupDescription"),
        method=words_at(node, "statisticalMethod"),
        p_value=words_at(node, "pValue"),
        parameter=words_at(node, "paramType"),
        estimate=words_at(node, "paramValue"),
        ci_percent=words_at(node, "ciPctValue"),
        ci_lower=words_at(node, "ciLowerLimit"),
        ci_upper=words_at(node, "ciUpperLimit"),
        comment=words_at(node, "estimateComment"),
    )


def _adverse(module: object) -> AdverseEvents:
    return AdverseEvents(
        time_frame=words_at(module, "timeFrame"),
        description=words_at(module, "description"),
        threshold=words_at(module, "frequencyThreshold"),
        groups=tuple(
            EventGroup(
                _group(node),
                _share(node, "deathsNumAffected", "deathsNumAtRisk"),
                _share(node, "seriousNumAffected", "seriousNumAtRisk"),
                _share(node, "otherNumAffected", "otherNumAtRisk"),
            )
            for node in items_at(module, "eventGroups")
        ),
        serious=_events(module, "seriousEvents"),
        other=_events(module, "otherEvents"),
    )


def _events(module: object, name: str) -> tuple[Event, ...]:
    return tuple(
        Event(
            words_at(node, "organSystem"),
            words_at(node, "term"),
            {
                words_at(one, "groupId"): _share(one, "numAffected", "numAtRisk")
                for one in items_at(node, "stats")
            },
        )
        for node in items_at(module, name)
    )


def _share(node: object, affected: str, at_risk: str) -> str:
    return share_text(words_at(node, affected), words_at(node, at_risk))
