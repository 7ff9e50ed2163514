"""The results of a trial: every number in a table, the few that matter in words beside it."""

from collections.abc import Iterable, Iterator, Mapping

from eagle_biomed.formats.ctgov_trial import (
    AdverseEvents,
    Analysis,
    Event,
    Flow,
    Group,
    Measure,
    Results,
    words,
)
from eagle_biomed.formats.grids import Cell, Grid
from eagle_biomed.formats.sectioned import SectionedText
from eagle_rag.model.document import BlockKind, SectionKind

__all__ = ["write_results"]

_RESULTS = "Results"
_KIND = SectionKind.RESULTS
_MAX_SPOKEN = 24  # values of one measure; more are read in the table
_MAX_TERMS = 200  # adverse event terms named in the text


def write_results(results: Results, text: SectionedText) -> None:
    """Write participant flow, baseline, outcomes, adverse events and limitations."""
    text.open((_RESULTS,), _KIND, heading=_RESULTS)
    told: set[tuple[str, str]] = set()
    _flow(results.flow, text, told)
    _baseline(results, text, told)
    for measure in results.outcomes:
        _outcome(measure, text, told)
    _adverse(results.adverse, text, told)
    if results.limitations:
        _open(text, "Limitations and Caveats")
        text.paragraph(results.limitations)


def _open(text: SectionedText, title: str) -> None:
    text.open((_RESULTS, title), _KIND, heading=title)


def _groups(groups: Iterable[Group], text: SectionedText, told: set[tuple[str, str]]) -> None:
    """Describe the groups that were not described before: most come again with every measure."""
    for group in groups:
        if group.description and (group.title, group.description) not in told:
            told.add((group.title, group.description))
            text.block(BlockKind.LIST_ITEM, f"{group.title}: {group.description}")


def _said(groups: Iterable[Group], values: Mapping[str, str], unit: str = "") -> str:
    """Return ``Placebo 12; Zorbanib 15 mg``."""
    suffix = f" {unit}" if unit else ""
    return "; ".join(
        f"{group.title} {values[group.key]}{suffix}" for group in groups if values.get(group.key)
    )


def _head(groups: Iterable[Group], analysed: Mapping[str, str], *stubs: str) -> list[list[Cell]]:
    """Return the head: titles of the groups, and how many of each were analysed."""
    groups = tuple(groups)
    rows = [[*(Cell(stub, header=True) for stub in stubs), *(Cell(g.title) for g in groups)]]
    if any(analysed.values()):
        counts = (Cell(f"N={analysed[g.key]}" if analysed.get(g.key) else "") for g in groups)
        rows.append([*(Cell(stub, header=True) for stub in stubs), *counts])
    return rows


def _line(stubs: Iterable[str], groups: Iterable[Group], values: Mapping[str, str]) -> list[Cell]:
    return [
        *(Cell(stub, header=True) for stub in stubs),
        *(Cell(values.get(group.key, "")) for group in groups),
    ]


def _flow(flow: Flow, text: SectionedText, told: set[tuple[str, str]]) -> None:
    if not (flow.periods or flow.groups):
        return
    _open(text, "Participant Flow")
    text.paragraph(flow.recruitment)
    text.paragraph(flow.pre_assignment)
    _groups(flow.groups, text, told)
    for period in flow.periods:
        lines = [(words(name), counts) for name, counts in period.milestones]
        lines += [(f"Not completed: {name}", counts) for name, counts in period.reasons]
        spoken = [
            f"{name}: {said}"
            for name, counts in lines[: len(period.milestones)]
            if (said := _said(flow.groups, counts))
        ]
        if spoken:
            text.paragraph(f"{period.title}. {'. '.join(spoken)}")
        head = _head(flow.groups, {}, "Milestone")
        rows = [_line((name,), flow.groups, counts) for name, counts in lines]
        if rows:
            text.table(
                Grid([*head, *rows], len(head)), caption=f"Participant flow: {period.title}"
            )


def _baseline(results: Results, text: SectionedText, told: set[tuple[str, str]]) -> None:
    if not results.baseline:
        return
    _open(text, "Baseline Characteristics")
    text.paragraph(results.baseline_population)
    first = results.baseline[0]
    _groups(first.groups, text, told)
    analysed = _said(first.groups, first.analysed)
    text.paragraph(analysed and f"Participants analysed: {analysed}")
    head = _head(first.groups, first.analysed, "Characteristic", "Category")
    rows = []
    for measure in results.baseline:
        name = ", ".join(filter(None, (measure.title, _quantity(measure))))
        for row in measure.rows:
            category = ": ".join(filter(None, (row.title, row.category)))
            rows.append(_line((name, category), measure.groups, row.values))
        spoken = list(_spoken(measure))
        if spoken:
            text.paragraph(f"{name}. {'. '.join(spoken)}")
    if rows:
        text.table(Grid([*head, *rows], len(head)), caption="Baseline characteristics")


