"""Trials in the legacy XML of ClinicalTrials.gov: the results."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
from eagle_biomed.formats.xml_nodes import attribute, children, first, text_at

if TYPE_CHECKING:
    from lxml import etree

__all__ = ["read_xml_results"]

_TOTAL = "Total"  # the pseudo system whose one event counts the participants with any event


def read_xml_results(element: "etree._Element | None") -> Results | None:
    """Return the results of a record, or ``None`` when it has none."""
    if element is None:
        return None
    baseline = first(element, "baseline")
    groups, analysed = _groups(baseline), _analysed(baseline)
    return Results(
        flow=_flow(first(element, "participant_flow")),
        baseline_population=text_at(baseline, "population"),
        baseline=tuple(
            _measure(one, one, groups, analysed)
            for one in children(first(baseline, "measure_list"), "measure")
        ),
        outcomes=tuple(
            _measure(one, first(one, "measure"), _groups(one), {})
            for one in children(first(element, "outcome_list"), "outcome")
        ),
        adverse=_adverse(first(element, "reported_events")),
        limitations=text_at(element, "limitations_and_caveats"),
    )


def _groups(element: "etree._Element | None") -> tuple[Group, ...]:
    return tuple(
        Group(attribute(one, (), "group_id"), text_at(one, "title"), text_at(one, "description"))
        for one in children(first(element, "group_list"), "group")
    )


def _flow(element: "etree._Element | None") -> Flow:
    return Flow(
        recruitment=text_at(element, "recruitment_details"),
        pre_assignment=text_at(element, "pre_assignment_details"),
        groups=_groups(element),
        periods=tuple(
            Period(
                text_at(period, "title"),
                tuple(_counts(period, "milestone_list", "milestone")),
                tuple(_counts(period, "drop_withdraw_reason_list", "drop_withdraw_reason")),
            )
            for period in children(first(element, "period_list"), "period")
        ),
    )


def _counts(
    period: "etree._Element", container: str, name: str
) -> Iterator[tuple[str, dict[str, str]]]:
    for one in children(first(period, container), name):
        counts = {
            attribute(count, (), "group_id"): attribute(count, (), "count")
            for count in children(first(one, "participants_list"), "participants")
        }
        yield text_at(one, "title"), counts


def _analysed(element: "etree._Element | None") -> dict[str, str]:
    """Return how many were analysed, by group id: of the first unit, which is participants."""
    counted = first(element, "analyzed_list", "analyzed", "count_list")
    return {
        attribute(one, (), "group_id"): attribute(one, (), "value")
        for one in children(counted, "count")
    }


def _measure(
    outer: "etree._Element",
    inner: "etree._Element | None",
    groups: tuple[Group, ...],
    analysed: dict[str, str],
) -> Measure:
    """Return a measure; an outcome has one inside it, and says some things twice."""
    return Measure(
        title=text_at(outer, "title") or text_at(inner, "title"),
        rank=code(text_at(outer, "type")),
        description=text_at(outer, "description") or text_at(inner, "description"),
        population=text_at(outer, "population") or text_at(inner, "population"),
        time_frame=text_at(outer, "time_frame"),
        parameter=code(text_at(inner, "param")),
        dispersion=text_at(inner, "dispersion").lower(),
        unit=text_at(inner, "units"),
        groups=groups,
        analysed=analysed or _analysed(inner),
        rows=tuple(_rows(inner)),
        analyses=tuple(
            map(_analysis, children(first(outer, "analysis_list"), "analysis")),
        ),
    )


def _rows(measure: "etree._Element | None") -> Iterator[MeasureRow]:
    for klass in children(first(measure, "class_list"), "class"):
        for category in children(first(klass, "category_list"), "category"):
            values = {
                attribute(one, (), "group_id"): value_text(
                    attribute(one, (), "value"),
                    spread=attribute(one, (), "spread"),
                    lower=attribute(one, (), "lower_limit"),
                    upper=attribute(one, (), "upper_limit"),
                )
                for one in children(first(category, "measurement_list"), "measurement")
            }
            yield MeasureRow(text_at(klass, "title"), text_at(category, "title"), values)


def _analysis(element: "etree._Element") -> Analysis:
    return Analysis(
        groups=tuple(
            text_at(one) for one in children(first(element, "group_id_list"), "group_id")
        ),
        description=text_at(element, "groups_desc"),
        method=text_at(element, "method"),
        p_value=text_at(element, "p_value"),
        parameter=text_at(element, "param_type"),
        estimate=text_at(element, "param_value"),
        ci_percent=text_at(element, "ci_percent"),
        ci_lower=text_at(element, "ci_lower_limit"),
        ci_upper=text_at(element, "ci_upper_limit"),
        comment=text_at(element, "estimate_desc"),
    )


def _adverse(element: "etree._Element | None") -> AdverseEvents:
    serious = tuple(_events(first(element, "serious_events")))
    other = tuple(_events(first(element, "other_events")))
    totals = [
        next((event.counts for event in events if event.system == _TOTAL), {})
        for events in (serious, other)
    ]
    return AdverseEvents(
        time_frame=text_at(element, "time_frame"),
        description=text_at(element, "desc"),
        threshold=text_at(element, "other_events", "frequency_threshold"),
        groups=tuple(
            EventGroup(
                group,
                serious=totals[0].get(group.key, ""),
                other=totals[1].get(group.key, ""),
            )
            for group in _groups(element)
        ),
        serious=tuple(event for event in serious if event.system != _TOTAL),
        other=tuple(event for event in other if event.system != _TOTAL),
    )


def _events(element: "etree._Element | None") -> Iterator[Event]:
    for category in children(first(element, "category_list"), "category"):
        for event in children(first(category, "event_list"), "event"):
            counts = {
                attribute(one, (), "group_id"): _share(one) for one in children(event, "counts")
            }
            yield Event(text_at(category, "title"), text_at(event, "sub_title"), counts)


def _share(element: "etree._Element") -> str:
    affected = attribute(element, (), "subjects_affected")
    return share_text(affected, attribute(element, (), "subjects_at_risk"))
