"""A clinical trial as every format of ClinicalTrials.gov describes it.

The readers fill this; the composer reads nothing else. Texts are as written, white space folded but
in the long ones; enumerated values are upper case with underscores (``ACTIVE_NOT_RECRUITING``), as
in version 2 of the API. Everything unknown is empty.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime

__all__ = [
    "AdverseEvents",
    "Analysis",
    "Arm",
    "Cited",
    "Event",
    "EventGroup",
    "Flow",
    "Group",
    "Intervention",
    "Measure",
    "MeasureRow",
    "Outcome",
    "Period",
    "Results",
    "Trial",
    "code",
    "iso_day",
    "phase_code",
    "words",
]

_NOT_WORD = re.compile(r"[^A-Za-z0-9]+")
_ISO_DAY = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?", re.ASCII)
_FORMS = (("%B %d, %Y", "%Y-%m-%d"), ("%B %Y", "%Y-%m"), ("%Y", "%Y"))
_PHASE = re.compile(r"PHASE_(\d)")
_NO_PHASE = frozenset({"N_A", "NOT_APPLICABLE", "NA"})
_SPELLED = {
    "na": "N/A",
    "nih": "NIH",
    "other pre specified": "Other pre-specified",
    "post hoc": "Post-hoc",
}


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm or cohort: label, kind (``EXPERIMENTAL``), description, names of its interventions."""

    label: str
    kind: str = ""
    description: str = ""
    interventions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intervention:
    """An intervention: kind (``DRUG``), name, description, other names."""

    kind: str
    name: str
    description: str = ""
    other_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """A planned outcome: rank (``PRIMARY``, ``SECONDARY``, ``OTHER``), measure, and when."""

    rank: str
    measure: str
    description: str = ""
    time_frame: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A publication: its PMID or empty, and its citation."""

    pmid: str
    citation: str


@dataclass(frozen=True, slots=True)
class Group:
    """A reporting group of the results: id inside its module, title, description."""

    key: str
    title: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Period:
    """A period of the participant flow: milestones and reasons for leaving, counts by group id."""

    title: str
    milestones: tuple[tuple[str, dict[str, str]], ...] = ()
    reasons: tuple[tuple[str, dict[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """Participant flow."""

    recruitment: str = ""
    pre_assignment: str = ""
    groups: tuple[Group, ...] = ()
    periods: tuple[Period, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One row of a measure: class, category, and a value such as ``9.2 (7.3 to 13.3)`` by group id."""

    title: str
    category: str
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A statistical analysis of an outcome; every field as written."""

    groups: tuple[str, ...] = ()
    description: str = ""
    method: str = ""
    p_value: str = ""
    parameter: str = ""
    estimate: str = ""
    ci_percent: str = ""
    ci_lower: str = ""
    ci_upper: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Measure:
    """A reported measure: of the baseline when ``rank`` is empty, else an outcome.

    ``dispersion`` is in words, ``95% confidence interval``, because its number has no code.
    """

    title: str
    rank: str = ""
    description: str = ""
    population: str = ""
    time_frame: str = ""
    parameter: str = ""
    dispersion: str = ""
    unit: str = ""
    groups: tuple[Group, ...] = ()
    analysed: dict[str, str] = field(default_factory=dict)
    rows: tuple[MeasureRow, ...] = ()
    analyses: tuple[Analysis, ...] = ()


@dataclass(frozen=True, slots=True)
class EventGroup:
    """A group of the adverse events, with totals such as ``12/131``, each of which may be empty."""

    group: Group
    deaths: str = ""
    serious: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An adverse event: organ system, term, and affected/at risk by group id."""

    system: str
    term: str
    counts: dict[str, str]


@dataclass(frozen=True, slots=True)
class AdverseEvents:
    """Adverse events."""

    time_frame: str = ""
    description: str = ""
    threshold: str = ""
    groups: tuple[EventGroup, ...] = ()
    serious: tuple[Event, ...] = ()
    other: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """Everything reported after the trial."""

    flow: Flow = field(default_factory=Flow)
    baseline_population: str = ""
    baseline: tuple[Measure, ...] = ()
    outcomes: tuple[Measure, ...] = ()
    adverse: AdverseEvents = field(default_factory=AdverseEvents)
    limitations: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial.

    Args:
        wrapped: Long texts are wrapped at 80 columns and indented, as the legacy XML does.
        criteria: Eligibility criteria as one text.
        dates: ``(kind, ISO date)`` pairs.
        mesh: MeSH terms of conditions and interventions.
    """

    nct_id: str
    brief_title: str = ""
    official_title: str = ""
    acronym: str = ""
    org_id: str = ""
    secondary_ids: tuple[str, ...] = ()
    wrapped: bool = False
    summary: str = ""
    description: str = ""
    conditions: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    mesh: tuple[str, ...] = ()
    study_type: str = ""
    phase: str = ""
    allocation: str = ""
    model: str = ""
    masking: str = ""
    purpose: str = ""
    time_perspective: str = ""
    enrollment: str = ""
    enrollment_type: str = ""
    status: str = ""
    why_stopped: str = ""
    sponsor: str = ""
    sponsor_class: str = ""
    collaborators: tuple[str, ...] = ()
    arms: tuple[Arm, ...] = ()
    interventions: tuple[Intervention, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    criteria: str = ""
    population: str = ""
    sampling: str = ""
    sex: str = ""
    minimum_age: str = ""
    maximum_age: str = ""
    healthy: str = ""
    countries: tuple[str, ...] = ()
    publications: tuple[Cited, ...] = ()
    dates: tuple[tuple[str, str], ...] = ()
    results: Results | None = None

    @property
    def title(self) -> str:
        """The official title, or else the brief one."""
        return self.official_title or self.brief_title

    def date(self, kind: str) -> str:
        """Return one of the dates, or an empty string."""
        return dict(self.dates).get(kind, "")


def code(value: str) -> str:
    """Return an enumerated value in one spelling: ``Active, not recruiting`` as in the API."""
    return _NOT_WORD.sub("_", value).strip("_").upper()


def phase_code(values: tuple[str, ...]) -> str:
    """Return the phases as ``PHASE3`` or ``PHASE2/PHASE3``; ``NA`` when there is none to have."""
    codes = [_PHASE.sub(r"PHASE\1", code(part)) for one in values for part in _parts(one)]
    return "/".join("NA" if one in _NO_PHASE else one for one in codes if one)


def _parts(phases: str) -> tuple[str, ...]:
    return (phases,) if phases == "N/A" else tuple(phases.split("/"))


def words(value: str) -> str:
    """Return a code as words for people: ``PARALLEL_ASSIGNMENT`` as "Parallel assignment"."""
    plain = re.sub(r"\bphase(\d)", r"phase \1", value.replace("_", " ").lower())
    return _SPELLED.get(plain, plain[:1].upper() + plain[1:])


def iso_day(written: str) -> str:
    """Return ``March 4, 2021`` or ``March 2021`` as an ISO date; empty for what is no date."""
    if _ISO_DAY.fullmatch(written):
        return written
    for form, iso in _FORMS:
        try:
            # Only the day is used; there is no time zone to know.
            return datetime.strptime(written, form).strftime(iso)  # noqa: DTZ007 - see above
        except ValueError:
            continue
    return ""