def _quantity(measure: Measure) -> str:
    """Return what the numbers are: ``median (95% confidence interval), months``."""
    kind = words(measure.parameter).lower()
    if measure.dispersion not in ("", "na", "n/a", "none"):
        kind = f"{kind} ({measure.dispersion})"
    return ", ".join(filter(None, (kind, measure.unit)))


def _spoken(measure: Measure) -> Iterator[str]:
    """Yield a measure's values in words when they are few."""
    if len(measure.rows) * len(measure.groups) > _MAX_SPOKEN:
        return
    for row in measure.rows:
        said = _said(measure.groups, row.values)
        name = ", ".join(filter(None, (row.title, row.category)))
        if said:
            yield f"{name}: {said}" if name else said


def _outcome(measure: Measure, text: SectionedText, told: set[tuple[str, str]]) -> None:
    rank = words(measure.rank)
    _open(text, f"{rank} Outcome: {measure.title}" if rank else measure.title)
    text.paragraph(measure.description)
    text.paragraph(measure.time_frame and f"Time frame: {measure.time_frame}")
    text.paragraph(measure.population and f"Population: {measure.population}")
    _groups(measure.groups, text, told)
    quantity = _quantity(measure)
    spoken = ". ".join(_spoken(measure))
    if spoken:
        text.paragraph(f"{quantity[:1].upper()}{quantity[1:]}. {spoken}" if quantity else spoken)
    if measure.rows:
        stubbed = any(row.title or row.category for row in measure.rows)
        stubs = ("Class", "Category") if stubbed else ("Measure",)
        head = _head(measure.groups, measure.analysed, *stubs)
        rows = [
            _line(
                (row.title, row.category) if stubbed else (measure.title,),
                measure.groups,
                row.values,
            )
            for row in measure.rows
        ]
        caption = ", ".join(filter(None, (measure.title, quantity)))
        text.table(Grid([*head, *rows], len(head)), caption=caption)
    titles = {group.key: group.title for group in measure.groups}
    for analysis in measure.analyses:
        text.paragraph(_analysis(analysis, titles))


def _analysis(one: Analysis, titles: Mapping[str, str]) -> str:
    compared = " vs ".join(titles.get(key, key) for key in one.groups)
    interval = ""
    if one.ci_lower or one.ci_upper:
        percent = f"{one.ci_percent}% " if one.ci_percent else ""
        interval = f" ({percent}CI {one.ci_lower or 'NA'} to {one.ci_upper or 'NA'})"
    estimate = f"{one.parameter} {one.estimate}{interval}".strip() if one.estimate else ""
    parts = (
        f"Analysis, {compared}" if compared else "Analysis",
        estimate,
        one.p_value and f"P-value {one.p_value}",
        one.method and f"Method: {one.method}",
        one.description,
        one.comment,
    )
    return ". ".join(part.rstrip(".") for part in parts if part)


def _adverse(events: AdverseEvents, text: SectionedText, told: set[tuple[str, str]]) -> None:
    if not events.groups:
        return
    _open(text, "Adverse Events")
    text.paragraph(events.time_frame and f"Time frame: {events.time_frame}")
    text.paragraph(events.description)
    groups = tuple(one.group for one in events.groups)
    _groups(groups, text, told)
    for one in events.groups:
        totals = (
            ("deaths", one.deaths),
            ("serious adverse events", one.serious),
            ("other adverse events", one.other),
        )
        said = "; ".join(f"{name} {count}" for name, count in totals if count)
        if said:
            text.paragraph(f"{one.group.title}: {said}")
    for name, listed in (("Serious", events.serious), ("Other", events.other)):
        _events(f"{name} adverse events", listed, groups, text)


def _events(
    name: str, events: tuple[Event, ...], groups: tuple[Group, ...], text: SectionedText
) -> None:
    if not events:
        return
    terms = tuple(dict.fromkeys(event.term for event in events if event.term))
    more = f" and {len(terms) - _MAX_TERMS} more" if len(terms) > _MAX_TERMS else ""
    text.paragraph(f"{name} reported: {'; '.join(terms[:_MAX_TERMS])}{more}")
    head = _head(groups, {}, "Organ system", "Term")
    rows = [_line((event.system, event.term), groups, event.counts) for event in events]
    text.table(Grid([*head, *rows], len(head)), caption=f"{name} (participants affected/at risk)")
